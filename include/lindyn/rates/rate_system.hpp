// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a rate system is: a few masses, how fast they grow, and how weight decay takes from them.

#include <concepts>
#include <cstddef>
#include <span>

#include <lindyn/core/views.hpp>

namespace lindyn::rates {

/// \f$\dot x = f(x, \lambda)\f$ for `dimension` numbers, affine in lambda, the rate of decay per unit of time. `velocity`
/// writes all of f, `jacobian` all of its derivatives (row i: those of f_i), whatever was there before. `memorising` and `reasoning` are the masses m and r of a
/// state.
template <class System>
concept rate_system = requires(const System& system, std::span<const double> x, double lambda, std::span<double> dxdt,
                               matrix_view<double> derivatives) {
  { System::dimension } -> std::convertible_to<std::size_t>;
  system.velocity(x, lambda, dxdt);
  system.jacobian(x, lambda, derivatives);
  { system.memorising(x) } -> std::convertible_to<double>;
  { system.reasoning(x) } -> std::convertible_to<double>;
};

/// r / (m + r), the share of reasoning in what has been learnt; NaN if both masses are zero.
template <rate_system System>
[[nodiscard]] double reasoning_share(const System& system, std::span<const double> state) {
  const double reasoning = system.reasoning(state);
  return reasoning / (system.memorising(state) + reasoning);
}

}  // namespace lindyn::rates
