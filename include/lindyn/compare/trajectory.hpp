// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is read off recorded trajectories: when a loss met a level, and how far two states are apart.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>

namespace lindyn::compare {

/// The step at which the loss met the level: the first of the records at or below it, moved back by linear
/// interpolation; none if no record is. `crossing(records, level, &along_record::step, &along_record::loss_full)`.
/// \param records  in the order of their steps
/// \param level    of the loss
/// \param step     a record's step or time
/// \param loss     a record's loss
template <class Record, class Step, class Loss>
[[nodiscard]] std::optional<double> crossing(const std::vector<Record>& records, double level, Step step, Loss loss) {
  const auto after =
      std::ranges::find_if(records, [&](const Record& record) { return std::invoke(loss, record) <= level; });
  if (after == records.end()) return {};
  const auto step_after = static_cast<double>(std::invoke(step, *after));
  if (after == records.begin()) return step_after;
  const auto before = after - 1;
  const double above = std::invoke(loss, *before), below = std::invoke(loss, *after);
  const auto step_before = static_cast<double>(std::invoke(step, *before));
  return step_before + (above - level) / (above - below) * (step_after - step_before);
}

/// max |a_i - b_i|; 0 for empty ones. Throws shape_error unless they are equally long.
[[nodiscard]] inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  require_extent("b.size()", b.size(), a.size());
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::abs(a[i] - b[i]));
  return result;
}

}  // namespace lindyn::compare
