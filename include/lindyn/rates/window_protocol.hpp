// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Trainings in which weights decay during one window.

#include <algorithm>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/schedule/shapes.hpp>

namespace lindyn::rates {

/// A training in which weights decay during one window, in updates, none of which has to be a whole number: a flow takes the
/// budget over the width itself, where a training, which takes whole updates, has schedule::window_of_budget.
struct window_protocol {
  double updates = 20'000;  ///< length of the training
  double onset = 0;         ///< the window's first update
  double width = 5'000;     ///< updates of the window
  double budget = 20;       ///< the integral of the window over updates: the level is budget / width
  step_size step = {};      ///< learning rate, and what the level means

  /// Throws argument_error, naming the member, for one that makes no sense.
  void require_valid() const {
    require(updates >= 0 && updates <= 1e15, "updates", updates, "in [0, 1e15]");
    require(onset >= 0 && onset <= 1e15, "onset", onset, "in [0, 1e15]");
    require(width >= 0 && width <= 1e15, "width", width, "in [0, 1e15]");
    require(budget >= 0 && budget <= 1e30, "budget", budget, "in [0, 1e30]");
    require(budget == 0 || (onset + width > onset && budget / width <= 1e30), "width", width,
            "wide enough for the budget: an empty window has none");
  }
  /// The window. Throws as require_valid.
  [[nodiscard]] schedule::window window() const {
    require_valid();
    return {onset, onset + width, width > 0 ? budget / width : 0};
  }
  /// The course of decay over the time of flows. Throws as `window`, and argument_error as decay_course.
  [[nodiscard]] decay_course decay() const { return decay_course(window(), step); }
  /// What of the budget falls within the training: less where the window reaches beyond its end. Throws as require_valid.
  [[nodiscard]] double budget_within() const {
    require_valid();
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
