// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An optimiser chosen at run time.

#include <span>
#include <variant>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>

namespace examples {

/// Any of the optimisers, chosen at run time.
using rule_options =
    std::variant<lindyn::optimizer::sgd_options, lindyn::optimizer::momentum_options, lindyn::optimizer::adam_options>;

/// An optimiser of such options.
template <class Scalar>
class chosen_rule {
public:
  static constexpr bool linear = false;
  chosen_rule(lindyn::index size, const rule_options& options)
      : rule_(std::visit([&]<class Options>(const Options& chosen)
                             -> decltype(rule_) { return typename Options::template rule<Scalar>(size, chosen); },
                         options)) {}
  void step(std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
    std::visit([&](auto& rule) { rule.step(weights, gradient, learning_rate); }, rule_);
  }

private:
  std::variant<lindyn::optimizer::sgd<Scalar>, lindyn::optimizer::momentum<Scalar>, lindyn::optimizer::adam<Scalar>>
      rule_;
};

}  // namespace examples
