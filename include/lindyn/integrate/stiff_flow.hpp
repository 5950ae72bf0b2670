// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows dx/dt = f(x, t) of stiff systems: where a fast motion has died out, steps are as long as the slow one allows.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/jacobian.hpp>
#include <lindyn/integrate/rodas.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate {

namespace detail {

inline flow_result stiff_flow(system_ref f, std::optional<jacobian_ref> jacobian, state start, double from,
                              double until, const flow_options& options) {
  const std::size_t size = start.size();
  return flow_run(f, std::move(start), from, until, options, rodas(tolerances(options), size, jacobian))();
}

}  // namespace detail

/// As `flow`, with the same options, result and errors, for stiff systems: by linearly implicit, L-stable steps of order
/// 4 (Hairer and Wanner's RODAS, rodas.hpp) with the given Jacobian, which is evaluated once a step. What is allowed as
/// the error of one step is, for each coordinate, \f$a + \text{tolerance} \, \max(|x|, |x_\text{next}|)\f$ with a the
/// absolute tolerance: \f$h |\dot x|\f$ is no measure of anything here. Jacobians that are only nearly right lower the
/// order, and a missing df/dt does.
///
/// A step costs five evaluations, those of the Jacobian, and n^3 / 3 + 6 n^2 operations for n coordinates.
/// \throws what `flow` throws, and solver_error if the Jacobian isn't finite.
[[nodiscard]] inline flow_result stiff_flow(system_ref f, jacobian_ref jacobian, std::vector<double> start, double from,
                                            double until, const flow_options& options = {}) {
  return detail::stiff_flow(f, jacobian, std::move(start), from, until, options);
}

/// The same with a Jacobian of forward differences, right to about eight digits: n + 1 more evaluations a step.
[[nodiscard]] inline flow_result stiff_flow(system_ref f, std::vector<double> start, double from, double until,
                                            const flow_options& options = {}) {
  return detail::stiff_flow(f, std::nullopt, std::move(start), from, until, options);
}

}  // namespace lindyn::integrate
