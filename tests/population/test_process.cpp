// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <vector>

#include <lindyn/population/process.hpp>

namespace {
using namespace lindyn::population;

struct any_pair {
  [[nodiscard]] process_sizes sizes() const { return {3, 2, 1}; }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    tokens[0] = choose.token(0, choose.tokens());
    positions[0] = choose.position(0, choose.positions());
    return choose.among(3);
  }
};
static_assert(process<any_pair>);
static_assert(!process<int>);

TEST_CASE("random choices are a function of the generator, whatever was removed from the pools before") {
  random_choices choose({10, 4, 3});
  const auto draw = [&] {
    choose.use(lindyn::counter_generator(7, 2));
    std::vector<int> result;
    auto& from = choose.tokens();
    for (int place = 0; place < 10; ++place) {
      result.push_back(choose.token(place, from));
      from.remove(result.back());
    }
    return result;
  };
  const std::vector<int> first = draw();
  CHECK(draw() == first);
  CHECK(choose.positions().size() == 4);
}

TEST_CASE("classes of tokens have pools of their own") {
  random_choices choose({10, 4, 3});
  auto& even = choose.tokens({0, 10, 2});
  auto& last = choose.tokens({7, 10});
  even.remove(8);
  last.remove(9);
  CHECK(even.size() == 4);
  CHECK(last.size() == 2);
  CHECK(last.contains(8));
  CHECK(&choose.tokens({0, 10, 2}) == &even);
  CHECK(even.size() == 5);  // nothing removed, as it was asked for again
  CHECK(last.size() == 2);
  CHECK(&choose.tokens({0, 10}) == &choose.tokens());
}

TEST_CASE("a choice without alternative is taken as it is") {
  random_choices choose({5, 5, 1});
  CHECK(choose.token(0, 4) == 4);
  CHECK(choose.position(0, 3) == 3);
}

TEST_CASE("integers are uniform, places have their weights and chances their probability") {
  random_choices choose({4, 4, 1});
  choose.use(lindyn::counter_generator(3));
  const int draws = 40'000;
  std::vector<int> counts(5);
  int hits = 0;
  for (int draw = 0; draw < draws; ++draw) {
    ++counts[static_cast<std::size_t>(choose.among(5))];
    hits += choose.chance(0.3);
  }
  for (const int count : counts) CHECK(std::abs(count - draws * 0.2) < 5 * std::sqrt(draws * 0.2 * 0.8));
  CHECK(std::abs(hits - draws * 0.3) < 5 * std::sqrt(draws * 0.3 * 0.7));
  const std::vector<int> weights{2, 0, 1, 5};
  std::vector<int> places(4);
  for (int draw = 0; draw < draws; ++draw) ++places[static_cast<std::size_t>(choose.weighted(weights))];
  for (std::size_t place = 0; place < 4; ++place) {
    const double p = weights[place] / 8.0;
    CHECK(std::abs(places[place] - draws * p) <= 5 * std::sqrt(draws * p * (1 - p)));
  }
  CHECK_FALSE(choose.chance(0));
  CHECK(choose.chance(1));
}

}  // namespace
