// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What each optimiser takes from an entry in a step: the one place of these formulas, for the loops of the host and for
/// kernels of devices.

#include <cmath>

#include <lindyn/core/host_device.hpp>

namespace lindyn::optimizer {

/// What all entries share in a step.
template <class Scalar>
struct step_numbers {
  Scalar rate;        ///< the learning rate; Adam's is divided by 1 - beta1^t
  Scalar correction;  ///< Adam: 1 / sqrt(1 - beta2^t); 1 for others
};

/// What gradient descent takes from an entry. `remembered` is the number of arrays of which a formula gets the entry's
/// element, in their order, behind the gradient g.
template <class Scalar>
struct sgd_formula {
  static constexpr int remembered = 0;  ///< arrays

  /// rate g
  LINDYN_HOST_DEVICE Scalar operator()(const step_numbers<Scalar>& at, Scalar g) const { return at.rate * g; }
};

/// What Polyak's momentum takes.
template <class Scalar>
struct heavy_ball_formula {
  static constexpr int remembered = 1;  ///< arrays
  Scalar share;                         ///< mu

  /// m <- mu m + g; rate m
  LINDYN_HOST_DEVICE Scalar operator()(const step_numbers<Scalar>& at, Scalar g, Scalar& buffer) const {
    buffer = share * buffer + g;
    return at.rate * buffer;
  }
};

/// What Nesterov's momentum takes.
template <class Scalar>
struct nesterov_formula {
  static constexpr int remembered = 1;  ///< arrays
  Scalar share;                         ///< mu

  /// m <- mu m + g; rate (g + mu m)
  LINDYN_HOST_DEVICE Scalar operator()(const step_numbers<Scalar>& at, Scalar g, Scalar& buffer) const {
    buffer = share * buffer + g;
    return at.rate * (g + share * buffer);
  }
};

/// What Adam takes.
template <class Scalar>
struct adam_formula {
  static constexpr int remembered = 2;  ///< arrays
  Scalar beta1;                         ///< share of the first moment that stays
  Scalar rest1;                         ///< 1 - beta1
  Scalar beta2;                         ///< share of the second moment that stays
  Scalar rest2;                         ///< 1 - beta2
  Scalar epsilon;                       ///< joins the root

  /// m <- beta1 m + (1 - beta1) g, v <- beta2 v + (1 - beta2) g^2; rate m / (correction sqrt(v) + epsilon)
  LINDYN_HOST_DEVICE Scalar operator()(const step_numbers<Scalar>& at, Scalar g, Scalar& first, Scalar& second) const {
    first = beta1 * first + rest1 * g;
    second = beta2 * second + rest2 * g * g;
    return at.rate * first / (at.correction * std::sqrt(second) + epsilon);
  }
};

}  // namespace lindyn::optimizer
