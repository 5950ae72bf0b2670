// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The induction head in closed form: an idealised system of three weights, with its conserved quantity.

#include <cmath>
#include <numbers>
#include <span>

#include <lindyn/circuit/induction/induction_circuit.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::circuit {

/// What the idealised induction head sees.
struct induction_head_options {
  int visible = 8;              ///< n, positions among which layer 1 attends
  int distractors = 8;          ///< m, places of layer 2 that match nothing
  int burstiness = 1;           ///< b, places that match
  circuit::metric metric = {};  ///< metric::unit() or metric::gram(V, P)

  /// Recall from N pairs: n = m = 2N.
  [[nodiscard]] static induction_head_options of_pairs(int pairs) {
    require(pairs >= 1 && pairs <= 1'000'000'000, "pairs", pairs, "in [1, 1000000000]");
    return {.visible = 2 * pairs, .distractors = 2 * pairs};
  }
};

/// Throws argument_error for n < 2, m < 1, b < 1 or lengths that aren't positive.
inline void require_valid(const induction_head_options& options) {
  require(options.visible >= 2, "visible", options.visible, "at least 2");
  require(options.distractors >= 1, "distractors", options.distractors, "at least 1");
  require(options.burstiness >= 1, "burstiness", options.burstiness, "at least 1");
  require_valid(options.metric);
}

/// Two layers of one head each, idealised: every label sees n positions, its item among them; every other place brings
/// nothing that matches. The task is that of arXiv 2511.01033; the system and what follows from it were derived here.
///
/// Layer 1 attends from a label to its item with \f$ a = e^\alpha / (e^\alpha + n - 1) \f$, so that the query's score
/// at a matching label is \f$ \beta a \f$ and layer 2 attends to the b labels together with
/// \f$ B = b e^{\beta a} / (b e^{\beta a} + m) \f$. The logit of the answer is \f$ \gamma B \f$, that of each of the m
/// distractors \f$ \gamma (1 - B) / m \f$, and the squared error
/// \f[ L = \tfrac12 \left[ (1 - \gamma B)^2 + \gamma^2 (1 - B)^2 / m \right]. \f]
/// With \f$ g = -\partial L / \partial B = \gamma (1 - \gamma B) + \gamma^2 (1 - B) / m \f$ gradient flow is, in the
/// unit metric,
/// \f[ \gamma' = B (1 - \gamma B) - \gamma (1 - B)^2 / m, \quad \beta' = g a B (1 - B), \quad
///     \alpha' = g \beta a (1 - a) B (1 - B), \f]
/// and each right-hand side is divided by its direction's squared length in another metric. Whatever gamma does,
/// \f[ Q = w_p \left( \alpha + \frac{e^\alpha}{n - 1} \right) - w_t \frac{\beta^2}{2} \f]
/// is conserved, with \f$ w_p \f$ and \f$ w_t \f$ the lengths of metric::position and metric::token: as
/// \f$ (1 + e^\alpha / (n - 1)) (1 - a) = 1 \f$, both terms change by \f$ g \beta a B (1 - B) \f$.
///
/// Exponentials are formed of such signs that nothing overflows where |gamma| <= 1e150 (the loss grows as its square),
/// but for Q, which grows as e^alpha and beta^2.
class induction_head {
public:
  /// Throws as require_valid.
  explicit induction_head(const induction_head_options& options) : options_(options) { require_valid(options); }

  /// What it was made with.
  [[nodiscard]] const induction_head_options& options() const noexcept { return options_; }
  /// The metric of its gradient flow.
  [[nodiscard]] const circuit::metric& metric() const noexcept { return options_.metric; }
  /// Number of coordinates.
  [[nodiscard]] static constexpr index dimension() noexcept { return 3; }

  /// a, layer 1's attention from a label to its item.
  [[nodiscard]] double previous_attention(double alpha) const noexcept {
    return 1 / (1 + (options_.visible - 1) * std::exp(-alpha));
  }
  /// B, layer 2's attention to the matching labels.
  /// \param score  beta a
  [[nodiscard]] double attention(double score) const noexcept { return 1 / (1 + odds() * std::exp(-score)); }
  /// ln(m / b), the score at which B = 1/2.
  [[nodiscard]] double emergence_score() const noexcept { return std::log(odds()); }

  /// -dL/dB.
  [[nodiscard]] double attention_gain(double attention, double gamma) const noexcept {
    return gamma * (1 - gamma * attention + gamma * (1 - attention) / options_.distractors);
  }
  /// B (1 - B).
  [[nodiscard]] double attention_slope(double score) const noexcept {
    return attention(score) / (1 + std::exp(score) / odds());
  }

  /// Loss, attention and gradient at (alpha, beta, gamma).
  /// Throws shape_error unless there are three, non_finite_error unless they are finite.
  [[nodiscard]] induction_values evaluate(std::span<const double> coordinates) const {
    detail::require_three(coordinates);
    const double alpha = coordinates[0], beta = coordinates[1], gamma = coordinates[2], m = options_.distractors;
    const double a = previous_attention(alpha), score = beta * a, b = attention(score);
    const double error = 1 - gamma * b, rest = (1 - b) / m, steep = attention_gain(b, gamma) * attention_slope(score);
    const double a_slope = a / (1 + std::exp(alpha) / (options_.visible - 1));
    return {.loss = 0.5 * (error * error + m * (gamma * rest) * (gamma * rest)),
            .attention = b,
            .gradient = {-steep * (beta * a_slope), -steep * a, -b * error + gamma * m * rest * rest}};
  }

  /// The loss, and (alpha', beta', gamma') of gradient flow in the metric. Throws as `evaluate`.
  double velocity(std::span<const double> coordinates, std::span<double> velocity) const {
    const induction_values values = evaluate(coordinates);
    metric().descend(values.gradient, velocity);
    return values.loss;
  }

  /// Q, constant along every gradient flow, also with the readout held. Throws as `evaluate`.
  [[nodiscard]] double conserved(std::span<const double> coordinates) const {
    detail::require_three(coordinates);
    const double alpha = coordinates[0], beta = coordinates[1];
    return metric().position * (alpha + std::exp(alpha) / (options_.visible - 1)) - metric().token * beta * beta / 2;
  }

private:
  [[nodiscard]] double odds() const noexcept { return static_cast<double>(options_.distractors) / options_.burstiness; }

  induction_head_options options_;
};

/// t_ICL, the first time with B > 1/2, of the idealised head from alpha = beta = gamma = 0, to leading order for
/// n, m -> infinity at fixed b and w_t / w_p:
/// \f[ t_{ICL} \to \frac{n m}{b^2} \sqrt{\frac{\pi w_p w_t}{2}}, \f]
/// that is \f$ \sqrt{8 \pi} N^2 / b^2 \f$ in the unit metric with n = m = 2N, \f$ \sqrt{2 \pi} N^2 \f$ with n = 2N,
/// m = N - 1, and \f$ \sqrt{8 \pi (V - 1)(P - 1)} N^2 \f$ in the Gram metric.
///
/// It holds under three conditions:
/// \f[ b^2 \ll m, \quad b^2 \sqrt{w_t / w_p} \ll n, \quad \sqrt{w_p / w_t} \ll n. \f]
/// Measured with n = m = 2N: at N = 256 in the unit metric, heads with b = 1, 2, 4, 8, 16, 32 take 0.999, 1.023, 1.126,
/// 1.578, 3.55, 13.5 times as long; at N = 64, b = 1 in the Gram metric with P = 132, heads with V = 256, 4096, 65536,
/// 10^6 take 1.023, 1.12, 1.42, 2.54 times as long. For w_t >= w_p the law was good to 5 % where neither
/// b^2 / m nor b^2 sqrt(w_t / w_p) / n exceeds 1/128.
///
/// Derivation: until beta a is of order 1, B = b / (b + m), and gamma settles at the least loss,
/// gamma = B / (B^2 + (1 - B)^2 / m), where g B (1 - B) = (b^2 / m) / (1 + b^2 / m)^2: b^2 / m, by the first condition.
/// With a = e^alpha / n the head obeys w_t beta' = e^alpha b^2 / (n m). The conserved quantity says
/// alpha = w_t beta^2 / (2 w_p). Hence
/// \f[ t(\beta) = w_t \frac{n m}{b^2} \int_0^\beta e^{-w_t x^2 / (2 w_p)} dx, \f]
/// and all but a vanishing part of the integral to infinity is over before beta a matters: alpha has to grow to ln n,
/// while beta is of order sqrt(w_p / w_t) (the third condition). Two times of order w_t m are left out, in which gamma
/// settles and, at the end, B grows from 1 / sqrt(m) to 1/2: short against the whole by the second condition.
/// At a held readout gamma one factor b is missing: \f$ n m / (\gamma b) \f$ replaces \f$ n m / b^2 \f$, and the
/// first two conditions are \f$ b \ll m \f$ and \f$ \sqrt{w_t / w_p} \ll n \f$.
///
/// Throws as require_valid.
[[nodiscard]] inline double asymptotic_emergence_time(const induction_head_options& options) {
  require_valid(options);
  const double scale = static_cast<double>(options.visible) * options.distractors /
                       (static_cast<double>(options.burstiness) * options.burstiness);
  return scale * std::sqrt(std::numbers::pi / 2) * options.metric.geometric_mean();
}

/// T_beta, the first time with beta = 1, likewise: the integral of asymptotic_emergence_time ends at 1,
/// \f[ T_\beta \to w_t \frac{n m}{b^2} \int_0^1 e^{-w_t x^2 / (2 w_p)} dx
///     = t_{ICL} \, \mathrm{erf} \sqrt{\frac{w_t}{2 w_p}}, \f]
/// which is 3.4225 N^2 in the unit metric with n = m = 2N, b = 1. It asks for the first two of its conditions. Throws as
/// require_valid.
[[nodiscard]] inline double asymptotic_match_time(const induction_head_options& options) {
  return asymptotic_emergence_time(options) *
         std::erf(std::sqrt(options.metric.token) / std::sqrt(2 * options.metric.position));
}

}  // namespace lindyn::circuit
