// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/backend/plain.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/trainer.hpp>

#include "noisy_bowl.hpp"

namespace {
namespace train = lindyn::train;
using lindyn::index;
using lindyn::optimizer::adam;
using lindyn::optimizer::decay_mode;
using bowl = lindyn::testing::noisy_bowl<double>;
using train::run_end;

/// Where all runs begin, and how many weights that are.
const auto start = lindyn::testing::bowl_start<double>();
const auto size = static_cast<index>(start.size());

/// One type of each for all tests, as every other would be compiled for itself.
using watcher = std::function<bool(const train::observation<double>&)>;
using watchers = std::function<watcher(index)>;

/// Run `which` of five, whose rates and seeds differ; the one numbered `diverging` is far too steep.
auto trainer_of(index which, std::span<double> weights, index diverging = -1) {
  std::ranges::copy(start, weights.begin());
  const double rate = 0.1 / static_cast<double>(1 + which), height = which == diverging ? 1e30 : 1;
  return train::trainer(bowl{.seed = static_cast<std::uint64_t>(which), .height = height}, weights,
                        lindyn::optimizer::sgd<double>(size), {.learning_rate = rate});
}

using small_trainer = decltype(trainer_of(0, {}));
using small_ensemble = train::ensemble<small_trainer>;
using maker = std::function<small_trainer(index, std::span<double>)>;

small_ensemble five_runs(index diverging = -1) {
  return {5, size, maker([=](index run, std::span<double> weights) { return trainer_of(run, weights, diverging); })};
}

/// The weights of such a run behind so many steps, without an ensemble.
std::vector<double> alone(index which, index steps) {
  std::vector<double> weights(start.size());
  auto trainer = trainer_of(which, weights);
  bowl::workspace memory;
  trainer.run(steps, memory);
  return weights;
}

std::vector<double> weights_of(const small_ensemble& runs, index run) {
  const auto row = runs.weights().row(run);
  return {row.begin(), row.end()};
}

/// Sees nothing.
const watchers nobody = [](index) { return [](const auto&) { return true; }; };

TEST_CASE(
    "transformers of different seeds, starts, rates and decay train together as each of them would alone, bit for "
    "bit") {
  using net_type = lindyn::model::prenorm_transformer<float, lindyn::backend::plain>;
  const net_type net({.vocabulary = 7, .outputs = 7, .context = 3, .width = 8, .heads = 2, .layers = 2, .hidden = 16});
  const auto data = lindyn::population::anchor_composition({.keys = 4, .anchors = 3, .training_pairs = 6});
  const index total = net.parameters().size();
  const auto make = [&](index run, std::span<float> weights) {
    const auto number = static_cast<std::uint64_t>(run);
    const auto initial = lindyn::model::initial_weights<float>(
        net.shape(), {.gamma = 0.5 + 0.2 * static_cast<double>(run), .embedding_scale = 0.1, .seed = number});
    std::ranges::copy(initial, weights.begin());
    return train::trainer(
        train::set_objective(net, data.training, {.size = 5, .seed = number}), weights, adam<float>(total),
        {.learning_rate = run == 1 ? 3e-3 : 1e-2,
         .decay_schedule =
             lindyn::schedule::window{.begin = 2, .end = 6 + 2.0 * static_cast<double>(run), .level = 0.01},
         .decay_mode = run == 2 ? decay_mode::coupled_l2 : decay_mode::absolute});
  };
  using records = std::vector<std::vector<std::pair<double, std::int64_t>>>;
  const auto recorded = [](records& to) {
    return [&to](index run) {
      return [&to, run](const auto& here) {
        to[static_cast<std::size_t>(run)].emplace_back(here.evaluation.loss, here.evaluation.correct);
      };
    };
  };
  const index count = 4, steps = 21;
  records expected(count);
  std::vector<std::vector<float>> weights(count, std::vector<float>(static_cast<std::size_t>(total)));
  std::vector<adam<float>> rules;
  for (index run = 0; run < count; ++run) {
    auto trainer = make(run, weights[static_cast<std::size_t>(run)]);
    net_type::workspace memory;
    CHECK(trainer.run(steps, memory, recorded(expected)(run)) == run_end::reached);
    rules.push_back(trainer.rule());
  }
  CHECK(expected[0] != expected[3]);
  for (const int threads : {1, 3}) {
    records found(count);
    auto runs = train::make_ensemble<float>(count, total, make);
    const auto ends = runs.run(10, {.threads = threads, .stride = 4}, recorded(found));
    CHECK(std::ranges::count(ends, std::optional(run_end::reached)) == count);
    runs.run(steps, {.threads = threads, .stride = 3}, recorded(found));
    CHECK(found == expected);
    for (index run = 0; run < count; ++run) {
      CHECK(std::ranges::equal(runs.weights().row(run), weights[static_cast<std::size_t>(run)]));
      CHECK(runs[run].rule() == rules[static_cast<std::size_t>(run)]);
      CHECK(runs[run].steps() == steps);
    }
  }
}

TEST_CASE("weights stand run by run in one array, also of an ensemble that moved") {
  auto first = five_runs();
  const auto runs = std::move(first);
  CHECK(runs.count() == 5);
  CHECK(runs.weights().rows == 5);
  CHECK(runs.weights().columns == size);
  for (index run = 0; run < 5; ++run) CHECK(runs[run].weights().data() == runs.weights().row(run).data());
  CHECK(weights_of(runs, 3) == start);
}

TEST_CASE("a run that diverges is left out by name, and the others don't notice") {
  for (const int threads : {1, 2}) {
    auto runs = five_runs(2);
    for (const index until : {40, 60}) {
      const auto ends = runs.run(until, {.threads = threads, .stride = 7}, nobody);
      for (index run = 0; run < 5; ++run) {
        const auto end = ends[static_cast<std::size_t>(run)];
        CHECK(end.has_value() == (run != 2));
        CHECK(runs.failure(run).has_value() == (run == 2));
        if (run == 2) continue;
        CHECK(*end == run_end::reached);
        CHECK(weights_of(runs, run) == alone(run, until));
      }
    }
    CHECK(runs.failure(2)->find("at step " + std::to_string(runs[2].steps())) != std::string::npos);
    CHECK(runs[2].steps() < 40);
  }
}

TEST_CASE("a run that diverged goes on from another state, once its failure is cleared") {
  auto runs = five_runs(2);
  runs.run(30, {}, nobody);
  REQUIRE(runs.failure(2).has_value());
  runs[2].restart(30, start, runs[2].rule());
  CHECK_FALSE(runs.run(30, {}, nobody)[2].has_value());
  runs.clear_failure(2);
  CHECK(runs.run(30, {}, nobody)[2] == run_end::reached);
}

TEST_CASE("or it ends all of them, where that is asked for, and they can go on without it") {
  auto runs = five_runs(2);
  bool thrown = false;
  try {
    runs.run(40, {.threads = 2, .on_divergence = train::divergence::stops}, nobody);
  } catch (const train::run_error& fault) {
    thrown = true;
    CHECK(fault.run() == 2);
    CHECK(std::string(fault.what()).starts_with("run 2: "));
    CHECK_THROWS_AS(std::rethrow_if_nested(fault), train::divergence_error);
  }
  CHECK(thrown);
  CHECK(runs.failure(2).has_value());
  runs.run(40, {.threads = 2, .on_divergence = train::divergence::stops}, nobody);
  for (const index run : {0, 1, 3, 4}) CHECK(weights_of(runs, run) == alone(run, 40));
}

TEST_CASE("any other error ends all runs, names its own, and leaves them as they can go on") {
  for (const int threads : {1, 3}) {
    auto runs = five_runs();
    const watchers faulty = [](index run) {
      return [run](const auto& here) {
        if (run == 3 && here.step == 11) throw std::runtime_error("the disk is full");
        return true;
      };
    };
    try {
      runs.run(30, {.threads = threads, .stride = 4}, faulty);
      CHECK(false);
    } catch (const train::run_error& fault) {
      CHECK(std::string(fault.what()) == "run 3: the disk is full");
      CHECK_THROWS_AS(std::rethrow_if_nested(fault), std::runtime_error);
    }
    CHECK_FALSE(runs.failure(3).has_value());
    CHECK(runs[3].steps() == 11);
    runs.run(30, {.threads = threads}, nobody);
    for (index run = 0; run < 5; ++run) CHECK(weights_of(runs, run) == alone(run, 30));
  }
}

TEST_CASE("observers end their own run, the ensemble's stop all, and both go on when asked to") {
  for (const int threads : {1, 2}) {
    auto runs = five_runs();
    const watchers impatient = [](index run) { return [run](const auto& here) { return run != 1 || here.step < 8; }; };
    auto ends = runs.run(20, {.threads = threads, .stride = 3}, impatient);
    for (index run = 0; run < 5; ++run) {
      CHECK(ends[static_cast<std::size_t>(run)] == (run == 1 ? run_end::observed : run_end::reached));
      CHECK(runs[run].steps() == (run == 1 ? 8 : 20));
    }
    int asked = 0;
    ends = runs.run(100, {.threads = threads, .stride = 5, .stop = [&] { return ++asked == 4; }}, nobody);
    CHECK(asked >= 4);
    CHECK(asked <= 4 + threads);  // who was on the way still ends its stride
    CHECK(std::ranges::count(ends, std::optional(run_end::stopped)) == 5);
    runs.run(50, {.threads = threads}, nobody);
    for (index run = 0; run < 5; ++run) CHECK(weights_of(runs, run) == alone(run, 50));
  }
}

TEST_CASE("with one thread runs keep step, and progress is told in steps of all of them") {
  auto runs = five_runs();
  std::vector<double> told;
  std::vector<index> order;
  const watchers odd = [&](index run) {
    return [&order, run](const auto& here) {
      if (here.step % 2 == 1) order.push_back(10 * here.step + run);
      return true;
    };
  };
  const auto tell = [&](const lindyn::progress_report& report) {
    CHECK(report.task == "ensemble");
    CHECK(report.total == 30);
    told.push_back(report.done);
  };
  runs.run(6, {.stride = 2, .tell = tell}, odd);
  CHECK(order == std::vector<index>{10, 11, 12, 13, 14, 30, 31, 32, 33, 34, 50, 51, 52, 53, 54});
  CHECK(std::ranges::is_sorted(told));
  CHECK(told.back() == 30);
  double most = 0;
  runs.run(2,
           {.tell = [&](const lindyn::progress_report& report) { most = std::max(most, report.done / report.total); }},
           nobody);
  CHECK(most == 1);
}

TEST_CASE("ensembles without runs, with trainers of other weights, or with options that make no sense are refused") {
  const auto message = [](index count, index total, const maker& make) -> std::string {
    try {
      const small_ensemble runs(count, total, make);
    } catch (const lindyn::error& fault) {
      return fault.what();
    }
    return "";
  };
  const maker good = [](index run, std::span<double> weights) { return trainer_of(run, weights); };
  CHECK(message(0, size, good) == "runs = 0 is not allowed: it must be at least 1");
  CHECK(message(2, 0, good) == "total = 0 is not allowed: it must be at least 1");
  CHECK(message(2, size + 1, good).starts_with("run 0: weights.size() = 41"));
  std::vector<double> elsewhere(start.size());
  const maker astray = [&](index run, std::span<double>) { return trainer_of(run, elsewhere); };
  CHECK(message(2, size, astray).starts_with("run 0: trainer.weights() = an array elsewhere"));
  const maker forgetful = [](index run, std::span<double> weights) {
    auto trainer = trainer_of(run, weights);
    std::ranges::fill(weights, 0.0);
    return trainer;
  };
  CHECK(message(2, size, forgetful).starts_with("run 0: weights = all 0"));
  const maker failing = [](index run, std::span<double> weights) {
    if (run == 1) throw std::runtime_error("no such seed");
    return trainer_of(run, weights);
  };
  CHECK(message(2, size, failing) == "run 1: no such seed");
  auto runs = five_runs();
  CHECK_THROWS_AS(runs.run(5, {.threads = 0}, nobody), lindyn::argument_error);
  CHECK_THROWS_AS(runs.run(5, {.stride = 0}, nobody), lindyn::argument_error);
}

}  // namespace
