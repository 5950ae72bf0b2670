// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Softmax of eight rows, and its derivative.

#include <algorithm>
#include <limits>

#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/row_block.hpp>

namespace lindyn::reduced::detail {

/// a = softmax of the rows of `scores` over the columns that each row sees.
inline void softmax(const row_block& block, const lanes* scores, lanes* a) {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const int columns = block.width();
  std::copy_n(scores, columns, a);
  if (!block.queries)
    for (int j = block.first + 1; j < block.columns; ++j)
      for (int lane = 0; lane < j - block.first; ++lane) a[j][lane] = hidden;
  lanes largest = a[0];
  for (int j = 1; j < columns; ++j) largest = larger(largest, a[j]);
  lanes total{};
  for (int j = 0; j < columns; ++j) {
    a[j] -= largest;
    a[j] = exponential(a[j]);
    total += a[j];
  }
  total = lanes::all(1.0) / total;
  for (int j = 0; j < columns; ++j) a[j] *= total;
}

/// ds = A (dA - sum_k A_k dA_k).
inline void softmax_backward(int columns, const lanes* a, const lanes* da, lanes* ds) {
  lanes mean{};
  for (int j = 0; j < columns; ++j) mean += a[j] * da[j];
  for (int j = 0; j < columns; ++j) ds[j] = a[j] * (da[j] - mean);
}

}  // namespace lindyn::reduced::detail
