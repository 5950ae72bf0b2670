// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows of rate systems under a course of decay.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/stiff_flow.hpp>
#include <lindyn/integrate/system.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/rate_system.hpp>

namespace lindyn::rates {

/// Options of `flow`. Times are those of the flow: learning rate x updates.
struct flow_options {
  double until = 100;       ///< end of the flow
  double tolerance = 1e-8;  ///< relative error of a step, at most 0.1
  /// Absolute error of a step. Masses are of order 1, but factors matter down to what they may grow back from: a window of
  /// budget 20 leaves e^-20 of them.
  double absolute_tolerance = 1e-15;
  std::vector<double> times = {};      ///< ascending times at which the state is wanted
  std::int64_t max_steps = 1'000'000;  ///< accepted and rejected ones together
  /// Stop at the first time at which the share of reasoning is this large, in (0, 1). Where nothing is memorised the share
  /// is 1: a flow that starts at m = 0 stops at once.
  std::optional<double> stop_at_share = {};
  bool stiff = false;  ///< by linearly implicit steps, for rates that are far apart
  std::function<void(const integrate::flow_point&)> observer = {};  ///< told the start and the end of every step
};

/// Throws argument_error, naming the member, for precision or a share that make no sense.
inline void require_valid(const flow_options& options) {
  require(options.tolerance > 0 && options.tolerance <= 0.1, "tolerance", options.tolerance,
          "positive, and at most 0.1");
  require(options.absolute_tolerance > 0 && options.absolute_tolerance <= 0.1, "absolute_tolerance",
          options.absolute_tolerance, "positive, and at most 0.1");
  require(options.max_steps >= 1, "max_steps", options.max_steps, "at least 1");
  const double share = options.stop_at_share.value_or(0.5);
  require(share > 0 && share < 1, "stop_at_share", share, "in (0, 1)");
}

/// The masses of `system` from `start` at t = 0 under decay(t). Steps end at the edges of the course. The result's `value` is
/// the mass of reasoning at its end, an observer's that at its point; `samples` are the states at `times`.
///
///     const rates::reduced_system<2> system({.memorising = 1, .reasoning = 5});
///     const rates::decay_course decay(schedule::window{5000, 10000, 4e-3}, {.learning_rate = 3e-3});
///     const auto found = rates::flow(system, {0, 0.1, 0.1}, decay, {.until = 60});
///
/// Throws shape_error for a start of another size; argument_error as require_valid, and for stop_at_share where m + r isn't
/// positive at the start, which is no share; as integrate::flow.
template <rate_system System>
[[nodiscard]] integrate::flow_result flow(const System& system, std::vector<double> start, const decay_course& decay,
                                          const flow_options& options = {}) {
  require_valid(options);
  require_extent("start.size()", start.size(), System::dimension);
  if (options.stop_at_share) {
    const double learnt = system.memorising(start) + system.reasoning(start);
    require(learnt > 0, "m + r of start", learnt, "positive for stop_at_share");
  }
  const auto velocity = [&](const integrate::state& x, integrate::state& dxdt, double t) {
    system.velocity(x, decay(t), dxdt);
    const double reasoning = system.reasoning(x);
    if (!options.stop_at_share) return reasoning;
    return *options.stop_at_share * (system.memorising(x) + reasoning) - reasoning;  // 0 where the share is met
  };
  std::function<void(const integrate::flow_point&)> observer;
  if (options.observer)
    observer = [&](const integrate::flow_point& here) {
      options.observer({here.t, here.state, system.reasoning(here.state)});
    };
  const integrate::flow_options how{.tolerance = options.tolerance,
                                    .absolute_tolerance = options.absolute_tolerance,
                                    .max_steps = options.max_steps,
                                    .discontinuities = decay.edges(),
                                    .stop_at = options.stop_at_share ? std::optional(0.0) : std::nullopt,
                                    .sample_times = options.times,
                                    .observer = std::move(observer)};
  const auto jacobian = [&](const integrate::state& x, matrix_view<double> dfdx, double t, std::span<double> dfdt) {
    system.jacobian(x, decay(t), dfdx);
    if (const double slope = decay.slope(t); slope != 0) {  // the velocity is affine in lambda
      std::array<double, System::dimension> without;
      system.velocity(x, 0, without);
      system.velocity(x, 1, dfdt);
      for (std::size_t i = 0; i < without.size(); ++i) dfdt[i] = slope * (dfdt[i] - without[i]);
    }
  };
  integrate::flow_result result =
      options.stiff ? integrate::stiff_flow(velocity, jacobian, std::move(start), 0.0, options.until, how)
                    : integrate::flow(velocity, std::move(start), 0.0, options.until, how);
  result.value = system.reasoning(result.state);
  return result;
}

}  // namespace lindyn::rates
