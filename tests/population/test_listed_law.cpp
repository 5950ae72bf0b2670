// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/population/sampling.hpp>

#include "../complaint.hpp"
#include "relations.hpp"

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using namespace lindyn::population;
using lindyn::testing::complaint;
using lindyn::testing::enumerated;
using recall = task::associative_recall<block<2>>;

// ---- A user's own sequences
// ------------------------------------------------------------------------------------------

/// A line of a user's file: how often, two tokens, two positions, what follows.
struct example {
  std::vector<int> tokens, positions;
  int answer = 0;
  double count = 1;
  operator task::sequence() const { return {tokens, positions, answer, count}; }
};

/// "Say the second token again", on a ring of four positions: all 3 x 2 pairs of different tokens at all offsets.
std::vector<example> echoes() {
  std::vector<example> result;
  for (int first = 0; first < 3; ++first)
    for (int second = 0; second < 3; ++second)
      for (int offset = 0; offset < 4; ++offset)
        if (first != second) result.push_back({{first, second}, {offset, (offset + 1) % 4}, second});
  return result;
}
const std::vector<symmetry::generator> turns{{.tokens = {1, 2, 0}, .positions = {0, 1, 2, 3}},
                                             {.tokens = {1, 0, 2}, .positions = {0, 1, 2, 3}},
                                             {.tokens = {0, 1, 2}, .positions = {1, 2, 3, 0}}};

static_assert(data_law<listed_law>);

TEST_CASE("a user's list of sequences with its symmetry is a law") {
  const listed_law law(echoes(), 3, 4, turns);
  CHECK(law.sizes().vocabulary == 3);
  CHECK(law.sizes().positions == 4);
  CHECK(law.sizes().length == 2);
  CHECK(law.structure().tokens.orbital_count() == 1);
  CHECK(law.structure().positions.orbital_count() == 3);

  const sequence_table table = enumerated(law);
  CHECK(table.size() == 24);
  CHECK(std::abs(table.total_weight() - 1) < 1e-15);
  for (const auto& sequence : table) {
    CHECK(sequence.weight == 1.0 / 24);
    CHECK(probability(law, sequence) == sequence.weight);
  }
  const std::vector<int> same{1, 1}, places{3, 0}, pair{0, 1};
  CHECK(probability(law, {pair, places, 1}) == 1.0 / 24);
  CHECK(probability(law, {pair, places, 0}) == 0);
  CHECK(probability(law, {same, places, 1}) == 0);

  const relational_types types = enumerate_types(law);
  REQUIRE(types.types.size() == 1);
  CHECK(std::abs(types.types[0].weight - 1) < 1e-15);
  CHECK(types.sequence_count == 24);
}

TEST_CASE("weights are relative to their sum, equal sequences are one, and those of weight 0 are left out") {
  std::vector<example> examples = echoes();
  for (example& one : examples) one.count = 3;
  examples.push_back(examples.front());  // listed twice, 6 of 75
  examples.push_back({{1, 1}, {0, 0}, 1, 0.0});
  const listed_law law(examples, symmetry::product(symmetry::full_symmetric(3), symmetry::cyclic(4)));
  const sequence_table table = enumerated(law);
  CHECK(table.size() == 24);
  CHECK(std::abs(table.total_weight() - 1) < 1e-15);
  CHECK(std::abs(probability(law, examples.front()) - 6.0 / 75) < 1e-16);
  CHECK(std::abs(probability(law, examples[7]) - 3.0 / 75) < 1e-16);
  CHECK(probability(law, examples.back()) == 0);
}

TEST_CASE("a listed enumeration is the law that was enumerated") {
  const recall_law<recall, lindyn::positions::ring<6>> original{{.pairs = 2, .vocabulary = 5}};
  const sequence_table all = enumerated(original);
  const listed_law listed(all, original.structure());
  CHECK(enumerated(listed).size() == all.size());
  double difference = 0;
  for (const auto& sequence : all)
    difference = std::max(difference, std::abs(probability(listed, sequence) - sequence.weight));
  CHECK(difference < 1e-17);

  const auto expected = testing::merged(enumerate_types(original).types, original.structure());
  const relational_types types = enumerate_types(listed);
  CHECK(types.sequence_count == static_cast<double>(all.size()));
  CHECK(types.types.size() == 2);
  for (const auto& [relations, weight] : testing::merged(types.types, original.structure()))
    CHECK(std::abs(weight - expected.at(relations)) < 1e-13);
}

TEST_CASE("listed sequences are drawn as often as their weights say") {
  std::vector<example> examples = echoes();
  for (std::size_t place = 0; place < examples.size(); ++place)
    examples[place].count = 0.1 + static_cast<double>(place);
  const listed_law law(examples, 3, 4, {});
  sampler sampler(law, 5);
  minibatch batch;
  const int count = 60'000;
  sampler.draw(0, count, batch);
  std::vector<int> seen(static_cast<std::size_t>(law.table().size()));
  for (index place = 0; place < count; ++place) {
    const auto found = law.find(batch.view()[place]);
    REQUIRE(found);
    ++seen[static_cast<std::size_t>(*found)];
  }
  for (index place = 0; place < law.table().size(); ++place) {
    const double p = law.table()[place].weight;
    CHECK(std::abs(seen[static_cast<std::size_t>(place)] - count * p) < 5 * std::sqrt(count * p * (1 - p)));
  }
}

/// A law that can only be drawn from.
struct only_drawn {
  const listed_law& law;
  [[nodiscard]] process_sizes sizes() const { return law.sizes(); }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    return law(choose, tokens, positions);
  }
};

TEST_CASE("the two choices of a draw have exactly the weights, as its enumeration as a process shows") {
  std::vector<example> examples = echoes();
  for (std::size_t place = 0; place < examples.size(); ++place)
    examples[place].count = static_cast<double>(place * place);
  const listed_law law(examples, 3, 4, {});
  const only_drawn process{law};
  std::vector<double> weights(static_cast<std::size_t>(law.table().size()));
  enumerate(process,
            [&](const task::sequence& one) { weights[static_cast<std::size_t>(*law.find(one))] += one.weight; });
  for (index place = 0; place < law.table().size(); ++place)
    CHECK(std::abs(weights[static_cast<std::size_t>(place)] - law.table()[place].weight) < 1e-16);
}

TEST_CASE("a symmetry that the weights lack is found when types are asked for") {
  std::vector<example> examples = echoes();
  examples.front().count = 2;
  const listed_law uneven(examples, 3, 4, turns);
  CHECK_THROWS_AS((void)enumerate_types(uneven), invariance_error);
  examples.front().count = 0;
  CHECK_THROWS_AS((void)enumerate_types(listed_law(examples, 3, 4, turns)), invariance_error);
  // without symmetry every sequence is a type of its own
  const listed_law plain(examples, 3, 4, {});
  CHECK(enumerate_types(plain).types.size() == 23);
  CHECK_THROWS_AS((void)enumerate_types(plain, 22), too_many_error);
}

TEST_CASE("sequences that don't fit the law are refused with their place, entry and range") {
  const auto with = [](example wrong) {
    return complaint([&] {
      std::vector<example> examples = echoes();
      examples.insert(examples.begin() + 2, wrong);
      return listed_law(examples, 3, 4, turns);
    });
  };
  CHECK(with({{0, 1}, {0, 1}, 1}) == "");
  CHECK(with({{0, 3}, {0, 1}, 1}) == "sequences[2].tokens = 3 is not allowed: it must be in [0, 3)");
  CHECK(with({{0, 1}, {-1, 1}, 1}) == "sequences[2].positions = -1 is not allowed: it must be in [0, 4)");
  CHECK(with({{0, 1}, {0, 1}, 3}) == "sequences[2].answer = 3 is not allowed: it must be in [0, 3)");
  CHECK(with({{0, 1}, {0, 1}, 1, -2}) == "sequence.weight = -2 is not allowed: it must be finite and not negative");
  CHECK(with({{0, 1}, {0, 1}, 1, std::numeric_limits<double>::quiet_NaN()}).starts_with("sequence.weight = nan"));
  CHECK(with({{0, 1, 2}, {0, 1, 2}, 1}) == "sequence.tokens.size() = 3 is not allowed: it must be 2");

  CHECK(complaint([] { return listed_law(std::vector<example>{}, 3, 4, turns); }).starts_with("sequences = an empty"));
  CHECK(complaint([] {
          return listed_law(std::vector<example>{{{0, 1}, {0, 1}, 1, 0.0}}, 3, 4, turns);
        }) == "the sum of the weights = 0 is not allowed: it must be finite and positive");
  CHECK(complaint([] {
          return listed_law(echoes(), 3, 4, {{.tokens = {0, 0, 1}, .positions = {0, 1, 2, 3}}});
        }).starts_with("generators.tokens[0][1] = 0"));
  CHECK(complaint([] { return listed_law(echoes(), 4, 4, turns); }).starts_with("generators.tokens[0].size() = 3"));
  const listed_law law(echoes(), 3, 4, turns);
  const std::vector<int> one{0}, two{0, 1};
  CHECK_THROWS_AS((void)probability(law, {one, two, 0}), shape_error);
  CHECK_THROWS_AS((void)probability(law, {two, one, 0}), shape_error);
}

// ---- A user's own process
// --------------------------------------------------------------------------------------------

/// Two couples of partners in uniform order; with probability 1/2 every item has its partner as label, otherwise the
/// labels are exchanged. V = 6 on a ring of 7. All that a law needs is here.
struct all_or_none {
  ring_positions ring{{2, 6, 2}, 7};

  [[nodiscard]] process_sizes sizes() const { return {6, 7, 5}; }
  [[nodiscard]] symmetry::stream_structure structure() const {
    return symmetry::product(symmetry::matching(6), ring.structure());
  }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    ring(choose, positions);
    auto& unused = choose.tokens();
    for (const int item : {0, 2}) {
      const auto place = static_cast<std::size_t>(item);
      tokens[place] = choose.token(item, unused);
      unused.remove(tokens[place]);
      unused.remove(tokens[place] ^ 1);
    }
    const bool kept = choose.chance(0.5);
    tokens[1] = choose.token(1, tokens[kept ? 0 : 2] ^ 1);
    tokens[3] = choose.token(3, tokens[kept ? 2 : 0] ^ 1);
    const bool second = choose.among(2) == 1;
    tokens[4] = choose.token(4, tokens[second ? 2 : 0]);
    return tokens[second ? 3 : 1];
  }
};
static_assert(data_law<all_or_none>);

TEST_CASE("a user's process is a law: enumerated, sampled, with probabilities, types and a symmetry to check") {
  const all_or_none law;
  const sequence_table table = enumerated(law);
  CHECK(table.size() == 6 * 4 * 2 * 2 * 7);
  CHECK(std::abs(table.total_weight() - 1) < 1e-15);
  for (const auto& generator : law.structure().generators)
    for (const auto& sequence : table)
      CHECK(probability(law, testing::image(sequence, generator)) == probability(law, sequence));
  CHECK(enumerate_types(law).types.size() == 4);
  CHECK(enumerate_types(law).sequence_count == 672);

  sampler sampler(law, 1);
  minibatch batch;
  sampler.draw(0, 100, batch);
  for (index place = 0; place < 100; ++place) CHECK(probability(law, batch.view()[place]) > 0);

  // The list of its sequences is the same law.
  const listed_law listed(table, law.structure());
  CHECK(enumerate_types(listed).types.size() == 4);
}

}  // namespace
