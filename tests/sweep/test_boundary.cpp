// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/sweep/boundary.hpp>

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name

TEST_CASE("distances from boundaries are those found by looking at all pairs of cells") {
  // Three values in patches of random sizes.
  const index rows = 13, columns = 17;
  counter_generator generator(5);
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (int patch = 0; patch < 6; ++patch) {
    const index top = uniform_index(generator, rows), left = uniform_index(generator, columns);
    for (index r = top; r < std::min(rows, top + 5); ++r)
      for (index c = left; c < std::min(columns, left + 6); ++c)
        values[static_cast<std::size_t>(r * columns + c)] = patch % 3;
  }
  const matrix_view<const double> map{values.data(), rows, columns};
  const auto distance = sweep::boundary_distance(map);
  for (index cell = 0; cell < map.size(); ++cell) {
    index nearest = rows + columns;
    for (index other = 0; other < map.size(); ++other)
      if (map.data[other] != map.data[cell])
        nearest = std::min(
            nearest, std::max(std::abs(cell / columns - other / columns), std::abs(cell % columns - other % columns)));
    CHECK(distance[static_cast<std::size_t>(cell)] == nearest);
  }
}

TEST_CASE("regions and boundaries of small maps") {
  const std::vector<double> corners{0, 0, 1,  //
                                    0, 1, 0,  //
                                    1, 0, 0};
  CHECK(sweep::region_count({corners.data(), 3, 3}) == 5);
  CHECK(sweep::boundary_distance({corners.data(), 3, 3}) == std::vector<index>(9, 1));
  const std::vector<double> halves{2, 2, 2, -1, -1,  //
                                   2, 2, 2, -1, -1};
  CHECK(sweep::region_count({halves.data(), 2, 5}) == 2);
  CHECK(sweep::boundary_distance({halves.data(), 2, 5}) == std::vector<index>{3, 2, 1, 1, 2, 3, 2, 1, 1, 2});
  const std::vector<double> one(6, 4);
  CHECK(sweep::region_count({one.data(), 2, 3}) == 1);
  CHECK(sweep::boundary_distance({one.data(), 2, 3}) == std::vector<index>(6, 5));
  CHECK(sweep::region_count({one.data(), 0, 0}) == 0);
}

TEST_CASE("a boundary is drawn half-way between the cells of different values, on axes of any spacing") {
  const sweep::grid over({sweep::axis::listed("y", {0, 1, 3}), sweep::axis::listed("x", {10, 20})});
  const auto drawn = sweep::boundary_segments(over, std::vector<double>{5, 5,  //
                                                                        5, 7,  //
                                                                        7, 7});
  const std::vector<std::array<double, 4>> expected{{15, 0.5, 15, 2}, {15, 0.5, 25, 0.5}, {5, 2, 15, 2}};
  REQUIRE(drawn.size() == expected.size());
  for (std::size_t i = 0; i < drawn.size(); ++i)
    CHECK(std::array{drawn[i].x1, drawn[i].y1, drawn[i].x2, drawn[i].y2} == expected[i]);
  CHECK(sweep::boundary_segments(over, std::vector<double>(6, 1.0)).empty());
  CHECK_THROWS_AS((void)sweep::boundary_segments(over, std::vector<double>(5)), shape_error);
  const auto alone = sweep::axis::listed("z", {1});
  CHECK_THROWS_AS((void)sweep::boundary_segments(sweep::grid({alone}), std::vector<double>(1)), argument_error);
  CHECK_THROWS_AS((void)sweep::boundary_segments(sweep::grid({alone, over.axes()[1]}), std::vector<double>(2)),
                  argument_error);
}

}  // namespace
