// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Norms of groups of parameters.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::observe {

/// Some of a table's matrices, under one name.
struct module_parts {
  std::string name;                   ///< of the module
  std::vector<std::string> matrices;  ///< the parameters' names
};

/// Size of a group of parameters.
struct group_norm {
  std::string name;      ///< of the group
  index entries = 0;     ///< number of parameters
  double frobenius = 0;  ///< root of the sum of their squares
  double rms = 0;        ///< root of the mean of their squares; 0 without entries
};

/// The parameters by module, in the order of the table: `blocks.1.mlp` has `blocks.1.mlp.fc1.weight` and all others that
/// begin with it. A name's module is its first part, or its first three in a block.
[[nodiscard]] inline std::vector<module_parts> modules(const parameter_table& table) {
  std::vector<module_parts> result;
  for (const parameter& which : table) {
    std::size_t end = which.name.find('.');
    if (which.name.starts_with("blocks."))
      for (int part = 1; part < 3 && end != std::string::npos; ++part) end = which.name.find('.', end + 1);
    const std::string name = which.name.substr(0, end);
    auto found = std::ranges::find(result, name, &module_parts::name);
    if (found == result.end()) found = result.insert(result.end(), {.name = name, .matrices = {}});
    found->matrices.push_back(which.name);
  }
  return result;
}

/// The norms of groups, each with a `name` and names of `matrices`, as modules(table) or an optimiser's groups.
/// \param table    says where the matrices lie
/// \param weights  laid out by it: weights, a gradient, moments
/// \param groups   a matrix may be in several
/// Throws argument_error for a name that isn't in the table, shape_error for another number of weights.
template <class T, class Groups>
[[nodiscard]] std::vector<group_norm> group_norms(const parameter_table& table, std::span<T> weights,
                                                  const Groups& groups) {
  std::vector<group_norm> result;
  for (const auto& group : groups) {
    group_norm norm{.name = group.name};
    double squares = 0;
    for (const auto& name : group.matrices) {
      const auto matrix = table.view(name, weights);
      for (const auto entry : matrix) squares += static_cast<double>(entry) * static_cast<double>(entry);
      norm.entries += matrix.size();
    }
    norm.frobenius = std::sqrt(squares);
    if (norm.entries > 0) norm.rms = std::sqrt(squares / static_cast<double>(norm.entries));
    result.push_back(std::move(norm));
  }
  return result;
}

}  // namespace lindyn::observe
