// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Plain (stochastic) gradient descent.

#include <cstdint>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise_rule.hpp>
#include <lindyn/optimizer/formulas.hpp>

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

public:
  static constexpr bool linear = true;  ///< see the concept `optimizer`

  /// \param size     number of weights, at most 2^40
  /// \param options  throws argument_error for decay that makes no sense
  explicit sgd(index size, const sgd_options& options = {}) : base(size, options, {}) {}

  /// What all entries share in step t, from 1.
  [[nodiscard]] static step_numbers<Scalar> numbers(double learning_rate, std::int64_t) noexcept {
    return {static_cast<Scalar>(learning_rate), 1};
  }
  /// Calls use(formula).
  template <class Use>
  void with_formula(Use&& use) const {
    use(sgd_formula<Scalar>());
  }
};

}  // namespace lindyn::optimizer
