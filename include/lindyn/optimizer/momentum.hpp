// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gradient descent with momentum.

#include <cstdint>
#include <span>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise_rule.hpp>
#include <lindyn/optimizer/formulas.hpp>

namespace lindyn::optimizer {

template <class Scalar>
class momentum;

/// Options of momentum.
struct momentum_options {
  double momentum = 0.9;    ///< mu, the share of the buffer that a step keeps, in [0, 1)
  weight_decay decay = {};  ///< `coupled_l2` enters the buffer
  bool nesterov = false;    ///< looks ahead

  /// The optimiser that these options describe.
  template <class Scalar>
  using rule = lindyn::optimizer::momentum<Scalar>;
  /// Whether all members are equal.
  bool operator==(const momentum_options&) const = default;
};

/// The heavy ball (Polyak 1964), in the form without dampening that is usual: m <- mu m + g, w <- w - learning_rate m.
/// A constant gradient is followed 1 / (1 - mu) times as fast as by gradient descent.
///
/// With `nesterov`, m <- mu m + g, w <- w - learning_rate (g + mu m), as PyTorch has it. That is Nesterov's accelerated
/// gradient (1983), v <- mu v - learning_rate g(x + mu v), x <- x + v, in terms of the point w = x + mu v at which the
/// gradient is taken, v = -learning_rate m, while the learning rate is constant (Bengio, Boulanger-Lewandowski and
/// Pascanu, "Advances in optimizing recurrent networks", ICASSP 2013, equation 7).
/// \tparam Scalar  float or double
template <class Scalar>
class momentum : public elementwise_rule<momentum<Scalar>, Scalar, momentum_options, 1> {
  using base = elementwise_rule<momentum<Scalar>, Scalar, momentum_options, 1>;

public:
  static constexpr bool linear = true;  ///< see the concept `optimizer`

  /// \param size     number of weights, at most 2^40
  /// \param options  throws argument_error, naming the member, for what makes no sense
  explicit momentum(index size, const momentum_options& options = {}) : base(size, options, {"momentum_buffer"}) {
    require(options.momentum >= 0 && options.momentum < 1, "momentum", options.momentum, "in [0, 1)");
  }

  /// m, laid out as the weights.
  [[nodiscard]] std::span<const Scalar> buffer() const noexcept { return this->memory_[0]; }

  /// What all entries share in step t, from 1.
  [[nodiscard]] static step_numbers<Scalar> numbers(double learning_rate, std::int64_t) noexcept {
    return {static_cast<Scalar>(learning_rate), 1};
  }
  /// Calls use(formula).
  template <class Use>
  void with_formula(Use&& use) const {
    const auto share = static_cast<Scalar>(this->options_.momentum);
    if (this->options_.nesterov)
      use(nesterov_formula<Scalar>{share});
    else
      use(heavy_ball_formula<Scalar>{share});
  }
};

}  // namespace lindyn::optimizer
