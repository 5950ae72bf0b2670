// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Neurons that point into the same direction.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>

namespace lindyn::observe {

/// What a neuron of a matrix is.
enum class neurons {
  rows,    ///< its incoming weights, as in the first matrix of a multilayer perceptron (outputs x inputs)
  columns  ///< its outgoing weights, as in the second
};

/// Options of group_neurons.
struct grouping_options {
  neurons of = neurons::rows;  ///< which vectors are compared
  double threshold = 0.9;      ///< two neurons are neighbours from this cosine on (less 1e-12, for rounding); in (0, 1]
  bool opposite = true;        ///< the cosine counts without its sign
};

/// Neurons by direction.
struct neuron_groups {
  static constexpr int silent = -1;  ///< the group of neurons whose weights are all zero

  std::vector<int> group;    ///< of each neuron: the number of its group, or `silent`
  std::vector<index> sizes;  ///< of each group: its neurons; the largest first, of equals that of the first neuron
  index silent_neurons = 0;  ///< how many have no direction
  /// The share of the neurons with a direction that another one of their group stands in for: 0 if each is a group of its
  /// own, nearly 1 if all are one; 0 without such neurons.
  [[nodiscard]] double condensed_share() const noexcept {
    const auto neurons = static_cast<double>(group.size()) - static_cast<double>(silent_neurons);
    return neurons > 0 ? 1 - static_cast<double>(sizes.size()) / neurons : 0.0;
  }
};

/// The connected components of the graph in which neurons are neighbours whose cosine reaches the threshold (single
/// linkage; Zhou et al., arXiv 2105.11686, compare neurons of small initialisation by cosines). Two neurons of a group
/// may thus differ by more, with others between them. It takes neurons^2 / 2 products of vectors, and a copy of the
/// matrix in memory. Throws argument_error for a bad threshold, non_finite_error.
template <class T>
[[nodiscard]] neuron_groups group_neurons(const matrix_view<T>& matrix, const grouping_options& options = {}) {
  require(options.threshold > 0 && options.threshold <= 1, "threshold", options.threshold, "in (0, 1]");
  require_finite("matrix", matrix);
  const bool rows = options.of == neurons::rows;
  Eigen::MatrixXd directions(rows ? matrix.columns : matrix.rows, rows ? matrix.rows : matrix.columns);
  for (index row = 0; row < matrix.rows; ++row)
    for (index column = 0; column < matrix.columns; ++column)
      (rows ? directions(column, row) : directions(row, column)) = static_cast<double>(matrix(row, column));
  const index count = directions.cols();
  std::vector<bool> has_direction(static_cast<std::size_t>(count));
  for (index neuron = 0; neuron < count; ++neuron) {
    const double norm = directions.col(neuron).stableNorm();
    has_direction[static_cast<std::size_t>(neuron)] = norm > 0;
    if (norm > 0) directions.col(neuron) /= norm;
  }

  symmetry::disjoint_sets components(static_cast<std::size_t>(count));
  for (index one = 0; one < count; ++one)
    for (index other = 0; other < one; ++other) {
      const double cosine = directions.col(one).dot(directions.col(other));
      if ((options.opposite ? std::abs(cosine) : cosine) >= options.threshold - 1e-12)
        components.unite(static_cast<int>(one), static_cast<int>(other));
    }

  neuron_groups result;
  result.group = std::move(components).labels();
  std::vector<index> sizes(result.group.size());
  for (std::size_t neuron = 0; neuron < result.group.size(); ++neuron) {
    if (has_direction[neuron])
      ++sizes[static_cast<std::size_t>(result.group[neuron])];
    else
      ++result.silent_neurons;
  }
  std::vector<int> order(sizes.size()), place(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](int of) { return sizes[static_cast<std::size_t>(of)]; };
  std::ranges::stable_sort(order, std::ranges::greater{}, size);
  for (const int which : order) {
    place[static_cast<std::size_t>(which)] =
        size(which) > 0 ? static_cast<int>(result.sizes.size()) : neuron_groups::silent;
    if (size(which) > 0) result.sizes.push_back(size(which));
  }
  for (int& which : result.group) which = place[static_cast<std::size_t>(which)];
  return result;
}

}  // namespace lindyn::observe
