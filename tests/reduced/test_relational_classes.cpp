// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/symmetry/structure.hpp>

#include "relational_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using symmetry::direct_sum, symmetry::matching, symmetry::full_symmetric, symmetry::slot_phase, symmetry::cyclic;

/// Tokens in two classes and in three, in directed couples, and as a table with one orbit and five fixed tokens.
const std::vector<symmetry::structure>& token_structures() {
  static const std::vector<symmetry::structure> result{
      direct_sum({{matching(6), "c"}, {full_symmetric(4), "r"}}),
      direct_sum({{full_symmetric(3), "a"}, {matching(4), "b"}, {full_symmetric(3), "c"}}),
      symmetry::directed_matching(8),
      symmetry::commutant({{1, 2, 0, 3, 4, 5, 6, 7}}, 8),
  };
  return result;
}

/// Positions in one class, in two, and as a table with two orbits of two and four fixed positions.
const std::vector<symmetry::structure>& position_structures() {
  static const std::vector<symmetry::structure> result{
      slot_phase(4, 2),
      direct_sum({{cyclic(4), "a"}, {slot_phase(2, 2), "b"}}),
      symmetry::commutant({{1, 0, 2, 3, 4, 5, 7, 6}}, 8),
  };
  return result;
}

TEST_CASE("with several classes, too, the relational model is the plain one: any sequences, tokens and positions") {
  for (const auto& tokens : token_structures())
    for (const auto& positions : position_structures())
      for (const auto& [layers, heads, length] : {std::tuple(1, 2, 5), {2, 1, 11}, {2, 2, 2}, {3, 1, 9}, {3, 2, 3}}) {
        CAPTURE(layers);
        CAPTURE(heads);
        const manifold::basis basis(layers, heads, symmetry::product(tokens, positions));
        const auto sequences = random_sequences(static_cast<std::uint64_t>(length), 9, length, tokens.size(), 8);
        const auto coordinates = normal_numbers(basis.dimension(), 3, 0.5);
        for (const auto kind : both_losses) check_against_plain(basis, sequences, coordinates, kind, 1e-12);
      }
}

TEST_CASE("so it is where several queries of different classes follow one trunk, and more than fill a vector") {
  const auto structure = symmetry::product(token_structures().front(), position_structures().front());
  const std::vector<int> trunk{0, 6, 1, 7, 2, 8};
  std::vector<std::vector<int>> tokens;
  for (int query = 0; query < 10; ++query) {
    tokens.push_back(trunk);
    tokens.back().push_back(query);
  }
  const std::vector<int> positions{0, 1, 2, 3, 4, 5, 6};
  std::vector<task::sequence> sequences;
  for (int query = 0; query < 10; ++query)  // all answers, seen and unseen, of either class
    sequences.push_back({tokens[static_cast<std::size_t>(query)], positions, (query + 3) % 10, 0.1});
  for (const int layers : {1, 2, 3}) {
    const manifold::basis basis(layers, 1, structure);
    CHECK(reduced::relational_model(basis, sequences).plan().contexts.size() == 1);
    for (const auto kind : both_losses)
      check_against_plain(basis, sequences, normal_numbers(basis.dimension(), 5, 0.7), kind, 1e-12);
  }
}

TEST_CASE("coordinates of 800, of either sign, overflow nothing in several classes either") {
  for (const auto& tokens : token_structures())
    for (const int layers : {1, 2, 3})
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        CAPTURE(layers);
        CAPTURE(seed);
        const manifold::basis basis(layers, 1, symmetry::product(tokens, position_structures()[1]));
        auto coordinates = normal_numbers(basis.dimension(), seed, 1);
        for (double& c : coordinates) c = c < 0 ? -800 : 800;
        const auto sequences = random_sequences(seed, 5, 7, tokens.size(), 8);
        reduced::relational_model model(basis, sequences);
        std::vector<double> gradient(coordinates.size()), expected(coordinates.size());
        const double value = model.loss_and_gradient(coordinates, gradient);
        CHECK(std::isfinite(value));
        CHECK(value == doctest::Approx(reduced::plain_model(basis, sequences).loss_and_gradient(coordinates, expected))
                           .epsilon(1e-11));
        // Scores are sums of terms of 800, whose rounding errors the exponential turns into relative errors.
        CHECK(difference(gradient, expected) <= 1e-9 * (1 + largest(expected)));
      }
}

TEST_CASE("a list of sequences with several orbits of tokens and positions: types and the full network agree") {
  // Items 0 .. 2, labels 3 .. 5: the item of one block is shown again at a place of its own kind.
  struct example {
    std::vector<int> tokens, positions;
    int answer;
    operator task::sequence() const { return {tokens, positions, answer}; }
  };
  std::vector<example> examples;
  for (int item = 0; item < 3; ++item)
    for (int label = 3; label < 6; ++label)
      for (int turn = 0; turn < 3; ++turn)
        for (const int place : {3, 4}) examples.push_back({{item, label, item}, {turn, (turn + 1) % 3, place}, label});
  const symmetry::permutation keep{0, 1, 2, 3, 4};
  const population::listed_law law(examples, 6, 5,
                                   {{{1, 2, 0, 3, 4, 5}, keep},
                                    {{1, 0, 2, 3, 4, 5}, keep},
                                    {{0, 1, 2, 4, 5, 3}, keep},
                                    {{0, 1, 2, 4, 3, 5}, keep},
                                    {{0, 1, 2, 3, 4, 5}, {1, 2, 0, 3, 4}},
                                    {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 4, 3}}});
  for (const auto kind : both_losses)
    for (const int layers : {1, 2}) check_against_network(law, layers, 1, kind);
}

}  // namespace
