// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How much of the work each pair of heads does at a point of the manifold.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace lindyn::circuit {

/// By what pairs are compared.
enum class measure {
  /// What the loss rises by when the second head can't make use of the first, all of composition_places being zero. It
  /// asks what is needed, by whatever coordinates it is done. The default.
  needed,
  /// How far below that of zero weights the loss is when a pair's three core coordinates are all that there is: what is
  /// sufficient. It overlooks that the same may be done by other coordinates: if layer 1 attends to its own place,
  /// `out:31` does what `out:3` does.
  alone,
  /// The product of the three core coordinates, if all of them are positive, else 0.
  product
};

/// What one pair of heads does.
struct standing {
  head_pair pair;                ///< which one
  double needed = 0;             ///< see measure::needed; in units of the loss; may be negative
  double alone = 0;              ///< see measure::alone; in units of the loss; may be negative
  double product = 0;            ///< see measure::product
  std::array<double, 3> core{};  ///< alpha, beta, gamma

  /// The one of the three.
  [[nodiscard]] double by(measure which) const noexcept {
    return which == measure::needed ? needed : which == measure::alone ? alone : product;
  }
};

/// How far the first of two pairs is ahead of the second.
struct ranking {
  std::size_t first = 0;  ///< place of the pair with the largest measure among the standings; the earlier one of equals
  std::size_t second = 0;  ///< likewise of the next
  double lead = 0;         ///< 1 - second / first, in [0, 1]; 0 for equals, and where the first isn't positive
};

/// The standings of all pairs (head_pairs) at a point of the manifold. It costs two evaluations of the loss for each
/// pair, and two more. Throws shape_error for another number of coordinates, argument_error as core_places.
[[nodiscard]] inline std::vector<standing> standings(reduced::relational_model& model,
                                                     std::span<const double> coordinates,
                                                     const core_selections& selections = {}) {
  const manifold::layout& layout = model.basis().layout();
  std::vector<double> changed(coordinates.size());
  const double whole = model.loss(coordinates), nothing = model.loss(changed);
  std::vector<standing> result;
  for (const head_pair& pair : head_pairs(layout)) {
    standing of{.pair = pair};
    std::ranges::copy(coordinates, changed.begin());
    for (const index place : composition_places(layout, pair)) changed[static_cast<std::size_t>(place)] = 0;
    of.needed = model.loss(changed) - whole;
    std::ranges::fill(changed, 0.0);
    const auto core = core_places(layout, pair, selections);
    for (std::size_t i = 0; i < core.size(); ++i) {
      const auto place = static_cast<std::size_t>(core[i]);
      changed[place] = of.core[i] = coordinates[place];
    }
    of.alone = nothing - model.loss(changed);
    if (std::ranges::min(of.core) > 0) of.product = of.core[0] * of.core[1] * of.core[2];
    result.push_back(of);
  }
  return result;
}

/// Who is first, who is second, and by how much. Throws argument_error unless there are two standings.
[[nodiscard]] inline ranking rank(std::span<const standing> of, measure by = measure::needed) {
  require(of.size() >= 2, "standings.size()", of.size(), "at least 2, as in a network of two layers");
  std::vector<std::size_t> order(of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t place) { return of[place].by(by); });
  ranking result{order[0], order[1]};
  const double first = of[order[0]].by(by), second = of[order[1]].by(by);
  if (first > 0) result.lead = std::clamp(1 - second / first, 0.0, 1.0);
  return result;
}

}  // namespace lindyn::circuit
