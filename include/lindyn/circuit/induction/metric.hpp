// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The metric in which the three weights of an induction head descend.

#include <array>
#include <cmath>
#include <span>

#include <lindyn/core/errors.hpp>

namespace lindyn::circuit {

/// Squared lengths of the induction head's three directions: gradient flow is
/// position alpha' = -dL/dalpha, token beta' = -dL/dbeta, token gamma' = -dL/dgamma.
///
/// The unit metric descends in the coordinates themselves. The Gram metric is that of gradient flow of the full
/// weights: the direction of alpha is the centred shift of P positions, with Frobenius norm squared P - 1, those of
/// beta and gamma are the centred identity of V tokens, with V - 1; they stand in different blocks, hence no cross
/// terms.
struct metric {
  double position = 1;  ///< of alpha
  double token = 1;     ///< of beta and gamma

  /// Every coordinate for itself.
  [[nodiscard]] static constexpr metric unit() noexcept { return {}; }

  /// That of the full weights. Throws argument_error for fewer than three tokens or positions.
  /// \param vocabulary  V, tokens
  /// \param positions   P, positions
  [[nodiscard]] static metric gram(int vocabulary, int positions) {
    require(vocabulary >= 3, "vocabulary", vocabulary, "at least 3");
    require(positions >= 3, "positions", positions, "at least 3");
    return {positions - 1.0, vocabulary - 1.0};
  }

  /// sqrt(position token), also where the product overflows.
  [[nodiscard]] double geometric_mean() const { return std::sqrt(position) * std::sqrt(token); }

  /// (alpha', beta', gamma') of a gradient of the loss. Throws shape_error unless there is room for three.
  /// \param gradient  dL/d(alpha, beta, gamma)
  /// \param velocity  three entries, assigned
  void descend(const std::array<double, 3>& gradient, std::span<double> velocity) const {
    require_extent("velocity.size()", velocity.size(), 3);
    velocity[0] = -gradient[0] / position;
    velocity[1] = -gradient[1] / token;
    velocity[2] = -gradient[2] / token;
  }
};

/// Throws argument_error unless both lengths are positive and finite.
inline void require_valid(const metric& lengths) {
  const auto positive = [](double value) { return value > 0 && value <= 1e300; };
  require(positive(lengths.position), "metric.position", lengths.position, "positive and finite");
  require(positive(lengths.token), "metric.token", lengths.token, "positive and finite");
}

}  // namespace lindyn::circuit
