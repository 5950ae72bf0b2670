// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Loops that are unrolled at any level of optimisation.

#include <type_traits>
#include <utility>

namespace lindyn::detail {

/// Calls body(0) .. body(Count - 1) with constants, so that arrays indexed by them become registers.
template <int Count, class Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  [&]<int... place>(std::integer_sequence<int, place...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, place>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

}  // namespace lindyn::detail
