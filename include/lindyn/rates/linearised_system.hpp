// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The gradient flow of linearised attention, on the few directions in which it moves.

#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/rates/reduced_system.hpp>

namespace lindyn::rates {

/// How fast the three kinds of matrices of linearised attention follow the error, per unit of time.
struct linearised_slopes {
  double memorising = 1;  ///< of M_ij: s_m
  double rule = 1;        ///< of W1: s_1
  double coupling = 1;    ///< of W2: s_2

  /// Those of the reduced system, whose two factors are scaled to grow alike: s_m, and s_r = sqrt(s_1 s_2).
  [[nodiscard]] slopes reduced() const noexcept { return {memorising, std::sqrt(rule * coupling)}; }
  /// By what the first factor is scaled, and the second is divided: x_1 = this x a, x_2 = b / this.
  [[nodiscard]] double factor_scale() const noexcept { return std::pow(coupling / rule, 0.25); }
};

/// Where answers are separable, y_(k,ij) = s_ij rho_k, keys and anchors orthonormal, and M_ij = 0 at t = 0, the gradient flow of
/// f = M_ij e_k + (u_j' W2 u_i) W1 e_k closes exactly on eight numbers, whatever the width and the number of pairs. W1 e_k
/// stays a combination of rho_k and of what else it was at t = 0, say v_1 rho_k + v_2 omega_k; u_j' W2 u_i likewise
/// c_1 s_ij + c_2 sigma_ij; and M_ij e_k a combination of the four products, with coefficients n. With the error
/// E = T - n - c v', where T has the entry 1 at (1, 1) and zeros else,
/// \f[
///   \dot n = s_m E - \lambda n , \qquad \dot v = s_1 E^\top c - \lambda v , \qquad \dot c = s_2 E v - \lambda c .
/// \f]
/// m is n_11, r is v_1 c_1. With v_2 = c_2 = 0 this is the reduced system of two factors. Else what is drawn at random
/// slows reasoning down: it answers at random, and learning to be silent takes from the factors as well; see early_growth.
///
/// The state is (n_11, n_12, n_21, n_22, v_1, v_2, c_1, c_2). In units where mean_k |omega_k|^2 = mean_k |rho_k|^2, and sigma
/// likewise.
class linearised_system {
public:
  /// n, v and c.
  static constexpr std::size_t dimension = 8;

  /// Throws argument_error unless all slopes are positive and finite.
  explicit linearised_system(const linearised_slopes& slopes) : slopes_(slopes) {
    require_positive("slopes.memorising", slopes.memorising);
    require_positive("slopes.rule", slopes.rule);
    require_positive("slopes.coupling", slopes.coupling);
  }

  /// What it was made with.
  [[nodiscard]] const linearised_slopes& slopes() const noexcept { return slopes_; }

  /// The derivatives by time under decay lambda.
  void velocity(std::span<const double> x, double lambda, std::span<double> dxdt) const noexcept {
    for (std::size_t y : {0, 1}) {
      dxdt[v(y)] = -lambda * x[v(y)];
      dxdt[c(y)] = -lambda * x[c(y)];
    }
    for (std::size_t row : {0, 1})
      for (std::size_t column : {0, 1}) {
        const double e = error(x, row, column);
        dxdt[n(row, column)] = slopes_.memorising * e - lambda * x[n(row, column)];
        dxdt[v(column)] += slopes_.rule * e * x[c(row)];
        dxdt[c(row)] += slopes_.coupling * e * x[v(column)];
      }
  }
  /// Derivatives of the velocity.
  void jacobian(std::span<const double> x, double lambda, matrix_view<double> derivatives) const noexcept {
    for (double& entry : derivatives) entry = 0;
    const auto at = [&](std::size_t of, std::size_t by) -> double& {
      return derivatives(static_cast<index>(of), static_cast<index>(by));
    };
    for (std::size_t i = 0; i < dimension; ++i) at(i, i) = -lambda;
    for (std::size_t row : {0, 1})
      for (std::size_t column : {0, 1}) {
        const double e = error(x, row, column), vc = x[v(column)], cr = x[c(row)];
        at(n(row, column), n(row, column)) -= slopes_.memorising;
        at(n(row, column), v(column)) = -slopes_.memorising * cr;
        at(n(row, column), c(row)) = -slopes_.memorising * vc;
        at(v(column), n(row, column)) = -slopes_.rule * cr;
        at(v(column), v(column)) -= slopes_.rule * cr * cr;
        at(v(column), c(row)) = slopes_.rule * (e - vc * cr);
        at(c(row), n(row, column)) = -slopes_.coupling * vc;
        at(c(row), c(row)) -= slopes_.coupling * vc * vc;
        at(c(row), v(column)) = slopes_.coupling * (e - vc * cr);
      }
  }
  /// The rate at which both factors grow while they are small and nothing is memorised yet:
  /// \f[ s_r (\sqrt{1 + \kappa^2} - \kappa) , \qquad \kappa = \frac{s_2 v_2^2}{2 s_r} , \qquad s_r = \sqrt{s_1 s_2} . \f]
  /// Then v_1' = s_1 c_1 and c_1' = s_2 (v_1 - v_2^2 c_1), with c_2 left out, which s_2 v_2^2 damps as well. For a start
  /// N(0, gamma^2 / d) kappa is gamma^2 sqrt(K / |P|) / 2.
  /// \param random_rule  v_2
  [[nodiscard]] double early_growth(double random_rule) const noexcept {
    const double growth = slopes_.reduced().reasoning;
    const double damping = slopes_.coupling * random_rule * random_rule / (2 * growth);
    return growth * (std::sqrt(1 + damping * damping) - damping);
  }
  /// m.
  [[nodiscard]] double memorising(std::span<const double> x) const noexcept { return x[n(0, 0)]; }
  /// r.
  [[nodiscard]] double reasoning(std::span<const double> x) const noexcept { return x[v(0)] * x[c(0)]; }

private:
  [[nodiscard]] static constexpr std::size_t n(std::size_t row, std::size_t column) noexcept {
    return 2 * row + column;
  }
  [[nodiscard]] static constexpr std::size_t v(std::size_t column) noexcept { return 4 + column; }
  [[nodiscard]] static constexpr std::size_t c(std::size_t row) noexcept { return 6 + row; }
  [[nodiscard]] static double error(std::span<const double> x, std::size_t row, std::size_t column) noexcept {
    return (row == 0 && column == 0 ? 1.0 : 0.0) - x[n(row, column)] - x[c(row)] * x[v(column)];
  }

  linearised_slopes slopes_;
};

static_assert(rate_system<linearised_system>);

}  // namespace lindyn::rates
