// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows of rate systems under a course of decay.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/rate_system.hpp>

namespace lindyn::rates {

/// Options of `flow`. Times are those of the flow: learning rate x updates.
struct flow_options {
  double until = 100;                                               ///< end of the flow
  double tolerance = 1e-8;                                          ///< absolute and relative error of a step
  std::vector<double> times = {};                                   ///< ascending times at which the state is wanted
  std::int64_t max_steps = 1'000'000;                               ///< accepted and rejected ones together
  std::function<void(const integrate::flow_point&)> observer = {};  ///< told the start and the end of every step
};

/// The masses of `system` from `start` at t = 0 under decay(t). Steps end at the edges of the course. The result's `value` is
/// the mass of reasoning at its end, `samples` are the states at `times`.
///
///     const rates::reduced_system<2> system({.memorising = 1, .reasoning = 5});
///     const rates::decay_course decay(schedule::window{5000, 10000, 4e-3}, {.learning_rate = 3e-3});
///     const auto found = rates::flow(system, {0, 0.1, 0.1}, decay, {.until = 60});
///
/// Throws shape_error for a start of another size; as integrate::flow.
template <rate_system System>
[[nodiscard]] integrate::flow_result flow(const System& system, std::vector<double> start, const decay_course& decay,
                                          const flow_options& options = {}) {
  require_extent("start.size()", start.size(), System::dimension);
  const auto velocity = [&](const integrate::state& x, integrate::state& dxdt, double t) {
    system.velocity(x, decay(t), dxdt);
    return system.reasoning(x);
  };
  return integrate::flow(velocity, std::move(start), 0.0, options.until,
                         {.tolerance = options.tolerance,
                          .max_steps = options.max_steps,
                          .discontinuities = decay.edges(),
                          .sample_times = options.times,
                          .observer = options.observer});
}

}  // namespace lindyn::rates
