// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Parts of a network, which may decay by themselves.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/observe/norms.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/train/trainer_options.hpp>

namespace examples::critical_window {

/// A part of the network: some of its modules.
struct network_part {
  std::string name;
  std::vector<std::string> modules;  ///< "blocks.1.mlp": "blocks.1.mlp.fc1.weight" and so on
};

/// The parts that decay, of two layers.
inline const std::vector<network_part> network_parts{
    {"attention 1", {"blocks.0.attn"}},
    {"perceptron 1", {"blocks.0.mlp"}},
    {"attention 2", {"blocks.1.attn"}},
    {"perceptron 2", {"blocks.1.mlp"}},
    {"norms", {"blocks.0.ln1", "blocks.0.ln2", "blocks.1.ln1", "blocks.1.ln2", "ln_f"}},
    {"head", {"head"}},
};

/// Several of them as one, by their numbers.
[[nodiscard]] inline network_part several(std::string name, const std::vector<std::size_t>& numbers) {
  network_part result{std::move(name), {}};
  for (const std::size_t number : numbers)
    result.modules.insert(result.modules.end(), network_parts[number].modules.begin(),
                          network_parts[number].modules.end());
  return result;
}

/// Names of the parameters of modules, which are those of observe::modules.
[[nodiscard]] inline std::vector<std::string> matrices_of(const lindyn::parameter_table& table,
                                                          const std::vector<std::string>& modules) {
  std::vector<std::string> result;
  for (const auto& [name, matrices] : lindyn::observe::modules(table))
    if (std::ranges::find(modules, name) != modules.end())
      result.insert(result.end(), matrices.begin(), matrices.end());
  return result;
}

/// Lets a part of the network decay by a schedule of its own.
inline void let_decay(const lindyn::parameter_table& table, lindyn::train::trainer_options& options,
                      const network_part& part, const lindyn::schedule::schedule& of) {
  const auto matrices = matrices_of(table, part.modules);
  for (auto& group : options.groups)
    std::erase_if(group.matrices,
                  [&](const std::string& matrix) { return std::ranges::find(matrices, matrix) != matrices.end(); });
  options.groups.push_back({.name = part.name, .matrices = matrices, .decay_schedule = of});
}

}  // namespace examples::critical_window
