// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Eight rows at a time: the reduced model keeps eight queries (or eight prefix rows) side by side in a vector, so that
/// every operation on a row is one instruction on eight rows.

#include <cmath>

#include <Eigen/Core>

namespace lindyn::reduced {

/// Eight numbers, one for each of eight rows. A vector extension of GCC and Clang; on processors with shorter vectors
/// the compiler splits it.
struct alignas(64) lanes {
  static constexpr int count = 8;
  using vector = double __attribute__((vector_size(64)));
  vector v;

  [[nodiscard]] double& operator[](int lane) noexcept { return reinterpret_cast<double*>(this)[lane]; }
  [[nodiscard]] double operator[](int lane) const noexcept { return reinterpret_cast<const double*>(this)[lane]; }
  /// Sum of the eight.
  [[nodiscard]] double sum() const noexcept {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  }
};

namespace detail {

/// out = exp(in) for each lane, by Eigen's vectorised exponential.
inline void exponential(const lanes& in, lanes& out) noexcept {
  using array = Eigen::Array<double, lanes::count, 1>;
  Eigen::Map<array, Eigen::Aligned64>(reinterpret_cast<double*>(&out)) =
      Eigen::Map<const array, Eigen::Aligned64>(reinterpret_cast<const double*>(&in)).exp();
}

/// larger = max(larger, other), lane by lane.
inline void raise(lanes& larger, const lanes& other) noexcept { larger.v = other.v > larger.v ? other.v : larger.v; }

}  // namespace detail
}  // namespace lindyn::reduced
