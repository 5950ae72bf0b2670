// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Linear response: the reduced system with all factors but one held, as the printed rates assume.

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/rates/reduced_system.hpp>

namespace lindyn::rates {

/// The reduced system with one factor x that moves, r = F x, while the product F of the others is held:
/// \f[ \dot m = s_m e - \lambda m, \qquad \dot x = s_r F e - \lambda x, \qquad e = 1 - m - F x. \f]
/// It is linear, so that r grows at the rate s_r F^2, which for F of order gamma is the printed mu_r of order gamma^2.
/// Decay doesn't touch F.
class frozen_system {
public:
  /// m and x.
  static constexpr std::size_t dimension = 2;

  /// Throws argument_error unless both slopes lie in [1e-100, 1e100], and F is finite.
  /// \param slopes  s_m and s_r
  /// \param held    F
  frozen_system(const rates::slopes& slopes, double held) : slopes_(slopes), held_(held) {
    slopes.require_valid();
    require(std::isfinite(held), "held", held, "finite");
  }

  /// s_m and s_r.
  [[nodiscard]] const rates::slopes& slopes() const noexcept { return slopes_; }
  /// F.
  [[nodiscard]] double held() const noexcept { return held_; }
  /// s_r F^2, at which r follows the error.
  [[nodiscard]] double response() const noexcept { return slopes_.reasoning * held_ * held_; }

  /// (m', x') under decay lambda.
  void velocity(std::span<const double> x, double lambda, std::span<double> dxdt) const noexcept {
    const double error = 1 - x[0] - held_ * x[1];
    dxdt[0] = slopes_.memorising * error - lambda * x[0];
    dxdt[1] = slopes_.reasoning * held_ * error - lambda * x[1];
  }
  /// Derivatives of the velocity.
  void jacobian(std::span<const double>, double lambda, matrix_view<double> derivatives) const noexcept {
    derivatives(0, 0) = -slopes_.memorising - lambda;
    derivatives(0, 1) = -slopes_.memorising * held_;
    derivatives(1, 0) = -slopes_.reasoning * held_;
    derivatives(1, 1) = -response() - lambda;
  }
  /// m.
  [[nodiscard]] double memorising(std::span<const double> x) const noexcept { return x[0]; }
  /// r = F x.
  [[nodiscard]] double reasoning(std::span<const double> x) const noexcept { return held_ * x[1]; }

  /// The exact state after some time of constant decay: with S = s_m + s_r F^2, m + r relaxes to S / (S + lambda) at the
  /// rate S + lambda, and r s_m - m s_r F^2 shrinks at the rate lambda. Throws shape_error for another number of
  /// masses, argument_error unless lambda and duration are finite and not negative.
  [[nodiscard]] std::array<double, 2> after(std::span<const double> x, double lambda, double duration) const {
    require_extent("x.size()", x.size(), dimension);
    require_not_negative("lambda", lambda);
    require_not_negative("duration", duration);
    const double sum = slopes_.memorising + response(), rest = sum / (sum + lambda);
    const double both = memorising(x) + reasoning(x), shrink = std::exp(-lambda * duration);
    const double later = both + (both - rest) * std::expm1(-(sum + lambda) * duration);
    // With r / (s_r F) = x / s_r, F = 0 needs no case of its own.
    const double skew = (slopes_.reasoning * held_ * x[0] - slopes_.memorising * x[1]) * shrink;
    return {(slopes_.memorising * later + held_ * skew) / sum, (slopes_.reasoning * held_ * later - skew) / sum};
  }

private:
  rates::slopes slopes_;
  double held_;
};

static_assert(rate_system<frozen_system>);

}  // namespace lindyn::rates
