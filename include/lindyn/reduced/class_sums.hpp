// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sums of rows over the classes of their columns, and the adjoint, which gives every column its class's number.

#include <algorithm>

#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>

namespace lindyn::reduced::detail {

/// sums_c = sum of x_j over the columns j of class c, the queries' own column included.
inline void gather(const relation_context& context, const row_block& block, const lanes* x, lanes* sums) {
  std::fill_n(sums, context.class_count, lanes{});
  for (int j = 0; j < block.columns; ++j) sums[context.classes[at(j)]] += x[j];
  if (!block.queries) return;
  for (int c = 0; c < context.class_count; ++c) sums[c] += x[context.trunk] * block.queries->classes[at(c)];
}

/// The same of the identity's rows, X_0.
inline void gather_identity(const relation_context& context, const row_block& block, lanes* sums) {
  if (block.queries) {
    std::ranges::copy(block.queries->classes, sums);
    return;
  }
  std::fill_n(sums, context.class_count, lanes{});
  for (int row = block.first; row < block.columns; ++row) sums[context.classes[at(row)]][row - block.first] = 1;
}

/// y_j += sums_c for every column j of class c.
inline void spread(const relation_context& context, const row_block& block, const lanes* sums, lanes* y) {
  for (int j = 0; j < block.columns; ++j) y[j] += sums[context.classes[at(j)]];
  if (!block.queries) return;
  for (int c = 0; c < context.class_count; ++c) y[context.trunk] += sums[c] * block.queries->classes[at(c)];
}

}  // namespace lindyn::reduced::detail
