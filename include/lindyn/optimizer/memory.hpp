// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What optimisers remember from step to step: named arrays laid out as the weights, and how many steps were made.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::optimizer {

/// One array of what an optimiser remembers. `Scalar` may be const.
template <class Scalar>
struct state_array {
  std::string_view name;     ///< the same for every optimiser of its kind: "first_moment"
  std::span<Scalar> values;  ///< laid out as the weights
};

/// `Count` arrays of one size, zero at first, and the number of steps behind them.
template <class Scalar, std::size_t Count>
class memory {
public:
  /// The names of the arrays.
  using name_list = std::array<std::string_view, Count>;

  /// \param size     number of weights, at most 2^40; throws argument_error otherwise
  /// \param names    of the arrays, which have to live longer
  memory(index size, const name_list& names) : names_(names), size_(size) {
    require(size >= 0 && size <= index(1) << 40, "size", size, "in [0, 2^40]");
    for (auto& values : values_) values.assign(static_cast<std::size_t>(size), Scalar(0));
  }

  /// Number of weights.
  [[nodiscard]] index size() const noexcept { return size_; }
  /// Steps made so far.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
  /// Counts one more step, and returns their number.
  std::int64_t count_step() noexcept { return ++steps_; }
  /// So many steps have been made. Throws argument_error if they are negative.
  void set_steps(std::int64_t steps) {
    require(steps >= 0, "steps", steps, "not negative");
    steps_ = steps;
  }

  /// The array of that number.
  [[nodiscard]] std::span<Scalar> operator[](std::size_t which) noexcept { return values_[which]; }
  /// The array of that number.
  [[nodiscard]] std::span<const Scalar> operator[](std::size_t which) const noexcept { return values_[which]; }

  /// All arrays by name, to be written to.
  [[nodiscard]] std::array<state_array<Scalar>, Count> arrays() noexcept {
    std::array<state_array<Scalar>, Count> result;
    for (std::size_t i = 0; i < Count; ++i) result[i] = {names_[i], values_[i]};
    return result;
  }
  /// All arrays by name.
  [[nodiscard]] std::array<state_array<const Scalar>, Count> arrays() const noexcept {
    std::array<state_array<const Scalar>, Count> result;
    for (std::size_t i = 0; i < Count; ++i) result[i] = {names_[i], values_[i]};
    return result;
  }

  /// Takes the values of arrays that were once written from such a memory, in any order.
  /// Throws argument_error for a name that is missing, unknown or there twice and for a negative number of steps,
  /// shape_error for another size, non_finite_error; and is then as it was.
  void restore(std::span<const state_array<const Scalar>> arrays, std::int64_t steps) {
    require(steps >= 0, "steps", steps, "not negative");
    require_extent("number of state arrays", arrays.size(), Count);
    for (const auto& [name, values] : arrays) {
      require(std::ranges::find(names_, name) != names_.end(), "state array", name, listed());
      require(std::ranges::count(arrays, name, &state_array<const Scalar>::name) == 1, "state array", name,
              "there once");
      require_extent(std::string(name) + ".size()", values.size(), size_);
      require_finite(name, values);
    }
    for (const auto& [name, values] : arrays)
      std::ranges::copy(values,
                        values_[static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin())].begin());
    steps_ = steps;
  }

  /// Whether all arrays and the number of steps are equal.
  bool operator==(const memory&) const = default;

private:
  [[nodiscard]] std::string listed() const {
    std::string result = "one of";
    for (const auto name : names_) (result += ' ') += name;
    return result;
  }

  name_list names_;
  std::array<aligned_vector<Scalar>, Count> values_;
  index size_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace lindyn::optimizer
