// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The training that the settings describe: prepared, so that bad settings are refused before anything is written, then
/// run.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/budget.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/schedule/warnings.hpp>
#include <lindyn/train/checkpoint.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/interrupt.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/trainer.hpp>

#include "../program.hpp"
#include "../progress_line.hpp"
#include "../resources.hpp"
#include "data.hpp"
#include "history.hpp"
#include "observing.hpp"
#include "settings.hpp"
#include "task_metrics.hpp"

namespace examples::train_transformer {

/// Columns of metrics.csv; a task's own are behind them. Of the training data there are no values with --evaluate test.
inline const std::vector<std::string> metric_columns{
    "step",      "epoch",        "training_loss", "training_correct", "training_total", "training_accuracy",
    "test_loss", "test_correct", "test_total",    "test_accuracy",    "learning_rate",  "decay"};

/// A column of metrics.csv by its name.
[[nodiscard]] inline std::size_t metric(const char* name) {
  return static_cast<std::size_t>(std::ranges::find(metric_columns, name) - metric_columns.begin());
}

/// A number of bytes as a text.
[[nodiscard]] inline std::string mebibytes(double bytes) {
  return lindyn::detail::to_text(std::ceil(bytes / (1 << 20))) + " MiB";
}

/// What doesn't depend on the precision and the optimiser.
struct experiment {
  explicit experiment(const settings& of)
      : data(make_data(of)),
        shape(make_shape(of, data.training.sizes())),
        batches(make_batches(of)),
        steps_per_epoch(population::batch_sampler(data.training.count(), batches).steps_per_epoch()),
        lambda(schedule::parse(of.decay, "decay")),
        rate_schedule(schedule::parse(of.lr_schedule, "lr-schedule")) {
    lindyn::require(of.steps >= 0, "steps", of.steps, "not negative");
    lindyn::require(of.epochs >= 0 && of.epochs <= 1'000'000'000, "epochs", of.epochs, "in [0, 1000000000]");
    lindyn::require(of.steps == 0 || of.epochs == 0, "steps", of.steps,
                    "0 or left out beside epochs = " + std::to_string(of.epochs));
    lindyn::require(of.steps > 0 || of.epochs > 0, "steps", of.steps, "positive, or 0 with positive --epochs");
    steps = of.steps > 0 ? of.steps : of.epochs * steps_per_epoch;
    lindyn::require(steps <= 1'000'000'000, "steps", steps, "at most 1000000000");
    const auto not_negative = [](const char* name, index value) {
      lindyn::require(value >= 0, name, value, "not negative");
    };
    not_negative("evaluate-every", of.evaluate_every);
    not_negative("observe-every", of.observe_every);
    not_negative("checkpoint-every", of.checkpoint_every);
    evaluate_every = of.evaluate_every > 0 ? of.evaluate_every : steps_per_epoch;
    observe_every = of.observe_every > 0 ? of.observe_every : evaluate_every;
    lindyn::require(of.threads >= 1 && of.threads <= 256, "threads", of.threads, "in [1, 256]");
    lindyn::require(of.lr > 0 && of.lr <= 1e30, "lr", of.lr, "positive, and at most 1e30");
    lindyn::require(of.clip >= 0, "clip", of.clip, "not negative (0: gradients aren't clipped)");
    lindyn::require_probability("reached", of.reached);
    lindyn::require(!of.out.empty(), "out", "\"\"", "a folder");
    decay = {.mode = lindyn::parse<optimizer::decay_mode>(of.decay_mode, "decay-mode"), .base_learning_rate = of.lr};
    (void)chosen_diagnostics(of);
    const int remembered = of.optimizer == "adam" ? 2 : of.optimizer == "sgd" ? 0 : 1;
    bytes =
        (2.0 + remembered) * (of.precision == "double" ? 8 : 4) * static_cast<double>(model::parameter_count(shape));
    if (bytes > examples::physical_memory_bytes())
      throw lindyn::error("weights, their gradient and what the optimiser remembers need " + mebibytes(bytes) +
                          ", and the machine has " + mebibytes(examples::physical_memory_bytes()) +
                          ": take a smaller width, hidden, or number of layers");
  }

  /// Sentences on what may not have been meant.
  [[nodiscard]] std::vector<std::string> warnings() const {
    auto result = schedule::warnings(rate_schedule, steps, "lr-schedule");
    for (auto& more : schedule::warnings(lambda, steps, "decay")) result.push_back(std::move(more));
    if (const auto sums = budget(steps); sums.rates > 0 && sums.log_shrink.value_or(1) < 0.1)
      result.push_back("decay: in the mode " + std::string(name(decay.mode)) + ", it takes all in all " +
                       lindyn::detail::to_text(std::round(-1e3 * std::expm1(-*sums.log_shrink)) / 10) +
                       " % from weights that have no gradient: next to nothing");
    return result;
  }
  /// What the decay adds up to over so many steps.
  [[nodiscard]] optimizer::decay_budget budget(index until) const {
    return optimizer::budget(decay, lambda, schedule::constant{decay.base_learning_rate} * rate_schedule, until);
  }

  task_data data;
  model::prenorm_shape shape;
  population::batches batches;
  index steps_per_epoch;
  schedule::schedule lambda, rate_schedule;
  optimizer::weight_decay decay;
  index steps = 0, evaluate_every = 0, observe_every = 0;
  double bytes = 0;  ///< of weights, gradient and what the optimiser remembers
};

/// How a run ended.
struct ending {
  train::run_end why = train::run_end::reached;
  int signal = 0;                            ///< that interrupted it, or 0
  index steps = 0;                           ///< made in all
  double seconds = 0, observer_seconds = 0;  ///< of this process: of steps, of evaluations and observations
};

/// A network, its weights, and what is seen of them.
template <class Scalar>
class subject {
public:
  using network = model::prenorm_transformer<Scalar>;

  /// \param of, what  outlive it
  subject(const settings& of, const experiment& what)
      : net(what.shape),
        weights(model::initial_weights<Scalar>(what.shape, make_start(of))),
        memory(backend::host(of.threads)),
        settings_(of),
        what_(what),
        observe_(net, what.data.test, of) {
    std::vector<std::string> columns = metric_columns;
    std::ranges::copy(task_columns(of), std::back_inserter(columns));
    metrics = history(columns);
    columns = observe_.columns();
    columns.insert(columns.begin(), {"step", "epoch"});
    observations = history(columns);
  }
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;

  const network net;
  std::vector<Scalar> weights;
  typename network::workspace memory;
  history metrics{{}}, observations{{}};

  /// Whether anything is observed.
  [[nodiscard]] bool observes() const noexcept { return !observe_.columns().empty(); }

  /// Appends a row of observations, from what the evaluation of the training's batch has left in memory.
  void observe(const train::observation<Scalar>& here) {
    std::vector<double> row = observe_(here.weights, memory);
    row.insert(row.begin(), {static_cast<double>(here.step), epoch(here.step)});
    observations.append(std::move(row));
  }

  /// Appends a row of metrics; whether the training goes on.
  bool evaluate(const train::observation<Scalar>& here) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> row{static_cast<double>(here.step), epoch(here.step)}, own;
    for (const auto* set : {&what_.data.training, &what_.data.test}) {
      if (set == &what_.data.training && settings_.evaluate == "test") {
        row.insert(row.end(), 4, none);
        continue;
      }
      const auto [found, more] = evaluate_part(settings_, what_.data, *set, net, here.weights, memory);
      row.insert(row.end(),
                 {found.loss, static_cast<double>(found.correct), static_cast<double>(found.total), found.accuracy()});
      std::ranges::copy(more, std::back_inserter(own));
    }
    row.insert(row.end(), {here.learning_rate, here.decay});
    row.insert(row.end(), metrics.columns().size() - row.size() - own.size(), none);  // of what isn't evaluated
    row.insert(row.end(), own.begin(), own.end());
    metrics.append(row);
    const index told = std::max<index>(1, what_.steps / what_.evaluate_every / 20);  // 20 lines or so
    const bool done = settings_.stop && row[metrics.column(decisive_column(settings_))] >= settings_.reached;
    if (done || here.step / what_.evaluate_every % told == 0 || here.step == what_.steps) tell(row);
    return !done;
  }

private:
  [[nodiscard]] double epoch(index step) const {
    return static_cast<double>(step) / static_cast<double>(what_.steps_per_epoch);
  }

  void tell(const std::vector<double>& row) const {
    const auto value = [&](const char* name) { return row[metric(name)]; };
    std::printf("step %-8.0f epoch %-8.4g ", value("step"), value("epoch"));
    if (!std::isnan(value("training_loss")))
      std::printf("training loss %-10.4g %5.0f/%.0f   ", value("training_loss"), value("training_correct"),
                  value("training_total"));
    std::printf("test loss %-10.4g %5.0f/%.0f = %.4f", value("test_loss"), value("test_correct"), value("test_total"),
                value("test_accuracy"));
    for (std::size_t column = metric_columns.size(); column < row.size(); ++column)
      if (!std::isnan(row[column])) std::printf("   %s %.4f", metrics.columns()[column].c_str(), row[column]);
    std::printf("\n");
    std::fflush(stdout);
  }

  const settings& settings_;
  const experiment& what_;
  observer<network> observe_;
};

/// What becomes of a run's files.
struct files {
  std::function<void()> begin;  ///< called once, when all settings are known to make sense
  std::function<void()> save;   ///< writes the tables, before each checkpoint
  std::filesystem::path checkpoint;
  bool resume = false;                 ///< whether to go on from it
  std::function<void(index)> resumed;  ///< reads the tables up to a step, which is left out
};

/// Trains to the last step, to an evaluation that ends the run, or until it is interrupted.
template <class Scalar, class RuleOptions>
[[nodiscard]] ending run_training(const settings& of, const experiment& what, const RuleOptions& options,
                                  subject<Scalar>& seen, const files& on) {
  train::interrupt interrupt;
  auto training = make_training(of, seen.net.parameters());
  training.tell = examples::progress_line();
  training.stop = [&] { return interrupt.requested(); };
  train::trainer trainer(train::set_objective(seen.net, what.data.training, what.batches), std::span(seen.weights),
                         typename RuleOptions::template rule<Scalar>(seen.net.parameters().size(), options), training);
  const train::settings start{{"split_seed", std::to_string(of.split_seed)},
                              {"init_seed", std::to_string(of.seed)},
                              {"initialisation", of.initialisation},
                              {"gamma", lindyn::detail::to_text(of.gamma)},
                              {"embedding_scale", lindyn::detail::to_text(of.embedding_scale)}};
  if (on.resume) {
    train::resume_checkpoint(on.checkpoint, trainer, start);
    lindyn::require(what.steps >= trainer.steps(), "steps", what.steps,
                    "at least those that the checkpoint has behind it, " + std::to_string(trainer.steps()));
    on.resumed(trainer.steps() + (trainer.observed() ? 1 : 0));
  }
  on.begin();

  using clock = std::chrono::steady_clock;
  auto saved = clock::now();
  const auto save = [&] {
    const examples::undisturbed writing;
    on.save();
    train::save_checkpoint(on.checkpoint, trainer, start);
    saved = clock::now();
  };
  if (!on.resume) save();
  const auto every = [last = what.steps](index stride) {
    return [=](index step) { return stride > 0 && (step % stride == 0 || step == last); };
  };
  ending result;
  try {
    result.why = trainer.run(
        what.steps, seen.memory,
        // First, as it looks at what the evaluation of the training's batch has left in memory.
        train::when(every(seen.observes() ? what.observe_every : 0), [&](const auto& here) { seen.observe(here); }),
        train::when(every(what.evaluate_every), [&](const auto& here) { return seen.evaluate(here); }),
        train::when(
            [&, stride = of.checkpoint_every](index step) {
              return stride > 0 ? step > 0 && step % stride == 0 : clock::now() - saved > std::chrono::minutes(1);
            },
            [&](const auto&) { save(); }));
  } catch (const lindyn::non_finite_error&) {  // of a step or an evaluation; the state is that before
    save();
    throw;
  }
  save();
  result.signal = interrupt.signal();
  result.steps = trainer.steps();
  result.seconds = trainer.seconds();
  result.observer_seconds = trainer.observer_seconds();
  return result;
}

}  // namespace examples::train_transformer
