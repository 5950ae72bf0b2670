// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows of an induction head until it emerges, by Boost.Odeint.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <lindyn/circuit/induction/induction_circuit.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/integrate/flow.hpp>

namespace lindyn::circuit {

/// Whether gamma takes part in the gradient flow.
enum class readout {
  learned,  ///< it descends with alpha and beta
  held      ///< it keeps its value
};

/// What ends a flow of an induction head.
enum class induction_event {
  none,     ///< nothing but the end of time
  emerged,  ///< B >= 1/2
  matched,  ///< beta >= 1
  either    ///< whichever is first
};

/// Options of induction_flow.
struct induction_flow_options {
  induction_coordinates start{};                           ///< (alpha, beta, gamma) at t = 0
  circuit::readout readout = readout::learned;             ///< whether gamma moves
  induction_event stop_at = induction_event::none;         ///< what ends the flow before `until`
  double until = std::numeric_limits<double>::infinity();  ///< end of the flow; finite without stop_at
  double tolerance = 1e-9;                                 ///< absolute and relative error of a step, in (0, 0.1]
  std::vector<double> times = {};                          ///< ascending times at which coordinates are wanted
  std::int64_t max_steps = 10'000'000;                     ///< accepted and rejected ones together
};

/// Gradient flow of an induction head in its metric. The result's `value` is what is left to the event, 1/2 - B or
/// 1 - beta (the smaller of both for `either`, 1/2 - B for `none`), `samples` are the coordinates at `times`.
///
/// An explicit integrator: while gamma follows the slow growth of alpha and beta, its rate of relaxation, of order
/// 1 / m per token's length, bounds the steps at about three of its times, that is t_ICL / (3 m) = 0.8 N steps of six
/// evaluations for the idealised head, until it emerges.
///
/// Throws argument_error for bad options, solver_error when the flow can't go on. With a finite `until` a head that never
/// emerges comes to its end; without, argument_error is thrown where this is known beforehand: where the readout is held
/// at 0, and as require_emergence (of exact_induction_head_options) says.
template <induction_circuit Circuit>
[[nodiscard]] integrate::flow_result induction_flow(Circuit&& circuit, const induction_flow_options& options) {
  const metric lengths = circuit.metric();
  const auto velocity = [&](const integrate::state& c, integrate::state& dcdt, double) {
    if (!std::ranges::all_of(c, [](double entry) { return std::isfinite(entry); })) {
      std::ranges::fill(dcdt, std::numeric_limits<double>::quiet_NaN());  // the solver takes such a step back
      return dcdt[0];
    }
    const induction_values values = circuit.evaluate(c);
    lengths.descend(values.gradient, dcdt);
    if (options.readout == readout::held) dcdt[2] = 0;
    switch (options.stop_at) {
      case induction_event::matched:
        return 1 - c[1];
      case induction_event::either:
        return std::min(0.5 - values.attention, 1 - c[1]);
      default:
        return 0.5 - values.attention;
    }
  };
  const auto level = options.stop_at == induction_event::none ? std::optional<double>() : 0.0;
  require(options.tolerance > 0 && options.tolerance <= 0.1, "tolerance", options.tolerance,
          "in (0, 0.1]: coordinates are of order 1");
  if (level && std::isinf(options.until)) {
    require(options.readout == readout::learned || options.start[2] != 0, "start[2]", options.start[2],
            "not zero where the readout is held and `until` is infinite: alpha and beta never move");
    if constexpr (requires { require_emergence(circuit.options(), options.start); })
      require_emergence(circuit.options(), options.start);
  }
  return integrate::flow(velocity, {options.start.begin(), options.start.end()}, 0.0, options.until,
                         {.tolerance = options.tolerance,
                          .max_steps = options.max_steps,
                          .stop_at = level,
                          .sample_times = options.times});
}

/// When an induction head emerged.
struct emergence {
  std::optional<double> icl_time;    ///< t_ICL, the first time with B >= 1/2; none if it didn't emerge until the end
  std::optional<double> match_time;  ///< T_beta, the first time with beta >= 1; likewise
  induction_coordinates end{};       ///< coordinates at the later of both, or at the end
  std::int64_t evaluations = 0;      ///< of the gradient
};

/// Options of emergence_time.
struct emergence_options {
  induction_coordinates start{};                           ///< (alpha, beta, gamma) at t = 0
  circuit::readout readout = readout::learned;             ///< whether gamma moves
  double until = std::numeric_limits<double>::infinity();  ///< give up then; a head that never emerges needs an end
  double tolerance = 1e-9;                                 ///< absolute and relative error of a step, in (0, 0.1]
  std::int64_t max_steps = 10'000'000;                     ///< of each of two flows
};

/// t_ICL and T_beta of an idealised or exact induction head, from its gradient flow in all three weights:
/// `emergence_time(head).icl_time`. Throws as induction_flow.
template <induction_circuit Circuit>
[[nodiscard]] emergence emergence_time(Circuit&& circuit, const emergence_options& options = {}) {
  emergence result;
  result.end = options.start;
  double passed = 0;
  const auto run_to = [&](induction_event event) -> std::optional<double> {
    const auto flow = induction_flow(circuit, {.start = result.end,
                                               .readout = options.readout,
                                               .stop_at = event,
                                               .until = options.until - passed,
                                               .tolerance = options.tolerance,
                                               .max_steps = options.max_steps});
    std::ranges::copy(flow.state, result.end.begin());
    result.evaluations += flow.evaluations;
    passed += flow.t;
    if (flow.status == integrate::flow_status::reached_end) return {};
    return passed;
  };
  const auto first = run_to(induction_event::either);
  if (!first) return result;
  const bool matched = 1 - result.end[1] <= 0.5 - circuit.evaluate(result.end).attention;
  const auto second = run_to(matched ? induction_event::emerged : induction_event::matched);
  result.match_time = matched ? first : second;
  result.icl_time = matched ? second : first;
  return result;
}

}  // namespace lindyn::circuit
