// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The induction head without idealisation: the exact reduced model, restricted to its three core coordinates.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string>

#include <Eigen/Core>

#include <lindyn/circuit/induction/induction_circuit.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::circuit {

/// What the places of layer 1 see.
enum class first_layer {
  causal,        ///< themselves and those before, as the attention-only network
  bidirectional  ///< all places
};

/// Options of exact_induction_head.
struct exact_induction_head_options {
  int pairs = 4;                                     ///< N, blocks (item, label) before the query
  int vocabulary = 16;                               ///< V, tokens
  task::loss loss = task::loss::cross_entropy;       ///< how the answer is scored
  circuit::metric metric = {};                       ///< metric::unit() or metric::gram(V, P)
  circuit::first_layer first = first_layer::causal;  ///< what layer 1 sees
};

/// Throws argument_error for N outside of [1, 4096], V < 2N or 3 or above 10^6, or lengths that aren't positive.
inline void require_valid(const exact_induction_head_options& options) {
  require(options.pairs >= 1 && options.pairs <= 4096, "pairs", options.pairs, "in [1, 4096]");
  const int least = std::max(3, 2 * options.pairs);
  require(options.vocabulary >= least && options.vocabulary <= 1'000'000, "vocabulary", options.vocabulary,
          "in [" + std::to_string(least) + ", 1000000]: at least max(3, 2 x pairs)");
  require_valid(options.metric);
}

/// Throws argument_error where gradient flow is known never to emerge: from alpha = beta = 0 with a bidirectional first
/// layer, which no readout leaves, and from zero with V <= 2N + 1. There gamma' is proportional to 1 / (2N + 1) - 1 / V,
/// so that the readout turns negative, or stays zero.
/// \param options  valid ones
/// \param start    (alpha, beta, gamma)
inline void require_emergence(const exact_induction_head_options& options, const induction_coordinates& start) {
  if (start[0] != 0 || start[1] != 0) return;
  require(options.first == first_layer::causal, "first", "bidirectional",
          "causal: else nothing emerges from alpha = beta = 0");
  require(start[2] != 0 || options.vocabulary > 2 * options.pairs + 1, "vocabulary", options.vocabulary,
          "at least 2 x pairs + 2: with fewer tokens nothing emerges from zero");
}

/// Associative recall from N pairs of distinct tokens, blocks of two, position law of slots, two layers of one head:
/// the exact population loss of the manifold where alpha (L1[x,x]M), beta (L2[x,1]I) and gamma (out:2 I) alone aren't
/// zero.
///
/// The sequence is item 1, label 1, .., item N, label N, query. Layer 1's scores are alpha M between positions, and M
/// relates the two positions of a slot, in both directions. Causally, an item doesn't see its label: it attends
/// uniformly to the 2p - 1 places up to itself, the query to all 2N + 1; label p attends to item p with
/// \f$ a_p = e^\alpha / (e^\alpha + 2p - 1) \f$ and to each other of its 2p places with \f$ (1 - a_p) / (2p - 1) \f$.
/// A place's score in layer 2 is beta times its attention to the query's token. That stands at item q and at the query:
///
/// | place | attention to the query's token |
/// |---|---|
/// | item or label p < q | 0 |
/// | item p >= q | 1 / (2p - 1) |
/// | label q | a_q |
/// | label p > q | (1 - a_p) / (2p - 1) |
/// | query | 2 / (2N + 1) |
///
/// Layer 2 attends to all places with the softmax of the scores; gamma times the attention to a token (to both places
/// of the query's) is its logit, less gamma / V by the centring of the readout. The loss is the mean over q = 1 .. N;
/// it costs O(N^2). Places p < q are counted, not listed.
///
/// With a bidirectional first layer items attend to their labels as labels to their items, all others see all 2N + 1
/// places alike, and every q is alike. At alpha = 0 every place attends to the query's token with 2 / (2N + 1); only
/// the difference to that is kept, to which the softmax is indifferent: \f$ (2N - 1) x \f$ at label q, \f$ -2x \f$ at
/// the other labels and the items, 0 at the query, with \f$ x = (e^\alpha - 1) / ((e^\alpha + 2N)(2N + 1)) \f$. All
/// scores are thus exactly zero at alpha = 0, and so are both gradients at alpha = beta = 0: an exact saddle, which no
/// readout leaves.
///
/// Derived here from the relational form of the loss. With the causal layer, loss and gradient agree to rounding with
/// reduced::relational_model, whose layers are all causal. With either, loss and attention agree to rounding with
/// attention matrices written out for every queried pair, and the gradient agrees with differences of that loss.
class exact_induction_head {
public:
  /// Throws as require_valid.
  explicit exact_induction_head(const exact_induction_head_options& options) : options_(options) {
    require_valid(options);
    places_ = 2 * options.pairs + 1;
    match_.resize(places_);
    slope_.resize(places_);
  }

  /// What it was made with.
  [[nodiscard]] const exact_induction_head_options& options() const noexcept { return options_; }
  /// The metric of its gradient flow.
  [[nodiscard]] const circuit::metric& metric() const noexcept { return options_.metric; }
  /// Number of coordinates.
  [[nodiscard]] static constexpr index dimension() noexcept { return 3; }

  /// Loss, mean attention to the answer's place and gradient at (alpha, beta, gamma).
  /// Throws shape_error unless there are three, non_finite_error unless they are finite.
  [[nodiscard]] induction_values evaluate(std::span<const double> coordinates) {
    detail::require_three(coordinates);
    return options_.first == first_layer::causal ? causal(coordinates) : bidirectional(coordinates);
  }

  /// The loss, and (alpha', beta', gamma') of gradient flow in the metric. Throws as `evaluate`.
  double velocity(std::span<const double> coordinates, std::span<double> velocity) {
    const induction_values values = evaluate(coordinates);
    metric().descend(values.gradient, velocity);
    return values.loss;
  }

private:
  induction_values causal(std::span<const double> coordinates) {
    const double alpha = coordinates[0];
    const int pairs = options_.pairs;
    const auto attention = [&](int others) { return 1 / (1 + others * std::exp(-alpha)); };  // a_p
    const auto rest = [&](int others) { return 1 / (1 + std::exp(alpha) / others); };        // 1 - a_p
    for (int p = 0; p < pairs; ++p) {
      const int others = 2 * p + 1;
      match_[2 * p] = 1.0 / others;
      slope_[2 * p] = 0;
      match_[2 * p + 1] = rest(others) / others;
      slope_[2 * p + 1] = -attention(others) * rest(others) / others;
    }
    match_[2 * pairs] = 2.0 / places_;
    slope_[2 * pairs] = 0;
    induction_values mean;
    for (int q = 0; q < pairs; ++q) {
      const int others = 2 * q + 1;
      const double later = match_[2 * q + 1], later_slope = slope_[2 * q + 1];
      match_[2 * q + 1] = attention(others);
      slope_[2 * q + 1] = attention(others) * rest(others);
      add_query(2 * q, coordinates, 1.0 / pairs, mean);
      match_[2 * q + 1] = later;
      slope_[2 * q + 1] = later_slope;
    }
    return mean;
  }

  induction_values bidirectional(std::span<const double> coordinates) {
    const double others = 2.0 * options_.pairs;
    const double growth = std::expm1(std::min(coordinates[0], 300.0));  // beyond, attention is 1 to rounding
    const double all = growth + places_;
    const double unit = growth / (all * places_), unit_slope = (growth + 1) / (all * all);
    match_.fill(-2 * unit);
    slope_.fill(-2 * unit_slope);
    match_[1] = (others - 1) * unit;
    slope_[1] = (others - 1) * unit_slope;
    match_[places_ - 1] = slope_[places_ - 1] = 0;
    induction_values result;
    add_query(0, coordinates, 1, result);
    return result;
  }

  /// Adds weight x loss, attention and gradient of the query that repeats the item at place `before`, with the answer
  /// behind it. Layer 1's attention to the query's token, but for a constant, is 0 at the places before, and match_
  /// from there on, with derivative slope_ by alpha.
  void add_query(index before, std::span<const double> coordinates, double weight, induction_values& sum) {
    const double beta = coordinates[1], gamma = coordinates[2], count = static_cast<double>(before);
    const index listed = places_ - before, tokens = listed - 1;

    // Attention of layer 2: by place, and at each place before.
    const double top = std::max((beta * match_.tail(listed)).maxCoeff(), before > 0 ? 0.0 : lowest);
    attention_ = (beta * match_.tail(listed) - top).exp();
    double early = before > 0 ? std::exp(-top) : 0;
    const double partition = attention_.sum() + count * early;
    attention_ /= partition;
    early /= partition;

    // Attention by token: the item's second place is the query.
    copied_ = attention_.head(tokens);
    copied_[0] += attention_[tokens];
    sum.attention += weight * copied_[1];

    // Backward: the readout, then the softmax of layer 2.
    const double uniform = 1.0 / options_.vocabulary;
    const logit_errors others = score(before, gamma, early, uniform);
    sum.loss += weight * others.loss;
    sum.gradient[2] += weight * ((error_ * (copied_ - uniform)).sum() + count * others.early * (early - uniform) -
                                 others.absent * uniform);
    const double mean = (error_ * copied_).sum() + count * others.early * early;
    copied_ = error_ - mean;
    attention_.head(tokens) *= copied_;
    attention_[tokens] *= copied_[0];
    sum.gradient[0] += weight * gamma * beta * (attention_ * slope_.tail(listed)).sum();
    sum.gradient[1] += weight * gamma * (attention_ * match_.tail(listed)).sum();
  }

  /// The loss of a query, with its derivatives by the logits: of each token that stands `before`, of all absent tokens
  /// together. Those by the logits of the tokens in copied_ are left in error_.
  struct logit_errors {
    double loss, early, absent;
  };
  logit_errors score(index before, double gamma, double early, double uniform) {
    const double count = static_cast<double>(before), absent = options_.vocabulary - places_ + 1.0;
    if (options_.loss == task::loss::squared_error) {
      error_ = gamma * (copied_ - uniform);
      error_[1] -= 1;
      const double early_error = gamma * (early - uniform), absent_error = -gamma * uniform;
      return {0.5 * (error_.square().sum() + count * early_error * early_error + absent * absent_error * absent_error),
              early_error, absent * absent_error};
    }
    const double largest =
        std::max({(gamma * copied_).maxCoeff(), before > 0 ? gamma * early : lowest, absent > 0 ? 0.0 : lowest});
    error_ = (gamma * copied_ - largest).exp();
    const double early_share = before > 0 ? std::exp(gamma * early - largest) : 0;
    const double absent_share = absent > 0 ? absent * std::exp(-largest) : 0;
    const double partition = error_.sum() + count * early_share + absent_share;
    error_ /= partition;
    error_[1] -= 1;
    return {std::log(partition) + largest - gamma * copied_[1], early_share / partition, absent_share / partition};
  }

  static constexpr double lowest = -std::numeric_limits<double>::infinity();

  exact_induction_head_options options_;
  int places_ = 0;
  Eigen::ArrayXd match_, slope_, attention_, copied_, error_;
};

/// t_ICL, the first time with mean B > 1/2, of the exact causal head from alpha = beta = gamma = 0, to leading order
/// for N -> infinity at fixed V / N and w_t / w_p: with squared error and with cross-entropy
/// \f[ T = \sqrt{8 \pi w_p w_t} \, \frac{N^2}{\ln N} \quad \text{and} \quad
///     \sqrt{\frac{4 N w_t T}{1 - 2N / V}} \propto \frac{N^{3/2}}{\sqrt{\ln N}}. \f]
/// In the Gram metric both lengths grow with N, which adds 1 to the powers.
///
/// Derivation (ours): while attention is uniform but for a few places, alpha and beta climb
/// \f$ \Phi = \sum_p e^{\beta a_p} - \beta / 2 \f$ at gamma / (2 N^2) times its slopes. A label competes with 2p - 1
/// other places instead of n - 1, hence \f$ \sum_p a_p = (e^\alpha / 2) (\ln N + O(1)) \f$, and the idealised head's
/// time is divided by ln N. With squared error gamma soon settles at 1. With cross-entropy the tokens that are absent
/// or wrong hold nearly all of the probability, and w_t gamma' = (1 - 2N / V) / (2N) lasts until emergence: the
/// integral of gamma, t^2 (1 - 2N / V) / (4N w_t), takes the place of the time. This relation to the time with squared
/// error is accurate to half a percent from N = 128 on in the unit metric (2 % in the Gram metric).
///
/// The powers are seen late. What stands for ln N is ln N + c + O(1 / ln N), with c = -.07 for w_t = w_p and -.75 for
/// w_t >> w_p by first-order perturbation, and c = -.33, -.07, -.001 measured at N = 64, 256, 1024 with squared error
/// in the unit metric, whose local exponent d ln t / d ln N is 1.77 between N = 128 and 256.
///
/// Throws as require_valid and require_emergence, and argument_error for N < 2.
[[nodiscard]] inline double asymptotic_emergence_time(const exact_induction_head_options& options) {
  require_valid(options);
  require_emergence(options, {});
  require(options.pairs >= 2, "pairs", options.pairs, "at least 2, for a logarithm");
  const double pairs = options.pairs;
  const double squared =
      std::sqrt(8 * std::numbers::pi) * options.metric.geometric_mean() * pairs * pairs / std::log(pairs);
  if (options.loss == task::loss::squared_error) return squared;
  return std::sqrt(4 * pairs * options.metric.token / (1 - 2 * pairs / options.vocabulary)) * std::sqrt(squared);
}

}  // namespace lindyn::circuit
