// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include <lindyn/core/random.hpp>

using lindyn::counter_generator;
using lindyn::draw_distinct;
using lindyn::philox4x32;
using lindyn::standard_normal;
using lindyn::uniform_index;
using lindyn::uniform_real;

namespace {

using words = std::array<std::uint32_t, 4>;

/// Whether `count` of `draws` fits the probability within five standard errors.
bool fits(std::int64_t count, std::int64_t draws, double probability) {
  const double expected = static_cast<double>(draws) * probability;
  return std::abs(static_cast<double>(count) - expected) <= 5 * std::sqrt(expected * (1 - probability));
}

}  // namespace

TEST_CASE("Philox4x32-10 gives its authors' known answers") {
  // Source: kat_vectors of Random123 (Salmon, Moraes, Dror, Shaw).
  static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
                words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// The golden values fix the streams for ever: results that were published with a seed are to come back. They were
// computed by an independent program.

TEST_CASE("the stream of a generator is fixed") {
  counter_generator first(1);
  for (const std::uint64_t expected :
       {0xe50a0ebce3e80670u, 0xb615aa2795f222c0u, 0xdfc5ccbeac08141bu, 0xa7f6609379c07a47u, 0x8e76cc9d3f55b3f0u})
    CHECK(first() == expected);
  counter_generator wide(0x123456789abcdef0u, 0xfedcba9876543210u);
  for (const std::uint64_t expected : {0x2d4a0d9390aafdc4u, 0x98b4ef2a13f86edcu, 0x6cadf41d1d237aa0u})
    CHECK(wide() == expected);
}

TEST_CASE("what is drawn from a stream is fixed") {
  counter_generator reals(2);
  for (const double expected : {0.4972801207158358, 0.39949916651819817, 0.23096983625409184, 0.4951816219752112})
    CHECK(uniform_real(reals) == expected);

  counter_generator indices(3);
  for (const std::int64_t expected : {1, 7, 5, 6, 7, 3, 1, 7, 5, 6, 1, 5})
    CHECK(uniform_index(indices, 10) == expected);

  counter_generator normals(4);
  // Logarithm and cosine may differ by a rounding error between C libraries.
  for (const double expected : {1.5172288065901391, 1.3251208169134554, -2.044385914493686, 0.927123202110404})
    CHECK(standard_normal(normals) == doctest::Approx(expected).epsilon(1e-14));

  counter_generator choices(5);
  std::vector<int> pool(10);
  std::iota(pool.begin(), pool.end(), 0);
  std::array<int, 6> six;
  draw_distinct(choices, pool, six);
  CHECK(six == std::array{0, 9, 3, 2, 8, 5});
  std::array<int, 4> four;
  draw_distinct(choices, pool, four);
  CHECK(four == std::array{6, 1, 3, 7});
}

TEST_CASE("a generator is one of the standard library's, and works at compile time") {
  static_assert(std::uniform_random_bit_generator<counter_generator>);
  constexpr auto first = [] { return counter_generator(1)(); }();
  static_assert(first == 0xe50a0ebce3e80670u);
}

TEST_CASE("a copy goes on where the original is") {
  counter_generator original(9, 4);
  original();
  counter_generator copy = original;
  CHECK(copy == original);
  for (int i = 0; i < 5; ++i) CHECK(copy() == original());
}

TEST_CASE("streams and seeds differ from each other") {
  std::vector<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (std::uint64_t stream = 0; stream < 50; ++stream) firsts.push_back(counter_generator(seed, stream)());
  std::ranges::sort(firsts);
  CHECK(std::ranges::adjacent_find(firsts) == firsts.end());
}

TEST_CASE("uniform numbers lie in [0, 1) with the right mean and variance") {
  counter_generator generator(11);
  constexpr int draws = 100'000;
  double sum = 0, squares = 0, smallest = 1, largest = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = uniform_real(generator);
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
    smallest = std::min(smallest, u);
    largest = std::max(largest, u);
  }
  CHECK(smallest >= 0);
  CHECK(smallest < 1e-3);
  CHECK(largest < 1);
  CHECK(largest > 1 - 1e-3);
  CHECK(std::abs(sum / draws - 0.5) < 5 * std::sqrt(1.0 / 12 / draws));
  CHECK(std::abs(squares / draws - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / draws));
}

TEST_CASE("uniform indices are equally likely") {
  constexpr std::int64_t draws = 100'000;
  for (const std::int64_t count : {1, 2, 7, 64}) {
    counter_generator generator(12, static_cast<std::uint64_t>(count));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < draws; ++i) ++counts.at(static_cast<std::size_t>(uniform_index(generator, count)));
    for (const auto found : counts) CHECK(fits(found, draws, 1.0 / static_cast<double>(count)));
  }
}

TEST_CASE("uniform indices are without bias where the range of the generator is no multiple of their count") {
  // Of 2^64 = (8/3) count inputs, multiplication alone would give a third of the indices 3 inputs and others 2.
  constexpr std::int64_t count = 3 * (std::int64_t{1} << 61), draws = 30'000;
  counter_generator generator(13);
  std::array<std::int64_t, 3> counts{};
  for (std::int64_t i = 0; i < draws; ++i) ++counts[static_cast<std::size_t>(uniform_index(generator, count) % 3)];
  for (const auto found : counts) CHECK(fits(found, draws, 1.0 / 3));
}

TEST_CASE("an index below a count that is not positive is refused") {
  counter_generator generator(1);
  CHECK_THROWS_AS((void)uniform_index(generator, 0), lindyn::argument_error);
  CHECK_THROWS_AS((void)uniform_index(generator, -3), lindyn::argument_error);
}

TEST_CASE("normal numbers have the moments and the tail of the standard normal law") {
  counter_generator generator(14);
  constexpr int draws = 200'000;
  double sum = 0, squares = 0, fourth = 0;
  std::int64_t beyond_two = 0;
  for (int i = 0; i < draws; ++i) {
    const double z = standard_normal(generator);
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
    if (std::abs(z) > 2) ++beyond_two;
  }
  CHECK(std::abs(sum / draws) < 5 * std::sqrt(1.0 / draws));
  CHECK(std::abs(squares / draws - 1) < 5 * std::sqrt(2.0 / draws));
  CHECK(std::abs(fourth / draws - 3) < 5 * std::sqrt(96.0 / draws));
  CHECK(fits(beyond_two, draws, std::erfc(std::sqrt(2.0))));
}

TEST_CASE("every ordered choice of distinct numbers is equally likely, whatever order the pool is in") {
  counter_generator generator(15);
  std::vector<int> pool{3, 1, 0, 2};
  std::map<std::array<int, 2>, std::int64_t> counts;
  constexpr std::int64_t draws = 60'000;
  for (std::int64_t i = 0; i < draws; ++i) {
    std::array<int, 2> chosen;
    draw_distinct(generator, pool, chosen);
    ++counts[chosen];
  }
  CHECK(counts.size() == 12);
  for (const auto& [chosen, found] : counts) {
    CHECK(chosen[0] != chosen[1]);
    CHECK(fits(found, draws, 1.0 / 12));
  }
  CHECK(std::ranges::is_permutation(pool, std::array{0, 1, 2, 3}));
}

TEST_CASE("all of a pool can be drawn, but not more") {
  counter_generator generator(16);
  std::vector<int> pool{0, 1, 2};
  std::array<int, 3> all;
  draw_distinct(generator, pool, all);
  CHECK(std::ranges::is_permutation(all, std::array{0, 1, 2}));
  std::array<int, 4> more;
  CHECK_THROWS_AS(draw_distinct(generator, pool, more), lindyn::argument_error);
}
