// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows dx/dt = f(x, t) of stiff systems: where a fast motion has died out, steps are as long as the slow one allows.

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>

#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/jacobian.hpp>
#include <lindyn/integrate/rodas.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate {

namespace detail {

template <std::convertible_to<system_ref> System>
flow_result stiff_flow(System&& f, std::optional<jacobian_ref> jacobian, state start, double from, double until,
                       const flow_options& options) {
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  rodas<Eigen::PartialPivLU<matrix>> stepper(tolerances(options), start.size(), jacobian);
  return flow_run(system_ref(f), std::move(start), from, until, options, std::move(stepper))();
}

}  // namespace detail

/// As `flow`, with the same options, result and errors, for stiff systems: by linearly implicit, L-stable steps of
/// order 4 (Hairer and Wanner's RODAS, rodas.hpp) with the given Jacobian, which is evaluated once a step. What is
/// allowed as the error of one step is, for each coordinate, \f$a + \text{tolerance} \, \max(|x|, |x_\text{next}|)\f$
/// with a the absolute tolerance: \f$h |\dot x|\f$ is no measure of anything here. A Jacobian that is only nearly right
/// lowers the order, and so does a missing df/dt.
///
/// A step costs six evaluations, the Jacobian and n^3 / 3 + 6 n^2 operations for n coordinates.
/// (A template, so that only programs that call it compile Eigen's factorisation: it takes two seconds.)
/// \throws what `flow` throws, and solver_error if the Jacobian isn't finite.
template <std::convertible_to<system_ref> System>
[[nodiscard]] flow_result stiff_flow(System&& f, jacobian_ref jacobian, std::vector<double> start, double from,
                                     double until, const flow_options& options = {}) {
  return detail::stiff_flow(f, jacobian, std::move(start), from, until, options);
}

/// The same with a Jacobian of forward differences, right to about eight digits: n + 1 more evaluations a step.
template <std::convertible_to<system_ref> System>
[[nodiscard]] flow_result stiff_flow(System&& f, std::vector<double> start, double from, double until,
                                     const flow_options& options = {}) {
  return detail::stiff_flow(f, std::nullopt, std::move(start), from, until, options);
}

}  // namespace lindyn::integrate
