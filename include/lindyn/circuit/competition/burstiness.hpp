// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Burstiness: with b copies of the queried pair the gradient of the attention weights is about b times as large.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <lindyn/circuit/induction/exact_induction_head.hpp>
#include <lindyn/circuit/induction/induction_circuit.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::circuit {

/// (b - 1)(1 + gamma) / (2N + 1), by which share the gradient by alpha and beta falls short of b times that of b = 1,
/// to leading order for N -> infinity, in the idealised head with squared error (IMIR, theorem 3, says that it is
/// proportional to b; the deviation was derived here). With cross-entropy gamma drops out as V grows: (b - 1) / (2N + 1).
/// Throws argument_error unless 1 <= b <= N.
[[nodiscard]] inline double leading_burstiness_deviation(int pairs, int burstiness, double gamma) {
  require(pairs >= 1, "pairs", pairs, "at least 1");
  require(burstiness >= 1 && burstiness <= pairs, "burstiness", burstiness,
          "in [1, pairs = " + std::to_string(pairs) + "]");
  return (burstiness - 1) * (1 + gamma) / (2.0 * pairs + 1);
}

/// The same without expansion, 1 - w(b) / (b w(1)) for the gradient w of circuit::induction_head with
/// m = 2N + 1 - b distractors beside b copies, where beta a vanishes:
/// \f[ 1 - \frac{2N + 1 - b}{2N} \left( 1 - \frac{\gamma (b - 1)}{2N + 1} \right) . \f]
/// Derivation: w is proportional to \f$ g B (1 - B) \f$ with \f$ B = b / (2N + 1) \f$, and
/// \f$ g = \gamma (1 - \gamma B) + \gamma^2 (1 - B) / m = \gamma - \gamma^2 (b - 1) / (2N + 1) \f$.
[[nodiscard]] inline double burstiness_deviation(int pairs, int burstiness, double gamma) {
  const double readout = gamma * leading_burstiness_deviation(pairs, burstiness, 0);
  return 1 - (2.0 * pairs + 1 - burstiness) / (2.0 * pairs) * (1 - readout);
}

/// Options of burst_gradient.
struct burst_options {
  int pairs = 16;                               ///< N, blocks (item, label) before the query
  int burstiness = 1;                           ///< b, blocks among them that hold the queried pair, at uniform places
  int vocabulary = 64;                          ///< V, tokens; at least 2 (N - b + 1) and 3
  task::loss loss = task::loss::cross_entropy;  ///< how the answer is scored
  circuit::first_layer first = first_layer::causal;  ///< what layer 1 sees
};

/// Throws argument_error for N outside of [1, 10^6], b outside of [1, N], or too few tokens.
inline void require_valid(const burst_options& options) {
  require(options.pairs >= 1 && options.pairs <= 1'000'000, "pairs", options.pairs, "in [1, 1000000]");
  require(options.burstiness >= 1 && options.burstiness <= options.pairs, "burstiness", options.burstiness,
          "in [1, pairs = " + std::to_string(options.pairs) + "]");
  const int least = std::max(3, 2 * (options.pairs - options.burstiness + 1));
  require(options.vocabulary >= least, "vocabulary", options.vocabulary, "at least " + std::to_string(least));
}

/// The gradient of the exact reduced model with burstiness at (alpha, beta -> 0, gamma), mean over all C(N, b)
/// arrangements of the copies: dL/dbeta and dL/dgamma at beta = 0, and the derivative of dL/dalpha by beta there (dL/dalpha
/// itself vanishes with beta). Costs O(N).
///
/// Where beta = 0, layer 2 attends to all n = 2N + 1 places alike, whatever the arrangement: the answer has b / n of the
/// attention, the item (b + 1) / n with the query, each other token 1 / n. The gradient by beta is linear in the
/// places' matches \f$ \mu_j \f$, layer 1's attention to the item,
/// \f[ \frac{\partial L}{\partial \beta} = \frac{\gamma}{n} \sum_j e_{t_j} (\mu_j - \bar\mu) , \f]
/// with e the derivative of the loss by a token's logit; that by alpha has \f$ \beta \, d\mu_j / d\alpha \f$ in the place of
/// the match. So only the mean matches of three sets of places are needed, of the labels and the items of the queried pair
/// (with the query) and of the other pairs' places. A place before which c copies stand matches with
///
/// | place | causal | bidirectional |
/// |---|---|---|
/// | label p of the pair | a_p + c (1 - a_p) / (2p - 1) | (e^alpha + b) / (e^alpha + 2N) |
/// | item p of the pair | (c + 1) / (2p - 1) | (b + 1) / (e^alpha + 2N) |
/// | other label p | c (1 - a_p) / (2p - 1) | (b + 1) / (e^alpha + 2N) |
/// | other item p | c / (2p - 1) | (b + 1) / (e^alpha + 2N) |
/// | query | (b + 1) / (2N + 1) | (b + 1) / (2N + 1) |
///
/// with \f$ a_p = e^\alpha / (e^\alpha + 2p - 1) \f$, and the mean of c is (p - 1)(b - 1) / (N - 1) before a copy,
/// (p - 1) b / (N - 1) before another pair. (Derived here; equal to reduced::relational_model's to rounding.)
///
/// The bidirectional layer has burstiness_deviation but for terms of 1 / N^2. Causally, items and labels attend to
/// earlier copies too, which adds to the mean match: half of (b - 1) / (2N + 1) to the deviation by beta at large alpha,
/// more at small alpha, where labels attend to their own items no more than to those.
/// \param options      sizes and loss
/// \param alpha,gamma  where; finite
/// Throws as require_valid, non_finite_error for coordinates that aren't finite.
[[nodiscard]] inline induction_coordinates burst_gradient(const burst_options& options, double alpha, double gamma) {
  require_valid(options);
  detail::require_three(std::array{alpha, 0.0, gamma});
  const double pairs = options.pairs, copies = options.burstiness, places = 2 * pairs + 1, others = pairs - copies;
  struct sums {
    double answer = 0, item = 0, other = 0;
  };
  sums match, slope;  // of matches, and of their derivatives by alpha
  if (options.first == first_layer::causal) {
    const double share = copies / pairs, apart = pairs > 1 ? 1 / (pairs - 1) : 0;
    for (int p = 1; p <= options.pairs; ++p) {
      const double rest = 2.0 * p - 1;
      const double a = 1 / (1 + rest * std::exp(-alpha)), each = 1 / (rest + std::exp(alpha));  // (1 - a) / (2p - 1)
      const double a_slope = a * rest * each, each_slope = -a * each;
      const double copies_before_copy = (p - 1) * (copies - 1) * apart, copies_before_other = (p - 1) * copies * apart;
      match.answer += share * (a + copies_before_copy * each);
      match.item += share * (copies_before_copy + 1) / rest;
      match.other += (1 - share) * copies_before_other * (1 / rest + each);
      slope.answer += share * (a_slope + copies_before_copy * each_slope);
      slope.other += (1 - share) * copies_before_other * each_slope;
    }
  } else {
    // Less (b + 1) / (e^alpha + 2N), which all places have in common.
    const double unit = 1 / (1 + 2 * pairs * std::exp(-alpha)), rest = 1 / (std::exp(alpha) + 2 * pairs);
    match.answer = copies * (unit - rest);
    slope.answer = copies * unit * (2 * pairs + 1) * rest;
    match.item = -(copies + 1) * rest;
    slope.item = (copies + 1) * unit * rest;
  }
  match.item += (copies + 1) / places;

  // The derivatives of the loss by the logits.
  const double answer = copies / places, item = (copies + 1) / places, other = 1 / places;
  const double uniform = 1.0 / options.vocabulary, absent = options.vocabulary - 2 * (others + 1);
  sums error{gamma * (answer - uniform) - 1, gamma * (item - uniform), gamma * (other - uniform)};
  double absent_error = -gamma * uniform;
  if (options.loss == task::loss::cross_entropy) {
    const double largest = std::max(gamma * item, 0.0);
    const auto share = [&](double attention) { return std::exp(gamma * attention - largest); };
    const double sum = share(answer) + share(item) + 2 * others * share(other) + absent * share(0);
    error = {share(answer) / sum - 1, share(item) / sum, share(other) / sum};
    absent_error = share(0) / sum;
  }
  const auto along = [&](const sums& of) {
    const double mean = (of.answer + of.item + of.other) / places;
    return (error.answer * (of.answer - copies * mean) + error.item * (of.item - (copies + 1) * mean) +
            error.other * (of.other - 2 * others * mean)) /
           places;
  };
  return {gamma * along(slope), gamma * along(match),
          error.answer * (answer - uniform) + error.item * (item - uniform) +
              2 * others * error.other * (other - uniform) - absent * absent_error * uniform};
}

/// 1 - w(b) / (b w(1)) for each entry of burst_gradient w: by which share the gradient with burstiness falls short of
/// being proportional. That by gamma is proportional at gamma = 0 alone, where it is 1/V - b/(2N + 1), as V grows.
/// NaN for alpha and beta where gamma = 0. Throws as burst_gradient.
[[nodiscard]] inline induction_coordinates exact_burstiness_deviation(const burst_options& options, double alpha,
                                                                      double gamma) {
  burst_options single = options;
  single.burstiness = 1;
  const induction_coordinates one = burst_gradient(single, alpha, gamma), many = burst_gradient(options, alpha, gamma);
  induction_coordinates result{};
  for (std::size_t i = 0; i < 3; ++i) result[i] = 1 - many[i] / (options.burstiness * one[i]);
  return result;
}

}  // namespace lindyn::circuit
