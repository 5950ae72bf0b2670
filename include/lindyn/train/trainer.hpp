// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The training of a network: an objective, an optimiser and schedules, step by step.

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

/// Options of trainer.
struct trainer_options {
  double learning_rate = 1e-3;                      ///< the base rate, positive
  schedule::schedule learning_rate_schedule = 1.0;  ///< times the base rate: lr_t
  progress::callback tell = {};                     ///< hears of the progress of `run`
  std::function<bool()> stop = {};                  ///< asked by `run` behind each step; true ends the run
};

/// Why a run ended.
enum class run_end {
  reached,   ///< all its steps are made
  observed,  ///< an observer returned false
  stopped,   ///< trainer_options::stop returned true
};

/// Trains weights in place. Step t, from 0, takes the rates of schedules at t, the loss and gradient of the objective's
/// batch t, and moves the weights: so the state behind t steps is a function of the start and t alone, however the steps
/// are divided over runs, whoever watches, and on any number of threads.
///
///     std::vector<float> weights = ..;
///     train::trainer trainer(objective, std::span(weights), optimizer::adam<float>(objective.parameters().size()),
///                            {.learning_rate = 3e-3});
///     model::prenorm_transformer<>::workspace memory;
///     trainer.run(15'000, memory, train::every(100, [](const auto& here) { print(here.step, here.evaluation.loss); }));
///
/// \tparam Objective  what is minimised
/// \tparam Rule       the optimiser
template <class Objective, class Rule>
class trainer {
  static_assert(objective<Objective>, "lindyn: a trainer's first parameter must model train::objective.");
  static_assert(optimizer::optimizer<Rule, typename Objective::scalar>,
                "lindyn: a trainer's second parameter must be an optimiser of the objective's scalar.");

public:
  using scalar = typename Objective::scalar;        ///< of weights and gradients
  using workspace = typename Objective::workspace;  ///< memory that evaluations reuse

  /// \param objective  what is minimised
  /// \param weights    laid out by objective.parameters(), in memory that outlives the trainer
  /// \param rule       the optimiser, made for that number of weights
  /// \param options    see trainer_options
  /// Throws argument_error for bad options, shape_error for another number of weights, divergence_error for weights that
  /// aren't finite.
  trainer(Objective objective, std::span<scalar> weights, Rule rule, trainer_options options = {})
      : objective_(std::move(objective)),
        weights_(weights),
        rule_(std::move(rule)),
        options_(std::move(options)),
        gradient_(weights.size()) {
    require(options_.learning_rate > 0 && options_.learning_rate <= 1e30, "learning_rate", options_.learning_rate,
            "positive, and at most 1e30");
    require_extent("weights.size()", weights.size(), objective_.parameters().size());
    restart(0);
  }

  /// What is minimised.
  [[nodiscard]] const Objective& minimised() const noexcept { return objective_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return objective_.parameters(); }
  /// As they were given.
  [[nodiscard]] const trainer_options& options() const noexcept { return options_; }
  /// The weights behind the steps made so far.
  [[nodiscard]] std::span<const scalar> weights() const noexcept { return weights_; }
  /// The optimiser, with what it remembers.
  [[nodiscard]] const Rule& rule() const noexcept { return rule_; }
  /// Number of steps made.
  [[nodiscard]] index steps() const noexcept { return steps_; }
  /// Whether observers have been told the present state.
  [[nodiscard]] bool observed() const noexcept { return observed_; }
  /// Seconds that evaluations and updates took.
  [[nodiscard]] double seconds() const noexcept { return seconds_of(training_); }
  /// Seconds that observers took.
  [[nodiscard]] double observer_seconds() const noexcept { return seconds_of(observing_); }
  /// lr_t.
  [[nodiscard]] double learning_rate(index step) const noexcept {
    return options_.learning_rate * options_.learning_rate_schedule.value(step);
  }
  /// lambda_t, which each group's base decay multiplies.
  [[nodiscard]] double decay(index) const noexcept { return 0; }

  /// Loss and gradient of the batch that the next step takes, at the present weights; once for each step, however often
  /// it is called. Throws divergence_error if they aren't finite: the state stays.
  const task::evaluation& evaluate(workspace& memory) {
    if (evaluated_) return evaluation_;
    const auto begin = clock::now();
    try {
      evaluation_ = objective_.loss_and_gradient(steps_, weights_, gradient_, memory);
    } catch (const non_finite_error& fault) {
      require_finite_weights();
      throw divergence_error("activations", steps_, fault.value(), advice);
    }
    if (!std::isfinite(evaluation_.loss))
      throw divergence_error("activations", steps_, lindyn::detail::to_text(evaluation_.loss), advice);
    if (!std::isfinite(detail::largest_magnitude(gradient())))
      detail::report_divergence("gradient", parameters(), gradient(), steps_);
    evaluated_ = true;
    training_ += clock::now() - begin;
    return evaluation_;
  }

  /// Moves the weights by the gradient of the last evaluation. Throws argument_error unless there is one of this step.
  void update() {
    require(evaluated_, "step", steps_, "evaluated before its update");
    const auto begin = clock::now();
    rule_.step(weights_, gradient(), learning_rate(steps_));
    confine(Rule::linear);
    require_finite_weights();
    ++steps_;
    evaluated_ = observed_ = false;
    training_ += clock::now() - begin;
  }

  /// Evaluates and updates. Returns the evaluation, at the weights before the update.
  task::evaluation step(workspace& memory) {
    evaluate(memory);
    update();
    return evaluation_;
  }

  /// Makes steps until `until` have been made in all. Observers hear of the states that they want to, before each step
  /// and behind the last, each once: a run that goes on from where another ended doesn't tell that state again.
  /// \param until      steps in all; a run of fewer than are made does nothing
  /// \param memory     of evaluations
  /// \param observers  see the concept; all hear of a state, in their order, before one of them ends the run
  /// Throws as evaluate and update do.
  template <observer<scalar>... Observers>
  run_end run(index until, workspace& memory, Observers&&... observers) {
    progress tell(options_.tell);
    while (steps_ <= until) {
      if (!observed_ && (false || ... || detail::wants(observers, steps_)) && !observe(memory, observers...))
        return run_end::observed;
      if (steps_ == until) break;
      step(memory);
      tell("training", static_cast<double>(steps_), static_cast<double>(until));
      if (options_.stop && options_.stop()) return run_end::stopped;
    }
    return run_end::reached;
  }

  /// All that the result depends on, but for the start and the number of steps.
  [[nodiscard]] settings describe() {
    settings all;
    detail::append(all, "precision", sizeof(scalar) == 4 ? "float" : "double");
    objective_.describe(all);
    detail::append(all, "learning_rate", options_.learning_rate);
    detail::append(all, "learning_rate_schedule", schedule::to_text(options_.learning_rate_schedule));
    return all;
  }

  /// Goes on from another state, whose weights stand where the trainer's do.
  /// \param steps     number of steps made
  /// \param observed  whether observers have been told the state
  /// Throws as the constructor.
  void restart(index steps, bool observed = false) {
    require(steps >= 0, "steps", steps, "not negative");
    steps_ = steps;
    evaluated_ = false;
    observed_ = observed;
    require_finite_weights();
    if (steps == 0) confine(false);
  }

private:
  using clock = std::chrono::steady_clock;
  static constexpr const char* advice = "finite; take a smaller learning_rate";

  [[nodiscard]] static double seconds_of(clock::duration spent) noexcept {
    return std::chrono::duration<double>(spent).count();
  }
  [[nodiscard]] std::span<const scalar> gradient() const noexcept { return gradient_; }

  void require_finite_weights() {
    if (!std::isfinite(detail::largest_magnitude(weights())))
      detail::report_divergence("weights", parameters(), weights(), steps_);
  }

  void confine(bool linear) {
    if constexpr (requires { objective_.confine(weights_, linear); }) objective_.confine(weights_, linear);
  }

  /// Tells all observers; whether all of them want to go on.
  template <class... Observers>
  [[nodiscard]] bool observe(workspace& memory, Observers&... observers) {
    evaluate(memory);
    const auto begin = clock::now();
    const observation<scalar> here{steps_, evaluation_, weights(), gradient(), learning_rate(steps_), decay(steps_)};
    bool go_on = true;
    ((go_on = detail::tell(observers, here) && go_on), ...);
    observed_ = true;
    observing_ += clock::now() - begin;
    return go_on;
  }

  Objective objective_;
  std::span<scalar> weights_;
  Rule rule_;
  trainer_options options_;
  std::vector<scalar> gradient_;
  task::evaluation evaluation_;
  index steps_ = 0;
  bool evaluated_ = false, observed_ = false;
  clock::duration training_{}, observing_{};
};

}  // namespace lindyn::train
