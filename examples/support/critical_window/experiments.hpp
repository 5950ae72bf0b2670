// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The experiments, in the order in which they are made: each a list of trainings.

#include <string>
#include <utility>
#include <vector>

#include "causes.hpp"
#include "planner.hpp"
#include "predictions.hpp"

namespace examples::critical_window {

namespace detail {

/// The decay modes that differ at a constant learning rate, where `ratio` is `absolute`.
inline const std::vector<std::string> modes{"lr_scaled", "absolute", "coupled_l2"};
/// Those among them under which a budget of 20 takes more from a weight than a few per cent, at Adam's rate.
inline const std::vector<std::string> strong_modes{"absolute", "coupled_l2"};

[[nodiscard]] inline experiment plan_modes(const extent& all) {
  planner plan(all, "modes", "decay mode x where the window lies, 20,000 steps", 3);
  plan.run("none", "coupled_l2", {}, 20'000);
  for (const std::string& mode : modes) {
    plan.run("always", mode, decay_window::of_budget(0, 20'000), 20'000);
    plan.run("always at the window's rate", mode, {0, 20'000, 0.004}, 20'000);
    for (double onset = 0; onset <= 15'000; onset += 2'500)
      plan.run("window", mode, {onset, onset + 5'000, 0.004}, 20'000);
  }
  plan.run("window", "ratio", {5'000, 10'000, 0.004}, 20'000, 1);  // the same as absolute
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_onset(const extent& all) {
  planner plan(all, "onset", "decay mode x onset of the first 500 steps, windows of 5,000, 7,500 steps", 3);
  for (const std::string& mode : modes)
    for (double onset = 0; onset <= 500; onset += 50) plan.run("window", mode, {onset, onset + 5'000, 0.004}, 7'500);
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_gamma(const extent& all) {
  planner plan(all, "gamma", "does the window move with gamma? Both its ends, under coupled_l2", 3);
  for (const double gamma : {0.5, 0.7, 0.8, 0.9, 1.1}) {
    plan.set_gamma(gamma);
    for (double onset = 0; onset <= 500; onset += 100)
      plan.run("window", "coupled_l2", {onset, onset + 5'000, 0.004}, 7'500);
    plan.run("none", "coupled_l2", {}, 20'000);
    for (const double onset : {5'000, 10'000, 15'000})
      plan.run("window", "coupled_l2", {onset, onset + 5'000, 0.004}, 20'000);
  }
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_narrow(const extent& all) {
  planner plan(all, "narrow", "windows of 2,000 steps, of the same budget, 20,000 steps", 3);
  for (const std::string& mode : strong_modes)
    for (const double onset : {0, 5'000, 6'500, 10'000, 15'000, 18'000})
      plan.run("window", mode, decay_window::of_budget(onset, onset + 2'000), 20'000);
  return std::move(plan).result();
}

/// None, always, and three windows of 5,000 of 20,000 steps, of one budget.
inline void add_five_conditions(planner& plan, const std::vector<std::string>& in_modes) {
  plan.run("none", "coupled_l2", {}, 20'000);
  for (const std::string& mode : in_modes) {
    plan.run("always", mode, decay_window::of_budget(0, 20'000), 20'000);
    for (const double onset : {0, 5'000, 15'000}) plan.run("window", mode, {onset, onset + 5'000, 0.004}, 20'000);
  }
}

/// Decay all the time at the rate of the windows, so at four times their budget.
inline void add_always_at_full_rate(planner& plan) {
  for (const std::string& mode : strong_modes)
    plan.run("always at the window's rate", mode, {0, 20'000, 0.004}, 20'000);
}

[[nodiscard]] inline experiment plan_sgd(const extent& all) {
  planner plan(all, "sgd", "gradient descent with momentum, rate 0.1, 20,000 steps", 3);
  plan.usual.optimizer = "momentum";
  plan.usual.lr = 0.1;
  add_five_conditions(plan, modes);
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_condensation(const extent& all) {
  planner plan(all, "condensation", "condensation of the value matrices at step 3,000 under constant decay", 8);
  plan.run("none", "coupled_l2", {}, 3'000);
  for (const std::string& mode : modes)
    for (const double rate : {3e-4, 1e-3, 3e-3, 1e-2}) plan.run("always", mode, {0, 3'000, rate}, 3'000);
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_basin(const extent& all) {
  planner plan(all, "basin", "how many of 12 seeds find the rule, over gamma; decay on [5000, 10000), 20,000 steps",
               12);
  for (const double gamma : {0.5, 0.7, 0.9, 1.1}) {
    plan.set_gamma(gamma);
    plan.run("window", "coupled_l2", {5'000, 10'000, 0.004}, 20'000);
  }
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_layers(const extent& all) {
  planner plan(all, "layers", "four layers, 20,000 steps", 3);
  plan.usual.layers = 4;
  add_five_conditions(plan, strong_modes);
  add_always_at_full_rate(plan);
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_mod67(const extent& all) {
  planner plan(all, "mod67", "addition modulo 67, 40 % in training, two layers of width 128, 20,000 steps", 3);
  plan.usual.task = "modular_arithmetic";
  plan.usual.modulus = 67;
  plan.usual.share = 0.4;
  plan.usual.width = 128;
  plan.usual.hidden = 512;
  add_five_conditions(plan, strong_modes);
  add_always_at_full_rate(plan);
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_scan(const extent& all) {
  planner plan(all, "scan", "SCAN add_prim_jump, two layers of width 32, 12,000 steps", 1);
  plan.usual = train_transformer::preset("scan");
  if (all.quick) plan.usual.evaluate_every = 12'000;  // all 22,376 commands
  plan.set_gamma(0.8);
  plan.run("none", "coupled_l2", {}, 12'000);
  plan.run("window", "coupled_l2", {0, 3'000, 0.01}, 12'000);
  plan.run("window", "coupled_l2", {3'000, 9'000, 0.01}, 12'000);
  plan.run("always", "coupled_l2", {0, 12'000, 0.005}, 12'000);
  return std::move(plan).result();
}

[[nodiscard]] inline experiment plan_map(const extent& all) {
  planner plan(all, "map", "onset x width of the window at one budget, under coupled_l2, 20,000 steps", 2);
  for (const double onset : {0, 400, 2'000, 5'000, 10'000, 15'000})
    for (const double width : {500, 1'000, 2'000, 5'000})
      plan.run("window", "coupled_l2", decay_window::of_budget(onset, onset + width), 20'000);
  return std::move(plan).result();
}

}  // namespace detail

/// All experiments.
[[nodiscard]] inline std::vector<experiment> experiments(const extent& all) {
  using namespace detail;
  return {plan_modes(all),        plan_onset(all),  plan_gamma(all),      plan_narrow(all), plan_sgd(all),
          plan_condensation(all), plan_basin(all),  plan_layers(all),     plan_mod67(all),  plan_scan(all),
          plan_map(all),          plan_causes(all), plan_predictions(all)};
}

}  // namespace examples::critical_window
