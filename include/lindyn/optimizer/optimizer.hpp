// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an optimiser is, and what all of ours have in common.

#include <concepts>
#include <cstddef>
#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>

namespace lindyn::optimizer {

/// Moves a flat buffer of numbers against a gradient, one step a call, and keeps what it remembers between steps. The
/// numbers may be the weights of a network or coordinates on a manifold.
///
/// `linear` says that a step is a linear function of the weights and of all gradients so far, with the same
/// coefficients for every entry. Such an optimiser stays in every linear subspace that holds the start and the
/// gradients; an elementwise one such as Adam doesn't.
template <class O, class Scalar>
concept optimizer = std::floating_point<Scalar> &&
    requires(O& rule, std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
  rule.step(weights, gradient, learning_rate);
  { O::linear } -> std::convertible_to<bool>;
};

/// Options from which an optimiser can be made once the number of weights is known: sgd_options, adam_options, ..
template <class Options, class Scalar>
concept optimizer_options = optimizer<typename Options::template rule<Scalar>, Scalar> &&
                            std::constructible_from < typename Options::template rule<Scalar>,
        index,
const Options& > ;

namespace detail {

/// Throws argument_error unless an optimiser can be made for so many weights.
inline void require_size(index size) { require(size >= 0 && size <= index(1) << 40, "size", size, "in [0, 2^40]"); }

/// Throws unless a step's arguments fit: shape_error, or argument_error for the learning rate.
template <class Scalar>
void require_step(index size, std::span<const Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
  require_extent("weights.size()", weights.size(), size);
  require_extent("gradient.size()", gradient.size(), size);
  require(learning_rate >= 0 && learning_rate <= 1e300, "learning_rate", learning_rate,
          "not negative, and at most 1e300");
}

/// w <- keep w - step(i, gradient + coupled w) for all entries i. Each case is a loop of its own, so that no decay
/// means no operation.
template <class Scalar, class Step>
void subtract_steps(const decay_factors& decay, std::span<Scalar> weights, std::span<const Scalar> gradient,
                    Step&& step) {
  const auto keep = static_cast<Scalar>(decay.keep), coupled = static_cast<Scalar>(decay.coupled);
  const std::size_t size = weights.size();
  if (decay.coupled != 0)
    for (std::size_t i = 0; i < size; ++i) weights[i] -= step(i, gradient[i] + coupled * weights[i]);
  else if (decay.keep != 1)
    for (std::size_t i = 0; i < size; ++i) weights[i] = keep * weights[i] - step(i, gradient[i]);
  else
    for (std::size_t i = 0; i < size; ++i) weights[i] -= step(i, gradient[i]);
}

}  // namespace detail

}  // namespace lindyn::optimizer
