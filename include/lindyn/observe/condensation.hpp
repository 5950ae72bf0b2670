// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Condensation: in how many directions a matrix has its weight.

#include <ranges>
#include <string>
#include <string_view>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/observe/singular_values.hpp>

namespace lindyn::observe {

/// The participation ratio (sum sigma)^2 / sum sigma^2 of a matrix' singular values (Ali, arXiv 2605.04396): 1 for rank
/// one, min(rows, columns) where all are equal; 0 for a matrix of zeros. Training condenses a matrix by lowering it.
/// Throws non_finite_error.
template <class T>
[[nodiscard]] double condensation(const matrix_view<T>& matrix) {
  const auto values = singular_values(matrix);
  if (values.empty() || values.front() == 0) return 0;
  double sum = 0, squares = 0;
  for (const double value : values) {
    const double share = value / values.front();
    sum += share;
    squares += share * share;
  }
  return sum * sum / squares;
}

/// The mean condensation of all matrices whose names end so: the value matrices of all layers, unless said otherwise.
/// \param table    says where they lie
/// \param weights  laid out by it
/// \param ending   of the names
/// Throws argument_error if there are none, shape_error for another number of weights, non_finite_error.
template <std::ranges::contiguous_range Weights>
[[nodiscard]] double mean_condensation(const parameter_table& table, const Weights& weights,
                                       std::string_view ending = ".attn.v.weight") {
  double sum = 0;
  int matrices = 0;
  for (const parameter& which : table)
    if (which.name.ends_with(ending)) {
      sum += condensation(table.view(which, weights));
      ++matrices;
    }
  require(matrices > 0, "ending", ending, "that of a matrix' name");
  return sum / matrices;
}

}  // namespace lindyn::observe
