// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The experiment that isolates why decay on the first steps keeps a network from the rule where it is L2 within Adam, and
/// some hundred steps later doesn't: parts of the network that decay early by themselves or are spared, moments
/// forgotten, weights scaled, and the same shrinkage decoupled from the gradient.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/shapes.hpp>
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

  /// In the mode `absolute`, each part shrinks on the first 400 steps as it does under coupled_l2.
  void shrinking_alike() {
    std::vector<std::pair<network_part, schedule::schedule>> parts;
    for (std::size_t part = 0; part < network_parts.size(); ++part) {
      const auto& [first, second, third, fourth] = early_shrinkage[part];
      parts.emplace_back(network_parts[part], schedule::steps{first,
                                                              {{scaled_step(all_, 50), second},
                                                               {scaled_step(all_, 100), third},
                                                               {scaled_step(all_, 200), fourth},
                                                               {scaled_step(all_, 400), 0.004},
                                                               {scaled_step(all_, 5'000), 0}}});
    }
    decays_by(run("the shrinkage of coupled_l2", "absolute", from(0), 7'500), parts);
  }

  /// Under coupled_l2, all parts shrink on the first 400 steps about as fast as the first attention does.
  void shrinking_equally() {
    std::vector<std::pair<network_part, schedule::schedule>> parts;
    const auto of = [](std::size_t part) { return (early_shrinkage[part][0] + early_shrinkage[part][1]) / 2; };
    for (std::size_t part = 0; part < network_parts.size(); ++part)
      parts.emplace_back(
          network_parts[part],
          schedule::steps{0.004 * of(0) / of(part), {{scaled_step(all_, 400), 0.004}, {scaled_step(all_, 5'000), 0}}});
    decays_by(coupled("equal shrinkage of all parts", 0), parts);
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
  /// What coupled decay from step 0 on takes from the logarithm of each part's size in a step, beyond what happens without
  /// decay: on the first 50 steps, to 100, to 200, and to 400. The mean of three seeds, by drives.csv.
  static constexpr std::array<std::array<double, 4>, 6> early_shrinkage{{{0.0053, 0.0038, 0.0011, 0.0001},
                                                                         {0.0078, 0.0081, 0.0029, 0},
                                                                         {0.0082, 0.0057, 0.0020, 0},
                                                                         {0.0097, 0.0111, 0.0070, 0.0019},
                                                                         {0.0021, 0.0024, 0.0020, 0.0006},
                                                                         {0.0011, 0.0019, 0.0016, 0.0003}}};

  extent all_;
};

/// Does decay of some part on the first 400 steps suffice, is it needed, and is it the size that matters?
[[nodiscard]] inline experiment plan_causes(const extent& all) {
  cause_planner plan(all);
  for (const double onset : {0, 100, 200, 400}) plan.coupled("window", onset);
  const network_part perceptrons = several("perceptrons", {1, 3}), attentions = several("attentions", {0, 2});
  for (const network_part& part : network_parts) plan.but("early:", part, 400, 0);
  plan.but("early:", perceptrons, 400, 0);
  plan.but("early:", attentions, 400, 0);
  for (const network_part& part : network_parts) plan.but("spared early:", part, 0, 400);
  plan.but("spared early:", perceptrons, 0, 400);
  plan.but("spared early:", attentions, 0, 400);
  plan.but("spared early:", several("attentions, perceptrons", {0, 1, 2, 3}), 0, 400);
  for (const double onset : {100, 200, 400}) plan.forgetting(onset);
  plan.shrinking_alike();
  plan.shrinking_equally();
  const double early = 0.12;  // what early decay leaves of the second perceptron's size by then
  plan.scaling("scaled down at 400:", network_parts[3], 400, early);
  plan.scaling("scaled up at 400:", network_parts[3], 0, 1 / early);
  return std::move(plan).result();
}

}  // namespace detail

}  // namespace examples::critical_window
