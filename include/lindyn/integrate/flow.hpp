// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows dx/dt = f(x, t): Boost.Odeint's Dormand-Prince steps of order 5 with error control and dense output, driven by
/// a loop of our own, as Odeint has no events, accepts NaN as a small error and evaluates f beyond a jump.

#include <utility>
#include <vector>

#include <lindyn/integrate/dormand_prince.hpp>
#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate {

/// Integrates \f$\dot x = f(x, t)\f$ from x = `start` at t = `from` to t = `until`, or to the event that
/// options.stop_at asks for, whichever is first. An event already met at the start is found there. `until` may be
/// infinite with stop_at. For stiff systems there is `stiff_flow`.
///
/// \throws argument_error, or one derived from it, for options that make no sense, `until` before `from`, a start that
///         is empty or not finite
/// \throws solver_error, naming the time, if f is not finite, if max_steps don't suffice or if the step size falls
///         below the resolution of t. What f throws passes through.
[[nodiscard]] inline flow_result flow(system_ref f, std::vector<double> start, double from, double until,
                                      const flow_options& options = {}) {
  return detail::flow_run(f, std::move(start), from, until, options,
                          detail::dormand_prince(detail::tolerances(options)))();
}

}  // namespace lindyn::integrate
