// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Adam, and with decoupled decay AdamW.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise_rule.hpp>
#include <lindyn/optimizer/formulas.hpp>

namespace lindyn::optimizer {

template <class Scalar>
class adam;

/// Options of adam.
struct adam_options {
  double beta1 = 0.9;       ///< share of the first moment that a step keeps, in [0, 1)
  double beta2 = 0.999;     ///< share of the second moment that a step keeps, in [0, 1)
  double epsilon = 1e-8;    ///< joins the root of the corrected second moment; positive
  weight_decay decay = {};  ///< `lr_scaled` makes it AdamW; `coupled_l2` enters both moments

  /// The optimiser that these options describe.
  template <class Scalar>
  using rule = adam<Scalar>;
  /// Whether all members are equal.
  bool operator==(const adam_options&) const = default;
};

/// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1): in step t, from 1,
///
///     m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///     w <- w - learning_rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// for every entry by itself. So rotating the weights, or passing to coordinates on a manifold, makes another optimiser
/// of it, and it leaves subspaces that hold all gradients.
/// \tparam Scalar  float or double
template <class Scalar>
class adam : public elementwise_rule<adam<Scalar>, Scalar, adam_options, 2> {
  using base = elementwise_rule<adam<Scalar>, Scalar, adam_options, 2>;

public:
  static constexpr bool linear = false;  ///< see the concept `optimizer`

  /// \param size     number of weights, at most 2^40
  /// \param options  throws argument_error, naming the member, for what makes no sense
  explicit adam(index size, const adam_options& options = {}) : base(size, options, {"first_moment", "second_moment"}) {
    require(options.beta1 >= 0 && options.beta1 < 1, "beta1", options.beta1, "in [0, 1)");
    require(options.beta2 >= 0 && options.beta2 < 1, "beta2", options.beta2, "in [0, 1)");
    require(static_cast<Scalar>(options.epsilon) > 0 && options.epsilon <= 1e30, "epsilon", options.epsilon,
            "positive in the weights' precision, and at most 1e30");
  }

  /// See elementwise_rule; throws argument_error too where second moments are negative.
  void restore(std::span<const state_array<const Scalar>> arrays, std::int64_t steps) {
    for (const auto& [name, values] : arrays)
      for (std::size_t i = 0; name == "second_moment" && i < values.size(); ++i)
        if (values[i] < 0) require(false, "second_moment[" + std::to_string(i) + "]", values[i], "not negative");
    base::restore(arrays, steps);
  }

  /// m, laid out as the weights.
  [[nodiscard]] std::span<const Scalar> first_moment() const noexcept { return this->memory_[0]; }
  /// v, laid out as the weights.
  [[nodiscard]] std::span<const Scalar> second_moment() const noexcept { return this->memory_[1]; }

  /// What all entries share in step t, from 1.
  [[nodiscard]] step_numbers<Scalar> numbers(double learning_rate, std::int64_t steps) const {
    const adam_options& options = this->options_;
    const auto t = static_cast<double>(steps);
    return {static_cast<Scalar>(learning_rate / (1 - std::pow(options.beta1, t))),
            static_cast<Scalar>(1 / std::sqrt(1 - std::pow(options.beta2, t)))};
  }
  /// Calls use(formula).
  template <class Use>
  void with_formula(Use&& use) const {
    const adam_options& options = this->options_;
    use(adam_formula<Scalar>{.beta1 = static_cast<Scalar>(options.beta1),
                             .rest1 = static_cast<Scalar>(1 - options.beta1),
                             .beta2 = static_cast<Scalar>(options.beta2),
                             .rest2 = static_cast<Scalar>(1 - options.beta2),
                             .epsilon = static_cast<Scalar>(options.epsilon)});
  }
};

}  // namespace lindyn::optimizer
