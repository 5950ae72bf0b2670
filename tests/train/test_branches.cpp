// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/schedule/shapes.hpp>
#include <lindyn/train/branch_plan.hpp>
#include <lindyn/train/branches.hpp>
#include <lindyn/train/trainer.hpp>

#include "noisy_bowl.hpp"

namespace {
namespace train = lindyn::train;
using lindyn::index;
using lindyn::optimizer::decay_mode;
using lindyn::schedule::window;
using bowl = lindyn::testing::noisy_bowl<double>;
using trainer = train::trainer<bowl, lindyn::optimizer::adam<double>>;
using run = train::branch<trainer>;

const auto start = lindyn::testing::bowl_start<double>();
const auto table = lindyn::testing::bowl_table();

/// All that an observer hears.
struct record {
  std::vector<std::pair<index, double>> heard;
  void operator()(const train::observation<double>& here) {
    heard.emplace_back(here.step, here.evaluation.loss + here.weights.front() + here.decay);
  }
};

/// How a run ends.
struct outcome {
  std::vector<double> weights;
  record seen;
};

train::trainer_options decay(lindyn::schedule::schedule of, decay_mode mode = decay_mode::coupled_l2) {
  return {.learning_rate = 0.1, .decay_schedule = std::move(of), .decay_mode = mode};
}

outcome alone(const run& of) {
  outcome result{start, {}};
  trainer training(bowl{.seed = static_cast<std::uint64_t>(of.start)}, result.weights,
                   lindyn::optimizer::adam<double>(table.size()), of.options);
  bowl::workspace memory;
  for (const auto& each : of.interventions) {
    training.run(each.step - 1, memory, result.seen);
    training.step(memory);
    each.act(training);
  }
  training.run(of.steps, memory, result.seen);
  return result;
}

std::vector<outcome> together(const std::vector<run>& runs, int threads) {
  std::vector<outcome> result(runs.size());
  const auto make = [&](index which, const train::trainer_options& options, std::span<double> weights) {
    std::ranges::copy(start, weights.begin());
    const index begun = runs[static_cast<std::size_t>(which)].start;
    return trainer(bowl{.seed = static_cast<std::uint64_t>(begun)}, weights,
                   lindyn::optimizer::adam<double>(table.size()), options);
  };
  const auto ends = train::run_branches(
      table, runs, {.threads = threads, .stride = 7}, make, [](index) { return record(); },
      [&](index which, trainer& training, record& seen, const train::branch_end& end) {
        CHECK(end.why == train::run_end::reached);
        result[static_cast<std::size_t>(which)] = {{training.weights().begin(), training.weights().end()}, seen};
      });
  for (const auto& end : ends) CHECK(end.why == train::run_end::reached);
  return result;
}

TEST_CASE("runs that share their past end with the bits of runs alone, and so do their observers") {
  std::vector<run> runs;
  for (const index onset : {0, 10, 20, 30})
    for (const auto mode : {decay_mode::coupled_l2, decay_mode::absolute})
      for (const index seed : {1, 2})
        runs.push_back(
            {.start = seed,
             .steps = 60,
             .options = decay(window{static_cast<double>(onset), static_cast<double>(onset + 25), 0.01}, mode)});
  runs.push_back({.start = 2, .steps = 45, .options = decay(0.)});
  runs.push_back({.start = 2, .steps = 60, .options = decay(0.)});
  runs.push_back({.start = 1, .steps = 60, .options = decay(window{10, 35, 0.01})});
  runs.back().interventions.push_back(train::forget_moments<trainer>(10));
  runs.push_back({.start = 1, .steps = 60, .options = decay(window{10, 35, 0.01})});
  runs.back().options.groups = {
      {.name = "early", .matrices = {"weight"}, .decay_schedule = lindyn::schedule::schedule(window{0, 35, 0.01})},
      {.name = "others", .matrices = {"embedding", "bias"}}};
  for (const int threads : {1, 3}) {
    const auto found = together(runs, threads);
    for (std::size_t number = 0; number < runs.size(); ++number) {
      CAPTURE(number);
      const outcome expected = alone(runs[number]);
      CHECK(found[number].weights == expected.weights);
      CHECK(found[number].seen.heard == expected.seen.heard);
    }
  }
}

}  // namespace
