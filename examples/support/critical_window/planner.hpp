// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an experiment is, and how its trainings are put together.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "planned_run.hpp"

namespace examples::critical_window {

/// How much of an experiment is made.
struct extent {
  int seeds = 0;       ///< of each setting; 0: as many as the experiment has by itself
  int at_least = 0;    ///< no fewer of them, also where the experiment has fewer
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
  planner(const extent& all, std::string name, const std::string& about, int seeds)
      : all_(all),
        seeds_(std::max(all.seeds > 0 ? all.seeds : seeds, all.at_least)),
        result_{std::move(name), about + (all.quick ? " (quick: a hundredth of these steps)" : ""), {}} {}

  /// What runs have in common; run() sets seeds, decay and its mode.
  settings usual;

  /// The scale of weights at the start, and with it that of the embeddings, an eighth of it.
  void set_gamma(double gamma) {
    usual.gamma = gamma;
    usual.embedding_scale = gamma / 8;
  }

  /// Trainings of `steps` steps, in steps of the published experiments, from each seed, or from the first `seeds` alone.
  /// \return them, to be changed until the next call
  std::span<planned_run> run(const std::string& condition, const std::string& mode, decay_window when, double steps,
                             int seeds = std::numeric_limits<int>::max()) {
    settings of = all_.quick ? quick(usual) : usual;
    of.decay_mode = mode;
    of.steps = std::lround(scaled_step(all_, steps));
    of.evaluate_every = std::lround(scaled_step(all_, static_cast<double>(usual.evaluate_every)));
    when.begin = scaled_step(all_, when.begin);
    when.end = scaled_step(all_, when.end);
    const std::size_t before = result_.runs.size();
    for (int seed = 1; seed <= std::min(seeds, seeds_); ++seed) {
      of.seed = of.batch_seed = static_cast<std::uint64_t>(seed);
      result_.runs.emplace_back(result_.name, condition, when, of);
    }
    return std::span(result_.runs).subspan(before);
  }

  /// The experiment, each training once.
  [[nodiscard]] experiment result() && {
    std::set<std::string> names;
    std::erase_if(result_.runs, [&](const planned_run& each) { return !names.insert(each.name()).second; });
    return std::move(result_);
  }

private:
  /// Small data where there are such, and a small network.
  [[nodiscard]] static settings quick(settings of) {
    of.keys = 4, of.anchors = 3, of.training_pairs = 6;
    of.modulus = 7;
    of.width = of.hidden = 16;
    of.batch = std::max<index>(1, of.batch / 16);
    return of;
  }

  extent all_;
  int seeds_;
  experiment result_;
};

}  // namespace detail

}  // namespace examples::critical_window
