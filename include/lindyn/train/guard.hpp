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
#include <string_view>
#include <type_traits>
#include <utility>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/non_finite.hpp>

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

  /// The tensor and, where it is known, the entry: "gradient W_out[3]", "weights W_out[3]", or "loss", of which the message
  /// says as much as the network knows.
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
[[nodiscard]] divergence_error divergence(std::string_view kind, const parameter_table& table,
                                          std::span<const Scalar> values, index step) {
  const std::string which = model::first_non_finite(table, kind, values);
  return {which.empty() ? std::string(kind) + " between the matrices" : which, step, "NaN or infinite",
          divergence_advice};
}

}  // namespace detail

}  // namespace lindyn::train
