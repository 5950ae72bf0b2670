// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The experiment that isolates why decay on the first steps keeps a network from the rule where it is L2 within Adam, and
/// some hundred steps later doesn't: parts of the network that decay early by themselves or are spared, moments
/// forgotten, weights scaled, and the same shrinkage decoupled from the gradient.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/train/trainer_options.hpp>

#include "network_parts.hpp"
#include "planner.hpp"

namespace examples::critical_window {

namespace detail {

/// Puts together trainings whose decay begins late, early, or early in a part of the network.
class cause_planner : public planner {
public:
  explicit cause_planner(const extent& all)
      : planner(all, "causes", "why is decay from step 0 on fatal under coupled_l2, and from 400 on not?", 3),
        all_(all) {}

  /// Decay on [begin, begin + 5000).
  [[nodiscard]] static decay_window from(double begin) { return {begin, begin + 5'000, 0.004}; }

  /// Trainings under coupled_l2.
  std::span<planned_run> coupled(const std::string& condition, double onset) {
    return run(condition, "coupled_l2", from(onset), 7'500);
  }

  /// All decays from `onset` on, but for a part, which does from `of_part` on.
  void but(const std::string& condition, const network_part& part, double onset, double of_part) {
    auto when = from(of_part);
    when.begin = scaled_step(all_, when.begin), when.end = scaled_step(all_, when.end);
    decays_by(coupled(condition + " " + part.name, onset), {{part, schedule::window{when.begin, when.end, when.rate}}});
  }

  /// Parts decay by schedules of their own.
  static void decays_by(std::span<planned_run> runs,
                        const std::vector<std::pair<network_part, schedule::schedule>>& parts) {
    for (planned_run& each : runs) {
      each.intervention = "decay";
      for (const auto& [part, of] : parts) {
        for (const std::string& module : part.modules) each.intervention += " " + module;
        each.intervention += ": " + schedule::to_text(of) + ";";
      }
      each.adjust = [parts](const lindyn::parameter_table& table, lindyn::train::trainer_options& options) {
        for (const auto& [part, of] : parts) let_decay(table, options, part, of);
      };
    }
  }

  /// The optimiser forgets its moments where decay begins.
  void forgetting(double onset) {
    for (planned_run& each : coupled("moments forgotten at onset", onset)) {
      each.forget_at = static_cast<index>(scaled_step(all_, onset));
      each.intervention = "moments forgotten";
    }
  }

  /// A part's weights are multiplied by a factor behind 400 steps.
  void scaling(const std::string& condition, const network_part& part, double onset, double factor) {
    for (planned_run& each : coupled(condition + " " + part.name, onset)) {
      each.scaling = {.at = static_cast<index>(scaled_step(all_, 400)), .modules = part.modules, .factor = factor};
      each.intervention =
          "scaled by " + lindyn::detail::to_text(factor) + " at " + std::to_string(each.scaling->at) + ":";
      for (const std::string& module : part.modules) each.intervention += " " + module;
    }
  }

private:
  extent all_;
};

/// Does decay of some part on the first 400 steps suffice, is it needed, and is it the size that matters?
[[nodiscard]] inline experiment plan_causes(const extent& all) {
  cause_planner plan(all);
  plan.coupled("window", 0);
  plan.coupled("window", 400);
  const network_part perceptrons = several("perceptrons", {1, 3}), attentions = several("attentions", {0, 2});
  for (const network_part& part : network_parts) plan.but("early:", part, 400, 0);
  plan.but("early:", perceptrons, 400, 0);
  plan.but("early:", attentions, 400, 0);
  for (const network_part& part : network_parts) plan.but("spared early:", part, 0, 400);
  plan.but("spared early:", perceptrons, 0, 400);
  plan.but("spared early:", attentions, 0, 400);
  plan.but("spared early:", several("attentions, perceptrons", {0, 1, 2, 3}), 0, 400);
  for (const double onset : {100, 200, 400}) {
    plan.coupled("window", onset);
    plan.forgetting(onset);
  }
  return std::move(plan).result();
}

}  // namespace detail

}  // namespace examples::critical_window
