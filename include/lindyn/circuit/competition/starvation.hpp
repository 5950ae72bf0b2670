// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How a stored association starves in-context learning: by which factor it takes gradient from the induction head.

#include <cmath>

#include <lindyn/core/errors.hpp>

namespace lindyn::circuit {

/// What is asked for, and how often.
///
/// | query | probability | label | answered by |
/// |---|---|---|---|
/// | rare | f_r | any; the item has no partner C(item) | the context |
/// | stored | (1 - f_r) (1 - f_v) | C(item) | the context or the weights |
/// | varied | (1 - f_r) f_v | any other; C(item) doesn't occur in the context | the context, against the weights |
struct query_mixture {
  double rare = 0;          ///< f_r, probability that a query's item has no partner
  double within_class = 0;  ///< f_v, probability that a label isn't the partner of an item that has one

  /// Probability of a stored query.
  [[nodiscard]] constexpr double stored() const noexcept { return (1 - rare) * (1 - within_class); }
  /// Probability of a varied query.
  [[nodiscard]] constexpr double varied() const noexcept { return (1 - rare) * within_class; }
};

/// Throws argument_error unless both are probabilities.
inline void require_valid(const query_mixture& queries) {
  require_probability("rare", queries.rare);
  require_probability("within_class", queries.within_class);
}

/// p_delta, the probability that a readout with delta on C, and nothing else, gives to the partner among V tokens:
/// \f$ e^\delta / (e^\delta + V - 1) \f$.
[[nodiscard]] inline double stored_probability(double delta, int vocabulary) {
  require(vocabulary >= 2, "vocabulary", vocabulary, "at least 2");
  return 1 / (1 + (vocabulary - 1) * std::exp(-delta));
}

/// delta*, at which in-weights learning comes to rest: the readout's cross-entropy is least where the partner has
/// probability 1 - f_v,
/// \f[ \delta^* = \ln \frac{(1 - f_v)(V - 1)}{f_v} . \f]
/// Infinite for f_v = 0, minus infinite for f_v = 1. Throws argument_error if f_v is no probability, or V < 2.
[[nodiscard]] inline double equilibrium_association(double within_class, int vocabulary) {
  require_probability("within_class", within_class);
  require(vocabulary >= 2, "vocabulary", vocabulary, "at least 2");
  return std::log((1 - within_class) * (vocabulary - 1) / within_class);
}

/// Where a stored association is while it starves the induction head.
enum class starvation {
  limit,       ///< delta -> infinity: what is stored is certain
  equilibrium  ///< delta = delta*: what is stored is as certain as it is true
};

/// What is left of the induction head's gradient when the association is stored, for V -> infinity:
/// \f[ \text{limit: } f_r + (1 - f_r) f_v , \qquad \text{equilibrium: } f_r + (1 - f_r) f_v (2 - f_v) . \f]
/// The limit is that of IMIR (arXiv 2607.11875). But training by cross-entropy stops at delta*, where stored queries
/// still have an error of f_v, so that they add (1 - f_r) (1 - f_v) f_v (derived here). Throws as require_valid.
[[nodiscard]] inline double starvation_factor(const query_mixture& queries, starvation where) {
  require_valid(queries);
  const double varied = queries.varied();
  return queries.rare + varied * (where == starvation::limit ? 1 : 2 - queries.within_class);
}

/// The same for any delta and V, exactly: dL/dtheta at delta over dL/dtheta at delta = 0 for theta = alpha or beta, in
/// the limit gamma -> 0+ with alpha and beta held,
/// \f[ f_r + (1 - f_r) \left[ (1 - f_v)(1 - p_\delta) \frac{V}{V - 1} + f_v \right] . \f]
///
/// Derivation: to first order in gamma the gradient is gamma times the sum over tokens of (p - 1 for the answer, p for
/// others) x dA, with A the attention of layer 2 to the token, whose changes dA sum to zero, and p the probabilities
/// that delta alone leaves. These are alike for all tokens of the context but for the partner, so that a varied and a
/// rare query give -dA of the answer whatever delta is; in a stored one the answer is the partner, and the difference
/// to the others 1 - p + (1 - p) / (V - 1). All three kinds have the same dA, as their contexts differ in nothing else.
///
/// With p = 1 the factor is that of the limit; at p = 1 - f_v that of the equilibrium plus (1 - f_r)(1 - f_v) f_v /
/// (V - 1). With the partner planted in varied contexts neither holds at any V.
/// \param delta  infinity is allowed
/// Throws as require_valid, and for V < 2.
[[nodiscard]] inline double attention_starvation(const query_mixture& queries, int vocabulary, double delta) {
  require_valid(queries);
  const double error = 1 - stored_probability(delta, vocabulary);
  return queries.rare + queries.stored() * error * vocabulary / (vocabulary - 1) + queries.varied();
}

/// The same ratio for the readout, theta = gamma, with B the mean attention to the answer:
/// \f[ f_r + (1 - f_r) \left[ (1 - f_v)(1 - p_\delta) \frac{V}{V - 1}
///     + f_v \frac{B - (1 - p_\delta) / (V - 1)}{B - 1 / V} \right] . \f]
/// Other than dA, attention sums to one: with gamma a varied query raises the logits of a whole context, each of which
/// has probability q = (1 - p) / (V - 1) and gains from their sum. The deviation from either factor falls as 1 / V,
/// with B V >> 1.
/// \param attention  B, layer 2's attention to the answer, mean over the population; not 1 / V, where gamma's gradient
///                   vanishes at delta = 0
/// Throws as require_valid, and for V < 2.
[[nodiscard]] inline double readout_starvation(const query_mixture& queries, int vocabulary, double delta,
                                               double attention) {
  require_valid(queries);
  const double error = 1 - stored_probability(delta, vocabulary), uniform = 1.0 / vocabulary;
  require(attention >= 0 && attention <= 1 && attention != uniform, "attention", attention, "in [0, 1], not 1 / V");
  return queries.rare + queries.stored() * error * vocabulary / (vocabulary - 1) +
         queries.varied() * (attention - error / (vocabulary - 1)) / (attention - uniform);
}

}  // namespace lindyn::circuit
