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
  /// Where the zone of shared work ends below the crossing: from here the winner is that of `before`, and isn't
  /// `race_result::shared` with another pair, so that it does more than twice as much as anyone else. Absent if the line
  /// ends, or yet another winner comes, before that.
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
/// In what sense it is sharp: the end of a flow is a smooth function of its start, so that nothing jumps. At the
/// boundary both pairs do the same, on its two sides the races differ by as little as the starts do, and the boundary
/// has a width, in which the work is shared. It is small where the flow has amplified the difference of the starts.
///
/// A race that isn't won counts as a winner of its own, which shares with nobody: between a start from which the task is
/// solved in time and one from which it isn't, the crossing is where it is solved just in time.
///
/// The zone of shared work is left in steps that grow by half, so that a region of another winner, or one without
/// shared work, is stepped over if it is narrower than half of its distance from the crossing.
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
  const auto edge_of_zone = [&](double crossing, double direction,
                                std::optional<std::size_t> winner) -> std::optional<double> {
    enum class zone { shared, clear, anothers };
    const auto zone_of = [&](double place) {
      const race_result there = race_from(place);
      return there.winner != winner ? zone::anothers : there.shared() ? zone::shared : zone::clear;
    };
    double inside = crossing, outside = crossing;
    for (double distance = 0x1p-12;; distance *= 1.5) {
      outside = std::clamp(crossing + direction * distance, 0.0, 1.0);
      const zone there = zone_of(outside);
      if (there == zone::clear) break;
      if (there == zone::anothers || outside == 0 || outside == 1) return {};
      inside = outside;
    }
    while (std::abs(outside - inside) > std::max(options.resolution, 1e-3 * std::abs(outside - crossing))) {
      const double middle = std::midpoint(inside, outside);
      const zone there = zone_of(middle);
      if (there == zone::anothers) return {};
      (there == zone::clear ? outside : inside) = middle;
    }
    return outside;
  };
  result.clear_before = edge_of_zone(result.low, -1, result.before.winner);
  result.clear_after = edge_of_zone(result.high, 1, result.after.winner);
  return result;
}

}  // namespace lindyn::circuit
