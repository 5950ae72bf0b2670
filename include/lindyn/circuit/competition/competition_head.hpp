// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The idealised competition: the closed-form induction head beside a stored association, scored by cross-entropy.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include <lindyn/circuit/competition/competition_circuit.hpp>
#include <lindyn/circuit/competition/starvation.hpp>
#include <lindyn/circuit/induction/induction_head.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::circuit {

/// Options of competition_head.
struct competition_head_options {
  induction_head_options head{};  ///< n, m, b, and the metric; delta descends in that of tokens
  int vocabulary = 16;            ///< V, tokens; at least m + 2: the answer, m distractors, an absent partner
  query_mixture queries{};        ///< f_r and f_v

  /// Recall from N pairs, of which b are the queried one: n = 2N, m = 2N + 1 - b. Throws argument_error for b outside of
  /// [1, N] or N < 1.
  [[nodiscard]] static competition_head_options of_pairs(int pairs, int vocabulary, const query_mixture& queries,
                                                         int burstiness = 1) {
    competition_head_options result{induction_head_options::of_pairs(pairs), vocabulary, queries};
    require(burstiness >= 1 && burstiness <= pairs, "burstiness", burstiness,
            "in [1, pairs = " + std::to_string(pairs) + "]");
    result.head.burstiness = burstiness;
    result.head.distractors = 2 * pairs + 1 - burstiness;
    return result;
  }
};

/// Throws argument_error for an invalid head or mixture, or V < m + 2.
inline void require_valid(const competition_head_options& options) {
  require_valid(options.head);
  require_valid(options.queries);
  require(options.vocabulary - 2 >= options.head.distractors, "vocabulary", options.vocabulary,
          "at least distractors + 2 = " + std::to_string(options.head.distractors + 2LL));
}

/// The induction head of circuit::induction_head, idealised as there, beside delta, with cross-entropy over V tokens.
///
/// The logit of the answer is \f$ \gamma B \f$, that of each of m distractors \f$ \gamma (1 - B) / m \f$, that of the
/// others 0; and delta adds to the item's partner, which is the answer of a stored query, a token that doesn't occur in
/// the context of a varied one, and that a rare one doesn't have. The loss is
/// \f[ L = f_r L_r + (1 - f_r) \left[ (1 - f_v) L_s + f_v L_v \right] , \quad
///     L_r = \ln \left( e^{\gamma B} + m e^{\gamma (1 - B) / m} + V - 1 - m \right) - \gamma B \f]
/// with \f$ \gamma B + \delta \f$ for \f$ \gamma B \f$ in \f$ L_s \f$, and \f$ e^\delta - 1 \f$ added to the sum in
/// \f$ L_v \f$. With P the probabilities of the answer and of one distractor each query has
/// \f[ \frac{\partial L}{\partial B} = \gamma (P_a - 1 - P_d) , \quad
///     \frac{\partial L}{\partial \gamma} = (P_a - 1) B + P_d (1 - B) ; \f]
/// alpha and beta follow from B as in the induction head.
///
/// What is idealised is attention. In readout, gamma and delta, it is the exact reduced model (relational_competition)
/// but for terms of 1 / V where alpha = beta = 0; the exact head's causal layer makes alpha and beta climb faster, by a
/// factor of about ln N.
class competition_head {
public:
  /// Throws as require_valid.
  explicit competition_head(const competition_head_options& options) : options_(options), head_(options.head) {
    require_valid(options);
  }

  /// What it was made with.
  [[nodiscard]] const competition_head_options& options() const noexcept { return options_; }
  /// The head on its own.
  [[nodiscard]] const induction_head& head() const noexcept { return head_; }
  /// The metric of its gradient flow.
  [[nodiscard]] const circuit::metric& metric() const noexcept { return options_.head.metric; }
  /// V.
  [[nodiscard]] int vocabulary() const noexcept { return options_.vocabulary; }
  /// Number of coordinates.
  [[nodiscard]] static constexpr index dimension() noexcept { return 4; }

  /// Loss and gradient at (alpha, beta, gamma, delta).
  /// Throws shape_error unless there are four, non_finite_error unless they are finite.
  [[nodiscard]] competition_values evaluate(std::span<const double> coordinates) const {
    detail::require_four(coordinates);
    const double alpha = coordinates[0], beta = coordinates[1], gamma = coordinates[2], delta = coordinates[3];
    const double a = head_.previous_attention(alpha), score = beta * a, b = head_.attention(score);
    const double a_slope = a / (1 + std::exp(alpha) / (options_.head.visible - 1));  // a (1 - a)
    const query_mixture& queries = options_.queries;
    const scored rare = score_query(gamma, b, 0, 0), stored = score_query(gamma, b, delta, 0),
                 varied = score_query(gamma, b, 0, delta);
    const auto mean = [&](double scored::*what) {
      return queries.rare * rare.*what + queries.stored() * stored.*what + queries.varied() * varied.*what;
    };
    const double wrong = mean(&scored::answer_error), distractor = mean(&scored::distractor);
    const double steep = gamma * (wrong - distractor) * head_.attention_slope(score);
    return {.loss = mean(&scored::loss),
            .losses = {rare.loss, stored.loss, varied.loss},
            .gradient = {steep * beta * a_slope, steep * a, wrong * b + distractor * (1 - b),
                         queries.stored() * stored.answer_error + queries.varied() * varied.partner}};
  }

private:
  /// A query's loss, P - 1 of the answer, P of a distractor, and P of the partner that is absent.
  struct scored {
    double loss, answer_error, distractor, partner;
  };
  /// \param with,against  what delta adds to the answer, and to a token that doesn't occur
  [[nodiscard]] scored score_query(double gamma, double attention, double with, double against) const {
    const double m = options_.head.distractors, others = options_.vocabulary - 2 - m;
    const double answer = gamma * attention + with, distractor = gamma * (1 - attention) / m;
    const double largest = std::max({answer, distractor, against, 0.0});
    const double answer_share = std::exp(answer - largest), distractor_share = std::exp(distractor - largest),
                 partner_share = std::exp(against - largest);
    const double wrong = m * distractor_share + partner_share + others * std::exp(-largest);
    const double sum = answer_share + wrong;
    return {std::log(sum) + largest - answer, -wrong / sum, distractor_share / sum, partner_share / sum};
  }

  competition_head_options options_;
  induction_head head_;
};

}  // namespace lindyn::circuit
