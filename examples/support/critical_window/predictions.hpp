// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the reduced account of the early null (rates/module_extinction.hpp) predicts of the full network: decay that
/// is L2 within Adam extinguishes a perceptron before its units align, if the pull on it falls with its size, if its
/// second moment is small against rate and decay, and if it starts small.

#include <string>
#include <utility>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/train/trainer_options.hpp>

#include "network_parts.hpp"
#include "planner.hpp"

namespace examples::critical_window {

namespace detail {

/// Puts together trainings under coupled_l2 that differ from the usual one in something that should matter.
class prediction_planner : public planner {
public:
  explicit prediction_planner(const extent& all)
      : planner(all, "predictions", "what the reduced account of the early null predicts, under coupled_l2", 5) {}

  /// Decay from `onset` on with the usual budget, ended 2,500 steps behind the end of one from the first step; as many
  /// runs as `seeds`.
  /// \return them, to be changed until the next call
  std::span<planned_run> decaying(const std::string& condition, double onset, double rate = 0.004, int seeds = 3) {
    const double width = 20 / rate;
    return run(condition, "coupled_l2", {onset, onset + width, rate}, width + 2'500, seeds);
  }

  /// The same from the first step, with a change of the settings.
  template <class Change>
  void changed(const std::string& condition, Change&& change, double rate = 0.004) {
    const settings before = usual;
    change(usual);
    decaying(condition, 0, rate);
    usual = before;
  }
};

[[nodiscard]] inline experiment plan_predictions(const extent& all) {
  prediction_planner plan(all);
  for (const double onset : {0, 400}) plan.decaying("usual", onset, 0.004, 5);
  // Of a lower degree in its weights: a rectified perceptron's pull doesn't vanish with its size.
  const settings before = plan.usual;
  plan.usual.activation = "relu";
  for (const double onset : {0, 400}) plan.decaying("relu", onset, 0.004, 5);
  plan.usual = before;
  for (planned_run& each : plan.decaying("gain and bias before perceptrons don't decay", 0)) {
    const network_part norms{"norms before perceptrons", {"blocks.0.ln2", "blocks.1.ln2"}};
    each.intervention = "decay blocks.0.ln2 blocks.1.ln2: 0;";
    each.adjust = [norms](const lindyn::parameter_table& table, lindyn::train::trainer_options& options) {
      let_decay(table, options, norms, schedule::schedule(0.0));
    };
  }
  // Slower clocks and faster ones, at the same budget.
  for (const double rate : {0.008, 0.002, 0.001})
    for (const double onset : {0, 100}) plan.decaying("rate " + lindyn::detail::to_text(rate), onset, rate);
  for (const double gamma : {0.5, 1.6})
    plan.changed("gamma " + lindyn::detail::to_text(gamma), [&](settings& of) {
      of.gamma = gamma;
      of.embedding_scale = gamma / 8;
    });
  for (const index batch : {64, 256, 512})
    plan.changed("batch " + std::to_string(batch), [&](settings& of) { of.batch = batch; });
  plan.changed(
      "batch 512, rate 0.008", [](settings& of) { of.batch = 512; }, 0.008);
  for (const double rate : {0.004, 0.012})
    plan.changed(
        "learning rate 0.001, rate " + lindyn::detail::to_text(rate), [](settings& of) { of.lr = 0.001; }, rate);
  return std::move(plan).result();
}

}  // namespace detail

}  // namespace examples::critical_window
