// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// In-context against in-weights learning in four coordinates: what the idealised and the exact model have in common.

#include <array>
#include <concepts>
#include <span>

#include <lindyn/circuit/induction/induction_circuit.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>

namespace lindyn::circuit {

/// alpha, beta, gamma of the induction head (see induction_coordinates), and delta, the readout of the query's partner:
/// the coordinate of C in the readout of the input, out:x C, which stores associations in the weights.
using competition_coordinates = std::array<double, 4>;

/// The cross-entropy of each kind of query (see query_mixture), whether it is asked for or not.
struct query_losses {
  double rare = 0;    ///< what the context says of an item that isn't in the weights: below ln 2 it is mostly right
  double stored = 0;  ///< where weights and context agree
  double varied = 0;  ///< where they don't
};

/// A competition at one point.
struct competition_values {
  double loss = 0;                     ///< mean over the population, in nats
  query_losses losses{};               ///< of each kind of query
  competition_coordinates gradient{};  ///< dL/d(alpha, beta, gamma, delta)
};

/// A model of the competition in its four coordinates.
template <class M>
concept competition_circuit = requires(M& model, std::span<const double> coordinates) {
  { model.evaluate(coordinates) } -> std::same_as<competition_values>;
  { model.metric() } -> std::convertible_to<metric>;
  { model.vocabulary() } -> std::convertible_to<int>;
};

namespace detail {

inline void require_four(std::span<const double> coordinates) {
  require_extent("coordinates.size()", coordinates.size(), 4);
  require_finite("coordinates", coordinates);
}

}  // namespace detail

/// w_theta(delta) for theta = alpha, beta, gamma: dL/dtheta at delta over dL/dtheta at delta = 0, in the limit
/// gamma -> 0+ with alpha and beta held; by how much the stored association starves the head (see starvation_factor).
///
/// The limit is taken at gamma = 2^-332, about 1e-100. Both gradients by alpha and beta are gamma times a sum in which
/// gamma appears as a correction of relative size gamma, far below rounding, and nothing cancels as gamma vanishes; so
/// the ratio of these numbers is that of the derivatives by gamma at 0.
/// \param beta  not zero, else alpha has no gradient
/// Throws argument_error for beta = 0, non_finite_error for values that aren't finite.
template <competition_circuit Circuit>
[[nodiscard]] induction_coordinates starvation_ratios(Circuit&& circuit, double alpha, double beta, double delta) {
  require(beta != 0, "beta", beta, "not zero, else alpha has no gradient");
  constexpr double gamma = 0x1p-332;
  const auto starved = circuit.evaluate(std::array{alpha, beta, gamma, delta}).gradient;
  const auto free = circuit.evaluate(std::array{alpha, beta, gamma, 0.0}).gradient;
  return {starved[0] / free[0], starved[1] / free[1], starved[2] / free[2]};
}

}  // namespace lindyn::circuit
