// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Vectors of the processor's register width, by the vector extensions that g++ and clang share.

#include <cstring>
#include <utility>
#include <vector>

#include <lindyn/core/views.hpp>

namespace lindyn::model::detail {

#if defined(__AVX512F__)
inline constexpr int simd_bytes = 64;
inline constexpr int simd_registers = 32;
#elif defined(__AVX__)
inline constexpr int simd_bytes = 32;
inline constexpr int simd_registers = 16;
#else
inline constexpr int simd_bytes = 16;
inline constexpr int simd_registers = 16;
#endif

/// `type` holds `width` scalars in one register; a pointer to it may point into an array of scalars.
template <class Scalar>
struct simd {
  typedef Scalar type __attribute__((vector_size(simd_bytes), may_alias));
  static constexpr int width = simd_bytes / static_cast<int>(sizeof(Scalar));
  /// A `type` as an element of std::vector, which keeps its alignment.
  struct cell {
    type value;
  };
};

/// Memory for `simd<Scalar>::type`s that only ever grows.
template <class Scalar>
class simd_memory {
public:
  void reserve(index count) {
    if (static_cast<std::size_t>(count) > cells_.size()) cells_.resize(static_cast<std::size_t>(count));
  }
  [[nodiscard]] typename simd<Scalar>::type* data() noexcept { return &cells_.data()->value; }
  [[nodiscard]] Scalar* scalars() noexcept { return reinterpret_cast<Scalar*>(cells_.data()); }

private:
  std::vector<typename simd<Scalar>::cell> cells_;
};

/// `count` scalars as a number of registers, rounded up.
template <class Scalar>
[[nodiscard]] constexpr index simd_count(index count) noexcept {
  return (count + simd<Scalar>::width - 1) / simd<Scalar>::width;
}

template <class Vector, class Scalar>
[[gnu::always_inline]] inline Vector load_unaligned(const Scalar* from) {
  Vector result;
  std::memcpy(&result, from, sizeof(result));
  return result;
}

template <class Vector, class Scalar>
[[gnu::always_inline]] inline void store_unaligned(Scalar* to, const Vector& value) {
  std::memcpy(to, &value, sizeof(value));
}

/// Calls body(0) .. body(Count - 1) with constants, so that arrays indexed by them become registers.
template <int Count, class Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  [&]<int... place>(std::integer_sequence<int, place...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, place>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

}  // namespace lindyn::model::detail
