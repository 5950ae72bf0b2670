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
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>

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

  /// "activations", or the tensor and entry: "gradient of W_out[3]", "weights of W_out[3]".
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

/// Below this size, of gradients, weights and the learning rate, no step overflows: neither squares of the gradient, nor
/// its products with the learning rate over what Adam's epsilon is at least.
template <std::floating_point Scalar>
[[nodiscard]] double safe_magnitude() noexcept {
  return std::sqrt(std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::max())));
}

/// What a user can do about it.
inline constexpr const char* divergence_advice = "finite; take a smaller learning_rate";

/// The error that names the first entry that isn't finite.
/// \param kind  "weights", "gradient" or what the optimiser calls it
template <class Scalar>
[[nodiscard]] divergence_error divergence(const std::string& kind, const parameter_table& table,
                                          std::span<const Scalar> values, index step) {
  for (const parameter& which : table) {
    const auto matrix = table.view(which, values);
    for (index place = 0; place < matrix.size(); ++place)
      if (!std::isfinite(matrix.data[place]))
        return {kind + " of " + which.name + "[" + std::to_string(place) + "]", step,
                lindyn::detail::to_text(matrix.data[place]), divergence_advice};
  }
  return {kind + " between the matrices", step, "not finite", "zero, as these entries belong to nothing"};
}

}  // namespace detail

}  // namespace lindyn::train
