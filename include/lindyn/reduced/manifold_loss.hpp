// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What flows and discrete maps on a manifold need of a model.

#include <concepts>
#include <span>

#include <lindyn/core/views.hpp>

namespace lindyn::reduced {

/// The loss on a manifold with its gradient flow: relational_model, or plain_model.
template <class M>
concept manifold_loss = requires(M& model, std::span<const double> coordinates, std::span<double> velocity) {
  { model.dimension() } -> std::convertible_to<index>;
  { model.velocity(coordinates, velocity) } -> std::convertible_to<double>;
};

}  // namespace lindyn::reduced
