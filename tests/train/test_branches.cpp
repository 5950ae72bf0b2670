// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/schedule/shapes.hpp>
#include <lindyn/train/branch_plan.hpp>
#include <lindyn/train/branches.hpp>
#include <lindyn/train/interventions.hpp>
#include <lindyn/train/trainer.hpp>

#include "../complaint.hpp"
#include "noisy_bowl.hpp"

namespace {
namespace train = lindyn::train;
using lindyn::index;
using lindyn::optimizer::decay_mode;
using lindyn::schedule::window;
using lindyn::testing::complaint;
using bowl = lindyn::testing::noisy_bowl<double>;
using trainer = train::trainer<bowl, lindyn::optimizer::adam<double>>;
using run = train::branch<trainer>;

const auto start = lindyn::testing::bowl_start<double>();
const auto table = lindyn::testing::bowl_table();

/// All that an observer hears, until it ends the run.
struct record {
  index ending = -1;
  std::vector<std::pair<index, double>> heard = {};
  bool operator()(const train::observation<double>& here) {
    heard.emplace_back(here.step, here.evaluation.loss + here.weights.front() + here.decay);
    return here.step != ending;
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

/// A start from which trainings diverge.
constexpr index too_steep = 13;

trainer make(const run& of, const train::trainer_options& options, std::span<double> weights) {
  std::ranges::copy(start, weights.begin());
  return {bowl{.seed = static_cast<std::uint64_t>(of.start), .height = of.start == too_steep ? 1e200 : 1}, weights,
          lindyn::optimizer::adam<double>(table.size()), options};
}

outcome alone(const run& of) {
  outcome result{start, {}};
  trainer training = make(of, of.options, result.weights);
  bowl::workspace memory;
  for (const auto& each : of.interventions) {
    training.run(each.step - 1, memory, result.seen);
    training.step(memory);
    each.act(training);
  }
  training.run(of.steps, memory, result.seen);
  return result;
}

using finisher = std::function<void(index, const trainer&, record&, const train::branch_end&)>;

std::vector<train::branch_end> train_all(const std::vector<run>& runs, const train::branches_options& options,
                                         const finisher& finished, index ending = -1) {
  return train::run_branches(
      table, runs, options,
      [&](index which, const train::trainer_options& of, std::span<double> weights) {
        return make(runs[static_cast<std::size_t>(which)], of, weights);
      },
      [=](index) { return record{ending}; }, finished);
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
  runs.push_back(runs.back());
  runs.back().interventions.push_back(train::scale_weights<trainer>(40, {"weight", "bias"}, 0.5));
  runs.push_back({.start = 1, .steps = 60, .options = decay(window{10, 35, 0.01})});
  runs.back().options.groups = {
      {.name = "early", .matrices = {"weight"}, .decay_schedule = lindyn::schedule::schedule(window{0, 35, 0.01})},
      {.name = "others", .matrices = {"embedding", "bias"}}};
  for (const int threads : {1, 3}) {
    std::vector<outcome> found(runs.size());
    const auto ends = train_all(
        runs, {.threads = threads, .stride = 7},
        [&](index which, const trainer& training, record& seen, const train::branch_end& end) {
          CHECK(end.why == train::run_end::reached);
          found[static_cast<std::size_t>(which)] = {{training.weights().begin(), training.weights().end()}, seen};
        });
    for (const auto& end : ends) CHECK(end.why == train::run_end::reached);
    for (std::size_t number = 0; number < runs.size(); ++number) {
      CAPTURE(number);
      const outcome expected = alone(runs[number]);
      CHECK(found[number].weights == expected.weights);
      CHECK(found[number].seen.heard == expected.seen.heard);
    }
  }
}

/// Windows of 25 steps in runs of 60.
std::vector<run> windows(const std::vector<double>& onsets, index seed = 1) {
  std::vector<run> runs;
  for (const double onset : onsets)
    runs.push_back({.start = seed, .steps = 60, .options = decay(window{onset, onset + 25, 0.01})});
  return runs;
}

TEST_CASE("runs have in common what is before the first of their windows") {
  const train::branch_plan plan(table, windows({10, 30, 30}));
  REQUIRE(plan.parts().size() == 3);
  const auto &trunk = plan.parts()[0], &early = plan.parts()[1], &late = plan.parts()[2];
  CHECK((trunk.begin == 0 && trunk.end == 10 && !trunk.parent && !trunk.last));
  CHECK(trunk.runs == std::vector<index>{0, 1, 2});
  for (const auto* part : {&early, &late}) CHECK((part->begin == 10 && part->end == 60 && part->parent == 0));
  CHECK((early.last && late.last && early.runs.size() + late.runs.size() == 3));
  CHECK(plan.steps() == 110);
  CHECK(plan.steps_alone() == 180);
}

TEST_CASE("runs that make no sense, or differ in more than decay, are named before anything is trained") {
  const auto says = [](auto&& change) {
    auto runs = windows({10, 20});
    change(runs[1]);
    return complaint([&] { train_all(runs, {}, [](auto&&...) { FAIL("trained"); }); });
  };
  CHECK(says([](run& of) { of.options.learning_rate = 0.2; }).starts_with("runs[1].options.learning_rate = "));
  CHECK(says([](run& of) { of.options.learning_rate_schedule = 2; }).find("learning_rate_schedule") !=
        std::string::npos);
  CHECK(says([](run& of) { of.options.clip_norm = 1; }).starts_with("runs[1].options.clip_norm"));
  CHECK(says([](run& of) { of.steps = -1; }).starts_with("runs[1].steps = -1"));
  CHECK(says([](run& of) { of.interventions = {train::forget_moments<trainer>(61)}; })
            .starts_with(
                "runs[1].interventions = forget_moments at step 61 is not allowed: it must be at steps in [0, 60]"));
  CHECK(says([](run& of) {
          of.options = decay(window{10, 20, 2}, decay_mode::absolute);
        }).starts_with("runs[1]: decay.rate of group 'decayed' = 2"));
  CHECK(complaint([] { train_all(windows({1}), {.threads = 0}, {}); }).starts_with("threads = 0"));
  CHECK(complaint([] { train_all(windows({1}), {.stride = 0}, {}); }).starts_with("stride = 0"));
}

TEST_CASE("runs that diverge or are ended by their observer in what they have in common end all, and others go on") {
  auto runs = windows({10, 20}, too_steep);
  runs.push_back(windows({10}).front());
  std::vector<std::string> finished;
  const auto ends = train_all(
      runs, {.threads = 2},
      [&](index which, const trainer& training, record& seen, const train::branch_end& end) {
        finished.push_back(std::to_string(which) + " at " + std::to_string(training.steps()));
        CHECK(end.failure.has_value() == (which < 2));
        if (which < 2) CHECK(seen.heard.empty());
        seen.heard.emplace_back(-1, 0.);  // isn't seen by the others that end with it
      },
      30);
  for (const std::size_t which : {0, 1}) {
    CHECK(!ends[which].why);
    CHECK(ends[which].failure.value_or("").find("step 0") != std::string::npos);
  }
  CHECK(ends[2].why == train::run_end::observed);
  std::ranges::sort(finished);
  CHECK(finished == std::vector<std::string>{"0 at 0", "1 at 0", "2 at 30"});
}

TEST_CASE("stopped runs aren't finished, and come out the same when they are asked for again") {
  const auto runs = windows({10, 20, 30, 40});
  std::vector<index> finished;
  std::vector<outcome> found(runs.size());
  int asked = 0;
  const auto ends = train_all(runs, {.stride = 10, .stop = [&] { return ++asked == 15; }},
                              [&](index which, auto&&...) { finished.push_back(which); });
  REQUIRE(!finished.empty());
  REQUIRE(finished.size() < runs.size());
  std::vector<run> missing;
  for (std::size_t which = 0; which < runs.size(); ++which) {
    const bool there = std::ranges::find(finished, static_cast<index>(which)) != finished.end();
    CHECK(ends[which].why == (there ? train::run_end::reached : train::run_end::stopped));
    if (!there) missing.push_back(runs[which]);
  }
  train_all(missing, {}, [&](index which, const trainer& training, auto&&...) {
    const auto expected = alone(missing[static_cast<std::size_t>(which)]);
    CHECK(std::ranges::equal(training.weights(), expected.weights));
  });
}

TEST_CASE("an error of whoever hears of finished runs ends all of them, and is thrown") {
  const auto fail = [](auto&&...) { throw std::runtime_error("the disk is full"); };
  CHECK_THROWS_WITH_AS(train_all(windows({10, 20, 30}), {.threads = 2}, fail), "the disk is full", std::runtime_error);
}

TEST_CASE("interventions do what their names say, once") {
  std::vector<double> weights;
  trainer training = make(windows({0}).front(), decay(0.), weights = start);
  bowl::workspace memory;
  training.run(5, memory);
  const std::vector<double> before(training.weights().begin(), training.weights().end());
  const auto halve = train::scale_weights<trainer>(5, {"weight"}, 0.5);
  CHECK(halve.name == "scale_weights by 0.5: weight");
  halve.act(training);
  const auto& scaled = table.find("weight");
  for (index place = 0; place < table.size(); ++place) {
    const bool within = place >= scaled.offset && place < scaled.offset + scaled.size();
    const auto at = static_cast<std::size_t>(place);
    CHECK(training.weights()[at] == (within ? before[at] / 2 : before[at]));
  }
  CHECK(training.steps() == 5);
  CHECK(training.rule().steps() == 5);
  train::forget_moments<trainer>(5).act(training);
  CHECK(training.rule() == lindyn::optimizer::adam<double>(table.size()));
  CHECK(training.steps() == 5);
  CHECK(complaint([] { (void)train::scale_weights<trainer>(5, {}, -1); }).starts_with("factor = -1"));
  CHECK(complaint([&] { train::scale_weights<trainer>(5, {"wait"}, 1).act(training); }).starts_with("name = wait"));
}

}  // namespace
