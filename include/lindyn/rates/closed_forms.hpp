// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is known of the reduced system without integrating it. In all of it s = s_r / s_m is the ratio of slopes.

#include <cmath>
#include <limits>

#include <lindyn/core/errors.hpp>
#include <lindyn/rates/reduced_system.hpp>

namespace lindyn::rates {

/// r as a function of m without decay, for two factors that begin as a0 and b0 where m = 0:
/// \f[ r = \tfrac14 \left[(a_0 + b_0)^2 e^{2 s m} - (a_0 - b_0)^2 e^{-2 s m}\right], \f]
/// as (a + b)' = s_r e (a + b) and (a - b)' = -s_r e (a - b) with m' = s_m e. For equal factors a0^2 e^(2 s m).
/// Throws argument_error unless slopes are positive, m isn't negative, and all is finite.
[[nodiscard]] inline double reasoning_without_decay(const slopes& slopes, double a0, double b0, double m) {
  slopes.require_valid();
  require(std::isfinite(a0), "a0", a0, "finite");
  require(std::isfinite(b0), "b0", b0, "finite");
  require_not_negative("m", m);
  const double k = slopes.reasoning / slopes.memorising * m, sum = a0 + b0, difference = a0 - b0;
  return (sum * sum * std::exp(2 * k) - difference * difference * std::exp(-2 * k)) / 4;
}

/// a^2 - b^2 of any two factors of a product of any number, which gradient flow conserves and decay damps:
/// (a0^2 - b0^2) exp(-2 integral of lambda).
/// \param a0           one factor at t = 0, finite
/// \param b0           the other, finite
/// \param accumulated  the integral of lambda, see decay_course::accumulated; not negative
/// Throws argument_error for other numbers.
[[nodiscard]] inline double factor_imbalance(double a0, double b0, double accumulated) {
  require(std::isfinite(a0), "a0", a0, "finite");
  require(std::isfinite(b0), "b0", b0, "finite");
  require(accumulated >= 0, "accumulated", accumulated, "not negative");
  return (a0 - b0) * (a0 + b0) * std::exp(-2 * accumulated);
}

/// A factor x as a function of m without decay, for p equal factors that begin as x0 where m = 0. For p = 2
/// x0 e^(s m); for p >= 3
/// \f[ x^{-(p-2)} = x_0^{-(p-2)} - (p - 2) s m, \f]
/// infinite where the right-hand side isn't positive, which m never reaches; for p = 1 x0 + s m.
/// Throws argument_error unless p is at least 1, x0 positive, and m not negative.
[[nodiscard]] inline double factor_without_decay(const slopes& slopes, int factors, double x0, double m) {
  slopes.require_valid();
  require(factors >= 1, "factors", factors, "at least 1");
  require_positive("x0", x0);
  require_not_negative("m", m);
  const double k = slopes.reasoning / slopes.memorising * m;
  if (factors == 2) return x0 * std::exp(k);
  const double order = factors - 2, left = std::pow(x0, -order) - order * k;
  return left > 0 ? std::pow(left, -1 / order) : std::numeric_limits<double>::infinity();
}

}  // namespace lindyn::rates
