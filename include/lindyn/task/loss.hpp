// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How an answer is scored.

namespace lindyn::task {

/// The loss of one sequence with logits z over the V tokens and answer y.
enum class loss {
  cross_entropy,  ///< ln sum_v exp(z_v) - z_y, in nats
  squared_error,  ///< 1/2 sum_v (z_v - [v = y])^2
};

}  // namespace lindyn::task
