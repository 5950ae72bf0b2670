// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The race of the tests: three layers of one head, four pairs of sixteen tokens.

#include <string>
#include <string_view>
#include <vector>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/circuit/race/standings.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "../reduced/values.hpp"

namespace lindyn::testing {

using race_task = task::associative_recall<block<2>>;
using race_manifold = manifold::imir<race_task, model::attention_only<layers<3>, heads<1>>>;

/// Distinct tokens on slots, six of them (N + 2).
inline const population::recall_law<race_task> race_law{{.pairs = 4, .vocabulary = 16}};

inline reduced::relational_model race_model() {
  return {race_manifold::basis(race_law), population::enumerate_types(race_law).types};
}

/// Normal coordinates of standard deviation 0.3.
inline std::vector<double> race_start(std::uint64_t seed) {
  return normal_numbers(race_manifold::dimension, seed, 0.3);
}

/// The place of the coordinate of that label.
inline std::size_t place(const reduced::relational_model& model, std::string_view label) {
  return static_cast<std::size_t>(model.basis().place_of(label));
}

}  // namespace lindyn::testing
