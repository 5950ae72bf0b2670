// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the tests of every uniform token law have in common.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>

#include "relations.hpp"

namespace lindyn::testing {

/// All tokens stand at one place: the law of the tokens alone.
struct one_place {
  [[nodiscard]] int positions() const { return 1; }
  [[nodiscard]] symmetry::structure structure() const { return symmetry::orbital_table(1, {}); }
  template <class Choices>
  void operator()(Choices& choose, std::span<int> positions) const {
    for (std::size_t place = 0; place < positions.size(); ++place)
      positions[place] = choose.position(static_cast<int>(place), 0);
  }
};

/// The probability that the token law draws these tokens with this answer.
template <class TokenLaw>
double token_probability(const TokenLaw& tokens, const std::vector<int>& drawn, int answer) {
  const std::vector<int> positions(drawn.size(), 0);
  return population::probability(population::law(tokens, one_place()), {drawn, positions, answer});
}

/// n! / (n - k)!, the ordered choices of k among n.
inline double arrangements(int n, int k) {
  double result = 1;
  for (int i = 0; i < k; ++i) result *= n - i;
  return result;
}

/// The law draws `count` different sequences, all of which are `allowed(tokens, answer)`, each with probability
/// 1 / count. As `count` is the number of allowed sequences, counted by hand, the law is the uniform one on them.
template <class TokenLaw, class Allowed>
void check_uniform(const TokenLaw& tokens, double count, Allowed&& allowed) {
  const population::law law(tokens, one_place());
  const auto table = enumerated(law);
  CHECK(static_cast<double>(table.size()) == count);
  CHECK(std::abs(table.total_weight() - 1) <= 1e-15);
  std::map<std::vector<int>, int> times;
  double deviation = 0;
  int forbidden = 0;
  for (const task::sequence& sequence : table) {
    std::vector<int> values(sequence.tokens.begin(), sequence.tokens.end());
    forbidden += !allowed(values, sequence.answer);
    values.push_back(sequence.answer);
    ++times[values];
    deviation = std::max(deviation, std::abs(sequence.weight * count - 1));
    deviation = std::max(deviation, std::abs(population::probability(law, sequence) * count - 1));
  }
  CHECK(forbidden == 0);
  CHECK(static_cast<double>(times.size()) == count);
  CHECK(deviation <= 1e-14);
}

/// Every sequence is drawn as often as its probability says, within five standard errors.
template <class TokenLaw>
void check_samples(const TokenLaw& tokens, int draws, std::uint64_t seed) {
  const population::law law(tokens, one_place());
  std::map<std::vector<int>, double> probabilities;
  std::map<std::vector<int>, int> counts;
  const auto key = [](const task::sequence& sequence) {
    std::vector<int> values(sequence.tokens.begin(), sequence.tokens.end());
    values.push_back(sequence.answer);
    return values;
  };
  for (const task::sequence& sequence : enumerated(law)) probabilities[key(sequence)] += sequence.weight;
  population::sampler sampler(law, seed);
  population::minibatch batch;
  sampler.draw(0, draws, batch);
  for (lindyn::index place = 0; place < batch.count(); ++place) ++counts[key(batch.view()[place])];
  double deviations = 0;
  for (const auto& [values, p] : probabilities) {
    REQUIRE(draws * p >= 10);  // else the number of draws is no normal variable
    deviations = std::max(deviations, std::abs(counts[values] - draws * p) / std::sqrt(draws * p * (1 - p)));
  }
  CHECK(counts.size() == probabilities.size());  // nothing else was drawn
  CHECK(deviations < 5);
}

/// There are `count` relational types, no two of them alike, and each has the weight of all its sequences.
template <class Law>
void check_types(const Law& law, int count) {
  const auto structure = law.structure();
  const auto table = enumerated(law);
  const auto expected = merged(table, structure);
  const population::relational_types found = population::enumerate_types(law);
  CHECK(found.sequence_count == static_cast<double>(table.size()));
  CHECK(found.types.size() == count);
  CHECK(expected.size() == static_cast<std::size_t>(count));
  CHECK(std::abs(found.types.total_weight() - 1) <= 1e-15);
  const auto weights = merged(found.types, structure);
  REQUIRE(weights.size() == expected.size());
  double difference = 0;
  for (const auto& [relations, weight] : weights) {
    REQUIRE(expected.count(relations) == 1);
    difference = std::max(difference, std::abs(weight - expected.at(relations)));
  }
  CHECK(difference <= 1e-13);  // plain sums of thousands of weights
}

/// The same with the token law on slots and on a ring.
template <class TokenLaw>
void check_types_on_positions(const TokenLaw& tokens, int count) {
  const auto& list = tokens.list();
  check_types(population::law(tokens, population::slot_positions(list, list.pairs + 1)), count);
  check_types(population::law(tokens, population::ring_positions(list, list.length() + 1)), count);
}

}  // namespace lindyn::testing
