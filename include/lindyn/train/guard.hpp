// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The guard of a training: finds numbers that aren't finite, and says where.

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/non_finite.hpp>
#include <lindyn/optimizer/optimizer.hpp>

namespace lindyn::train {

/// A training met a number that isn't finite.
class divergence_error : public non_finite_error {
public:
  /// \param what   the tensor, or entry of it
  /// \param step   whose loss, gradient or update has it
  /// \param value  the number, as text
  /// \param advice completes the sentence "it must be ..."
  divergence_error(std::string what, index step, std::string value, std::string advice)
      : non_finite_error(what + " at step " + std::to_string(step), std::move(value), std::move(advice)),
        tensor_(std::move(what)),
        step_(step) {}

  /// The tensor and, where it is known, the entry: "gradient W_out[3]", "weights W_out[3]", or
  /// "activations blocks.0.attn.q"; "loss", if the network doesn't know.
  [[nodiscard]] const std::string& tensor() const noexcept { return tensor_; }
  /// The step, whose update wasn't made.
  [[nodiscard]] index step() const noexcept { return step_; }

private:
  std::string tensor_;
  index step_;
};

namespace detail {

/// The largest |x|, which is NaN or infinite if any entry is. 0 of no entries.
template <std::floating_point Scalar>
[[nodiscard]] Scalar largest_magnitude(std::span<const Scalar> values) noexcept {
  // Of numbers without sign, the bits have the same order, infinity above all numbers and NaN above that.
  using bits = std::conditional_t<sizeof(Scalar) == 4, std::int32_t, std::int64_t>;
  bits largest = 0;
  for (const Scalar value : values)
    largest = std::max(largest, std::bit_cast<bits>(value) & std::numeric_limits<bits>::max());
  return std::bit_cast<Scalar>(largest);
}

/// The error that names the first entry that isn't finite.
/// \param kind  "weights", "gradient" or what the optimiser calls it
template <class Scalar>
[[nodiscard]] divergence_error divergence(std::string_view kind, const parameter_table& table,
                                          std::span<const Scalar> values, index step) {
  const std::string which = model::first_non_finite(table, kind, values);
  return {which.empty() ? std::string(kind) + " between the matrices" : which, step, "NaN or infinite",
          "finite; take a smaller learning_rate"};
}

/// The largest magnitude of finite numbers. Throws divergence_error, naming the first that isn't.
template <class Scalar>
[[nodiscard]] double largest_finite(std::string_view kind, const parameter_table& table, std::span<const Scalar> values,
                                    index step) {
  const auto largest = static_cast<double>(largest_magnitude(values));
  if (!std::isfinite(largest)) throw divergence(kind, table, values, step);
  return largest;
}

/// Whether a step might overflow.
/// \param coupled           of the weights, joins the gradient at most
/// \param largest_gradient  so far, and of what the optimiser remembers
/// \param largest_weight    now
template <class Scalar>
[[nodiscard]] bool may_overflow(double learning_rate, double coupled, double largest_gradient, double largest_weight) {
  // So far below overflow are the squares of the gradient, and its products with the learning rate over any epsilon of
  // Adam's that makes sense.
  const double safe = std::sqrt(std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::max())));
  return !(std::max({learning_rate, largest_gradient + coupled * largest_weight, largest_weight}) < safe);
}

/// Watches over a training's numbers. Where a step might overflow, it keeps a copy of what the step changes: so a
/// training that diverges leaves the state before, and one that doesn't pays for looking at gradient and weights alone.
template <class Scalar, class Rule>
class guard {
public:
  /// Throws divergence_error unless weights, and what the optimiser remembers, are finite.
  void look_at_state(const parameter_table& table, std::span<const Scalar> weights, const Rule& rule, index step) {
    largest_weight_ = largest_finite("weights", table, weights, step);
    if constexpr (optimizer::resumable_optimizer<Rule, Scalar>)
      for (const auto& [name, values] : rule.state())
        largest_gradient_ = std::max(largest_gradient_, largest_finite(name, table, values, step));
  }

  /// Throws divergence_error unless the gradient is finite.
  void look_at_gradient(const parameter_table& table, std::span<const Scalar> gradient, index step) {
    largest_gradient_ = std::max(largest_gradient_, largest_finite("gradient", table, gradient, step));
  }

  /// Before a step at that learning rate.
  /// \param coupled  of the weights, joins the gradient at most
  void before_step(std::span<const Scalar> weights, const Rule& rule, double learning_rate, double coupled = 0) {
    risky_ = may_overflow<Scalar>(learning_rate, coupled, largest_gradient_, largest_weight_);
    if (!risky_) return;
    weights_.assign(weights.begin(), weights.end());
    rule_ = rule;
  }

  /// Behind it. If it overflowed, brings back the state before and throws divergence_error.
  void behind_step(const parameter_table& table, std::span<Scalar> weights, Rule& rule, index step) {
    if (!risky_) {
      largest_weight_ = largest_finite<Scalar>("weights", table, weights, step);
      return;
    }
    try {
      look_at_state(table, weights, rule, step);
    } catch (const divergence_error&) {
      std::ranges::copy(weights_, weights.begin());
      rule = *rule_;
      throw;
    }
  }

private:
  double largest_gradient_ = 0, largest_weight_ = 0;  // so far, and now
  bool risky_ = false;
  std::vector<Scalar> weights_;
  std::optional<Rule> rule_;
};

}  // namespace detail

}  // namespace lindyn::train
