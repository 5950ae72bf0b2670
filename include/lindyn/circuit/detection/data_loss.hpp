// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A network's loss and accuracy on data, as a function of the manifold's coordinates.

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/circuit/detection/accuracy.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::circuit {

/// The loss of the full network on given sequences, at weights embed(coordinates) + rest. A reduced::manifold_loss.
///
/// The rest is what isn't pruned: by default nothing, so that only what lies on the manifold counts; or the off-manifold
/// part of trained weights (`projection.off_manifold`), which then stays in place whatever directions are taken out, and
/// is still there when none is left. An object keeps its work space: it must not be shared between threads, but copied.
/// \tparam Network  model::attention_only, or any network with its members
template <class Network>
class data_loss {
public:
  /// Of the network's weights. `detect` needs double (see double_precision_loss).
  using scalar = typename Network::scalar;

  /// \param basis      the manifold
  /// \param network    of the basis' shape
  /// \param sequences  the data, which are copied
  /// \param kind       cross-entropy or squared error
  /// \param rest       added to all weights; empty: nothing
  /// Throws shape_error if basis, network and rest don't fit, argument_error for an empty batch.
  data_loss(manifold::basis basis, Network network, const task::batch_view& sequences,
            task::loss kind = task::loss::cross_entropy, std::vector<double> rest = {})
      : basis_(std::move(basis)),
        network_(std::move(network)),
        sequences_(static_cast<int>(sequences.length())),
        kind_(kind),
        rest_(std::move(rest)) {
    require(sequences.count() >= 1, "sequences", "an empty batch", "at least one sequence");
    require_extent("network.parameters().size()", network_.parameters().size(), basis_.parameters().size());
    if (!rest_.empty()) require_extent("rest.size()", rest_.size(), basis_.parameters().size());
    for (index place = 0; place < sequences.count(); ++place) sequences_.append(sequences[place]);
    weights_.resize(static_cast<std::size_t>(basis_.parameters().size()));
    scalars_.resize(weights_.size());
  }

  /// Number of coordinates.
  [[nodiscard]] index dimension() const noexcept { return basis_.dimension(); }
  /// The loss at these coordinates.
  double loss(std::span<const double> coordinates) {
    place(coordinates);
    return network_.loss(scalars_, sequences_, kind_, memory_);
  }
  /// The loss of any weights, as they are.
  double weights_loss(std::span<const double> weights) {
    require_extent("weights.size()", weights.size(), weights_.size());
    const std::vector<scalar> as_they_are(weights.begin(), weights.end());
    return network_.loss(as_they_are, sequences_, kind_, memory_);
  }
  /// The loss, and dc/dt = -G^-1 <S, dL/dW> in `velocity`: the projection of the network's gradient flow.
  double velocity(std::span<const double> coordinates, std::span<double> velocity) {
    place(coordinates);
    gradient_.resize(scalars_.size());
    const double value = network_.loss_and_gradient(scalars_, sequences_, kind_, gradient_, memory_);
    std::ranges::copy(gradient_, weights_.begin());
    basis_.inner_products(weights_, velocity);
    basis_.solve_gram(velocity, velocity);
    std::ranges::transform(velocity, velocity.begin(), std::negate{});
    return value;
  }
  /// The accuracy at these coordinates (see circuit::accuracy).
  double accuracy(std::span<const double> coordinates) {
    place(coordinates);
    return circuit::accuracy(network_, std::span<const scalar>(scalars_), sequences_);
  }

private:
  void place(std::span<const double> coordinates) {
    basis_.embed(coordinates, weights_);
    if (!rest_.empty()) std::ranges::transform(weights_, rest_, weights_.begin(), std::plus{});
    std::ranges::transform(weights_, scalars_.begin(), [](double weight) { return static_cast<scalar>(weight); });
  }

  manifold::basis basis_;
  Network network_;
  population::sequence_table sequences_;
  task::loss kind_;
  std::vector<double> rest_, weights_;
  std::vector<scalar> scalars_, gradient_;
  typename Network::workspace memory_;
};

}  // namespace lindyn::circuit
