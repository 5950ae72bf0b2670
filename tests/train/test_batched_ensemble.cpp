// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/train/batched_ensemble.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/trainer.hpp>

#include "batched_bowl.hpp"
#include "noisy_bowl.hpp"

namespace {
namespace train = lindyn::train;
using lindyn::index;
using lindyn::optimizer::adam;
using lindyn::optimizer::adam_options;
using lindyn::optimizer::decay_mode;
using train::run_end;
using bowl = lindyn::testing::batched_bowl;
using host_bowl = lindyn::testing::noisy_bowl<double>;

const auto start = lindyn::testing::bowl_start<double>();
const auto size = static_cast<index>(start.size());

/// Of run `which` of four, which differ in all that runs can differ in.
train::trainer_options options_of(index which) {
  const decay_mode modes[] = {decay_mode::lr_scaled, decay_mode::absolute, decay_mode::ratio, decay_mode::coupled_l2};
  const auto number = static_cast<double>(which);
  train::trainer_options options{
      .learning_rate = 0.1 / (1 + number),
      .decay_schedule = lindyn::schedule::window{.begin = 2 + number, .end = 11 + 2 * number, .level = 0.1},
      .decay_mode = modes[which % 4],
      .clip_norm = which == 1 ? 2.5 : 0.0};
  if (which % 2 == 1)
    options.groups = {{.name = "most", .matrices = {"embedding", "bias"}},
                      {.name = "rest", .base_decay = 0.5, .matrices = {"weight"}}};
  return options;
}

void fill_start(index which, std::span<double> weights) {
  std::ranges::transform(start, weights.begin(), [&](double x) { return x * (1 + static_cast<double>(which)); });
}

host_bowl bowl_of(index which) { return {.seed = static_cast<std::uint64_t>(which)}; }

using ensemble = train::batched_ensemble<bowl, adam_options>;
using host_trainer = train::trainer<host_bowl, adam<double>>;

/// Two of them may have a fault: that of run 2 is found in its gradient, that of run 3 in what the optimiser remembers.
ensemble four_runs(bool faulty = false) {
  return {4, size, adam_options{.beta2 = 0.98},
          [=](index run, std::span<double> weights) {
            fill_start(run, weights);
            bowl objective{bowl_of(run)};
            if (faulty && run >= 2) {
              objective.fault_step = 3 * run;
              objective.fault = run == 2 ? std::nan("") : 1e200;
            }
            return train::batched_run<bowl>{objective, options_of(run)};
          },
          bowl::workspace{}};
}

host_trainer trainer_of(index run, std::span<double> weights) {
  fill_start(run, weights);
  return {bowl_of(run), weights, adam<double>(size, {.beta2 = 0.98}), options_of(run)};
}

/// Whether all entries agree to 1e-12 of the largest.
bool close(std::span<const double> left, std::span<const double> right) {
  const double largest = train::detail::largest_magnitude(right);
  return std::ranges::equal(left, right, [&](double a, double b) { return std::abs(a - b) <= 1e-12 * largest; });
}

/// Whether a run is as it would be alone.
bool as_alone(ensemble& runs, index run, index steps) {
  std::vector<double> weights(start.size());
  auto alone = trainer_of(run, weights);
  host_bowl::workspace memory;
  alone.run(steps, memory);
  const auto rule = runs[run].rule();
  return runs[run].steps() == steps && close(runs[run].weights(), weights) && rule.steps() == alone.rule().steps() &&
         close(rule.first_moment(), alone.rule().first_moment()) &&
         close(rule.second_moment(), alone.rule().second_moment());
}

const auto nobody = [](index) { return [](const auto&) {}; };

TEST_CASE("runs of different seeds, starts, rates, decay and clipping train in one pass as each of them would alone") {
  struct record {
    index step;
    double loss, weight, slope, learning_rate, decay;
  };
  const auto recorded = [](std::vector<record>& to) {
    return train::every(3, [&to](const train::observation<double>& here) {
      to.push_back(
          {here.step, here.evaluation.loss, here.weights[1], here.gradient[1], here.learning_rate, here.decay});
    });
  };
  std::vector<std::vector<record>> found(4);
  auto runs = four_runs();
  const auto observers = [&](index run) { return recorded(found[static_cast<std::size_t>(run)]); };
  for (const index until : {10, 21}) {
    const auto ends = runs.run(until, {.threads = 2}, observers);
    CHECK(std::ranges::count(ends, std::optional(run_end::reached)) == 4);
    for (index run = 0; run < 4; ++run) CHECK(as_alone(runs, run, until));
  }
  for (index run = 0; run < 4; ++run) {
    std::vector<double> weights(start.size());
    std::vector<record> expected;
    auto alone = trainer_of(run, weights);
    host_bowl::workspace memory;
    alone.run(21, memory, recorded(expected));
    const auto same = [](const record& a, const record& b) {
      const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-12 * std::abs(y); };
      return a.step == b.step && near(a.loss, b.loss) && near(a.weight, b.weight) && near(a.slope, b.slope) &&
             a.learning_rate == b.learning_rate && a.decay == b.decay;
    };
    CHECK(std::ranges::equal(found[static_cast<std::size_t>(run)], expected, same));
    CHECK(runs[run].describe() == alone.describe());
    CHECK(runs[run].warnings(21) == alone.warnings(21));
  }
}

TEST_CASE("a run that diverges stays as it was before that step, and the others don't notice") {
  auto runs = four_runs(true);
  for (const index until : {20, 30}) {
    const auto ends = runs.run(until, {}, nobody);
    for (index run = 0; run < 4; ++run) {
      const bool whole = run < 2;
      CHECK(ends[static_cast<std::size_t>(run)].has_value() == whole);
      CHECK(runs.failure(run).has_value() == !whole);
      CHECK(as_alone(runs, run, whole ? until : 3 * run));
    }
  }
  CHECK(runs.failure(2)->starts_with("gradient embedding[2] at step 6"));
  CHECK(runs.failure(3)->starts_with("second_moment embedding[2] at step 9"));
  runs.clear_failure(2);
  CHECK_FALSE(runs.run(30, {}, nobody)[2].has_value());  // it tries the same step again
  CHECK(as_alone(runs, 2, 6));
}

TEST_CASE("or it ends all of them, where that is asked for, and they can go on without it") {
  auto runs = four_runs(true);
  const train::ensemble_options stops{.on_divergence = train::divergence::stops};
  try {
    runs.run(20, stops, nobody);
    CHECK(false);
  } catch (const train::run_error& fault) {
    CHECK(fault.run() == 2);
    CHECK_THROWS_AS(std::rethrow_if_nested(fault), train::divergence_error);
  }
  for (const index run : {0, 1, 3}) CHECK(as_alone(runs, run, 6));
  CHECK_THROWS_AS(runs.run(20, stops, nobody), train::run_error);  // run 3
  runs.run(20, stops, nobody);
  for (const index run : {0, 1}) CHECK(as_alone(runs, run, 20));
}

TEST_CASE("observers end their own runs, errors and whoever stops end all, and they go on from there") {
  auto runs = four_runs();
  const auto impatient = [](index run) { return train::at({4}, [run](const auto&) { return run != 1; }); };
  const auto ends = runs.run(9, {}, impatient);
  for (index run = 0; run < 4; ++run) {
    CHECK(ends[static_cast<std::size_t>(run)] == (run == 1 ? run_end::observed : run_end::reached));
    CHECK(as_alone(runs, run, run == 1 ? 4 : 9));
  }
  CHECK(runs[1].observed());
  runs.run(9, {}, impatient);  // what run 1 was told isn't told again
  CHECK(as_alone(runs, 1, 9));
  const auto faulty = [](index run) {
    return [run](const auto& here) {
      if (run == 3 && here.step == 11) throw std::runtime_error("the disk is full");
    };
  };
  try {
    runs.run(20, {}, faulty);
    CHECK(false);
  } catch (const train::run_error& fault) {
    CHECK(std::string(fault.what()) == "run 3: the disk is full");
  }
  const auto stopped = runs.run(20, {.stride = 2, .stop = [&] { return runs[0].steps() >= 15; }}, nobody);
  CHECK(std::ranges::count(stopped, std::optional(run_end::stopped)) == 4);
  for (index run = 0; run < 4; ++run) CHECK(as_alone(runs, run, 15));
}

TEST_CASE("what makes no sense is refused by the number of its run") {
  const auto made = [](index runs, const auto& make) {
    return ensemble(runs, size, adam_options{}, make, bowl::workspace{});
  };
  const auto good = [](index run, std::span<double> weights) {
    fill_start(run, weights);
    return train::batched_run<bowl>{{bowl_of(run)}, {}};
  };
  CHECK_THROWS_AS(made(3, good), lindyn::shape_error);
  CHECK_THROWS_WITH_AS(made(4,
                            [](index run, std::span<double> weights) {
                              if (run != 2) fill_start(run, weights);
                              return train::batched_run<bowl>{{bowl_of(run)}, {}};
                            }),
                       "run 2: weights = all 0 is not allowed: it must be filled by make with those of the start",
                       train::run_error);
  CHECK_THROWS_AS(made(4,
                       [](index run, std::span<double> weights) {
                         fill_start(run, weights);
                         return train::batched_run<bowl>{{bowl_of(run)}, {.learning_rate = run == 1 ? -1.0 : 1}};
                       }),
                  train::run_error);
  auto runs = made(4, good);
  CHECK_THROWS_AS(runs.run(3, {.threads = 0}, nobody), lindyn::argument_error);
  CHECK_THROWS_AS(runs.run(3, {.stride = 0}, nobody), lindyn::argument_error);
  CHECK_THROWS_AS(runs[0].restart(1, runs[0].weights(), adam<double>(size, {.beta1 = 0.5})), lindyn::argument_error);
  CHECK_THROWS_AS(runs[0].restart(-1, runs[0].weights(), adam<double>(size)), lindyn::argument_error);
  CHECK_THROWS_AS(runs[0].restart(1, std::vector<double>(3), adam<double>(size)), lindyn::shape_error);
}

}  // namespace
