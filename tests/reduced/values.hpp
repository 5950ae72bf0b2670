// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Coordinates, sequences and distances for the tests of the reduced model.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/population/sequence_table.hpp>

namespace lindyn::testing {

/// `count` normal numbers of standard deviation `size`.
inline std::vector<double> normal_numbers(index count, std::uint64_t seed, double size) {
  counter_generator generator(seed);
  std::vector<double> result;
  for (index i = 0; i < count; ++i) result.push_back(size * standard_normal(generator));
  return result;
}

inline double largest(std::span<const double> values) {
  double result = 0;
  for (const double value : values)
    if (!(std::abs(value) <= result)) result = std::abs(value);  // NaN wins
  return result;
}

/// max|a - b|.
inline double difference(std::span<const double> a, std::span<const double> b) {
  require_extent("b.size()", b.size(), a.size());
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] - b[i]);
  return largest(result);
}

/// max|a - b| / max|b|.
inline double relative_difference(std::span<const double> a, std::span<const double> b) {
  return difference(a, b) / largest(b);
}

/// Sequences without any law: independent uniform tokens (so that some repeat), positions and answers, and weights
/// that don't sum to one.
inline population::sequence_table random_sequences(std::uint64_t seed, int count, int length, int vocabulary,
                                                   int positions) {
  counter_generator generator(seed);
  const auto draw = [&](int size) { return static_cast<int>(uniform_index(generator, size)); };
  population::sequence_table result(length);
  std::vector<int> tokens(static_cast<std::size_t>(length)), places(tokens.size());
  for (int number = 0; number < count; ++number) {
    for (int& token : tokens) token = draw(vocabulary);
    for (int& place : places) place = draw(positions);
    result.append({tokens, places, draw(vocabulary), 0.1 + uniform_real(generator)});
  }
  return result;
}

/// All sequences of a law.
template <class Law>
population::sequence_table all_sequences(const Law& law) {
  population::sequence_table result(law.sizes().length);
  enumerate(law, [&](const task::sequence& sequence) { result.append(sequence); });
  return result;
}

}  // namespace lindyn::testing
