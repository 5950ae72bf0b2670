// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The reduced system: memorising and reasoning share one error, and reasoning is a product of factors.

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/rates/rate_system.hpp>

namespace lindyn::rates {

/// How steeply each weight follows the error, per unit of time (time = learning rate x steps).
struct slopes {
  double memorising = 1;  ///< s_m
  double reasoning = 1;   ///< s_r

  /// Throws argument_error unless both lie in [1e-100, 1e100].
  void require_valid() const {
    require(memorising >= 1e-100 && memorising <= 1e100, "slopes.memorising", memorising, "in [1e-100, 1e100]");
    require(reasoning >= 1e-100 && reasoning <= 1e100, "slopes.reasoning", reasoning, "in [1e-100, 1e100]");
  }
  /// Whether both are equal.
  bool operator==(const slopes&) const = default;
};

/// gamma / sqrt(d): the order of a factor at the start, the projection of weights N(0, gamma^2 / d) on a fixed
/// direction. Throws argument_error unless gamma isn't negative and the width is at least 1.
[[nodiscard]] inline double initial_factor(double gamma, int width) {
  require_not_negative("gamma", gamma);
  require(width >= 1, "width", width, "at least 1");
  return gamma / std::sqrt(width);
}

namespace detail {

/// x^n by multiplications, n >= 0.
[[nodiscard]] constexpr double power(double x, int n) noexcept {
  double result = 1;
  for (int i = 0; i < n; ++i) result *= x;
  return result;
}

}  // namespace detail

/// The reduced system of p factors, with \f$r = x_1 \cdots x_p\f$ and the error \f$e = 1 - m - r\f$:
/// \f[ \dot m = s_m e - \lambda m, \qquad \dot x_i = s_r e \prod_{j \ne i} x_j - \lambda x_i. \f]
/// The state is (m, x_1, .., x_p). Gradient flow of e^2 / 2 in a metric, with decay. Another target than 1, T, is the
/// same with masses in units of T, factors in units of T^(1/p) and s_r T^(2 - 2/p) in place of s_r.
template <int Factors>
requires(Factors >= 1) class reduced_system {
public:
  /// p.
  static constexpr int factors = Factors;
  /// m and the factors.
  static constexpr std::size_t dimension = Factors + 1;

  /// Throws argument_error unless both slopes lie in [1e-100, 1e100].
  explicit reduced_system(const rates::slopes& slopes) : slopes_(slopes) { slopes.require_valid(); }

  /// What it was made with.
  [[nodiscard]] const rates::slopes& slopes() const noexcept { return slopes_; }

  /// (m', x_1', .., x_p') under decay lambda.
  void velocity(std::span<const double> x, double lambda, std::span<double> dxdt) const noexcept {
    const auto others = products_of_others(x);
    const double error = 1 - x[0] - others[0] * x[1];
    dxdt[0] = slopes_.memorising * error - lambda * x[0];
    for (std::size_t i = 1; i < dimension; ++i) dxdt[i] = slopes_.reasoning * error * others[i - 1] - lambda * x[i];
  }
  /// Derivatives of the velocity.
  void jacobian(std::span<const double> x, double lambda, matrix_view<double> derivatives) const noexcept {
    const auto others = products_of_others(x);
    const double error = 1 - x[0] - others[0] * x[1];
    derivatives(0, 0) = -slopes_.memorising - lambda;
    for (int i = 0; i < Factors; ++i) {
      const double other = others[static_cast<std::size_t>(i)];
      derivatives(0, i + 1) = -slopes_.memorising * other;
      derivatives(i + 1, 0) = -slopes_.reasoning * other;
      for (int j = 0; j < Factors; ++j) {
        double slope = -slopes_.reasoning * other * others[static_cast<std::size_t>(j)];
        if (i == j)
          slope -= lambda;
        else
          slope += slopes_.reasoning * error * product_without(x, i, j);
        derivatives(i + 1, j + 1) = slope;
      }
    }
  }
  /// m.
  [[nodiscard]] double memorising(std::span<const double> x) const noexcept { return x[0]; }
  /// r, the product of the factors.
  [[nodiscard]] double reasoning(std::span<const double> x) const noexcept { return product_without(x, -1, -1); }

private:
  [[nodiscard]] static double product_without(std::span<const double> x, int i, int j) noexcept {
    double result = 1;
    for (int k = 0; k < Factors; ++k)
      if (k != i && k != j) result *= x[static_cast<std::size_t>(k) + 1];
    return result;
  }
  [[nodiscard]] static std::array<double, Factors> products_of_others(std::span<const double> x) noexcept {
    std::array<double, Factors> result;
    for (int i = 0; i < Factors; ++i) result[static_cast<std::size_t>(i)] = product_without(x, i, -1);
    return result;
  }

  rates::slopes slopes_;
};

/// The reduced system where all factors are equal, as they stay if they are at the start: the state is (m, x), r = x^p.
template <int Factors>
requires(Factors >= 2) class equal_factor_system {
public:
  /// p.
  static constexpr int factors = Factors;
  /// m and x.
  static constexpr std::size_t dimension = 2;

  /// Throws argument_error unless both slopes lie in [1e-100, 1e100].
  explicit equal_factor_system(const rates::slopes& slopes) : slopes_(slopes) { slopes.require_valid(); }

  /// What it was made with.
  [[nodiscard]] const rates::slopes& slopes() const noexcept { return slopes_; }

  /// (m', x') under decay lambda.
  void velocity(std::span<const double> x, double lambda, std::span<double> dxdt) const noexcept {
    const double others = detail::power(x[1], Factors - 1), error = 1 - x[0] - others * x[1];
    dxdt[0] = slopes_.memorising * error - lambda * x[0];
    dxdt[1] = slopes_.reasoning * error * others - lambda * x[1];
  }
  /// Derivatives of the velocity.
  void jacobian(std::span<const double> x, double lambda, matrix_view<double> derivatives) const noexcept {
    const double others = detail::power(x[1], Factors - 1), error = 1 - x[0] - others * x[1];
    derivatives(0, 0) = -slopes_.memorising - lambda;
    derivatives(0, 1) = -slopes_.memorising * Factors * others;
    derivatives(1, 0) = -slopes_.reasoning * others;
    derivatives(1, 1) =
        slopes_.reasoning * ((Factors - 1) * detail::power(x[1], Factors - 2) * error - Factors * others * others) -
        lambda;
  }
  /// m.
  [[nodiscard]] double memorising(std::span<const double> x) const noexcept { return x[0]; }
  /// r = x^p.
  [[nodiscard]] double reasoning(std::span<const double> x) const noexcept { return detail::power(x[1], Factors); }

private:
  rates::slopes slopes_;
};

static_assert(rate_system<reduced_system<2>> && rate_system<equal_factor_system<3>>);

}  // namespace lindyn::rates
