// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Enumerations and what they have in common, for the tests of laws.

#include <map>
#include <span>
#include <vector>

#include <lindyn/population/enumeration.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/symmetry/joint.hpp>

namespace lindyn::testing {

/// All sequences of a law.
template <class Law>
population::sequence_table enumerated(const Law& law) {
  population::sequence_table table(population::process_sizes(law.sizes()).length);
  population::enumerate(law, [&](const task::sequence& sequence) { table.append(sequence); });
  return table;
}

/// The relations of a sequence: the orbitals of all pairs of its tokens, of its positions, and of its answer with them.
inline std::vector<int> relations(const task::sequence& sequence, const symmetry::stream_structure& structure) {
  std::vector<int> result;
  result.reserve(4 * sequence.tokens.size() * (sequence.tokens.size() + 1));
  const auto append = [&](const symmetry::structure& points, std::span<const int> rows, std::span<const int> columns) {
    points.visit([&](const auto& group) {
      for (const int i : rows)
        for (const int j : columns) {
          result.push_back(group.orbital(i, j));
          result.push_back(group.orbital(j, i));
        }
    });
  };
  append(structure.tokens, sequence.tokens, sequence.tokens);
  append(structure.positions, sequence.positions, sequence.positions);
  append(structure.tokens, std::span(&sequence.answer, 1), sequence.tokens);
  return result;
}

/// The weight of each set of relations.
inline std::map<std::vector<int>, double> merged(const population::sequence_table& table,
                                                 const symmetry::stream_structure& structure) {
  std::map<std::vector<int>, double> result;
  for (const task::sequence& sequence : table) result[relations(sequence, structure)] += sequence.weight;
  return result;
}

/// The image of a sequence under a generator.
struct image {
  image(const task::sequence& sequence, const symmetry::generator& g) {
    for (const int token : sequence.tokens) tokens.push_back(g.tokens[static_cast<std::size_t>(token)]);
    for (const int position : sequence.positions) positions.push_back(g.positions[static_cast<std::size_t>(position)]);
    answer = g.tokens[static_cast<std::size_t>(sequence.answer)];
  }
  operator task::sequence() const { return {tokens, positions, answer}; }

  std::vector<int> tokens, positions;
  int answer = 0;
};

/// Advances `digits` to the next number of base `base`; false after the last.
inline bool next(std::vector<int>& digits, int base) {
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (++*digit < base) return true;
    *digit = 0;
  }
  return false;
}

}  // namespace lindyn::testing
