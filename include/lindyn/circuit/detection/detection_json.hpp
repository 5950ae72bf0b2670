// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A detected circuit as JSON.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/circuit/detection/detection.hpp>
#include <lindyn/io/json.hpp>

namespace lindyn::circuit {

namespace detail {

[[nodiscard]] inline io::json to_json(const direction& unit) {
  return {{"label", unit.label},
          {"sentence", unit.sentence},
          {"place", unit.place},
          {"strength", unit.strength},
          {"norm", unit.norm}};
}

[[nodiscard]] inline io::json to_json(const performance& of) {
  io::json result{{"loss", of.loss}};
  if (of.accuracy) result["accuracy"] = *of.accuracy;
  return result;
}

[[nodiscard]] constexpr const char* name_of(role which) noexcept { return which == role::core ? "core" : "aiding"; }

[[nodiscard]] constexpr const char* name_of(removal why) noexcept {
  return why == removal::invisible ? "invisible" : why == removal::zero ? "zero" : "eliminated";
}

}  // namespace detail

/// Everything that a detection says: budgets; loss and accuracy with all directions, the circuit, its core, and none;
/// shares of the weights' squared norm; survivors, removed directions, gauge, and the path of the elimination, whose
/// directions are given by their labels.
[[nodiscard]] inline io::json to_json(const detection& found) {
  io::json result{{"budget", found.budget},
                  {"core_budget", found.core_budget},
                  {"all", detail::to_json(found.all)},
                  {"circuit", detail::to_json(found.circuit)},
                  {"core", detail::to_json(found.core)},
                  {"none", detail::to_json(found.none)}};
  if (found.loss_weights) result["loss_weights"] = *found.loss_weights;
  result["scale"] = found.scale;
  result["core_scale"] = found.core_scale;
  if (found.largest_scale) result["largest_scale"] = *found.largest_scale;
  result["at_largest_scale"] = found.at_largest_scale();
  result["norm"] = found.norm;
  result["energy_share"] = found.energy_share;
  result["circuit_share"] = found.circuit_share;
  io::json weights = io::json::array();
  for (const auto& weight : found.weights)
    weights.push_back({{"name", weight.name},
                       {"norm", weight.norm},
                       {"off_manifold_norm", weight.off_manifold_norm},
                       {"energy_share", weight.energy_share()}});
  result["weights"] = std::move(weights);

  std::vector<std::string> labels(found.coordinates.size());
  io::json survivors = io::json::array(), removed = io::json::array();
  for (const auto& unit : found.survivors) {
    labels[static_cast<std::size_t>(unit.place)] = unit.label;
    io::json entry = detail::to_json(unit);
    entry["role"] = detail::name_of(unit.role);
    entry["loss_without"] = unit.loss_without;
    entry["loss_alone"] = unit.loss_alone;
    entry["substitutes"] = io::json::array();
    for (const auto& other : unit.substitutes)
      entry["substitutes"].push_back({{"label", other.label}, {"loss", other.loss}});
    survivors.push_back(std::move(entry));
  }
  for (const auto& unit : found.removed) {
    labels[static_cast<std::size_t>(unit.place)] = unit.label;
    io::json entry = detail::to_json(unit);
    entry["reason"] = detail::name_of(unit.reason);
    entry["step"] = unit.step;
    entry["loss_with"] = unit.loss_with;
    removed.push_back(std::move(entry));
  }
  result["survivors"] = std::move(survivors);
  result["gauge"] = io::json::array();
  for (const auto& direction : found.gauge) {
    io::json entry{{"sentence", direction.sentence}, {"directions", io::json::object()}};
    for (std::size_t k = 0; k < direction.places.size(); ++k)
      entry["directions"][labels[static_cast<std::size_t>(direction.places[k])]] = direction.coefficients[k];
    result["gauge"].push_back(std::move(entry));
  }
  result["path"] = io::json::array();
  for (const auto& step : found.path) {
    io::json entry{{"removed", io::json::array()}, {"remaining", step.remaining}, {"loss", step.loss}};
    for (const index place : step.removed) entry["removed"].push_back(labels[static_cast<std::size_t>(place)]);
    if (step.accuracy) entry["accuracy"] = *step.accuracy;
    result["path"].push_back(std::move(entry));
  }
  result["removed"] = std::move(removed);
  return result;
}

}  // namespace lindyn::circuit
