// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The derivatives of a right-hand side f(x, t), which methods for stiff systems need, as a reference to any callable.

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>

#include <lindyn/core/views.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate {

/// A callable that writes the derivatives of f at (x, t): \f$J_{ij} = \partial f_i / \partial x_j\f$ (n x n for n
/// coordinates) and `dfdt` \f$= \partial f / \partial t\f$ (n). Both arrive filled with zeros, so that only what isn't
/// zero has to be written. The arguments have the order that Boost.Odeint's Rosenbrock stepper gives them.
template <class F>
concept jacobian_function = std::invocable < F&,
        const state&, matrix_view<double>,
double, std::span < double >> ;

/// A non-owning reference to a Jacobian; the callable has to outlive it.
class jacobian_ref {
public:
  /// Refers to `callable`.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, jacobian_ref> && std::is_object_v<std::remove_reference_t<F>> &&
           jacobian_function<std::remove_reference_t<F>>) jacobian_ref(F&& callable)
  noexcept
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* erased, const state& x, matrix_view<double> jacobian, double t, std::span<double> dfdt) {
          (*static_cast<std::remove_reference_t<F>*>(erased))(x, jacobian, t, dfdt);
        }) {}

  /// Writes the derivatives at (x, t) into `jacobian` and `dfdt`, which hold zeros.
  void operator()(const state& x, matrix_view<double> jacobian, double t, std::span<double> dfdt) const {
    call_(callable_, x, jacobian, t, dfdt);
  }

private:
  void* callable_;
  void (*call_)(void*, const state&, matrix_view<double>, double, std::span<double>);
};

}  // namespace lindyn::integrate
