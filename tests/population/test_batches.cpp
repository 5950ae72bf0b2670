// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <lindyn/population/finite/batches.hpp>

#include "../complaint.hpp"

namespace {
using lindyn::population::batch_sampler;
using lindyn::population::batches;
using lindyn::population::sampling;
using lindyn::testing::complaint;

std::vector<int> batch(batch_sampler& draw, int step) {
  const auto members = draw(step);
  return {members.begin(), members.end()};
}

TEST_CASE("a step's batch is a function of the seed and the step, in whatever order steps are asked for") {
  for (const auto how : {sampling::with_replacement, sampling::epochs, sampling::whole}) {
    CAPTURE(static_cast<int>(how));
    batch_sampler draw(10, {.size = 4, .seed = 3, .draw = how}), again(10, {.size = 4, .seed = 3, .draw = how});
    std::vector<std::vector<int>> forwards;
    for (int step = 0; step < 8; ++step) forwards.push_back(batch(draw, step));
    for (const int step : {7, 2, 3, 2, 0, 6, 1, 5, 4})
      CHECK(batch(again, step) == forwards[static_cast<std::size_t>(step)]);
    batch_sampler other(10, {.size = 4, .seed = 4, .draw = how});
    CHECK((batch(other, 0) == forwards[0]) == (how == sampling::whole));
  }
}

TEST_CASE("an epoch is a permutation of the set, in batches of which the last may be short") {
  batch_sampler draw(4704, {.size = 512, .seed = 1, .draw = sampling::epochs});
  REQUIRE(draw.steps_per_epoch() == 10);
  std::vector<std::vector<int>> epochs(2);
  for (int step = 0; step < 20; ++step) {
    const auto members = batch(draw, step);
    CHECK(members.size() == (step % 10 == 9 ? 96 : 512));
    auto& epoch = epochs[static_cast<std::size_t>(step / 10)];
    epoch.insert(epoch.end(), members.begin(), members.end());
  }
  CHECK(epochs[0] != epochs[1]);
  std::vector<int> whole(4704);
  std::iota(whole.begin(), whole.end(), 0);
  for (auto& epoch : epochs) {
    CHECK(epoch != whole);
    std::ranges::sort(epoch);
    CHECK(epoch == whole);
  }
  batch_sampler even(8, {.size = 4, .draw = sampling::epochs}), larger(3, {.size = 4, .draw = sampling::epochs});
  CHECK(even.steps_per_epoch() == 2);
  CHECK(batch(even, 1).size() == 4);
  CHECK(larger.steps_per_epoch() == 1);
  CHECK(batch(larger, 5).size() == 3);
}

TEST_CASE("the permutations of epochs are uniform") {
  std::vector<int> found(6);
  const int epochs = 6000;
  batch_sampler draw(3, {.size = 3, .draw = sampling::epochs});
  for (int step = 0; step < epochs; ++step) {
    const auto order = draw(step);
    ++found[static_cast<std::size_t>(2 * order[0] + (order[1] > order[2] ? 1 : 0))];
  }
  // Each order is binomial with mean 1000, standard deviation sqrt(6000 x 1/6 x 5/6) = 28.9: five of those.
  for (const int count : found) CHECK(std::abs(count - 1000) < 145);
}

TEST_CASE("with replacement every member is equally likely in every place, and may come twice") {
  std::vector<int> found(5);
  bool repeated = false;
  batch_sampler draw(5, {.size = 4, .seed = 2});
  CHECK(draw.steps_per_epoch() == 2);
  for (int step = 0; step < 2500; ++step) {
    auto members = batch(draw, step);
    for (const int member : members) ++found[static_cast<std::size_t>(member)];
    std::ranges::sort(members);
    repeated = repeated || std::ranges::adjacent_find(members) != members.end();
  }
  // Each member is binomial with mean 2000, standard deviation sqrt(10000 x 1/5 x 4/5) = 40: five of those.
  for (const int count : found) CHECK(std::abs(count - 2000) < 200);
  CHECK(repeated);
}

TEST_CASE("the whole set comes in its order at every step, whatever the size of batches") {
  batch_sampler draw(4, {.size = 2, .draw = sampling::whole});
  CHECK(draw.steps_per_epoch() == 1);
  for (const int step : {0, 1, 1000}) CHECK(batch(draw, step) == std::vector{0, 1, 2, 3});
}

TEST_CASE("batches stay in the memory that the sampler began with") {
  for (const auto how : {sampling::with_replacement, sampling::epochs}) {
    batch_sampler draw(30, {.size = 30, .draw = how});
    const int* memory = draw(0).data();
    bool stayed = true;
    for (int step = 1; step < 50; ++step) stayed = stayed && draw(step).data() == memory;
    CHECK(stayed);
  }
}

TEST_CASE("empty sets, empty batches and steps before the first are refused") {
  CHECK(complaint([] { return batch_sampler(0, {}); }) == "count = 0 is not allowed: it must be in [1, 2^31)");
  CHECK(complaint([] { return batch_sampler(5, {.size = 0}); }) == "size = 0 is not allowed: it must be in [1, 2^31)");
  CHECK(complaint([] { return batch_sampler(5, {})(-1); }) == "step = -1 is not allowed: it must be at least 0");
  CHECK(complaint([] { return batch_sampler(5, {.draw = static_cast<sampling>(3)}); }) ==
        "draw = 3 is not allowed: it must be with_replacement, epochs or whole");
}

}  // namespace
