// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The right-hand side of an ordinary differential equation, as a reference to any callable. The integrators are
/// compiled once for this type instead of once a model; a call through it costs about a nanosecond.

#include <concepts>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace lindyn::integrate {

/// The state of a flow: one number a coordinate.
using state = std::vector<double>;

/// A callable that writes dx/dt at (x, t) into `dxdt`, which has the size of x, and returns either nothing or a number
/// to be monitored: a by-product of the computation (the loss, say) whose falling to a level may end the integration.
template <class F>
concept right_hand_side = std::invocable<F&, const state&, state&, double> &&
    (std::is_void_v<std::invoke_result_t<F&, const state&, state&, double>> ||
     std::convertible_to<std::invoke_result_t<F&, const state&, state&, double>, double>);

/// A non-owning reference to a right-hand side; the callable has to outlive it.
class system_ref {
public:
  /// Refers to `callable`.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, system_ref> && std::is_object_v<std::remove_reference_t<F>> &&
           right_hand_side<std::remove_reference_t<F>>) system_ref(F&& callable)
  noexcept
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* erased, const state& x, state& dxdt, double t) -> double {
          auto& typed = *static_cast<std::remove_reference_t<F>*>(erased);
          if constexpr (std::is_void_v<std::invoke_result_t<decltype(typed), const state&, state&, double>>) {
            typed(x, dxdt, t);
            return std::numeric_limits<double>::quiet_NaN();
          } else {
            return static_cast<double>(typed(x, dxdt, t));
          }
        }) {}

  /// Writes dx/dt into `dxdt` and returns the monitored value, NaN if the callable returns nothing.
  double operator()(const state& x, state& dxdt, double t) const { return call_(callable_, x, dxdt, t); }

private:
  void* callable_;
  double (*call_)(void*, const state&, state&, double);
};

}  // namespace lindyn::integrate
