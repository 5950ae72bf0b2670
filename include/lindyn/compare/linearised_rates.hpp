// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The rates of linearised attention: as printed, as the loss has them, and those of the reduced system.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_hessian.hpp>
#include <lindyn/model/linearised_masses.hpp>
#include <lindyn/observe/singular_values.hpp>
#include <lindyn/rates/linearised_system.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/task/vector_composition.hpp>

namespace lindyn::compare {

/// What the blocks of the Hessian say about rates, from the norms of the weights themselves.
struct linearised_rates {
  rates::linearised_statistics statistics;  ///< sigma_e, S and |P|
  rates::growth printed;                    ///< mu_m = sigma_e, mu_r = S sigma_e
  rates::growth corrected;                  ///< mu_m = w sigma_e, mu_r = w |P| S sigma_e
  double expected_coupling = 0;             ///< c_r gamma^2 for gamma = 1: S's mean over W2 is this x gamma^2
  /// Largest eigenvalue of W2's block, which the source leaves out: w Q times that of sum (u_j (x) u_i)(u_j (x) u_i)'.
  double coupling_growth = 0;
  /// The same over mu_m: K Q times the largest eigenvalue for orthonormal keys, which is 1 for orthonormal anchors. Q is
  /// gamma^2 on average over W1 for keys of length 1, so that K gamma^2 is expected: with 16 keys, W2 learns faster than
  /// memory does from gamma = 1/4 on.
  [[nodiscard]] double coupling_over_memory() const noexcept { return coupling_growth / corrected.memorising; }
  /// mu_r over mu_m, |P| S.
  [[nodiscard]] double rule_over_memory() const noexcept { return corrected.reasoning / corrected.memorising; }
};

namespace detail {

/// Smallest non-zero eigenvalue of the mean of v v' over the rows v.
[[nodiscard]] inline double smallest_mean_square(const matrix_view<const double>& rows) {
  std::vector<double> values = observe::singular_values(rows);
  constexpr double rounding = 1e-12;  // of the largest: singular values are exact to some roundings of that
  std::erase_if(values, [&, largest = values.front()](double value) { return value <= rounding * largest; });
  require(!values.empty(), "rows", "all zero", "not all zero");
  return values.back() * values.back() / static_cast<double>(rows.rows);
}

/// (u_j . u_j')(u_i . u_i') of all pairs of pairs.
[[nodiscard]] inline std::vector<double> pair_gram(const task::vector_composition& data) {
  const auto product = [&](index one, index other) {
    const auto vector = data.anchor_vectors().row(one);
    return std::inner_product(vector.begin(), vector.end(), data.anchor_vectors().row(other).begin(), 0.0);
  };
  std::vector<double> gram;
  for (const auto& one : data.pairs)
    for (const auto& other : data.pairs)
      gram.push_back(product(one.second, other.second) * product(one.first, other.first));
  return gram;
}

}  // namespace detail

/// The rates at these weights. Throws shape_error for another number of weights, argument_error where u_j' W2 u_i is 0 for
/// all pairs: no rule can grow there.
template <class Scalar, class Backend>
[[nodiscard]] linearised_rates rates_of(const model::linearised_attention<Scalar, Backend>& net,
                                        std::span<const Scalar> weights,
                                        model::linearised_workspace<Scalar, Backend>& memory) {
  const task::vector_composition& data = net.data();
  const model::linearised_curvature curvature = model::curvature(net, weights, memory);
  require(curvature.coupling_square > 0, "W2", "0 for all pairs", "not 0, as growth of the rule needs it");
  linearised_rates result;
  result.statistics = {.key_eigenvalue = detail::smallest_mean_square(data.key_vectors()),
                       .coupling = curvature.coupling_square,
                       .pairs = static_cast<int>(curvature.pairs)};
  result.printed = rates::printed_growth(result.statistics);
  result.corrected = rates::corrected_growth(result.statistics, net.reduction());
  result.expected_coupling = curvature.anchor_scale;
  const std::vector<double> gram = detail::pair_gram(data);
  const double largest =
      observe::singular_values(matrix_view<const double>{gram.data(), curvature.pairs, curvature.pairs}).front();
  result.coupling_growth = curvature.pair_weight * curvature.rule_square * largest;
  return result;
}

/// The rate systems of a network whose answers are separable, y = s_ij rho_k, and their states at given weights.
///
/// Gradient flow is that of rates::linearised_system with s_m = w g, s_1 = w |P| s^2 g, s_2 = w R h: s^2 and R are the means of
/// s_ij^2 and |rho_k|^2; g and h say how much the vectors overlap, and are 1/K and 1 for orthonormal ones. It is
/// exact for these, from M_ij = 0 on. Else it neglects how other vectors turn the directions.
struct linearised_reduction {
  rates::linearised_slopes slopes;  ///< s_m, s_1, s_2
  double rule_square = 1;           ///< R
  double coupling_square = 1;       ///< s^2

  /// The state of rates::reduced_system<2> with slopes.reduced(): (m, x_1, x_2), x_1 x_2 = r. Throws argument_error for
  /// masses of answers that aren't separable.
  [[nodiscard]] std::vector<double> reduced_state(const model::linearised_masses& of) const {
    require_separable(of);
    return {of.memorising, slopes.factor_scale() * *of.rule, *of.coupling / slopes.factor_scale()};
  }
  /// The state of rates::linearised_system. Throws as the other, and argument_error unless all M_ij are 0: what else
  /// they answer besides m isn't among the masses.
  /// \param of         the masses
  /// \param curvature  of the same weights, which has the mean squares of W1 e_k and u_j' W2 u_i
  [[nodiscard]] std::vector<double> linearised_state(const model::linearised_masses& of,
                                                     const model::linearised_curvature& curvature) const {
    require_separable(of);
    require(of.memorising_norm == 0, "memorising_norm", of.memorising_norm, "0, that of M_ij = 0");
    const auto rest = [](double square, double part) { return std::sqrt(std::max(0.0, square - part * part)); };
    return {0,
            0,
            0,
            0,
            *of.rule,
            rest(curvature.rule_square / rule_square, *of.rule),
            *of.coupling,
            rest(curvature.coupling_square / coupling_square, *of.coupling)};
  }

private:
  static void require_separable(const model::linearised_masses& of) {
    require(of.rule && of.coupling, "answers", "not separable", "separable: couplings x rule");
  }
};

/// The reduction of this network. Throws argument_error unless its answers are separable.
template <class Scalar, class Backend>
[[nodiscard]] linearised_reduction reduction_of(const model::linearised_attention<Scalar, Backend>& net) {
  const auto mean_square = [](const std::vector<double>& values, double count) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / count;
  };
  const task::vector_composition& data = net.data();
  require(data.separable(), "answers", "not separable", "separable: couplings x rule");
  const double pairs = static_cast<double>(data.pair_count()), keys = static_cast<double>(data.key_count());
  const double coupling_square = mean_square(data.couplings, pairs);
  const double rule_square = mean_square(data.rule, keys);
  double key_overlap = 0, anchor_overlap = 0;  // sums of rho_k . rho_l e_k . e_l, and s_p s_q u_p . u_q
  std::vector<double> product(static_cast<std::size_t>(data.width));
  for (index row = 0; row < data.width; ++row) {  // of sum_k rho_k e_k', whose square is the sum over k and l
    std::ranges::fill(product, 0.0);
    for (index key = 0; key < data.key_count(); ++key)
      for (index column = 0; column < data.width; ++column)
        product[static_cast<std::size_t>(column)] +=
            data.rule[static_cast<std::size_t>(row * data.key_count() + key)] * data.key_vectors()(key, column);
    key_overlap += std::inner_product(product.begin(), product.end(), product.begin(), 0.0);
  }
  const std::vector<double> gram = detail::pair_gram(data);
  for (std::size_t one = 0; one < data.pairs.size(); ++one)
    for (std::size_t other = 0; other < data.pairs.size(); ++other)
      anchor_overlap += data.couplings[one] * data.couplings[other] * gram[one * data.pairs.size() + other];
  const double g = key_overlap / (keys * keys * rule_square), h = anchor_overlap / (pairs * coupling_square);
  const double w = net.pair_weight();
  return {{.memorising = w * g, .rule = w * pairs * coupling_square * g, .coupling = w * rule_square * h},
          rule_square,
          coupling_square};
}

}  // namespace lindyn::compare
