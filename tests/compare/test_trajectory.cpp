// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include <lindyn/compare/trajectory.hpp>

namespace {
using lindyn::compare::crossing;
using lindyn::compare::largest_difference;

struct record {
  int step;
  double loss;
};

const std::vector<record> falling{{0, 4.0}, {10, 3.0}, {30, 1.0}, {40, 2.0}};

TEST_CASE("a loss meets a level between the records around it") {
  const auto at = [](double level) { return crossing(falling, level, &record::step, &record::loss); };
  CHECK(at(3.5) == 5.0);
  CHECK(at(3.0) == 10.0);
  CHECK(at(1.5) == 25.0);
  CHECK(at(5.0) == 0.0);  // there from the start
  CHECK(!at(0.5));        // never
  CHECK(!crossing(std::vector<record>{}, 1.0, &record::step, &record::loss));
}

TEST_CASE("the time of a crossing is read by any function of a record") {
  CHECK(crossing(
            falling, 3.5, [](const record& r) { return 0.5 * r.step; }, &record::loss) == 2.5);
}

TEST_CASE("the largest difference is that of the entries farthest apart") {
  const std::array a{1.0, -2.0, 3.0}, b{1.5, 1.0, 3.0};
  CHECK(largest_difference(a, b) == 3.0);
  CHECK(largest_difference(a, a) == 0.0);
  CHECK(largest_difference({}, {}) == 0.0);
  CHECK_THROWS_AS((void)largest_difference(a, std::array{1.0}), lindyn::shape_error);
}

}  // namespace
