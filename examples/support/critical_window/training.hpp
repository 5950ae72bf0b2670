// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Trains what isn't finished yet: what runs have in common that differ in their decay alone is trained once.

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/train/branches.hpp>

#include "../progress_line.hpp"
#include "../resources.hpp"
#include "../train_transformer/training.hpp"
#include "network_parts.hpp"
#include "record.hpp"

namespace examples::critical_window {

namespace model = lindyn::model;
namespace optimizer = lindyn::optimizer;
namespace train = lindyn::train;

/// Runs on the same data with the same network and optimiser, which may differ in start, batches and decay.
/// \tparam RuleOptions  of the optimiser
template <class RuleOptions>
class family {
public:
  using rule = typename RuleOptions::template rule<float>;
  using trainer = train::trainer<train::set_objective<network>, rule>;

  /// \param runs  at least one, all of the same family_key
  family(std::vector<planned_run> runs, const RuleOptions& options)
      : plans_(std::move(runs)), rule_(options), what_(plans_.front().of), net_(what_.shape) {
    std::vector<std::string> starts;
    for (const planned_run& plan : plans_) {
      settings start = plan.of;  // those of one start differ in nothing else
      start.decay = start.decay_mode = "";
      const std::string key = train_transformer::to_json(start).dump();
      const auto number = std::ranges::find(starts, key) - starts.begin();
      if (number == std::ssize(starts)) starts.push_back(key);
      branches_.push_back({.start = number, .steps = plan.of.steps, .options = options_of(plan)});
      if (plan.forget_at) branches_.back().interventions.push_back(train::forget_moments<trainer>(*plan.forget_at));
      if (const auto& scaling = plan.scaling)
        branches_.back().interventions.push_back(train::scale_weights<trainer>(
            scaling->at, matrices_of(net_.parameters(), scaling->modules), scaling->factor));
    }
  }

  /// Steps that are made, as many as the runs have in all if each were trained alone.
  [[nodiscard]] train::branch_plan plan() const { return {net_.parameters(), branches_}; }

  /// Processor time of a step, in seconds, by a short training.
  [[nodiscard]] double seconds_per_step() const {
    std::vector<float> weights(static_cast<std::size_t>(net_.parameters().size()));
    trainer training = make(0, branches_.front().options, weights);
    network::workspace memory;
    training.run(10, memory);
    const double begin = examples::resources_used().cpu_seconds;
    training.run(60, memory);
    return (examples::resources_used().cpu_seconds - begin) / 50;
  }

  /// Trains all to their ends, or until `stop` returns true.
  /// \param finished  hears of each record as soon as it is complete, one call at a time
  void run(int threads, const std::function<bool()>& stop,
           const std::function<void(const planned_run&, const history&)>& finished) {
    watch(
        threads, stop, [&](const network& net, const planned_run& plan) { return recorder(net, what_.data, plan.of); },
        [&](const planned_run& plan, const trainer& training, recorder& seen, const train::branch_end& end) {
          if (end.failure) seen.diverged(training.steps());
          finished(plan, seen.seen());
        });
  }

  /// The same with other observers than recorders: observer_of(net, plan) makes them, and
  /// finished(plan, training, observer, end) hears of each run.
  template <class ObserverOf, class Finished>
  void watch(int threads, const std::function<bool()>& stop, const ObserverOf& observer_of, const Finished& finished) {
    const auto plan_of = [&](index run) -> const planned_run& { return plans_[static_cast<std::size_t>(run)]; };
    train::run_branches(
        net_.parameters(), branches_, {.threads = threads, .tell = examples::progress_line(), .stop = stop},
        [&](index run, const train::trainer_options& options, std::span<float> weights) {
          return make(run, options, weights);
        },
        [&](index run) { return observer_of(net_, plan_of(run)); },
        [&](index run, const trainer& training, auto& seen, const train::branch_end& end) {
          finished(plan_of(run), training, seen, end);
        });
  }

private:
  [[nodiscard]] train::trainer_options options_of(const planned_run& plan) const {
    auto result = train_transformer::make_training(plan.of, net_.parameters());
    if (plan.adjust) plan.adjust(net_.parameters(), result);
    return result;
  }

  /// A training of that run, at its start, of these options.
  [[nodiscard]] trainer make(index run, const train::trainer_options& options, std::span<float> weights) const {
    const settings& of = plans_[static_cast<std::size_t>(run)].of;
    std::ranges::copy(model::initial_weights<float>(what_.shape, train_transformer::make_start(of)), weights.begin());
    return trainer(train::set_objective(net_, what_.data.training, train_transformer::make_batches(of)), weights,
                   rule(net_.parameters().size(), rule_), options);
  }

  std::vector<planned_run> plans_;
  RuleOptions rule_;
  train_transformer::experiment what_;
  network net_;
  std::vector<train::branch<trainer>> branches_;
};

/// What runs of one family have in common.
[[nodiscard]] inline std::string family_key(settings of) {
  of.seed = of.batch_seed = 0;
  of.gamma = 0;
  of.steps = of.evaluate_every = 1;
  of.decay = of.decay_mode = "";
  return train_transformer::to_json(of).dump();
}

/// Those of the runs that aren't finished, each once, by families. A record that can't be read isn't made again.
[[nodiscard]] inline std::vector<std::vector<planned_run>> missing_families(const std::filesystem::path& folder,
                                                                            const std::vector<planned_run>& runs) {
  std::vector<std::string> keys;
  std::vector<std::vector<planned_run>> result;
  std::set<std::string> names;
  for (const planned_run& plan : runs) {
    if (!read_record(folder, plan).missing() || !names.insert(plan.name()).second) continue;
    const std::string key = family_key(plan.of);
    const auto place = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
    if (place == keys.size()) {
      keys.push_back(key);
      result.emplace_back();
    }
    result[place].push_back(plan);
  }
  return result;
}

/// Calls use(family) for the runs of one family. Throws argument_error for gradient descent, which no experiment has: it
/// isn't compiled.
template <class Use>
void with_family(std::vector<planned_run> runs, const Use& use) {
  const auto chosen = train_transformer::make_rule(runs.front().of);
  std::visit(
      [&]<class RuleOptions>(const RuleOptions& rule) {
        if constexpr (std::same_as<RuleOptions, optimizer::sgd_options>) {
          lindyn::require(false, "optimizer", runs.front().of.optimizer, "adam or momentum");
        } else {
          family<RuleOptions> together(std::move(runs), rule);
          use(together);
        }
      },
      chosen);
}

/// Trains, several at a time, those of the runs that aren't finished, and keeps each as soon as it is.
/// \param folder    of finished runs
/// \param stop      asked every few steps; true ends all
/// \param finished  hears of each that is, one call at a time
inline void train_missing(const std::filesystem::path& folder, const std::vector<planned_run>& runs, int threads,
                          const std::function<bool()>& stop,
                          const std::function<void(const planned_run&, const history&)>& finished) {
  for (auto& together : missing_families(folder, runs)) {
    if (stop()) return;
    with_family(std::move(together), [&](auto& of) {
      of.run(threads, stop, [&](const planned_run& plan, const history& record) {
        write_record(folder, plan, record);
        finished(plan, record);
      });
    });
  }
}

}  // namespace examples::critical_window
