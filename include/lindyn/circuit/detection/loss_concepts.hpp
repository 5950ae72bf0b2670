// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What detection makes use of in a loss on the manifold, beyond what every reduced::manifold_loss has.

#include <concepts>
#include <span>
#include <vector>

#include <lindyn/core/views.hpp>
#include <lindyn/reduced/manifold_loss.hpp>

namespace lindyn::circuit {

/// Its loss costs less without the gradient flow: reduced::relational_model, data_loss, rescaled_loss.
template <class M>
concept gradient_free_loss = reduced::manifold_loss<M> && requires(M& model, std::span<const double> coordinates) {
  { model.loss(coordinates) } -> std::convertible_to<double>;
};

/// It knows the loss of any weights, on the manifold or off it: data_loss.
template <class M>
concept full_weights_loss = reduced::manifold_loss<M> && requires(M& model, std::span<const double> weights) {
  { model.weights_loss(weights) } -> std::convertible_to<double>;
};

/// It is the loss of another model at coordinates times a factor of its choice: rescaled_loss.
template <class M>
concept factored_loss = reduced::manifold_loss<M> && requires(M& model, std::span<const double> coordinates) {
  { model.scale(coordinates) } -> std::convertible_to<double>;
  { model.largest_scale() } -> std::convertible_to<double>;
  { model.model() } -> reduced::manifold_loss;
};

/// It computes in double precision, unless its member type `scalar` says otherwise. Single precision can't tell a
/// gradient that vanishes from one that is small, see find_gauge.
template <class M>
concept double_precision_loss = reduced::manifold_loss<M> &&
    (!requires { typename M::scalar; } || std::same_as<typename M::scalar, double>);

namespace detail {

/// The loss at these coordinates, without its gradient where the model can tell them apart.
/// \param spare  memory for the gradient flow
template <reduced::manifold_loss Model>
[[nodiscard]] double loss_at(Model& model, std::span<const double> coordinates, std::vector<double>& spare) {
  if constexpr (gradient_free_loss<Model>) {
    return model.loss(coordinates);
  } else {
    spare.resize(coordinates.size());
    return model.velocity(coordinates, spare);
  }
}

}  // namespace detail

}  // namespace lindyn::circuit
