// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the winner of a race changes on the line between two starts, and how sharply.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/circuit/race/race.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace lindyn::circuit {

/// The change of the winner on the line from one start, at 0, to another, at 1.
struct crossing {
  double low = 0;           ///< the last place of the first start's winner that is known, by bisection
  double high = 1;          ///< the next place, at which another one wins
  race_result before = {};  ///< the race from `low`
  race_result after = {};   ///< the race from `high`
  /// The place nearest to the crossing, below it, at which the winner isn't `race_result::shared` with another pair: that
  /// winner does more than twice as much as anyone else. Absent if the line ends before that.
  std::optional<double> clear_before = {};
  std::optional<double> clear_after = {};  ///< likewise above it

  /// The width of the zone of shared work in units of the line's length: how sharp the boundary is.
  [[nodiscard]] std::optional<double> width() const {
    if (!clear_before || !clear_after) return {};
    return *clear_after - *clear_before;
  }
};

/// Options of find_crossing.
struct crossing_options {
  race_options race = {.tolerance = 1e-9};  ///< of each race; its errors are those of the crossing's place
  double resolution = 0x1p-40;              ///< `high` - `low` in the end; at least 2^-52
};

/// Looks for the change of the winner between two starts, by bisection: which other winner stands at `high` is left
/// open, as there may be several changes, of which one is found. Nothing if both starts have the same winner (or none).
///
/// What is honest to call sharp: the end of a flow is a smooth function of its start, so that nothing jumps. At the
/// boundary both pairs do the same, on its two sides the races differ by as little as the starts do, and the boundary
/// has a width, in which the work is shared. It is small where the flow has amplified the difference of the starts.
/// Throws as race, and argument_error for a resolution out of [2^-52, 1].
[[nodiscard]] inline std::optional<crossing> find_crossing(reduced::relational_model& model,
                                                           std::span<const double> from, std::span<const double> to,
                                                           const crossing_options& options = {}) {
  require_extent("to.size()", to.size(), from.size());
  require(options.resolution >= 0x1p-52 && options.resolution <= 1, "resolution", options.resolution, "in [2^-52, 1]");
  std::vector<double> start(from.size());
  const auto race_from = [&](double place) {
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = std::lerp(from[i], to[i], place);
    return race(model, start, options.race);
  };
  crossing result{.before = race_from(0), .after = race_from(1)};
  if (result.before.winner == result.after.winner) return {};
  while (result.high - result.low > options.resolution) {
    const double middle = std::midpoint(result.low, result.high);
    race_result there = race_from(middle);
    const bool same = there.winner == result.before.winner;
    (same ? result.low : result.high) = middle;
    (same ? result.before : result.after) = std::move(there);
  }

  // The edge of the zone of shared work: ever larger steps until it is left, then bisection to a thousandth of its width.
  const auto clear = [&](double crossing, double direction) -> std::optional<double> {
    double inside = crossing, distance = 0x1p-12;
    const auto shared_at = [&](double place) {
      const race_result there = race_from(place);
      return !there.winner || there.shared();
    };
    double outside = crossing + direction * distance;
    for (;; outside = crossing + direction * distance) {
      outside = std::clamp(outside, 0.0, 1.0);
      if (!shared_at(outside)) break;
      if (outside == 0 || outside == 1) return {};
      inside = outside;
      distance *= 1.5;
    }
    while (std::abs(outside - inside) > 1e-3 * std::abs(outside - crossing)) {
      const double middle = std::midpoint(inside, outside);
      (shared_at(middle) ? inside : outside) = middle;
    }
    return outside;
  };
  result.clear_before = clear(result.low, -1);
  result.clear_after = clear(result.high, 1);
  return result;
}

}  // namespace lindyn::circuit
