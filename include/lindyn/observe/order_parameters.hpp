// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Order parameters of attention heads: how alike they are, and how differently they spread their attention.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/observe/head_statistics.hpp>
#include <lindyn/observe/singular_values.hpp>

namespace lindyn::observe {

/// What to print for an order parameter that a layer of one head doesn't have.
inline constexpr std::string_view undefined_for_one_head = "undefined for one head";

/// Entropies of attention rows. A head's entropy is the mean over rows of \f$ -\sum_j A_{ij} \ln A_{ij} \f$, in nats,
/// with 0 ln 0 = 0.
struct head_entropies {
  double mean = 0;  ///< over heads
  /// sigma_H, the population standard deviation over heads (0 for one). It is at most half of what uniform attention
  /// has: under a causal mask ln(n!) / (2n) over all rows (ln 6 / 6 = .2986 for n = 3), ln(n) / 2 over the last one, or
  /// over all without a mask (ln 3 / 2 = .5493).
  double sigma_h = 0;
};

/// Order parameters of one layer, or their means over layers (Verma, arXiv 2605.20441; the variants' names and the
/// conventions where something vanishes are ours).
///
/// a_h is the attention of head h after the softmax as one vector, (sequence, query, key), over visible keys. The first
/// four have no value for one head, see undefined_for_one_head.
struct order_parameters {
  /// The mean over pairs of heads of the cosine of a_h and a_k, in [-1, 1]; of attention, which isn't negative, in
  /// [0, 1]. The cosine with a vector of norm zero is 0.
  std::optional<double> s_bar;
  /// The largest less the second eigenvalue of the heads' matrix of cosines, in [0, H].
  std::optional<double> spectral_gap;
  /// (R - 1) / (H - 1), R = (sum a)^2 / sum a^2 over the eigenvalues a of the Gram matrix of the a_h less their mean over
  /// heads; in [0, (H - 2) / (H - 1)]. R is 0 / 0, and this 0, where all heads are equal up to rounding.
  std::optional<double> pr_norm_across_heads;
  /// The same of the a_h, each less the mean of its own entries; in [0, 1]. It is 0 where all a_h are constant up to
  /// rounding.
  std::optional<double> pr_norm_own_mean;
  head_entropies all_rows;  ///< over all rows of each sequence
  head_entropies last_row;  ///< over the last row of each sequence alone
};

namespace detail {

/// (R - 1) / (H - 1) of the Gram matrix product(h, k): its trace is sum a, its squared norm sum a^2. It vanishes where the
/// trace isn't above `rounding`.
template <class Product>
[[nodiscard]] double normalised_participation(int heads, double rounding, Product&& product) {
  double trace = 0, square = 0;
  for (int one = 0; one < heads; ++one) {
    trace += product(one, one);
    for (int other = 0; other < heads; ++other) square += product(one, other) * product(one, other);
  }
  return trace > rounding ? std::clamp((trace * trace / square - 1) / (heads - 1), 0.0, 1.0) : 0.0;
}

/// Mean and deviation over heads of entropy(h) / rows.
template <class Entropy>
[[nodiscard]] head_entropies entropies_of_heads(int heads, double rows, Entropy&& entropy) {
  double mean = 0, variance = 0;
  for (int head = 0; head < heads; ++head) mean += entropy(head) / rows / heads;
  for (int head = 0; head < heads; ++head) variance += std::pow(entropy(head) / rows - mean, 2) / heads;
  return {mean, std::sqrt(variance)};
}

}  // namespace detail

/// The order parameters of one layer. Throws argument_error if there is no last row among the rows, or if a head's rows
/// don't sum to 1, on average to 1e-3 (zeros alone pass: a head that was taken out), non_finite_error if an entry was
/// negative or not finite.
[[nodiscard]] inline order_parameters order_parameters_of(const head_statistics& layer) {
  const int heads = layer.heads();
  require(layer.last_rows() > 0, "layer.last_rows()", layer.last_rows(), "positive: there is no attention to tell of");
  order_parameters result;
  result.all_rows = detail::entropies_of_heads(heads, layer.rows(), [&](int head) { return layer.entropy(head); });
  result.last_row =
      detail::entropies_of_heads(heads, layer.last_rows(), [&](int head) { return layer.last_entropy(head); });
  require_finite("attention's entropy", std::span(&result.all_rows.sigma_h, 1));
  for (int head = 0; head < heads; ++head) {
    const double sum = layer.sum(head) / layer.rows();
    if (sum != 0 && std::abs(sum - 1) > 1e-3)  // weights of half precision are off by 5e-4
      require(false, "rows of head " + std::to_string(head), sum, "1 in sum, as the softmax makes them");
  }
  if (heads == 1) return result;

  double squares = 0, cosines = 0;
  std::vector<double> matrix(static_cast<std::size_t>(heads * heads));
  for (int one = 0; one < heads; ++one) {
    squares += layer.product(one, one);
    for (int other = 0; other < heads; ++other) {
      const double norms = std::sqrt(layer.product(one, one)) * std::sqrt(layer.product(other, other));
      const double cosine = one == other ? 1.0
                            : norms > 0  ? std::clamp(layer.product(one, other) / norms, -1.0, 1.0)
                                         : 0.0;
      matrix[static_cast<std::size_t>(one * heads + other)] = cosine;
      if (one != other) cosines += cosine;
    }
  }
  result.s_bar = cosines / (heads * (heads - 1.0));
  const auto eigenvalues = singular_values(matrix_view<const double>{matrix.data(), heads, heads});
  result.spectral_gap = eigenvalues[0] - eigenvalues[1];

  // Deviations of equal heads are a few roundings of the entries; differences of sums are roundings of the sums.
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  result.pr_norm_across_heads = detail::normalised_participation(
      heads, rounding * rounding * squares, [&](int one, int other) { return layer.product_across_heads(one, other); });
  result.pr_norm_own_mean = detail::normalised_participation(
      heads, rounding * squares, [&](int one, int other) { return layer.product_own_mean(one, other); });
  return result;
}

/// The means over layers. Throws argument_error if there is none, or if some have one head and others have more.
[[nodiscard]] inline order_parameters mean_over_layers(std::span<const order_parameters> layers) {
  require(!layers.empty(), "layers.size()", layers.size(), "at least 1");
  order_parameters mean = layers.front();
  const double share = 1.0 / static_cast<double>(layers.size());
  const auto average = [&](const auto& value) {
    double sum = 0;
    for (const auto& layer : layers) sum += value(layer) * share;
    return sum;
  };
  for (const auto which : {&order_parameters::s_bar, &order_parameters::spectral_gap,
                           &order_parameters::pr_norm_across_heads, &order_parameters::pr_norm_own_mean}) {
    for (const auto& layer : layers)
      require((layer.*which).has_value() == (mean.*which).has_value(), "layers", "of one head beside others",
              "of one head all of them, or none");
    if (mean.*which) mean.*which = average([&](const order_parameters& layer) { return *(layer.*which); });
  }
  for (const auto which : {&order_parameters::all_rows, &order_parameters::last_row})
    for (const auto entry : {&head_entropies::mean, &head_entropies::sigma_h})
      mean.*which.*entry = average([&](const order_parameters& layer) { return layer.*which.*entry; });
  return mean;
}

}  // namespace lindyn::observe
