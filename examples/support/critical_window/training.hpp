// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Trains what isn't finished yet.

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include <lindyn/core/parallel.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/train/interrupt.hpp>

#include "../chosen_rule.hpp"
#include "../program.hpp"
#include "../train_transformer/training.hpp"
#include "record.hpp"

namespace examples::critical_window {

namespace model = lindyn::model;
namespace optimizer = lindyn::optimizer;
namespace train = lindyn::train;

/// The optimiser that the settings describe.
[[nodiscard]] inline rule_options make_rule(const settings& of) {
  if (of.optimizer == "momentum") return optimizer::momentum_options{.momentum = of.momentum};
  return optimizer::adam_options{.beta1 = of.beta1, .beta2 = of.beta2, .epsilon = of.epsilon};
}

/// Trains one run from its start to its end, unless it is interrupted: then nothing is kept of it.
/// \return its record, if it came to its end
template <class RuleOptions>
[[nodiscard]] std::optional<history> train_run(const planned_run& plan, const RuleOptions& rule,
                                               const std::function<bool()>& stop) {
  const settings& of = plan.of;
  const train_transformer::experiment what(of);
  const network net(what.shape);
  auto weights = model::initial_weights<float>(what.shape, train_transformer::make_start(of));
  train::trainer trainer(
      train::set_objective(net, what.data.training, what.batches), std::span(weights),
      typename RuleOptions::template rule<float>(net.parameters().size(), rule),
      {.learning_rate = of.lr,
       .learning_rate_schedule = what.rate_schedule,
       .decay_schedule = what.lambda,
       .decay_mode = what.decay.mode,
       .groups = optimizer::groups(lindyn::parse<optimizer::group_preset>(of.groups, "groups"), net.parameters()),
       .clip_norm = of.clip,
       .stop = stop});
  recorder watch(net, what.data, of);
  network::workspace memory;
  try {
    if (trainer.run(of.steps, memory, watch) != train::run_end::reached) return std::nullopt;
  } catch (const lindyn::non_finite_error&) {
    watch.diverged(trainer.steps());
  }
  return std::move(watch.seen);
}

/// Trains, several at a time, those of the runs that aren't finished, and keeps each as soon as it is.
/// \param folder    of finished runs
/// \param stop      asked behind each step; true ends all
/// \param finished  hears of each that is, one call at a time
inline void train_missing(const std::filesystem::path& folder, const std::vector<planned_run>& runs, int threads,
                          const std::function<bool()>& stop,
                          const std::function<void(const planned_run&, const history&)>& finished) {
  std::mutex telling;
  lindyn::parallel_chunks(static_cast<index>(runs.size()), 1, threads, [&](index run, index, index, int) {
    const planned_run& plan = runs[static_cast<std::size_t>(run)];
    if (stop() || std::filesystem::exists(run_files(folder, plan).record)) return;
    const auto record = std::visit([&](const auto& rule) { return train_run(plan, rule, stop); }, make_rule(plan.of));
    if (!record) return;
    const std::scoped_lock lock(telling);
    write_record(folder, plan, *record);
    finished(plan, *record);
  });
}

}  // namespace examples::critical_window
