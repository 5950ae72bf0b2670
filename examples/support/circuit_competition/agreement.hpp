// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where two phase diagrams are compared, and where the boundary runs.

#include <algorithm>
#include <cmath>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/sweep/boundary.hpp>
#include <lindyn/sweep/grid.hpp>

namespace examples::circuit_competition {

/// Who wins in a cell: 1 the context, -1 the weights, 0 neither. Throws non_finite_error for NaN and infinities.
[[nodiscard]] inline std::vector<double> winners(std::vector<double> preferences) {
  lindyn::require_finite("preferences", preferences);
  for (double& each : preferences) each = each > 0 ? 1 : each < 0 ? -1 : 0;
  return preferences;
}

/// A diagram of two axes as a matrix, the first axis being the rows.
[[nodiscard]] inline lindyn::matrix_view<const double> rows_of(const lindyn::sweep::grid& grid,
                                                               const std::vector<double>& values) {
  return {values.data(), grid.axes()[0].count(), grid.axes()[1].count()};
}

/// How far two diagrams agree.
struct comparison {
  std::vector<lindyn::index> distance;      ///< of each cell from the boundary of the first: 1 is at it
  std::vector<bool> same;                   ///< whether both have the same winner
  lindyn::index compared = 0, agreed = 0;   ///< cells further than one cell from the boundary
  lindyn::index near = 0, near_agreed = 0;  ///< the others
  lindyn::index undecided = 0;              ///< cells, of all, where the second is within 2 standard errors of 0
  double largest_difference = 0;            ///< of the preferences, over the cells that are compared

  [[nodiscard]] double share() const { return static_cast<double>(agreed) / static_cast<double>(compared); }
};

/// Compares preferences; the boundary is that of `reduced`. Throws non_finite_error for NaN and infinities.
/// \param errors  standard errors of `full`
[[nodiscard]] inline comparison compare(const lindyn::sweep::grid& grid, const std::vector<double>& reduced,
                                        const std::vector<double>& full, const std::vector<double>& errors) {
  const auto predicted = winners(reduced), found = winners(full);
  comparison result{lindyn::sweep::boundary_distance(rows_of(grid, predicted)), {}};
  for (std::size_t cell = 0; cell < predicted.size(); ++cell) {
    const bool same = predicted[cell] == found[cell];
    result.same.push_back(same);
    result.undecided += std::abs(full[cell]) < 2 * errors[cell];
    if (result.distance[cell] > 1) {
      ++result.compared;
      result.agreed += same;
      result.largest_difference = std::max(result.largest_difference, std::abs(reduced[cell] - full[cell]));
    } else {
      ++result.near;
      result.near_agreed += same;
    }
  }
  return result;
}

/// Appends the edges between cells of different winners as lines: at what time, x, y, dx, dy, the second axis being x.
inline void append_boundary(lindyn::io::csv_writer& csv, const lindyn::sweep::grid& grid, double time,
                            const std::vector<double>& preferences) {
  for (const auto& [x1, y1, x2, y2] : lindyn::sweep::boundary_segments(grid, winners(preferences)))
    csv.row(time, x1, y1, x2 - x1, y2 - y1);
}

}  // namespace examples::circuit_competition
