// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Emergence of the idealised induction head as an integral, exact where the readout is a function of the attention.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/tools/toms748_solve.hpp>

#include <lindyn/circuit/induction/induction_head.hpp>
#include <lindyn/core/errors.hpp>

namespace lindyn::circuit {

/// Emergence times as integrals.
struct emergence_integral {
  double icl_time = 0;    ///< t_ICL, the first time with B >= 1/2
  double match_time = 0;  ///< T_beta, the first time with beta >= 1
};

namespace detail {

/// The w > 0 with w + ln w = z, that is W(e^z) without overflow.
inline double lambert_w_of_exp(double z) {
  if (z < 700) return boost::math::lambert_w0(std::exp(z));
  double w = z;  // Newton's method: the relative error falls below 1e-2, 1e-7, 1e-17
  for (int round = 0; round < 3; ++round) w *= (1 + z - std::log(w)) / (1 + w);
  return w;
}

/// The curve of constant Q through (alpha, beta), as a function of beta. With y = e^alpha / (n - 1) it says
/// y + ln y = Q / w_p + w_t beta^2 / (2 w_p) - ln(n - 1), and a = y / (1 + y).
class conserved_curve {
public:
  conserved_curve(const induction_head& head, double alpha, double beta)
      : steepness_(head.metric().token / (2 * head.metric().position)) {
    const double visible = head.options().visible - 1;
    offset_ = alpha - std::log(visible) + std::exp(alpha) / visible - steepness_ * beta * beta;
  }
  /// beta a, the query's score at a matching label. It grows with beta: d(beta a) / d beta = a (1 + 2 steepness beta^2
  /// (1 - a)^2) > 0.
  [[nodiscard]] double score(double beta) const { return beta * previous_attention(beta); }
  [[nodiscard]] double previous_attention(double beta) const {
    const double y = lambert_w_of_exp(level(beta));
    return y / (1 + y);
  }
  /// y + ln y.
  [[nodiscard]] double level(double beta) const { return offset_ + steepness_ * beta * beta; }

private:
  double steepness_, offset_ = 0;
};

/// \param gain  -dL/dB as a function of B
template <class Gain>
emergence_integral emergence_along(const induction_head& head, double alpha, double beta, Gain&& gain) {
  require(alpha > -600 && alpha < 600, "alpha", alpha, "in (-600, 600)");
  require(beta > -600 && beta < 1e150, "beta", beta, "in (-600, 1e150)");
  const conserved_curve curve(head, alpha, beta);
  require(curve.level(std::max(beta, 0.0)) > -700, "beta", beta,
          "such that attention is still a number where beta passes zero");
  const auto time_until = [&](double end) {
    const auto slowness = [&](double at) {
      const double score = curve.score(at);
      return head.metric().token /
             (gain(head.attention(score)) * curve.previous_attention(at) * head.attention_slope(score));
    };
    if (end <= beta) return 0.0;
    if (!(gain(head.attention(curve.score(end))) > 0)) return std::numeric_limits<double>::infinity();
    return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(slowness, beta, end, 20, 1e-13);
  };
  // B = 1/2: the score, which grows with beta, has reached ln(m / b).
  const auto excess = [&](double at) { return curve.score(at) - head.emergence_score(); };
  if (excess(beta) >= 0) return {0, time_until(1)};
  double below = beta, above = std::max(1.0, 2 * beta);
  for (; excess(above) < 0; above *= 2) below = above;
  std::uintmax_t iterations = 100;
  const auto [low, high] =
      boost::math::tools::toms748_solve(excess, below, above, boost::math::tools::eps_tolerance<double>(), iterations);
  return {time_until(high), time_until(1)};
}

}  // namespace detail

/// t_ICL and T_beta of the idealised head with its readout held at gamma: exact for the two-variable system of alpha
/// and beta (readout::held).
///
/// Q makes a a function of beta alone (by Lambert's W function), and so is B. Gradient flow is then one quadrature,
/// \f[ t = \int_{\beta_0}^{\beta} \frac{w_t \, dx}{g(B) \, a \, B (1 - B)}, \f]
/// up to beta = 1, and up to the beta at which B = 1/2. It is evaluated by adaptive Gauss-Kronrod rules.
///
/// \param alpha,beta  at t = 0; between -600 and 600, lest the times or attention exceed all numbers
/// \param gamma       of the readout, in (0, 2m / (m - 1)): beyond that g vanishes before B = 1/2, which isn't reached.
///                    T_beta is infinite where g vanishes before beta = 1 is reached.
/// Throws argument_error for values that aren't allowed.
[[nodiscard]] inline emergence_integral emergence_integral_held(const induction_head& head, double gamma,
                                                                double alpha = 0, double beta = 0) {
  require(gamma > 0 && head.attention_gain(0.5, gamma) > 0, "gamma", gamma,
          "positive and below 2m / (m - 1), so that B = 1/2 can be reached");
  return detail::emergence_along(head, alpha, beta,
                                 [&](double attention) { return head.attention_gain(attention, gamma); });
}

/// The same with a readout that follows attention without delay, at the least loss for it,
/// \f[ \gamma = B / D, \quad D = B^2 + (1 - B)^2 / m, \quad g = B (1 - B) / (m D^2). \f]
/// Exact for that system, in which Q is conserved too; approximate for the three-variable system from gamma = 0, whose
/// readout lags by a time of order w_t m, against (n m / b^2) sqrt(w_p w_t) until emergence.
[[nodiscard]] inline emergence_integral emergence_integral_stationary(const induction_head& head, double alpha = 0,
                                                                      double beta = 0) {
  const double m = head.options().distractors;
  return detail::emergence_along(head, alpha, beta, [m](double attention) {
    const double spread = attention * attention + (1 - attention) * (1 - attention) / m;
    return attention * (1 - attention) / (m * spread * spread);
  });
}

}  // namespace lindyn::circuit
