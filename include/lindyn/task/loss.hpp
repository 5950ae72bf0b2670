// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How an answer is scored.

namespace lindyn::task {

/// The loss of one sequence with logits z over the V tokens and answer y.
enum class loss {
  cross_entropy,  ///< \f$\ln \sum_v e^{z_v} - z_y\f$, in nats
  squared_error,  ///< \f$\tfrac12 \sum_v (z_v - \delta_{vy})^2\f$
};

}  // namespace lindyn::task
