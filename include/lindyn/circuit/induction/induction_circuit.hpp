// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the idealised and the exact induction head have in common: three coordinates and what is computed at them.

#include <array>
#include <concepts>
#include <span>

#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>

namespace lindyn::circuit {

/// alpha, attention of layer 1 to the previous position; beta, match of layer 2 between the query's token and the token
/// that layer 1 brought; gamma, readout of what layer 2 copied.
using induction_coordinates = std::array<double, 3>;

/// An induction head at one point.
struct induction_values {
  double loss = 0;                   ///< mean over the population
  double attention = 0;              ///< B, layer 2's attention to the answer, mean over the population
  induction_coordinates gradient{};  ///< dL/d(alpha, beta, gamma)
};

/// A model of the induction head in its three coordinates.
template <class M>
concept induction_circuit = requires(M& model, std::span<const double> coordinates, std::span<double> velocity) {
  { model.evaluate(coordinates) } -> std::same_as<induction_values>;
  { model.metric() } -> std::convertible_to<metric>;
};

namespace detail {

inline void require_three(std::span<const double> coordinates) {
  require_extent("coordinates.size()", coordinates.size(), 3);
  require_finite("coordinates", coordinates);
}

}  // namespace detail

}  // namespace lindyn::circuit
