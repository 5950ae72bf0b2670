// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the loss of linearised attention curves along each of its matrices: its Hessian, block by block.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_masses.hpp>

namespace lindyn::model {

/// What the diagonal blocks of the Hessian are made of. The loss is quadratic in each matrix for itself, so that a block
/// doesn't depend on its own matrix:
/// \f[
///   H_M = w \, I \otimes G_e , \qquad
///   H_{W_1} = w |P| S \, I \otimes G_e , \qquad
///   H_{W_2} = w \, Q \sum_{(i,j) \in P} (u_j \otimes u_i)(u_j \otimes u_i)^\top ,
/// \f]
/// with G_e = mean_k e_k e_k', S = mean_ij (u_j' W2 u_i)^2, Q = mean_k |W1 e_k|^2, and w = 1 / |P| where the loss is a mean over
/// pairs, 1 where it is a sum. Derived from the loss; Ali, arXiv 2605.04396, prints H_M without w and leaves H_W2 out.
struct linearised_curvature {
  double pair_weight = 1;          ///< w
  index pairs = 1;                 ///< |P|
  double coupling_square = 0;      ///< S
  double rule_square = 0;          ///< Q
  double anchor_scale = 0;         ///< c_r = mean_ij |u_i|^2 |u_j|^2 / d; S is c_r gamma^2 on average over W2
  std::vector<double> key_gram{};  ///< G_e, d x d

  /// H_W1 over H_M, by which all their eigenvalues differ: |P| S, whatever w is.
  [[nodiscard]] double rule_over_memory() const noexcept { return static_cast<double>(pairs) * coupling_square; }
};

/// The curvature at these weights. Throws shape_error for another number of weights.
template <class Scalar, class Backend>
[[nodiscard]] linearised_curvature curvature(const linearised_attention<Scalar, Backend>& net,
                                             std::span<const Scalar> weights,
                                             linearised_workspace<Scalar, Backend>& memory) {
  const task::vector_composition& data = net.data();
  const auto width = static_cast<std::size_t>(data.width);
  const double keys = static_cast<double>(data.key_count()), pairs = static_cast<double>(data.pair_count());
  const std::vector<Scalar> couplings = net.couplings(weights, memory), ruled = net.ruled(weights, memory);
  linearised_curvature result{.pair_weight = net.pair_weight(),
                              .pairs = data.pair_count(),
                              .coupling_square = detail::inner_product(couplings, couplings) / pairs,
                              .rule_square = detail::inner_product(ruled, ruled) / keys,
                              .key_gram = std::vector<double>(width * width)};
  for (index key = 0; key < data.key_count(); ++key)
    for (std::size_t row = 0; row < width; ++row)
      for (std::size_t column = 0; column < width; ++column)
        result.key_gram[row * width + column] +=
            data.key_vectors().row(key)[row] * data.key_vectors().row(key)[column] / keys;
  const auto square = [&](index anchor) {
    return detail::inner_product(data.anchor_vectors().row(anchor), data.anchor_vectors().row(anchor));
  };
  for (const auto& [first, second] : data.pairs)
    result.anchor_scale += square(first) * square(second) / (pairs * static_cast<double>(data.width));
  return result;
}

/// The block of the Hessian that belongs to one matrix: entry (r d + c, r' d + c') is the second derivative of the loss by
/// the matrix's entries (r, c) and (r', c'). d^2 x d^2 numbers, so for small widths alone.
/// \param matrix  as in net.parameters(): "W1", "W2" or "M.i.j"
/// Throws argument_error for a name that isn't there, and for widths above 32; shape_error for another number of weights.
template <class Scalar, class Backend>
[[nodiscard]] std::vector<double> hessian_block(const linearised_attention<Scalar, Backend>& net,
                                                std::span<const Scalar> weights, std::string_view matrix,
                                                linearised_workspace<Scalar, Backend>& memory) {
  const task::vector_composition& data = net.data();
  require(data.width <= 32, "width", data.width, "at most 32, as a block has width^4 entries");
  (void)net.parameters().find(matrix);
  const linearised_curvature of = curvature(net, weights, memory);
  const auto width = static_cast<std::size_t>(data.width), size = width * width;
  std::vector<double> block(size * size);
  if (matrix == "W2") {
    std::vector<double> direction(size);  // u_j (x) u_i
    for (const auto& [first, second] : data.pairs) {
      for (std::size_t row = 0; row < width; ++row)
        for (std::size_t column = 0; column < width; ++column)
          direction[row * width + column] =
              data.anchor_vectors().row(second)[row] * data.anchor_vectors().row(first)[column];
      for (std::size_t one = 0; one < size; ++one)
        for (std::size_t other = 0; other < size; ++other)
          block[one * size + other] += of.pair_weight * of.rule_square * direction[one] * direction[other];
    }
    return block;
  }
  const double scale = of.pair_weight * (matrix == "W1" ? of.rule_over_memory() : 1);
  for (std::size_t row = 0; row < width; ++row)
    for (std::size_t one = 0; one < width; ++one)
      for (std::size_t other = 0; other < width; ++other)
        block[(row * width + one) * size + row * width + other] = scale * of.key_gram[one * width + other];
  return block;
}

}  // namespace lindyn::model
