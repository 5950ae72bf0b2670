// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How much linearised attention has memorised, and how much it reasons.

#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/model/linearised_attention.hpp>

namespace lindyn::model {

/// Masses of linearised attention, in two senses. Norms are those printed: they begin at gamma^2 d for reasoning, and
/// don't say whether what has grown is of any use. Projections on the answers, in units of the answers, do:
/// \f[
///   m = \frac{\sum_{ij,k} y^\top M_{ij} e_k}{\sum_{ij,k} \lVert y \rVert^2} , \qquad
///   r = \frac{\sum_{ij,k} (u_j^\top W_2 u_i)\, y^\top W_1 e_k}{\sum_{ij,k} \lVert y \rVert^2} , \qquad
///   1 - m - r = \frac{\sum y^\top (y - f)}{\sum \lVert y \rVert^2} .
/// \f]
/// Where y_(k,ij) = s_ij rho_k, r is a b with the two projections a of W1 e_k on rho_k, b of u_j' W2 u_i on s_ij.
struct linearised_masses {
  double memorising_norm = 0;           ///< mean over pairs of ||M_ij||, Frobenius
  double reasoning_norm = 0;            ///< ||W1|| ||W2||, Frobenius
  double memorising = 0;                ///< m
  double reasoning = 0;                 ///< r
  std::optional<double> rule = {};      ///< a, of separable answers
  std::optional<double> coupling = {};  ///< b, of separable answers
};

namespace detail {

/// Sum of the products of entries, in double.
template <class A, class B>
[[nodiscard]] double inner_product(const A& a, const B& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace detail

/// The masses of these weights. Throws shape_error for another number of weights, argument_error where all answers are
/// zero.
template <class Scalar, class Backend>
[[nodiscard]] linearised_masses masses(const linearised_attention<Scalar, Backend>& net,
                                       std::span<const Scalar> weights, linearised_workspace<Scalar, Backend>& memory) {
  const task::vector_composition& data = net.data();
  const auto norm = [&](index place) {
    const auto matrix = net.parameters().view(net.parameters()[place], weights);
    return std::sqrt(detail::inner_product(matrix, matrix));
  };
  linearised_masses result;
  result.reasoning_norm = norm(0) * norm(1);
  for (index place = 2; place < net.parameters().count(); ++place)
    result.memorising_norm += norm(place) / static_cast<double>(data.pair_count());

  const double square = detail::inner_product(data.answers, data.answers);
  require(square > 0, "answers", square, "not all zero");
  const std::vector<Scalar> ruled = net.ruled(weights, memory), couplings = net.couplings(weights, memory);
  result.memorising = detail::inner_product(data.answers, net.memorised(weights, memory)) / square;
  const double* answer = data.answers.data();
  for (const Scalar coupling : couplings) {
    result.reasoning += coupling * detail::inner_product(ruled, std::span(answer, ruled.size())) / square;
    answer += ruled.size();
  }
  if (data.separable()) {
    result.rule = detail::inner_product(data.rule, ruled) / detail::inner_product(data.rule, data.rule);
    result.coupling =
        detail::inner_product(data.couplings, couplings) / detail::inner_product(data.couplings, data.couplings);
  }
  return result;
}

}  // namespace lindyn::model
