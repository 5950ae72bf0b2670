// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/population/pool.hpp>

namespace {
using lindyn::population::pool;

std::vector<int> members(const pool& from) {
  std::vector<int> result;
  for (int place = 0; place < from.size(); ++place) result.push_back(from[place]);
  return result;
}

TEST_CASE("a pool holds what was not removed, as a set would") {
  lindyn::counter_generator generator(1);
  pool from(20);
  std::vector<bool> inside(20, true);
  for (int step = 0; step < 15; ++step) {
    const auto member = static_cast<int>(lindyn::uniform_index(generator, 20));
    from.remove(member);  // removing twice does nothing
    inside[static_cast<std::size_t>(member)] = false;
    CHECK(from.size() == std::ranges::count(inside, true));
    std::vector<int> sorted = members(from);
    std::ranges::sort(sorted);
    std::vector<int> expected;
    for (int candidate = 0; candidate < 20; ++candidate) {
      CHECK(from.contains(candidate) == inside[static_cast<std::size_t>(candidate)]);
      if (inside[static_cast<std::size_t>(candidate)]) expected.push_back(candidate);
    }
    CHECK(sorted == expected);
  }
}

TEST_CASE("restoring undoes removals last first, so that the order of the members comes back too") {
  pool from(9);
  const std::vector<int> whole = members(from);
  from.remove(3);
  from.remove(8);
  const std::vector<int> part = members(from);
  const auto removals = from.removals();
  for (const int member : {0, 8, 5, 7}) from.remove(member);
  CHECK(from.size() == 4);
  from.restore(removals);
  CHECK(members(from) == part);
  from.restore();
  CHECK(members(from) == whole);
  CHECK(from.capacity() == 9);
}

TEST_CASE("a pool may begin with a class of integers, to which it comes back") {
  pool odd(9, {3, 8, 2});
  CHECK(members(odd) == std::vector<int>{3, 5, 7});
  CHECK(odd.capacity() == 9);
  for (int candidate = 0; candidate < 9; ++candidate)
    CHECK(odd.contains(candidate) == (candidate == 3 || candidate == 5 || candidate == 7));
  odd.remove(4);  // was never in
  odd.remove(3);
  CHECK(odd.size() == 2);
  odd.restore();
  CHECK(members(odd) == std::vector<int>{3, 5, 7});
  CHECK(members(pool(4, {0, 4})) == members(pool(4)));
  CHECK_THROWS_AS(pool(4, {2, 5}), lindyn::argument_error);
  CHECK_THROWS_AS(pool(4, {-1, 3}), lindyn::argument_error);
  CHECK_THROWS_AS(pool(4, {2, 2}), lindyn::argument_error);
  CHECK_THROWS_AS(pool(4, {0, 4, 0}), lindyn::argument_error);
}

TEST_CASE("a pool needs a member") {
  CHECK_THROWS_AS(pool(0), lindyn::argument_error);
  CHECK_THROWS_AS(pool(-4), lindyn::argument_error);
}

}  // namespace
