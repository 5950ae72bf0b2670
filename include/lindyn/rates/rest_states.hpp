// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the reduced system comes to rest under constant decay, how fast it leaves, and the edge between both.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <boost/math/tools/toms748_solve.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/system.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/reduced_system.hpp>

namespace lindyn::rates {

/// A state of rest of p equal factors (at rest all factors have the same size).
struct rest_state {
  double memorising = 0;  ///< m
  double factor = 0;      ///< x
  double reasoning = 0;   ///< r = x^p
};

/// Both states of rest with reasoning.
struct reasoning_rest {
  rest_state stable;  ///< where reasoning ends
  /// Saddle on the edge between reasoning and extinction; for p = 2 the memorising state, for p = 1 there is none.
  std::optional<rest_state> edge;
};

namespace detail {

/// Throws argument_error unless a product has so many factors and the decay makes sense.
inline void require_rest(const slopes& slopes, int factors, double lambda) {
  slopes.require_valid();
  require(factors >= 1, "factors", factors, "at least 1");
  require_not_negative("lambda", lambda);
}

}  // namespace detail

/// Memorising alone: m = s_m / (s_m + lambda), r = 0. A state of rest for p >= 2; stable for p >= 3, and for p = 2 where
/// s_r <= s_m + lambda. Throws argument_error unless slopes are positive and decay isn't negative.
[[nodiscard]] inline rest_state memorising_at_rest(const slopes& slopes, double lambda) {
  detail::require_rest(slopes, 1, lambda);
  return {slopes.memorising / (slopes.memorising + lambda), 0, 0};
}

/// The largest (s_m + lambda) / s_r at which reasoning can rest: the maximum of x^(p-2) (1 - x^p), which is at
/// x^p = (p - 2) / (2p - 2); 1 for p = 2, infinite for p = 1. Throws argument_error unless p is at least 1.
[[nodiscard]] inline double largest_load(int factors) {
  require(factors >= 1, "factors", factors, "at least 1");
  if (factors == 1) return std::numeric_limits<double>::infinity();
  const double p = factors, top = (p - 2) / (2 * p - 2);
  return std::pow(top, (p - 2) / p) * (1 - top);
}

/// The states of rest with reasoning, none if (s_m + lambda) / s_r is not below largest_load. From x' = 0 and m' = 0,
/// s_r e x^(p-2) = lambda and m = s_m e / lambda, hence
/// \f[ x^{p-2} (1 - x^p) = \frac{s_m + \lambda}{s_r}, \qquad m = \frac{s_m}{s_r} x^{-(p-2)}. \f]
/// For p = 2: m = s_m / s_r, r = 1 - (s_m + lambda) / s_r. Without decay every state with m + r = 1 rests; what is given at
/// lambda = 0 is the limit of small decay. Throws argument_error unless slopes are positive, p is at least 1, and decay
/// isn't negative.
[[nodiscard]] inline std::optional<reasoning_rest> reasoning_at_rest(const slopes& slopes, int factors, double lambda) {
  detail::require_rest(slopes, factors, lambda);
  const double load = (slopes.memorising + lambda) / slopes.reasoning, p = factors;
  if (!(load < largest_load(factors))) return std::nullopt;
  const auto state = [&](double x) {
    return rest_state{slopes.memorising / slopes.reasoning * std::pow(x, 2 - p), x, std::pow(x, p)};
  };
  if (factors == 1) return reasoning_rest{state(1 / (1 + load)), {}};
  if (factors == 2) return reasoning_rest{state(std::sqrt(1 - load)), memorising_at_rest(slopes, lambda)};
  const auto excess = [&](double x) { return std::pow(x, p - 2) * (1 - std::pow(x, p)) - load; };
  const double top = std::pow((p - 2) / (2 * p - 2), 1 / p);
  const auto root = [&](double low, double high, double at_low, double at_high) {
    std::uintmax_t iterations = 200;
    const auto [below, above] = boost::math::tools::toms748_solve(
        excess, low, high, at_low, at_high, boost::math::tools::eps_tolerance<double>(), iterations);
    return below + (above - below) / 2;
  };
  const double at_top = excess(top);
  if (!(at_top > 0)) return std::nullopt;
  return reasoning_rest{state(root(top, 1, at_top, -load)), state(root(0, top, -load, at_top))};
}

/// r' / r where memorising is at rest and p equal factors are x, much smaller than 1:
/// \f[ \frac{\dot r}{r} = p \lambda \left( \frac{s_r x^{p-2}}{s_m + \lambda} - 1 \right), \f]
/// as the error left by memorising is lambda / (s_m + lambda). For p = 2 it doesn't depend on x: 2 lambda (s_r / (s_m +
/// lambda) - 1). Throws argument_error as reasoning_at_rest, and unless x is positive.
[[nodiscard]] inline double reasoning_growth(const slopes& slopes, int factors, double lambda, double x) {
  detail::require_rest(slopes, factors, lambda);
  require_positive("x", x);
  return factors * lambda * (slopes.reasoning * std::pow(x, factors - 2) / (slopes.memorising + lambda) - 1);
}

/// The edge between reasoning and extinction at a given m under constant decay: from larger equal factors than this, with m
/// as given, the system comes to rest reasoning, from smaller ones memorising. 0 for p = 2, where reasoning grows from any
/// start; infinite where no factors are large enough; none where reasoning can't rest.
///
/// It is the stable manifold of the saddle. The system of equal factors is competitive (each of m and x slows the other),
/// so that the manifold is the graph of an increasing function x(m), followed here from the saddle by dx/dm = x' / m', as
/// y = x^-(p-2), which reaches 0 where x is infinite.
/// \param slopes     s_m and s_r
/// \param lambda     positive
/// \param m          where the factors are asked for, in [0, 1]
/// \param tolerance  of each step of the integration
/// Throws argument_error as reasoning_at_rest, and for another lambda or m.
template <int Factors>
requires(Factors >= 2) [[nodiscard]] inline std::optional<double> basin_edge(const slopes& slopes, double lambda,
                                                                             double m, double tolerance = 1e-10) {
  require(m >= 0 && m <= 1, "m", m, "in [0, 1]");
  require(lambda > 0, "lambda", lambda, "positive: without decay nothing becomes extinct");
  const auto rest = reasoning_at_rest(slopes, Factors, lambda);
  if (!rest) return std::nullopt;
  if constexpr (Factors == 2) {
    return 0.0;
  } else {
    const equal_factor_system<Factors> system(slopes);
    const double saddle_m = rest->edge->memorising, saddle_x = rest->edge->factor;
    double entries[4];
    const matrix_view<double> jacobian{entries, 2, 2};
    const double saddle[2] = {saddle_m, saddle_x};
    system.jacobian(saddle, lambda, jacobian);
    // The eigenvector of the negative eigenvalue.
    const double half_trace = (entries[0] + entries[3]) / 2, half_gap = (entries[0] - entries[3]) / 2;
    const double eigenvalue = half_trace - std::hypot(half_gap, std::sqrt(entries[1] * entries[2]));
    const double slope = (eigenvalue - entries[0]) / entries[1];
    const double way = m - saddle_m, first = 1e-6 * way;  // the curve is straight there to 1e-12
    if (way == 0) return saddle_x;
    constexpr double order = Factors - 2;
    const auto along = [&](const integrate::state& y, integrate::state& dyds, double s) {
      double steepness =
          slopes.reasoning / slopes.memorising;  // -(dy/dm) / (p - 2), to which it tends as x grows beyond all bounds
      if (y[0] > 0) {
        const double at[2] = {saddle_m + first + s * (way - first), std::pow(y[0], -1 / order)};
        double velocity[2];
        system.velocity(at, lambda, velocity);
        steepness = y[0] / at[1] * velocity[1] / velocity[0];
      }
      dyds[0] = -(way - first) * order * steepness;
      return y[0];
    };
    const double start = std::pow(saddle_x + slope * first, -order);
    const auto end = integrate::flow(along, {start}, 0, 1, {.tolerance = tolerance, .stop_at = 0});
    if (end.status == integrate::flow_status::event) return std::numeric_limits<double>::infinity();
    return std::pow(end.state[0], -1 / order);
  }
}

}  // namespace lindyn::rates
