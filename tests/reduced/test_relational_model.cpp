// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/reduced/plain_model.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "../compare/confinement_laws.hpp"
#include "relational_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using reduced::plain_model;
using reduced::relational_model;
using symmetry::direct_sum;
using task::loss;

/// Tokens in two classes and in three, in directed couples, and as a table with one orbit and five fixed tokens.
const std::vector<symmetry::structure>& token_structures() {
  static const std::vector<symmetry::structure> result{
      direct_sum({{symmetry::matching(6), "c"}, {symmetry::full_symmetric(4), "r"}}),
      direct_sum(
          {{symmetry::full_symmetric(3), "a"}, {symmetry::matching(4), "b"}, {symmetry::full_symmetric(3), "c"}}),
      symmetry::directed_matching(8),
      symmetry::commutant({{1, 2, 0, 3, 4, 5, 6, 7}}, 8),
  };
  return result;
}

/// Positions in one class, in two, and as a table with two orbits of two and four fixed positions.
const std::vector<symmetry::structure>& position_structures() {
  static const std::vector<symmetry::structure> result{
      symmetry::slot_phase(4, 2),
      direct_sum({{symmetry::cyclic(4), "a"}, {symmetry::slot_phase(2, 2), "b"}}),
      symmetry::commutant({{1, 0, 2, 3, 4, 5, 7, 6}}, 8),
  };
  return result;
}

TEST_CASE("the relational model is the plain one, for recall on slots and on a ring") {
  for (const auto& [layers, heads] : {std::pair(1, 1), {1, 3}, {2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {4, 1}}) {
    check_law(on_slots({.pairs = 3, .vocabulary = 9, .block = 2}), layers, heads);
    check_law(on_ring({.pairs = 3, .vocabulary = 7, .block = 2}, 8), layers, heads);
    check_law(on_slots({.pairs = 2, .vocabulary = 7, .block = 3}), layers, heads);
    check_law(on_ring({.pairs = 2, .vocabulary = 6, .block = 3}, 8), layers, heads);
  }
}

TEST_CASE("the relational model is the plain one, for stored associations") {
  for (const double within_class : {0.0, 0.4, 1.0})
    for (const auto& [layers, heads] : {std::pair(1, 2), {2, 1}, {2, 2}, {3, 1}}) {
      CAPTURE(within_class);
      check_law(stored_on_slots({.pairs = 2, .vocabulary = 8, .block = 2}, within_class), layers, heads);
      check_law(stored_on_ring({.pairs = 2, .vocabulary = 6, .block = 2}, within_class, 7), layers, heads);
      if (layers <= 2)
        check_law(stored_on_slots({.pairs = 2, .vocabulary = 10, .block = 3}, within_class), layers, heads);
    }
}

TEST_CASE("trunks and queries that don't fill whole vectors, or several, are no exception") {
  for (const int pairs : {1, 4, 5, 8, 9})  // trunks of 2 .. 18 rows, 1 .. 9 queries
    for (const int layers : {1, 2, 3}) {
      CAPTURE(pairs);
      check_law(on_slots({.pairs = pairs, .vocabulary = 2 * pairs + 2, .block = 2}), layers, 1);
    }
  check_law(on_ring({.pairs = 9, .vocabulary = 27, .block = 3}, 29), 2, 1);
}

TEST_CASE("any sequences will do: repeated tokens and positions, answers that aren't in the sequence") {
  for (const loss kind : both_losses)
    for (const int length : {1, 2, 4, 9, 12}) {
      CAPTURE(length);
      const auto structure = symmetry::product(symmetry::matching(6), symmetry::slot_phase(3, 2));
      const auto sequences = random_sequences(static_cast<std::uint64_t>(length), 40, length, 6, 6);
      for (const int layers : {1, 2, 3}) {
        const manifold::basis basis(layers, 2, structure);
        check_against_plain(basis, sequences, normal_numbers(basis.dimension(), 3, 0.5), kind);
      }
    }
}

TEST_CASE("an answer that is never shown is the more likely the smaller the vocabulary") {
  const auto of = [](int vocabulary) {
    const manifold::basis basis(1, 1, symmetry::product(symmetry::full_symmetric(vocabulary), symmetry::cyclic(4)));
    const std::vector<int> tokens{0, 1}, positions{0, 1};
    const std::vector<task::sequence> sequences{{tokens, positions, 2, 1.0}};
    const std::vector<double> readout_of_last{0, 0, 0, 0, 1, 0};  // z = 1 for the last token, 0 for all others
    return relational_model(basis, sequences).loss(readout_of_last);
  };
  CHECK(of(3) == doctest::Approx(std::log(2 + std::exp(1.0))).epsilon(1e-15));
  CHECK(of(100) == doctest::Approx(std::log(99 + std::exp(1.0))).epsilon(1e-15));
}

TEST_CASE("a user's group may relate a token to several others, by symmetric and by directed orbitals") {
  const int vocabulary = 7, positions = 6;
  // Turns and reflections: orbitals are the distances, each with two partners.
  symmetry::permutation turn, mirror, thrice, turn_positions;
  for (int v = 0; v < vocabulary; ++v) {
    turn.push_back((v + 1) % vocabulary);
    mirror.push_back((vocabulary - v) % vocabulary);
    thrice.push_back(2 * v % vocabulary);  // v -> 2 v: directed orbitals of three partners
  }
  for (int p = 0; p < positions; ++p) turn_positions.push_back((p + 1) % positions);
  for (const auto& second : {mirror, thrice}) {
    const auto tokens = symmetry::commutant({turn, second}, vocabulary);
    const auto places = symmetry::commutant({turn_positions}, positions);
    const auto sequences = random_sequences(5, 60, 4, vocabulary, positions);
    for (const loss kind : both_losses)
      for (const int layers : {1, 2}) {
        const manifold::basis basis(layers, 1, symmetry::product(tokens, places));
        check_against_plain(basis, sequences, normal_numbers(basis.dimension(), 4, 0.5), kind);
      }
  }
}

TEST_CASE("selected orbitals alone don't say which tokens are one: the coincidences of their partners count too") {
  // Tokens t, t' have no selected relation, but the same successor by 3 and by 1 where t' = t + 2.
  const int vocabulary = 8;
  const auto structure = symmetry::product(symmetry::cyclic(vocabulary), symmetry::cyclic(5));
  for (const loss kind : both_losses) {
    const manifold::basis basis(2, 1, structure, {.tokens = {1, 3}, .positions = {0, 1}});
    check_against_plain(basis, random_sequences(6, 200, 3, vocabulary, 5), normal_numbers(basis.dimension(), 5, 0.7),
                        kind);
  }
}

TEST_CASE("loss, gradient and velocity are the full network's, over all sequences") {
  for (const loss kind : both_losses) {
    check_against_network(on_ring({.pairs = 2, .vocabulary = 5, .block = 2}, 5), 2, 1, kind);
    check_against_network(on_ring({.pairs = 2, .vocabulary = 5, .block = 2}, 6), 1, 3, kind);
    check_against_network(on_ring({.pairs = 2, .vocabulary = 4, .block = 2}, 5), 3, 2, kind);
    check_against_network(on_slots({.pairs = 2, .vocabulary = 4, .block = 2}, 3), 3, 1, kind);
    check_against_network(on_slots({.pairs = 1, .vocabulary = 5, .block = 3}, 2), 2, 2, kind);
    check_against_network(stored_on_ring({.pairs = 2, .vocabulary = 6, .block = 2}, 0.4, 5), 2, 1, kind);
    check_against_network(stored_on_slots({.pairs = 1, .vocabulary = 6, .block = 2}, 0.4, 3), 2, 2, kind);
  }
}

TEST_CASE("neither the number of tokens nor of positions enters the work, and yet both the result") {
  const auto model_of = [](int vocabulary, loss kind) {
    const auto law = stored_on_slots({.pairs = 3, .vocabulary = vocabulary, .block = 2}, 0, vocabulary);
    return relational_model({2, 1, law.structure()}, population::enumerate_types(law).types, kind);
  };
  const auto small = model_of(64, loss::cross_entropy), large = model_of(4096, loss::cross_entropy);
  REQUIRE(small.plan().contexts.size() == large.plan().contexts.size());
  CHECK(small.plan().kinds == large.plan().kinds);
  CHECK(small.plan().longest_trunk == large.plan().longest_trunk);
  for (std::size_t place = 0; place < small.plan().contexts.size(); ++place) {
    const auto &a = small.plan().contexts[place], &b = large.plan().contexts[place];
    CHECK(a.pairs.size() == b.pairs.size());
    CHECK(a.logits.size() == b.logits.size());
    CHECK(a.queries.size() == b.queries.size());
    CHECK(a.slots == b.slots);
    CHECK(static_cast<double>(a.slots.size()) + a.others.front() == 64);
    CHECK(static_cast<double>(b.slots.size()) + b.others.front() == 4096);
  }
  const auto law = stored_on_slots({.pairs = 3, .vocabulary = 500, .block = 2}, 0.4, 100);
  const manifold::basis basis(2, 1, law.structure());
  for (const loss kind : both_losses)
    check_against_plain(basis, population::enumerate_types(law).types, normal_numbers(basis.dimension(), 9, 0.8), kind);
}

TEST_CASE("at zero nothing is known: the loss is ln V, and half of a one for the squared error") {
  const auto law = on_slots({.pairs = 5, .vocabulary = 20, .block = 2});
  const manifold::basis basis(3, 1, law.structure());
  const std::vector<double> zero(static_cast<std::size_t>(basis.dimension()));
  const auto types = population::enumerate_types(law).types;
  CHECK(relational_model(basis, types).loss(zero) == doctest::Approx(std::log(20.0)).epsilon(1e-15));
  CHECK(relational_model(basis, types, loss::squared_error).loss(zero) == doctest::Approx(0.5).epsilon(1e-15));
  for (const loss kind : both_losses) check_against_plain(basis, types, zero, kind);
}

TEST_CASE("coordinates of 800, of either sign, overflow nothing") {
  for (const auto& law : {stored_on_slots({.pairs = 3, .vocabulary = 8, .block = 2}, 0.5),
                          stored_on_slots({.pairs = 2, .vocabulary = 8, .block = 2}, 0)})
    for (const int layers : {1, 2, 3})
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        CAPTURE(layers);
        CAPTURE(seed);
        const manifold::basis basis(layers, 1, law.structure());
        auto coordinates = normal_numbers(basis.dimension(), seed, 1);
        for (double& c : coordinates) c = c < 0 ? -800 : 800;
        relational_model model(basis, population::enumerate_types(law).types);
        const plain_model plain(basis, population::enumerate_types(law).types);
        std::vector<double> gradient(coordinates.size()), expected(coordinates.size());
        const double value = model.loss_and_gradient(coordinates, gradient);
        CHECK(std::isfinite(value));
        CHECK(value == doctest::Approx(plain.loss_and_gradient(coordinates, expected)).epsilon(1e-11));
        // Scores are sums of terms of 800, whose rounding errors the exponential turns into relative errors.
        CHECK(difference(gradient, expected) <= 1e-9 * (1 + largest(expected)));
      }
}

TEST_CASE("a row in which all places are related, with very negative scores, is normalised like any other") {
  const auto structure = symmetry::product(symmetry::full_symmetric(5), symmetry::cyclic(3));
  const std::vector<int> tokens{1, 1, 1, 1, 1, 2, 1}, positions{0, 0, 0, 0, 0, 1, 0};
  const std::vector<task::sequence> sequences{{tokens, positions, 2, 1.0}};
  for (const double size : {-1e3, -800.0, -750.0, -600.0, -300.0})
    for (const int layers : {1, 2, 3}) {
      CAPTURE(size);
      CAPTURE(layers);
      const manifold::basis basis(layers, 1, structure);
      std::vector<double> coordinates = normal_numbers(basis.dimension(), 2, 0.5);
      for (index place = 0; place < basis.layout().layer_begin(2); ++place)
        coordinates[static_cast<std::size_t>(place)] += size;
      for (const loss kind : both_losses) check_against_plain(basis, sequences, coordinates, kind, 1e-12);
    }
}

TEST_CASE("a coordinate that isn't a number makes a loss that isn't one, if the loss depends on it at all") {
  const auto law = stored_on_slots({.pairs = 2, .vocabulary = 8, .block = 2}, 0.4);
  const manifold::basis basis(3, 1, law.structure());
  const auto types = population::enumerate_types(law).types;
  for (const loss kind : both_losses) {
    relational_model model(basis, types, kind);
    const auto coordinates = normal_numbers(basis.dimension(), 2, 0.5);
    std::vector<double> gradient(coordinates.size()), other(coordinates.size());
    const double good = model.loss_and_gradient(coordinates, gradient);
    int idle = 0;
    for (std::size_t place = 0; place < coordinates.size(); ++place) {
      auto spoilt = coordinates;
      spoilt[place] = std::numeric_limits<double>::quiet_NaN();
      CAPTURE(basis.label(static_cast<index>(place)));
      // Nothing visible to the query stands in its own slot, so that the last layer's shifts of the query do nothing.
      const bool enters = gradient[place] != 0;
      idle += enters ? 0 : 1;
      CHECK(std::isnan(model.loss(spoilt)) == enters);
      CHECK(std::isnan(model.loss_and_gradient(spoilt, other)) == enters);
    }
    CHECK(idle == 4);
    CHECK(model.loss(coordinates) == good);  // nothing is left behind
  }
}

TEST_CASE("the gradient is that of finite differences") {
  const auto law = stored_on_slots({.pairs = 3, .vocabulary = 8, .block = 2}, 0.4);
  for (const loss kind : both_losses)
    for (const auto& [layers, heads] : {std::pair(2, 2), {3, 1}}) {
      const manifold::basis basis(layers, heads, law.structure());
      relational_model model(basis, population::enumerate_types(law).types, kind);
      const auto coordinates = normal_numbers(basis.dimension(), 3, 0.5);
      std::vector<double> gradient(coordinates.size()), differences;
      model.loss_and_gradient(coordinates, gradient);
      const double h = 1e-5;
      for (std::size_t place = 0; place < coordinates.size(); ++place) {
        auto above = coordinates, below = coordinates;
        above[place] += h;
        below[place] -= h;
        differences.push_back((model.loss(above) - model.loss(below)) / (2 * h));
      }
      CHECK(difference(gradient, differences) < 1e-9);  // h^2 + rounding / h
    }
}

TEST_CASE("the velocity is the gradient against the Gram metric") {
  const auto law = stored_on_slots({.pairs = 2, .vocabulary = 8, .block = 2}, 0.4);
  const manifold::basis basis(2, 1, law.structure());
  relational_model model(basis, population::enumerate_types(law).types);
  const auto coordinates = normal_numbers(basis.dimension(), 3, 0.5);
  std::vector<double> gradient(coordinates.size()), velocity(coordinates.size()), back(coordinates.size());
  const double value = model.loss_and_gradient(coordinates, gradient);
  CHECK(model.velocity(coordinates, velocity) == value);
  basis.apply_gram(velocity, back);
  for (double& entry : back) entry = -entry;
  CHECK(relative_difference(back, gradient) < 1e-14);
}

TEST_CASE("the losses of the contexts, by weight, are the loss") {
  const auto law = stored_on_slots({.pairs = 3, .vocabulary = 10, .block = 2}, 0.4);
  const manifold::basis basis(2, 1, law.structure());
  relational_model model(basis, population::enumerate_types(law).types);
  const auto coordinates = normal_numbers(basis.dimension(), 3, 0.5);
  const auto losses = model.context_losses(coordinates);
  REQUIRE(losses.size() == model.plan().contexts.size());
  REQUIRE(losses.size() > 1);
  double sum = 0, weights = 0;
  for (std::size_t place = 0; place < losses.size(); ++place) {
    double weight = 0;
    for (const auto& queries : model.plan().contexts[place].queries) weight += queries.weight.sum();
    sum += weight * losses[place];
    weights += weight;
  }
  CHECK(weights == doctest::Approx(1).epsilon(1e-14));
  CHECK(sum == doctest::Approx(model.loss(coordinates)).epsilon(1e-13));
}

TEST_CASE("a user's list of sequences is a population like any other") {
  // The second token is asked for again, and the answer is its position's partner token: three tokens in turn.
  struct example {
    std::vector<int> tokens, positions;
    int answer;
    operator task::sequence() const { return {tokens, positions, answer}; }
  };
  std::vector<example> examples;
  for (int first = 0; first < 5; ++first)
    for (int second = 0; second < 5; ++second)
      for (int offset = 0; offset < 4; ++offset)
        if (first != second)
          examples.push_back({{first, second, first}, {offset, (offset + 1) % 4, (offset + 2) % 4}, second});
  const population::listed_law law(examples, symmetry::product(symmetry::full_symmetric(5), symmetry::cyclic(4)));
  const manifold::basis basis(2, 1, law.structure());
  const auto types = population::enumerate_types(law).types;
  CHECK(types.size() == 1);
  const auto coordinates = normal_numbers(basis.dimension(), 3, 0.5);
  relational_model of_types(basis, types), of_all(basis, law.table());
  CHECK(of_all.plan().types() == 1);
  CHECK(of_types.loss(coordinates) == doctest::Approx(of_all.loss(coordinates)).epsilon(1e-14));
  check_against_network(law, 2, 1, loss::cross_entropy);
}

struct network {
  int layers, heads, length;
};

TEST_CASE("with several classes, too, the relational model is the plain one: any sequences, tokens and positions") {
  for (const auto& tokens : token_structures())
    for (const auto& positions : position_structures())
      for (const auto& of : {network{1, 2, 5}, {2, 1, 11}, {2, 2, 2}, {3, 1, 9}, {3, 2, 3}}) {
        CAPTURE(of.layers);
        CAPTURE(of.heads);
        const manifold::basis basis(of.layers, of.heads, symmetry::product(tokens, positions));
        const auto sequences = random_sequences(static_cast<std::uint64_t>(of.length), 9, of.length, tokens.size(), 8);
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

TEST_CASE("copies are models of their own") {
  const auto law = stored_on_slots({.pairs = 2, .vocabulary = 8, .block = 2}, 0.4);
  const manifold::basis basis(3, 1, law.structure());
  const auto a = normal_numbers(basis.dimension(), 1, 0.5), b = normal_numbers(basis.dimension(), 2, 0.5);
  std::vector<relational_model> models;
  models.emplace_back(basis, population::enumerate_types(law).types);
  const double at_a = models[0].loss(a), at_b = models[0].loss(b);
  models.push_back(models[0]);
  models.push_back(std::move(models[0]));
  models.erase(models.begin());
  for (auto& model : models) {
    CHECK(model.loss(a) == at_a);
    CHECK(model.loss(b) == at_b);
  }
}

TEST_CASE("what doesn't fit is refused") {
  const auto law = on_slots({.pairs = 2, .vocabulary = 5, .block = 2});
  const auto types = population::enumerate_types(law).types;
  const manifold::basis basis(2, 1, law.structure());
  relational_model model(basis, types);
  const auto size = static_cast<std::size_t>(basis.dimension());
  std::vector<double> right(size), wrong(size + 1);
  CHECK_THROWS_AS((void)model.loss(wrong), shape_error);
  CHECK_THROWS_AS((void)model.loss_and_gradient(right, wrong), shape_error);
  CHECK_THROWS_AS((void)model.loss_and_gradient(wrong, right), shape_error);
  CHECK_THROWS_AS((void)model.velocity(right, wrong), shape_error);
  CHECK_THROWS_AS((void)model.context_losses(wrong), shape_error);

  CHECK_THROWS_AS(relational_model(basis, std::vector<task::sequence>{}), argument_error);
  const std::vector<int> tokens{0, 1, 0}, positions{0, 1, 2}, outside{0, 5, 0}, negative{0, -1, 0}, far{0, 1, 8},
      two{0, 1}, none;
  using sequences = std::vector<task::sequence>;
  for (const auto& bad : {sequences{{outside, positions, 1, 1.0}}, sequences{{negative, positions, 1, 1.0}},
                          sequences{{tokens, far, 1, 1.0}}, sequences{{tokens, two, 1, 1.0}},
                          sequences{{none, none, 1, 1.0}}, sequences{{tokens, positions, 5, 1.0}},
                          sequences{{tokens, positions, -1, 1.0}}, sequences{{tokens, positions, 1, -1.0}},
                          sequences{{tokens, positions, 1, std::nan("")}}, sequences{{tokens, positions, 1, 0.0}}}) {
    CHECK_THROWS_AS(relational_model(basis, bad), argument_error);
  }
  CHECK_THROWS_AS(plain_model(basis, sequences{{outside, positions, 1, 1.0}}), argument_error);
  CHECK_THROWS_AS(plain_model(basis, sequences{{tokens, far, 1, 1.0}}), argument_error);

  const manifold::basis raw(2, 1, law.structure(), {.centring = manifold::centring::none});
  CHECK_THROWS_AS(relational_model(raw, types), argument_error);
}

}  // namespace
