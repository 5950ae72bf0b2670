// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which weights make a circuit grow, and which hold it back.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace lindyn::circuit {

/// How fast circuits grow at a point of the manifold, and what that depends on.
///
/// The amplitude of a pair's circuit is \f$ a_p = \langle u_p, c \rangle_G \f$, with \f$ u_p \f$ the direction in which
/// its three core coordinates are equal and all others zero, of length one in the Gram metric: how far the full weights
/// have moved towards the circuit. Its growth rate is the velocity along it in gradient flow,
/// \f[ r_p = \dot a_p = - u_p^\top \frac{\partial L}{\partial c} , \qquad
///     \frac{\partial r_p}{\partial c_q} = - \left( \frac{\partial^2 L}{\partial c \, \partial c} u_p \right)_q . \f]
/// That is a rate in units of weight, not of the logarithm: the latter is infinite where a coordinate passes zero.
///
/// Where the derivative is positive, coordinate q excites the circuit as it grows, and where it is negative, it
/// suppresses it. Moving towards another circuit p' changes r_p by
/// \f$ - u_p^\top \partial^2 L \, u_{p'} \f$, which is symmetric: two circuits excite each other by the same amount, or
/// suppress each other. (Pairs that share a weight, such as alpha of 1-2 and 1-3, have directions that aren't
/// orthogonal.)
struct growth_rates {
  std::vector<head_pair> pairs = {};     ///< as head_pairs lists them
  std::vector<double> amplitude = {};    ///< a_p, by pair
  std::vector<double> rate = {};         ///< r_p, by pair
  std::vector<double> derivative = {};   ///< pairs x dimension, row-major: of r_p to the coordinate
  std::vector<double> interaction = {};  ///< pairs x pairs, row-major: of r_p for a unit step towards circuit p'
  double error = 0;                      ///< estimate of the largest error of a derivative

  /// The derivatives, a row for each pair, a column for each coordinate.
  [[nodiscard]] matrix_view<const double> derivatives() const noexcept {
    const auto rows = static_cast<index>(pairs.size());
    return {derivative.data(), rows, rows == 0 ? 0 : static_cast<index>(derivative.size()) / rows};
  }
  /// How circuits act on each other.
  [[nodiscard]] matrix_view<const double> interactions() const noexcept {
    const auto rows = static_cast<index>(pairs.size());
    return {interaction.data(), rows, rows};
  }
};

namespace detail {

/// The derivative of the gradient of the loss along a direction, by central differences of the exact gradient with
/// steps h and h / 2, extrapolated to h = 0 (Richardson), so that the error is of order h^4 for a smooth loss. Returns
/// the largest difference between the extrapolation from (h, h / 2) and that from (h / 2, h / 4), of which the latter is
/// the result.
inline double gradient_along(reduced::relational_model& model, std::span<const double> coordinates,
                             std::span<const double> direction, double step, std::span<double> result) {
  const std::size_t size = coordinates.size();
  std::vector<double> point(size), ahead(size), behind(size);
  const auto gradient_at = [&](double distance, std::vector<double>& gradient) {
    for (std::size_t i = 0; i < size; ++i) point[i] = coordinates[i] + distance * direction[i];
    (void)model.loss_and_gradient(point, gradient);
  };
  std::array<std::vector<double>, 3> difference;
  for (std::vector<double>& at_step : difference) {
    gradient_at(step, ahead);
    gradient_at(-step, behind);
    for (std::size_t i = 0; i < size; ++i) at_step.push_back((ahead[i] - behind[i]) / (2 * step));
    step /= 2;
  }
  double error = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double rough = (4 * difference[1][i] - difference[0][i]) / 3;
    result[i] = (4 * difference[2][i] - difference[1][i]) / 3;
    error = std::max(error, std::abs(result[i] - rough));
  }
  return error;
}

}  // namespace detail

/// The growth rates of all pairs at a point of the manifold with their derivatives, at the cost of six gradients a pair.
/// \param model        the loss on the manifold
/// \param coordinates  the point
/// \param selections   what the core coordinates are
/// \param step         of the differences, relative to steps in which a core coordinate changes by one
/// Throws argument_error for a step that isn't positive and finite, or as core_places; shape_error for another number of
/// coordinates.
[[nodiscard]] inline growth_rates growth_rates_at(reduced::relational_model& model, std::span<const double> coordinates,
                                                  const core_selections& selections = {}, double step = 0.01) {
  require_positive("step", step);
  const manifold::basis& basis = model.basis();
  const auto size = static_cast<std::size_t>(basis.dimension());
  std::vector<double> gradient(size), in_gram(size), towards(size);
  (void)model.loss_and_gradient(coordinates, gradient);

  growth_rates result{.pairs = head_pairs(basis.layout())};
  const std::size_t count = result.pairs.size();
  result.derivative.resize(count * size);
  std::vector<std::array<index, 3>> core;
  std::vector<double> scale;  // of the three equal core coordinates in a direction of length one
  for (std::size_t p = 0; p < count; ++p) {
    core.push_back(core_places(basis.layout(), result.pairs[p], selections));
    std::ranges::fill(towards, 0.0);
    for (const index place : core[p]) towards[static_cast<std::size_t>(place)] = 1;
    basis.apply_gram(towards, in_gram);
    double length = 0, along = 0, rate = 0;
    for (std::size_t i = 0; i < size; ++i) {
      length += towards[i] * in_gram[i];
      along += coordinates[i] * in_gram[i];
      rate -= towards[i] * gradient[i];
    }
    scale.push_back(1 / std::sqrt(length));
    result.amplitude.push_back(along * scale[p]);
    result.rate.push_back(rate * scale[p]);
    const auto row = std::span(result.derivative).subspan(p * size, size);
    const double error = detail::gradient_along(model, coordinates, towards, step, row);
    for (double& entry : row) entry *= -scale[p];
    result.error = std::max(result.error, error * scale[p]);
  }
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t other = 0; other < count; ++other) {
      double sum = 0;
      for (const index place : core[other]) sum += result.derivative[p * size + static_cast<std::size_t>(place)];
      result.interaction.push_back(sum * scale[other]);
    }
  return result;
}

}  // namespace lindyn::circuit
