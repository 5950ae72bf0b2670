// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the value of a map changes: boundaries and regions.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>

namespace lindyn::sweep {

/// For each cell of a map how far it is from the nearest cell with another value: 1 for the two cells of which the
/// boundary lies between, counted in steps to any of eight neighbours (so that the cells "within one cell of the
/// boundary" are those with 1, and cells further than that have a ring of equal cells around them). All cells of a map of
/// one value are rows + columns away.
/// \param winners  rows x columns values
[[nodiscard]] inline std::vector<index> boundary_distance(matrix_view<const double> winners) {
  std::vector<index> distance(static_cast<std::size_t>(winners.size()), winners.rows + winners.columns);
  std::queue<std::pair<index, index>> next;
  const auto for_each_neighbour = [&](index row, index column, auto&& work) {
    for (index r = std::max<index>(0, row - 1); r <= std::min(winners.rows - 1, row + 1); ++r)
      for (index c = std::max<index>(0, column - 1); c <= std::min(winners.columns - 1, column + 1); ++c) work(r, c);
  };
  const auto at = [&](index row, index column) -> index& {
    return distance[static_cast<std::size_t>(row * winners.columns + column)];
  };
  for (index row = 0; row < winners.rows; ++row)
    for (index column = 0; column < winners.columns; ++column)
      for_each_neighbour(row, column, [&](index r, index c) {
        if (winners(r, c) == winners(row, column) || at(row, column) == 1) return;
        at(row, column) = 1;
        next.emplace(row, column);
      });
  for (; !next.empty(); next.pop()) {
    const index row = next.front().first, column = next.front().second, one_more = at(row, column) + 1;
    for_each_neighbour(row, column, [&](index r, index c) {
      if (at(r, c) <= one_more) return;
      at(r, c) = one_more;
      next.emplace(r, c);
    });
  }
  return distance;
}

/// A straight piece of a boundary, from one end to the other.
struct segment {
  double x1 = 0;  ///< first end, on the second axis
  double y1 = 0;  ///< first end, on the first axis
  double x2 = 0;  ///< other end, on the second axis
  double y2 = 0;  ///< other end, on the first axis
};

/// The boundary as it is drawn: the sides that cells of different values have in common. Cells end half-way to their
/// neighbours; those at an end of an axis reach as far to either side.
/// \param over    two axes of two values or more: the first is y, the second x
/// \param values  one for each cell of the grid
/// Throws argument_error for other axes, shape_error for another number of values.
[[nodiscard]] inline std::vector<segment> boundary_segments(const grid& over, std::span<const double> values) {
  require(over.axes().size() == 2, "over.axes().size()", over.axes().size(), "2");
  require_extent("values.size()", values.size(), over.size());
  const auto ends_of = [](const axis& along) {
    require(along.count() >= 2, along.name() + ".count", along.count(), "at least 2");
    const std::vector<double>& at = along.values();
    std::vector<double> ends{at[0] - (at[1] - at[0]) / 2};
    for (std::size_t i = 1; i < at.size(); ++i) ends.push_back(std::midpoint(at[i - 1], at[i]));
    ends.push_back(at.back() + (at.back() - at[at.size() - 2]) / 2);
    return ends;
  };
  const std::vector<double> x = ends_of(over.axes()[1]), y = ends_of(over.axes()[0]);
  const std::size_t columns = x.size() - 1, rows = y.size() - 1;
  const auto value = [&](std::size_t row, std::size_t column) { return values[row * columns + column]; };
  std::vector<segment> result;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      if (column > 0 && value(row, column - 1) != value(row, column))
        result.push_back({x[column], y[row], x[column], y[row + 1]});
      if (row > 0 && value(row - 1, column) != value(row, column))
        result.push_back({x[column], y[row], x[column + 1], y[row]});
    }
  return result;
}

/// The number of connected regions of equal value (by the four neighbours that share an edge).
[[nodiscard]] inline index region_count(matrix_view<const double> values) {
  std::vector<bool> seen(static_cast<std::size_t>(values.size()));
  index regions = 0;
  std::vector<std::pair<index, index>> open;
  for (index start = 0; start < values.size(); ++start) {
    if (seen[static_cast<std::size_t>(start)]) continue;
    ++regions;
    const double value = values.data[start];
    open.emplace_back(start / values.columns, start % values.columns);
    while (!open.empty()) {
      const index row = open.back().first, column = open.back().second;
      open.pop_back();
      if (row < 0 || row >= values.rows || column < 0 || column >= values.columns || values(row, column) != value)
        continue;
      const auto place = static_cast<std::size_t>(row * values.columns + column);
      if (seen[place]) continue;
      seen[place] = true;
      for (const index step : {-1, 1}) {
        open.emplace_back(row + step, column);
        open.emplace_back(row, column + step);
      }
    }
  }
  return regions;
}

}  // namespace lindyn::sweep
