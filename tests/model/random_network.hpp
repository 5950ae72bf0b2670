// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Random weights and batches for the tests of models.

#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::testing {

/// `count` normal numbers of standard deviation `size`.
template <class Scalar>
std::vector<Scalar> random_weights(counter_generator& generator, index count, double size) {
  std::vector<Scalar> weights(static_cast<std::size_t>(count));
  for (auto& weight : weights) weight = static_cast<Scalar>(size * standard_normal(generator));
  return weights;
}

/// Sequences of independent uniform tokens, positions and answers, with weights that differ and don't sum to one.
struct random_batch {
  random_batch(counter_generator& generator, index count, index size, int vocabulary, int positions) : length(size) {
    for (index place = 0; place < count; ++place) {
      for (index i = 0; i < size; ++i) {
        token_table.push_back(static_cast<int>(uniform_index(generator, vocabulary)));
        position_table.push_back(static_cast<int>(uniform_index(generator, positions)));
      }
      answers.push_back(static_cast<int>(uniform_index(generator, vocabulary)));
      weights.push_back(0.1 + uniform_real(generator));
    }
  }
  [[nodiscard]] task::batch_view view(bool weighted = true) const {
    const auto count = static_cast<index>(answers.size());
    return {{token_table.data(), count, length},
            {position_table.data(), count, length},
            answers,
            weighted ? std::span<const double>(weights) : std::span<const double>()};
  }

  index length;
  std::vector<int> token_table, position_table, answers;
  std::vector<double> weights;
};

}  // namespace lindyn::testing
