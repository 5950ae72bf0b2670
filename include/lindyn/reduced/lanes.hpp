// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Eight rows at a time: the reduced model keeps eight queries (or eight prefix rows) side by side, so that every
/// operation on a row is a vector instruction or a few on eight rows.

#include <Eigen/Core>

#include <lindyn/core/vector_width.hpp>

namespace lindyn::reduced::inline LINDYN_VECTORS {

/// Eight numbers, one for each of eight rows, in as few of the processor's vectors as they fit (a vector extension of
/// GCC and Clang; longer vectors than the processor's are slow under GCC 12, hence the parts).
struct alignas(64) lanes {
  static constexpr int count = 8;                                  ///< numbers
  using part = double __attribute__((vector_size(vector_bytes)));  ///< one of the processor's vectors
  static constexpr int parts = static_cast<int>(count * sizeof(double) / sizeof(part));  ///< vectors
  part part_of[parts];                                                                   ///< the numbers

  /// \{
  /// The number in one lane.
  [[nodiscard]] double& operator[](int lane) noexcept { return reinterpret_cast<double*>(this)[lane]; }
  [[nodiscard]] double operator[](int lane) const noexcept { return reinterpret_cast<const double*>(this)[lane]; }
  /// \}

  /// Sum of the eight.
  [[nodiscard]] double sum() const noexcept {
    const lanes& x = *this;
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
  }
  /// The same number in every lane.
  [[nodiscard]] static lanes all(double value) noexcept {
    return each([&](int) { return part{} + value; });
  }

  /// \{
  /// Lane by lane.
  lanes& operator+=(const lanes& other) noexcept { return *this = *this + other; }
  lanes& operator-=(const lanes& other) noexcept { return *this = *this - other; }
  lanes& operator*=(const lanes& other) noexcept { return *this = *this * other; }
  lanes& operator*=(double factor) noexcept { return *this = *this * factor; }
  friend lanes operator+(const lanes& a, const lanes& b) noexcept {
    return each([&](int i) { return a.part_of[i] + b.part_of[i]; });
  }
  friend lanes operator-(const lanes& a, const lanes& b) noexcept {
    return each([&](int i) { return a.part_of[i] - b.part_of[i]; });
  }
  friend lanes operator*(const lanes& a, const lanes& b) noexcept {
    return each([&](int i) { return a.part_of[i] * b.part_of[i]; });
  }
  friend lanes operator*(const lanes& a, double factor) noexcept {
    return each([&](int i) { return a.part_of[i] * factor; });
  }
  friend lanes operator/(const lanes& a, const lanes& b) noexcept {
    return each([&](int i) { return a.part_of[i] / b.part_of[i]; });
  }
  friend lanes operator-(const lanes& a) noexcept {
    return each([&](int i) { return -a.part_of[i]; });
  }
  /// \}
  /// The larger of a and b in every lane.
  [[nodiscard]] friend lanes larger(const lanes& a, const lanes& b) noexcept {
    return each([&](int i) { return a.part_of[i] > b.part_of[i] ? a.part_of[i] : b.part_of[i]; });
  }
  /// exp(x) in every lane, by Eigen's vectorised exponential; 0 where that lies below 1e-304, NaN for NaN. Eigen's
  /// stops at exp(-709.8), a subnormal number, even for -infinity, and arithmetic with subnormal numbers is ten times
  /// slower.
  [[nodiscard]] friend lanes exponential(const lanes& x) noexcept {
    using array = Eigen::Array<double, count, 1>;
    lanes result;
    Eigen::Map<array, Eigen::Aligned64>(reinterpret_cast<double*>(&result)) =
        Eigen::Map<const array, Eigen::Aligned64>(reinterpret_cast<const double*>(&x)).exp();
    return each([&](int i) { return x.part_of[i] <= -700.0 ? part{} : result.part_of[i]; });
  }

private:
  template <class Make>
  [[gnu::always_inline]] static lanes each(Make&& make) noexcept {
    lanes result;
    for (int i = 0; i < parts; ++i) result.part_of[i] = make(i);
    return result;
  }
};

}  // namespace lindyn::reduced::inline LINDYN_VECTORS
