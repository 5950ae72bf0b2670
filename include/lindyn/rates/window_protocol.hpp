// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Trainings in which weights decay during one window.

#include <algorithm>
#include <utility>
#include <vector>

#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/schedule/budget.hpp>
#include <lindyn/schedule/shapes.hpp>

namespace lindyn::rates {

/// A training in which weights decay during one window, in updates.
struct window_protocol {
  double updates = 20'000;  ///< length of the training
  double onset = 0;         ///< the window's first update
  double width = 5'000;     ///< updates of the window
  double budget = 20;       ///< what the window's values add up to: the level is budget / width
  step_size step = {};      ///< learning rate, and what the level means

  /// The window. Throws argument_error for an onset, a width or a budget that makes no sense.
  [[nodiscard]] schedule::window window() const { return schedule::window_of_budget(onset, onset + width, budget); }
  /// The course of decay over the time of flows. Throws as `window`, and argument_error as decay_course.
  [[nodiscard]] decay_course decay() const { return decay_course(window(), step); }
  /// What of the budget falls within the training: less where the window reaches beyond its end.
  [[nodiscard]] double budget_within() const {
    const double inside = std::clamp(updates - onset, 0.0, width);
    return width > 0 ? budget * inside / width : 0.0;
  }
};

/// The end of a training under a protocol. Throws as `window_protocol::decay` and `flow`.
template <rate_system System>
[[nodiscard]] integrate::flow_result train_under(const System& system, std::vector<double> start,
                                                 const window_protocol& protocol, flow_options options = {}) {
  options.until = protocol.step.time(protocol.updates);
  return flow(system, std::move(start), protocol.decay(), options);
}

}  // namespace lindyn::rates
