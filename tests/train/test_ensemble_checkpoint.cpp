// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/train/batched_ensemble.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/ensemble_checkpoint.hpp>
#include <lindyn/train/trainer.hpp>

#include "batched_bowl.hpp"
#include "noisy_bowl.hpp"

namespace {
namespace train = lindyn::train;
using lindyn::index;
using bowl = lindyn::testing::noisy_bowl<double>;
using trainer = train::trainer<bowl, lindyn::optimizer::adam<double>>;
using ensemble = train::ensemble<trainer>;

/// Where all runs begin, and how many weights that are.
const auto start = lindyn::testing::bowl_start<double>();
const auto size = static_cast<index>(start.size());

/// Decay sets in at different steps.
train::trainer_options options_of(index run) {
  return {.learning_rate = 0.1,
          .decay_schedule = lindyn::schedule::window{.begin = 4, .end = 9.0 + static_cast<double>(run), .level = 0.1},
          .decay_mode = lindyn::optimizer::decay_mode::coupled_l2};
}

/// Runs whose seeds differ too.
ensemble make_runs(index count) {
  return {count, size, [](index run, std::span<double> weights) {
            std::ranges::copy(start, weights.begin());
            return trainer(bowl{.seed = static_cast<std::uint64_t>(run)}, weights,
                           lindyn::optimizer::adam<double>(size), options_of(run));
          }};
}

void advance(ensemble& runs, index until) {
  runs.run(until, {.threads = 2, .stride = 3}, [](index) { return [](const auto&) {}; });
}

bool same(const ensemble& left, const ensemble& right, index run) {
  return std::ranges::equal(left.weights().row(run), right.weights().row(run)) &&
         left[run].rule() == right[run].rule() && left[run].steps() == right[run].steps();
}

struct temporary_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("lindyn_ensemble_" + std::to_string(::getpid()));
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

TEST_CASE("an ensemble goes on from its checkpoints with the bits of one that was never interrupted") {
  const temporary_folder folder;
  auto whole = make_runs(3);
  advance(whole, 15);
  for (const index interrupted : {0, 4, 7, 10}) {
    auto first = make_runs(3);
    advance(first, interrupted);
    bowl::workspace memory;
    first[1].run(interrupted + 2, memory);  // runs need not be of one step
    train::save_checkpoints(folder.path / "made", first);
    auto second = make_runs(3);
    CHECK(train::resume_checkpoints(folder.path / "made", second) == 3);
    for (index run = 0; run < 3; ++run) CHECK(same(second, first, run));
    advance(second, 15);
    for (index run = 0; run < 3; ++run) CHECK(same(second, whole, run));
  }
  // Two files a run: those of earlier checkpoints are gone.
  const std::filesystem::directory_iterator files(folder.path / "made");
  CHECK(std::distance(begin(files), end(files)) == 6);
}

TEST_CASE("an ensemble may have grown, and what its runs have to agree in is checked for each") {
  const temporary_folder folder;
  auto two = make_runs(2), three = make_runs(3), whole = make_runs(3);
  advance(two, 6);
  advance(whole, 15);
  const auto seeds = [](index run) { return train::settings{{"initial_seed", std::to_string(10 + run)}}; };
  train::save_checkpoints(folder.path, two, seeds);
  CHECK(train::resume_checkpoints(folder.path, three, seeds) == 2);
  CHECK(three[2].steps() == 0);
  advance(three, 15);
  for (index run = 0; run < 3; ++run) CHECK(same(three, whole, run));

  try {
    train::resume_checkpoints(folder.path, two, [](index) { return train::settings{{"initial_seed", "10"}}; });
    CHECK(false);
  } catch (const train::configuration_error& fault) {
    CHECK(fault.argument() == "initial_seed");
    CHECK(std::string(fault.what()).find("run-1.json") != std::string::npos);
  }
}

TEST_CASE("an ensemble of one pass has the same files, and either goes on from the other's") {
  using bowls = lindyn::testing::batched_bowl;
  using batched = train::batched_ensemble<bowls, lindyn::optimizer::adam_options>;
  const auto make_batched = [] {
    return batched(
        4, size, {},
        [](index run, std::span<double> weights) {
          std::ranges::copy(start, weights.begin());
          return train::batched_run<bowls>{bowls{{.seed = static_cast<std::uint64_t>(run)}}, options_of(run)};
        },
        bowls::workspace{});
  };
  const temporary_folder folder;
  const auto same_bits = [](batched& left, const ensemble& right, index run) {
    return std::ranges::equal(left[run].weights(), right.weights().row(run)) && left[run].rule() == right[run].rule() &&
           left[run].steps() == right[run].steps() && left[run].observed() == right[run].observed();
  };
  auto first = make_batched();
  first.run(8, {}, [](index) { return [](const auto&) {}; });
  train::save_checkpoints(folder.path, first);
  auto second = make_runs(4), whole = make_runs(4);
  CHECK(train::resume_checkpoints(folder.path, second) == 4);
  for (index run = 0; run < 4; ++run) CHECK(same_bits(first, second, run));
  advance(second, 10);
  bowl::workspace memory;
  second[2].run(13, memory);  // runs need not be of one step
  train::save_checkpoints(folder.path, second);
  auto third = make_batched();
  CHECK(train::resume_checkpoints(folder.path, third) == 4);
  for (index run = 0; run < 4; ++run) CHECK(same_bits(third, second, run));
  third.run(15, {}, [](index) { return [](const auto&) {}; });
  advance(whole, 15);
  for (index run = 0; run < 4; ++run) {
    CHECK(third[run].steps() == 15);
    const auto near = [](double left, double right) { return std::abs(left - right) <= 1e-12; };  // entries are about 1
    CHECK(std::ranges::equal(third[run].weights(), whole.weights().row(run), near));
  }
}

TEST_CASE("folders without checkpoints and damaged ones are refused") {
  const temporary_folder folder;
  auto runs = make_runs(2);
  CHECK_THROWS_AS(train::resume_checkpoints(folder.path, runs), lindyn::file_error);
  train::save_checkpoints(folder.path, runs);
  std::ofstream(train::checkpoint_path(folder.path, 1)) << "{}";
  CHECK_THROWS_AS(train::resume_checkpoints(folder.path, runs), lindyn::file_error);
  std::ofstream(folder.path / "file") << "in the way";
  CHECK_THROWS_AS(train::save_checkpoints(folder.path / "file", runs), lindyn::file_error);
}

}  // namespace
