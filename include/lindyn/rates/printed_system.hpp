// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The two-timescale system as printed, and its rates, as printed and as they come out of the loss.
/// Source: Ali, arXiv 2605.04396; the corrections are ours.

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/task/vector_composition.hpp>

namespace lindyn::rates {

/// How fast both masses grow, per unit of time (time = learning rate x steps).
struct growth {
  double memorising = 1;  ///< mu_m
  double reasoning = 1;   ///< mu_r
};

/// What the rates of the linearised attention model f = M_ij e_k + (u_j' W2 u_i) W1 e_k are made of.
struct linearised_statistics {
  /// sigma_e, the smallest non-zero eigenvalue of mean_k e_k e_k' (1/K for K orthonormal keys; for K < d others are 0).
  double key_eigenvalue = 1;
  /// S = mean over the pairs of (u_j' W2 u_i)^2: of weights drawn, or as `mean_coupling` says.
  double coupling = 1;
  int pairs = 1;  ///< |P|, anchor pairs that the loss averages over
};

/// The mean of S over W2 with entries N(0, gamma^2 / d): c_r gamma^2.
/// \param feature_scale  c_r = mean over the pairs of |u_i|^2 |u_j|^2 / d
/// \param gamma          initial scale: small gamma is a small start
[[nodiscard]] constexpr double mean_coupling(double feature_scale, double gamma) noexcept {
  return feature_scale * gamma * gamma;
}

/// Throws argument_error unless all are positive and finite.
inline void require_valid(const linearised_statistics& of) {
  require_positive("key_eigenvalue", of.key_eigenvalue);
  require_positive("coupling", of.coupling);
  require(of.pairs >= 1, "pairs", of.pairs, "at least 1");
}

/// As printed: mu_m = sigma_e, mu_r = S sigma_e. Throws argument_error as require_valid.
[[nodiscard]] inline growth printed_growth(const linearised_statistics& of) {
  require_valid(of);
  return {of.key_eigenvalue, of.coupling * of.key_eigenvalue};
}

/// As the loss has it: its Hessian is H_M = I (x) G_e / |P| for each pair's M and H_W1 = S I (x) G_e, hence
/// mu_m = sigma_e / |P| and mu_r = S sigma_e for the mean over the pairs, both |P| times as much for the sum. Reasoning
/// is |P| times as fast, compared with memorising, as printed. Throws argument_error as require_valid.
[[nodiscard]] inline growth corrected_growth(const linearised_statistics& of,
                                             task::pair_reduction reduction = task::pair_reduction::mean) {
  require_valid(of);
  const double scale = reduction == task::pair_reduction::mean ? 1.0 / of.pairs : 1.0;
  return {scale * of.key_eigenvalue, scale * of.pairs * of.coupling * of.key_eigenvalue};
}

/// What masses come to.
struct capacities {
  double memorising = 1;  ///< m*
  double reasoning = 1;   ///< r*
};

/// Options of printed_system.
struct printed_options {
  rates::growth growth = {};          ///< mu_m and mu_r
  rates::capacities capacities = {};  ///< m* and r*, without decay
  double exponent = 1;                ///< q, of decay in r: 1 as printed ("both alike"), p for a product of p factors
};

/// \f$\dot m = \mu_m (m^* - m) - \lambda m\f$ and \f$\dot r = \mu_r (r^* - r) - q \lambda r\f$: two masses that don't know
/// of each other. Source: Ali, arXiv 2605.04396, which prints it without decay and says that decay shrinks both
/// alike; q, the exponent, is ours.
class printed_system {
public:
  /// m and r.
  static constexpr std::size_t dimension = 2;

  /// Throws argument_error unless rates and capacities are positive and finite, and the exponent not negative.
  explicit printed_system(const printed_options& options) : options_(options) {
    require_positive("growth.memorising", options.growth.memorising);
    require_positive("growth.reasoning", options.growth.reasoning);
    require_positive("capacities.memorising", options.capacities.memorising);
    require_positive("capacities.reasoning", options.capacities.reasoning);
    require_not_negative("exponent", options.exponent);
  }

  /// What it was made with.
  [[nodiscard]] const printed_options& options() const noexcept { return options_; }

  /// m' and r' under decay lambda.
  void velocity(std::span<const double> x, double lambda, std::span<double> dxdt) const noexcept {
    dxdt[0] = options_.growth.memorising * (options_.capacities.memorising - x[0]) - lambda * x[0];
    dxdt[1] = options_.growth.reasoning * (options_.capacities.reasoning - x[1]) - options_.exponent * lambda * x[1];
  }
  /// Derivatives of the velocity.
  void jacobian(std::span<const double>, double lambda, matrix_view<double> derivatives) const noexcept {
    derivatives(0, 0) = -options_.growth.memorising - lambda;
    derivatives(1, 1) = -options_.growth.reasoning - options_.exponent * lambda;
    derivatives(0, 1) = derivatives(1, 0) = 0;
  }
  /// m.
  [[nodiscard]] double memorising(std::span<const double> x) const noexcept { return x[0]; }
  /// r.
  [[nodiscard]] double reasoning(std::span<const double> x) const noexcept { return x[1]; }
  /// What both come to under constant decay: mu_m m* / (mu_m + lambda) and mu_r r* / (mu_r + q lambda).
  /// Throws argument_error unless lambda is finite and not negative.
  [[nodiscard]] rates::capacities capacities(double lambda) const {
    require_not_negative("lambda", lambda);
    const auto& [memorising, reasoning] = options_.growth;
    return {options_.capacities.memorising * memorising / (memorising + lambda),
            options_.capacities.reasoning * reasoning / (reasoning + options_.exponent * lambda)};
  }
  /// The exact state after some time of constant decay. Throws shape_error for another number of masses, argument_error
  /// unless lambda and duration are finite and not negative.
  [[nodiscard]] std::array<double, 2> after(std::span<const double> x, double lambda, double duration) const {
    require_extent("x.size()", x.size(), dimension);
    require_not_negative("duration", duration);
    const auto relaxed = [duration](double from, double to, double rate) {
      return from + (from - to) * std::expm1(-rate * duration);
    };
    const rates::capacities rest = capacities(lambda);
    return {relaxed(x[0], rest.memorising, options_.growth.memorising + lambda),
            relaxed(x[1], rest.reasoning, options_.growth.reasoning + options_.exponent * lambda)};
  }

private:
  printed_options options_;
};

static_assert(rate_system<printed_system>);

}  // namespace lindyn::rates
