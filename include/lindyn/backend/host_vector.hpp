// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Vector registers by the extensions that g++ and clang share: loads, stores, and sums over lanes.

#include <cstddef>
#include <cstring>
#include <utility>

#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// Registers of that many bytes.
template <class S, int Bytes = vector_bytes>
struct vectors {
  static constexpr int lanes = Bytes / static_cast<int>(sizeof(S));  ///< numbers in a register
  typedef S value __attribute__((vector_size(Bytes)));               ///< what a register holds
  /// The same in memory, wherever a number may stand.
  typedef S loose __attribute__((vector_size(Bytes), may_alias, aligned(sizeof(S))));

  [[gnu::always_inline]] static value load(const S* from) noexcept { return *reinterpret_cast<const loose*>(from); }
  [[gnu::always_inline]] static void store(S* to, value numbers) noexcept { *reinterpret_cast<loose*>(to) = numbers; }
  /// The first `count` numbers, behind which nothing is read; zeros in the other lanes.
  [[gnu::always_inline]] static value load_some(const S* from, index count) noexcept {
    if (count == lanes) return load(from);
    value numbers{};
    std::memcpy(&numbers, from, static_cast<std::size_t>(count) * sizeof(S));
    return numbers;
  }
  /// Stores the first `count` numbers, and nothing behind them.
  [[gnu::always_inline]] static void store_some(S* to, value numbers, index count) noexcept {
    if (count == lanes) return store(to, numbers);
    std::memcpy(to, &numbers, static_cast<std::size_t>(count) * sizeof(S));
  }
  /// The same number in every lane.
  [[gnu::always_inline]] static value all(S number) noexcept { return value{} + number; }
};

/// With M a power of two: lane l of the result is x[l] + x[l + M] where l has no bit M, and y[l - M] + y[l] elsewhere.
template <int M, class Value, int... lane>
[[gnu::always_inline]] inline Value fold(Value x, Value y, std::integer_sequence<int, lane...>) noexcept {
  constexpr int lanes = sizeof...(lane);
  return __builtin_shufflevector(x, y, (lane & M ? lanes + lane : lane)...) +
         __builtin_shufflevector(x, y, (lane & M ? lanes + lane - M : lane + M)...);
}

/// Lane l of the result is lane l with the bit M changed.
template <int M, class Value, int... lane>
[[gnu::always_inline]] inline Value swap(Value x, std::integer_sequence<int, lane...>) noexcept {
  return __builtin_shufflevector(x, x, (lane ^ M)...);
}

/// Lane l of the result is the sum over all lanes of parts[l].
template <int Lanes, int Count = Lanes, class Value>
[[gnu::always_inline]] inline Value sum_each(const Value* parts) noexcept {
  if constexpr (Count == 1) {
    return parts[0];
  } else {
    constexpr int half = Count / 2;
    return fold<half>(sum_each<Lanes, half>(parts), sum_each<Lanes, half>(parts + half),
                      std::make_integer_sequence<int, Lanes>{});
  }
}

/// The largest lane; NaN is passed over if there is any other.
template <int Lanes, int Count = Lanes, class Value>
[[gnu::always_inline]] inline auto largest_lane(Value numbers) noexcept {
  if constexpr (Count == 1) {
    return numbers[0];
  } else {
    const Value others = swap<Count / 2>(numbers, std::make_integer_sequence<int, Lanes>{});
    return largest_lane<Lanes, Count / 2>(others > numbers ? others : numbers);
  }
}

/// Sum over all lanes.
template <int Lanes, int Count = Lanes, class Value>
[[gnu::always_inline]] inline auto sum(Value numbers) noexcept {
  if constexpr (Count == 1) {
    return numbers[0];
  } else {
    constexpr int half = Count / 2;
    return sum<Lanes, half>(fold<half>(numbers, numbers, std::make_integer_sequence<int, Lanes>{}));
  }
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
