// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Plain (stochastic) gradient descent.

#include <cstdint>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise_rule.hpp>

namespace lindyn::optimizer {

template <class Scalar>
class sgd;

/// Options of sgd.
struct sgd_options {
  weight_decay decay = {};  ///< `coupled_l2` is `lr_scaled` up to rounding, and may turn signs

  /// The optimiser that these options describe.
  template <class Scalar>
  using rule = sgd<Scalar>;
  /// Whether all members are equal.
  bool operator==(const sgd_options&) const = default;
};

/// w <- w - learning_rate g.
/// \tparam Scalar  float or double
template <class Scalar>
class sgd : public elementwise_rule<sgd<Scalar>, Scalar, sgd_options, 0> {
  using base = elementwise_rule<sgd<Scalar>, Scalar, sgd_options, 0>;
  friend base;

public:
  static constexpr bool linear = true;  ///< see the concept `optimizer`

  /// \param size     number of weights, at most 2^40
  /// \param options  throws argument_error for decay that makes no sense
  explicit sgd(index size, const sgd_options& options = {}) : base(size, options, {}) {}

private:
  template <class Use>
  void with_step(double learning_rate, std::int64_t, Use&& use) {
    const auto rate = static_cast<Scalar>(learning_rate);
    use([rate](index, Scalar g) { return rate * g; });
  }
};

}  // namespace lindyn::optimizer
