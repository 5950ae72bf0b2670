// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The experiments, in the order in which they are made: each a list of trainings.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "planned_run.hpp"

namespace examples::critical_window {

/// How much of an experiment is made.
struct extent {
  int seeds = 0;       ///< of each setting; 0: as many as the experiment has by itself
  bool quick = false;  ///< networks and numbers of steps of a test: a hundredth of the steps
};

/// What varies, and the trainings.
struct experiment {
  std::string name, about;
  std::vector<planned_run> runs;
};

/// The step `at` of the published experiments, in an experiment of this extent.
[[nodiscard]] inline double scaled_step(const extent& all, double at) { return all.quick ? at / 100 : at; }

namespace detail {

/// Puts the trainings of an experiment together.
class planner {
public:
  planner(const extent& all, std::string name, std::string about, int seeds)
      : all_(all), seeds_(all.seeds > 0 ? all.seeds : seeds), result_{std::move(name), std::move(about), {}} {
    if (!all_.quick) return;
    usual.keys = 4, usual.anchors = 3, usual.training_pairs = 6;
    usual.width = usual.hidden = 16;
    usual.batch = 8;
  }

  /// What runs have in common; run() sets seeds, steps, decay and its mode.
  settings usual;

  /// Trainings of `steps` steps, in steps of the published experiments, from each seed, or from the first `seeds` alone.
  void run(const std::string& condition, const std::string& mode, decay_window when, double steps,
           int seeds = std::numeric_limits<int>::max()) {
    settings of = usual;
    of.decay_mode = mode;
    of.steps = std::lround(scaled_step(all_, steps));
    of.evaluate_every = std::max<index>(1, std::lround(scaled_step(all_, 100)));
    when.begin = scaled_step(all_, when.begin);
    when.end = scaled_step(all_, when.end);
    for (int seed = 1; seed <= std::min(seeds, seeds_); ++seed) {
      of.seed = of.batch_seed = static_cast<std::uint64_t>(seed);
      result_.runs.emplace_back(result_.name, condition, when, of);
    }
  }

  [[nodiscard]] experiment result() && { return std::move(result_); }

private:
  extent all_;
  int seeds_;
  experiment result_;
};

/// The decay modes that differ at a constant learning rate, where `ratio` is `absolute`.
inline const std::vector<std::string> modes{"lr_scaled", "absolute", "coupled_l2"};

[[nodiscard]] inline experiment plan_modes(const extent& all) {
  planner plan(all, "modes", "decay mode x where the window lies, 20,000 steps", 3);
  plan.run("none", "coupled_l2", {}, 20'000);
  for (const std::string& mode : modes) {
    plan.run("always", mode, decay_window::of_budget(0, 20'000), 20'000);
    plan.run("always at the window's rate", mode, {0, 20'000, 0.004}, 20'000);
    for (double onset = 0; onset <= 15'000; onset += 2'500)
      plan.run("window", mode, {onset, onset + 5'000, 0.004}, 20'000);
  }
  plan.run("window", "ratio", {5'000, 10'000, 0.004}, 20'000, 1);  // the same as absolute
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_onset(const extent& all) {
  planner plan(all, "onset", "decay mode x onset of the first 500 steps, windows of 5,000, 7,500 steps", 3);
  for (const std::string& mode : modes)
    for (double onset = 0; onset <= 500; onset += 50) plan.run("window", mode, {onset, onset + 5'000, 0.004}, 7'500);
  return std::move(plan).result();
}

}  // namespace detail

/// All experiments.
[[nodiscard]] inline std::vector<experiment> experiments(const extent& all) {
  return {detail::plan_modes(all), detail::plan_onset(all)};
}

}  // namespace examples::critical_window
