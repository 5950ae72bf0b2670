// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Plain (stochastic) gradient descent.

#include <span>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/optimizer.hpp>

namespace lindyn::optimizer {

template <class Scalar>
class sgd;

/// Options of sgd.
struct sgd_options {
  weight_decay decay = {};  ///< without momentum, `coupled_l2` is `lr_scaled`

  /// The optimiser that these options describe.
  template <class Scalar>
  using rule = sgd<Scalar>;
};

/// w <- w - learning_rate g.
/// \tparam Scalar  float or double
template <class Scalar>
class sgd {
public:
  static constexpr bool linear = true;  ///< see the concept `optimizer`

  /// \param size     number of weights, at most 2^40
  /// \param options  throws argument_error for decay that makes no sense
  explicit sgd(index size, const sgd_options& options = {}) : options_(options), size_(size) {
    detail::require_size(size);
    require_valid(options.decay);
    if (options.decay.mode == decay_mode::coupled_l2) options_.decay.mode = decay_mode::lr_scaled;
  }

  /// One step. Throws shape_error for another number of weights or derivatives, argument_error for a negative rate.
  void step(std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
    detail::require_step<Scalar>(size_, weights, gradient, learning_rate);
    const auto rate = static_cast<Scalar>(learning_rate);
    detail::subtract_steps(factors(options_.decay, learning_rate), weights, gradient,
                           [rate](std::size_t, Scalar g) { return rate * g; });
  }

private:
  sgd_options options_;
  index size_;
};

}  // namespace lindyn::optimizer
