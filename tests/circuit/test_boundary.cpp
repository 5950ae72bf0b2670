// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <lindyn/circuit/race/boundary.hpp>
#include <lindyn/core/random.hpp>

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
  const auto distance = circuit::boundary_distance(map);
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
  CHECK(circuit::region_count({corners.data(), 3, 3}) == 5);
  CHECK(circuit::boundary_distance({corners.data(), 3, 3}) == std::vector<index>(9, 1));
  const std::vector<double> halves{2, 2, 2, -1, -1,  //
                                   2, 2, 2, -1, -1};
  CHECK(circuit::region_count({halves.data(), 2, 5}) == 2);
  CHECK(circuit::boundary_distance({halves.data(), 2, 5}) == std::vector<index>{3, 2, 1, 1, 2, 3, 2, 1, 1, 2});
  const std::vector<double> one(6, 4);
  CHECK(circuit::region_count({one.data(), 2, 3}) == 1);
  CHECK(circuit::boundary_distance({one.data(), 2, 3}) == std::vector<index>(6, 5));
  CHECK(circuit::region_count({one.data(), 0, 0}) == 0);
}

}  // namespace
