// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whether a head reads what an earlier head writes: alignment of output-value circuits with query-key circuits.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/observe/singular_values.hpp>

namespace lindyn::observe {

/// One head of a network with H heads in a layer, both counted from 0.
struct head_place {
  int layer = 0;  ///< in [0, L)
  int head = 0;   ///< in [0, H)
};

/// A square matrix left right' between directions of the residual stream. Both factors are d x (d / H).
struct head_circuit {
  Eigen::MatrixXd left;   ///< spans what it maps to
  Eigen::MatrixXd right;  ///< spans what it maps from
};

namespace detail {

/// Rows (of W_Q, W_K, W_V), transposed, or columns (of W_O) that belong to a head.
template <std::ranges::contiguous_range Weights>
[[nodiscard]] Eigen::MatrixXd head_part(const parameter_table& table, const Weights& weights, const head_place& place,
                                        int heads, const char* which, bool columns) {
  const std::string name = "blocks." + std::to_string(place.layer) + ".attn." + which + ".weight";
  const auto matrix = table.view(name, weights);
  const index width = matrix.rows;
  require_extent(name + ".columns", matrix.columns, width);
  require(heads >= 1 && width % heads == 0, "heads", heads, "a divisor of the width " + std::to_string(width));
  require(place.head >= 0 && place.head < heads, "head", place.head, "in [0, " + std::to_string(heads) + ")");
  const index part = width / heads, first = place.head * part;
  Eigen::MatrixXd result(width, part);
  for (index entry = 0; entry < width; ++entry)
    for (index unit = 0; unit < part; ++unit)
      result(entry, unit) = static_cast<double>(columns ? matrix(entry, first + unit) : matrix(first + unit, entry));
  require_finite(name, std::span<const double>(result.data(), static_cast<std::size_t>(result.size())));
  return result;
}

}  // namespace detail

/// W_O W_V of a head: what it writes where it attends, as a function of what stands there (Elhage et al., "A mathematical
/// framework for transformer circuits", 2021). Matrices are (outputs x inputs), named blocks.L.attn.o.weight and so on;
/// heads are consecutive blocks. The gain of the normalisation before it is no part of it.
/// Throws argument_error for names and heads that aren't there, shape_error, non_finite_error.
template <std::ranges::contiguous_range Weights>
[[nodiscard]] head_circuit output_value_circuit(const parameter_table& table, const Weights& weights,
                                                const head_place& place, int heads) {
  return {detail::head_part(table, weights, place, heads, "o", true),
          detail::head_part(table, weights, place, heads, "v", false)};
}

/// W_Q' W_K of a head: its score is x_q' W_Q' W_K x_k but for biases and scale. Otherwise as output_value_circuit.
template <std::ranges::contiguous_range Weights>
[[nodiscard]] head_circuit query_key_circuit(const parameter_table& table, const Weights& weights,
                                             const head_place& place, int heads) {
  return {detail::head_part(table, weights, place, heads, "q", false),
          detail::head_part(table, weights, place, heads, "k", false)};
}

/// A side of a circuit's matrix.
enum class side {
  left,  ///< of an output-value circuit what it writes, of a query-key circuit what the query is read for
  right  ///< of an output-value circuit what it reads, of a query-key circuit what the key is read for
};

/// The leading singular vectors of a circuit on one side, orthonormal columns; fewer than `dimension` where further
/// singular values vanish but for rounding. Throws argument_error unless the dimension is in [1, d / H].
[[nodiscard]] inline Eigen::MatrixXd leading_subspace(const head_circuit& circuit, side of, index dimension) {
  Eigen::MatrixXd near = of == side::left ? circuit.left : circuit.right;
  Eigen::MatrixXd far = of == side::left ? circuit.right : circuit.left;
  require(dimension >= 1 && dimension <= near.cols(), "dimension", dimension,
          "in [1, " + std::to_string(near.cols()) + "], the width of a head");
  for (Eigen::MatrixXd* factor : {&near, &far}) scale_to_one(*factor);
  // near far' is as it was but for a factor, and far has become orthogonal columns: their norms belong to near's.
  orthogonalise_columns(far, &near);
  for (index column = 0; column < near.cols(); ++column) near.col(column) *= far.col(column).norm();
  orthogonalise_columns(near);
  const Eigen::VectorXd values = near.colwise().norm();
  std::vector<index> order(static_cast<std::size_t>(near.cols()));
  std::iota(order.begin(), order.end(), index{0});
  std::ranges::stable_sort(order, [&](index one, index other) { return values[one] > values[other]; });
  const double vanishing =
      values[order.front()] * static_cast<double>(near.rows()) * std::numeric_limits<double>::epsilon();
  index count = 0;
  while (count < dimension && values[order[static_cast<std::size_t>(count)]] > vanishing) ++count;
  Eigen::MatrixXd result(near.rows(), count);
  for (index column = 0; column < count; ++column) {
    const index from = order[static_cast<std::size_t>(column)];
    result.col(column) = near.col(from) / values[from];
  }
  return result;
}

/// How two subspaces lie to each other.
struct subspace_alignment {
  /// Cosines of their principal angles (Bjorck and Golub, Math. Comp. 27, 579, 1973), the largest first.
  std::vector<double> cosines;
  /// The mean of their squares: 1 for equal subspaces, 0 for orthogonal ones, k / d on average for random ones of k
  /// dimensions among d.
  double mean_square = 0;
};

/// The alignment of the leading `dimension` directions of two circuits: of what one writes with what a later one reads,
///
///     alignment(output_value_circuit(table, weights, {0, 0}, heads), side::left,
///               query_key_circuit(table, weights, {1, 0}, heads), side::right, 2)
///
/// (K-composition; side::left of the second: Q-composition). The measure is ours: composition scores compare norms of
/// products, this the directions alone. No value where a circuit has fewer directions, as an extinct head.
/// Throws as leading_subspace does, and shape_error for circuits of different width.
[[nodiscard]] inline std::optional<subspace_alignment> alignment(const head_circuit& one, side of_one,
                                                                 const head_circuit& other, side of_other,
                                                                 index dimension) {
  const Eigen::MatrixXd first = leading_subspace(one, of_one, dimension),
                        second = leading_subspace(other, of_other, dimension);
  require_extent("other.rows", second.rows(), first.rows());
  if (first.cols() < dimension || second.cols() < dimension) return std::nullopt;
  Eigen::MatrixXd products(dimension, dimension);
  for (index row = 0; row < dimension; ++row)
    for (index column = 0; column < dimension; ++column) products(row, column) = first.col(row).dot(second.col(column));
  subspace_alignment result;
  result.cosines = singular_values(matrix_view<const double>{products.data(), dimension, dimension});
  for (double& cosine : result.cosines) {
    cosine = std::min(cosine, 1.0);
    result.mean_square += cosine * cosine / static_cast<double>(dimension);
  }
  return result;
}

}  // namespace lindyn::observe
