// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A pair of heads taken apart in the weights of a full network.

#include <span>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/model/attention_shape.hpp>

namespace lindyn::circuit {

/// Sets to zero all weights through which the second head of a pair makes use of the first: the blocks of its attention
/// weight whose key copy (or query copy, as the pair says) has passed through the first. On the manifold that sets the
/// coordinates of composition_places to zero; the weights needn't be on it.
/// Throws argument_error as require_valid, shape_error for another number of weights.
template <class Scalar>
void cut_composition(const model::attention_shape& shape, const head_pair& pair, std::span<Scalar> weights) {
  const manifold::layout layout(shape.layers, shape.heads, 1, 0);
  require_valid(layout, pair);
  const parameter_table table = model::attention_parameters(shape);
  require_extent("weights.size()", weights.size(), table.size());
  const auto which = static_cast<index>(pair.second.layer - 1) * shape.heads + pair.second.number;
  const matrix_view<Scalar> matrix = table.view(table[which], weights);
  const index width = matrix.rows / layout.copies(pair.second.layer);
  for (index row = 0; row < matrix.rows; ++row)
    for (index column = 0; column < matrix.columns; ++column) {
      const index entry = pair.by == composition::key ? column : row;
      if (copied_by(layout, static_cast<int>(entry / width), pair.first)) matrix(row, column) = 0;
    }
}

}  // namespace lindyn::circuit
