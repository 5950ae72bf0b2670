// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Largest errors that don't pass over what isn't a number, as std::max does.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace lindyn::testing {

/// The larger one; infinite if one of them isn't a number.
[[nodiscard]] inline double larger(double one, double other) {
  return std::isnan(one) || std::isnan(other) ? std::numeric_limits<double>::infinity() : std::max(one, other);
}

/// The largest difference of two arrays over the largest entry of `expected`; infinite if anything isn't a number, or
/// their sizes differ.
template <class Array, class Other>
[[nodiscard]] double difference(const Array& found, const Other& expected) {
  if (found.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    worst = larger(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst == 0 ? 0 : worst / largest;
}

}  // namespace lindyn::testing
