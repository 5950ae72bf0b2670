// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Training of the full network confined to the manifold.

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/train/descent.hpp>

namespace lindyn::compare {

/// Replaces weights, or a gradient, by their orthogonal projection on the manifold. As the constraint of
/// train::descend it makes any optimiser follow the projected gradient, and puts the weights back behind each step:
///
///     compare::manifold_constraint constrain(basis);
///     train::descend(net, law, std::span(weights), options, observe, adam, constrain);
///
/// With minibatches, it removes the noise that would leave the manifold. A linear optimiser stays on it by itself; for
/// others each step is projected, which makes Adam an optimiser between that of the weights and that of the coordinates
/// (reduced::descend): it normalises by entries of the weights, and then averages over the entries of a selection.
class manifold_constraint {
public:
  /// \param basis  copied
  explicit manifold_constraint(const manifold::basis& basis)
      : basis_(basis), coordinates_(static_cast<std::size_t>(basis.dimension())) {}

  /// Projects in place. Throws shape_error for another number of weights.
  template <class Scalar>
  void operator()(std::span<Scalar> values) {
    if constexpr (std::is_same_v<Scalar, double>) {
      project(values);
    } else {
      wide_.assign(values.begin(), values.end());
      project(wide_);
      std::ranges::transform(wide_, values.begin(), [](double value) { return static_cast<Scalar>(value); });
    }
  }

  /// Coordinates of the last projection.
  [[nodiscard]] std::span<const double> coordinates() const noexcept { return coordinates_; }

private:
  void project(std::span<double> values) {
    basis_.inner_products(values, coordinates_);
    basis_.solve_gram(coordinates_, coordinates_);
    basis_.embed(coordinates_, values);
  }

  manifold::basis basis_;
  std::vector<double> coordinates_, wide_;
};

static_assert(train::constraint<manifold_constraint, double> && train::constraint<manifold_constraint, float>);

}  // namespace lindyn::compare
