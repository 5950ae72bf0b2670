// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Norms of groups of parameters, and what drives them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ranges>
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
template <std::ranges::contiguous_range Weights, class Groups>
[[nodiscard]] std::vector<group_norm> group_norms(const parameter_table& table, const Weights& weights,
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

/// How strongly a gradient drives the size of a group of parameters.
struct radial_drive {
  std::string name;            ///< of the group
  std::optional<double> rate;  ///< -<g, w> / |w|^2; none where the weights are all zero
};

/// The rate -<g, w> / |w|^2 at which descent along the gradient g lets ln |w| grow, a group at a time: under
/// dw/dt = -g - lambda w, d ln |w| / dt = rate - lambda. So rate / lambda, for a decay of lambda > 0, says which of the two
/// wins: above 1 the group grows, below it shrinks, and at 1 its size is in equilibrium. It says so of gradient descent;
/// Adam's steps are others.
/// \param table     says where the matrices lie
/// \param weights   laid out by it
/// \param gradient  of the loss alone, without decay, laid out by it
/// \param groups    as in group_norms
/// Throws as group_norms does.
template <std::ranges::contiguous_range Weights, std::ranges::contiguous_range Gradient, class Groups>
[[nodiscard]] std::vector<radial_drive> radial_drives(const parameter_table& table, const Weights& weights,
                                                      const Gradient& gradient, const Groups& groups) {
  std::vector<radial_drive> result;
  for (const auto& group : groups) {
    double squares = 0, product = 0;
    for (const auto& name : group.matrices) {
      const auto matrix = table.view(name, weights), derivative = table.view(name, gradient);
      for (auto w = matrix.begin(), g = derivative.begin(); w != matrix.end(); ++w, ++g) {
        squares += static_cast<double>(*w) * static_cast<double>(*w);
        product += static_cast<double>(*g) * static_cast<double>(*w);
      }
    }
    result.push_back({.name = group.name, .rate = std::nullopt});
    if (squares > 0) result.back().rate = -product / squares;
  }
  return result;
}

}  // namespace lindyn::observe
