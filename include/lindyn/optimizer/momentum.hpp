// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gradient descent with momentum.

#include <span>
#include <vector>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/optimizer.hpp>

namespace lindyn::optimizer {

template <class Scalar>
class momentum;

/// Options of momentum.
struct momentum_options {
  double momentum = 0.9;    ///< mu, the share of the buffer that a step keeps, in [0, 1)
  weight_decay decay = {};  ///< `coupled_l2` enters the buffer

  /// The optimiser that these options describe.
  template <class Scalar>
  using rule = lindyn::optimizer::momentum<Scalar>;
};

/// The heavy ball (Polyak 1964), in the form without dampening that is usual: m <- mu m + g, w <- w - learning_rate m.
/// A constant gradient is followed 1 / (1 - mu) times as fast as by gradient descent.
/// \tparam Scalar  float or double
template <class Scalar>
class momentum {
public:
  static constexpr bool linear = true;  ///< see the concept `optimizer`

  /// \param size     number of weights, at most 2^40
  /// \param options  throws argument_error, naming the member, for what makes no sense
  explicit momentum(index size, const momentum_options& options = {}) : options_(options) {
    detail::require_size(size);
    require(options.momentum >= 0 && options.momentum < 1, "momentum", options.momentum, "in [0, 1)");
    require_valid(options.decay);
    buffer_.assign(static_cast<std::size_t>(size), Scalar(0));
  }

  /// One step. Throws shape_error for another number of weights or derivatives, argument_error for a negative rate.
  void step(std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
    detail::require_step<Scalar>(static_cast<index>(buffer_.size()), weights, gradient, learning_rate);
    const auto rate = static_cast<Scalar>(learning_rate), share = static_cast<Scalar>(options_.momentum);
    detail::subtract_steps(factors(options_.decay, learning_rate), weights, gradient,
                           [=, buffer = buffer_.data()](std::size_t i, Scalar g) {
                             buffer[i] = share * buffer[i] + g;
                             return rate * buffer[i];
                           });
  }

  /// m, laid out as the weights.
  [[nodiscard]] std::span<const Scalar> buffer() const noexcept { return buffer_; }

private:
  momentum_options options_;
  std::vector<Scalar> buffer_;
};

}  // namespace lindyn::optimizer
