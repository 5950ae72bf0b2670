// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <lindyn/population/law.hpp>

#include "../complaint.hpp"
#include "relations.hpp"

namespace {
using namespace lindyn::population;
using lindyn::testing::enumerated;
using lindyn::testing::merged;
using sequence = lindyn::task::sequence;

law<recall_tokens, slot_positions> recall_in_slots(const block_list& list, int slots) {
  return {recall_tokens(list), slot_positions(list, slots)};
}
law<recall_tokens, ring_positions> recall_on_ring(const block_list& list, int ring) {
  return {recall_tokens(list), ring_positions(list, ring)};
}
law<stored_association_tokens, slot_positions> stored_in_slots(const block_list& list, double within_class, int slots) {
  return {stored_association_tokens(list, within_class), slot_positions(list, slots)};
}
law<stored_association_tokens, ring_positions> stored_on_ring(const block_list& list, double within_class, int ring) {
  return {stored_association_tokens(list, within_class), ring_positions(list, ring)};
}

/// All tokens stand at the same place, so that a few more of them can be enumerated.
struct one_place {
  [[nodiscard]] int positions() const { return 1; }
  [[nodiscard]] lindyn::symmetry::structure structure() const { return lindyn::symmetry::orbital_table(1, {}); }
  template <class Choices>
  void operator()(Choices& choose, std::span<int> positions) const {
    for (std::size_t place = 0; place < positions.size(); ++place)
      positions[place] = choose.position(static_cast<int>(place), 0);
  }
};

TEST_CASE("as many sequences are enumerated as can be counted by hand, and their weights sum to 1") {
  // 5 4 3 2 token draws, 2 queries; 3 2 1 slots, 2^3 phases
  const auto slots = enumerated(recall_in_slots({2, 5, 2}, 3));
  CHECK(slots.size() == 11520);
  CHECK(std::abs(slots.total_weight() - 1) < 1e-15);
  // the same tokens at 7 offsets
  const auto ring = enumerated(recall_on_ring({2, 5, 2}, 7));
  CHECK(ring.size() == 1680);
  CHECK(std::abs(ring.total_weight() - 1) < 1e-15);
  // 6 4 items with certain labels, 2 queries, 7 offsets
  const auto stored = enumerated(stored_on_ring({2, 6, 2}, 0, 7));
  CHECK(stored.size() == 6 * 4 * 2 * 7);
  CHECK(std::abs(stored.total_weight() - 1) < 1e-15);
  CHECK(std::abs(enumerated(stored_on_ring({2, 6, 2}, 0.3, 7)).total_weight() - 1) < 1e-15);
}

TEST_CASE("the probability of every enumerated sequence is its weight") {
  const auto check = [](const auto& law) {
    const auto table = enumerated(law);
    double difference = 0;
    for (const sequence& one : table)
      difference = std::max(difference, std::abs(probability(law, one) / one.weight - 1));
    CHECK(difference < 1e-13);
  };
  check(recall_in_slots({1, 4, 3}, 2));
  check(recall_on_ring({2, 5, 2}, 7));
  for (const double within_class : {0.0, 0.3, 1.0}) check(stored_on_ring({2, 6, 2}, within_class, 6));
}

TEST_CASE("what the law never draws has probability 0, and another length is refused") {
  const auto law = stored_on_ring({2, 6, 2}, 0.3, 7);
  const std::vector<int> tokens{0, 1, 2, 4, 0}, positions{5, 6, 0, 1, 2};
  const auto with = [&](std::size_t place, int token, int answer = 1) {
    std::vector<int> changed = tokens;
    changed[place] = token;
    return probability(law, {changed, positions, answer});
  };
  CHECK(with(0, 0) > 0);      // as it is: 0 stored with its partner 1, 2 varied to 4, query 0
  CHECK(with(0, 0, 4) == 0);  // the other block's label
  CHECK(with(4, 3) == 0);     // a query that is no item
  CHECK(with(2, 1) == 0);     // an item's partner as another item
  CHECK(with(3, 2) == 0);     // an item as its own label
  CHECK(with(3, 1) == 0);     // an earlier label as a varied one
  CHECK(with(1, -1) == 0);    // no tokens at all
  CHECK(with(1, 6) == 0);
  CHECK(with(0, 0, 17) == 0);
  const std::vector<int> jump{5, 6, 0, 1, 3}, outside{7, 8, 9, 10, 11}, below{-1, 0, 1, 2, 3};
  CHECK(probability(law, {tokens, jump, 1}) == 0);
  CHECK(probability(law, {tokens, outside, 1}) == 0);
  CHECK(probability(law, {tokens, below, 1}) == 0);
  const std::vector<int> longer{0, 1, 2, 4, 0, 1};
  CHECK_THROWS_AS((void)probability(law, {longer, positions, 1}), lindyn::shape_error);
  CHECK_THROWS_AS((void)probability(law, {tokens, longer, 1}), lindyn::shape_error);
}

/// Merging the types by relations gives the weights that merging all sequences gives; returns their number.
template <class Law>
lindyn::index check_weights(const Law& law) {
  const auto structure = law.structure();
  const auto table = enumerated(law);
  const auto expected = merged(table, structure);
  const relational_types found = enumerate_types(law);
  CHECK(found.sequence_count == static_cast<double>(table.size()));
  CHECK(std::abs(found.types.total_weight() - 1) < 1e-13);
  const auto weights = merged(found.types, structure);
  CHECK(weights.size() == expected.size());
  double difference = 0;
  for (const auto& [relations, weight] : weights) {
    REQUIRE(expected.count(relations) == 1);
    difference = std::max(difference, std::abs(weight - expected.at(relations)));
  }
  CHECK(difference < 1e-13);
  return static_cast<lindyn::index>(expected.size());
}

/// Moreover, no two types have the same relations.
template <class Law>
void check_types(const Law& law) {
  CHECK(enumerate_types(law).types.size() == check_weights(law));
}

TEST_CASE("relational types are what merging the enumeration by relations gives") {
  check_types(recall_in_slots({2, 5, 2}, 3));
  check_types(recall_in_slots({2, 4, 2}, 4));
  check_types(recall_on_ring({3, 6, 2}, 7));
  check_types(recall_in_slots({1, 4, 3}, 3));
  check_types(recall_on_ring({2, 6, 3}, 8));
  for (const double within_class : {0.0, 0.3, 1.0}) {
    CAPTURE(within_class);
    check_types(stored_in_slots({2, 6, 2}, within_class, 3));
    check_types(stored_on_ring({2, 8, 2}, within_class, 5));
    check_types(stored_on_ring({1, 6, 3}, within_class, 6));
    check_types(stored_in_slots({1, 4, 3}, within_class, 2));
  }
  check_types(law(stored_association_tokens({3, 8, 2}, 0.3), one_place()));
}

TEST_CASE("distinct tokens have one type for each query, whatever the vocabulary") {
  for (const int vocabulary : {32, 64, 4096}) {
    const auto found = enumerate_types(recall_in_slots({16, vocabulary, 2}, 18));
    REQUIRE(found.types.size() == 16);
    for (const sequence& type : found.types) CHECK(std::abs(type.weight - 1.0 / 16) < 1e-15);
  }
  // 8 7 6 5 token draws, 2 queries; 4 3 2 slots, 2^3 phases
  double count = 2;
  for (int draw = 0; draw < 4; ++draw) count *= 8 - draw;
  for (int slot = 0; slot < 3; ++slot) count *= 4 - slot;
  CHECK(enumerate_types(recall_in_slots({2, 8, 2}, 4)).sequence_count == count * 8);
}

/// Four tokens drawn independently of each other, so that they may be equal.
struct with_replacement {
  lindyn::symmetry::structure tokens;
  [[nodiscard]] process_sizes sizes() const { return {tokens.size(), 1, 4}; }
  [[nodiscard]] lindyn::symmetry::stream_structure structure() const {
    return lindyn::symmetry::product(tokens, one_place().structure());
  }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> drawn, std::span<int> positions) const {
    one_place()(choose, positions);
    for (int place = 0; place < 4; ++place)
      drawn[static_cast<std::size_t>(place)] = choose.token(place, choose.tokens());
    return drawn[static_cast<std::size_t>(choose.among(4))];
  }
};

TEST_CASE("equal tokens are a relation too") {
  check_weights(with_replacement{lindyn::symmetry::full_symmetric(6)});
  check_weights(with_replacement{lindyn::symmetry::matching(6)});
  // the partitions of four places (Bell's number), with four answers, some of them equal
  CHECK(enumerate_types(with_replacement{lindyn::symmetry::full_symmetric(6)}).types.size() == 15 * 4);
}

TEST_CASE("too many types are refused with their bound") {
  const auto law = stored_in_slots({4, 16, 2}, 0.5, 6);
  const auto number = enumerate_types(law).types.size();
  CHECK(enumerate_types(law, number).types.size() == number);
  CHECK_THROWS_AS((void)enumerate_types(law, number - 1), lindyn::too_many_error);
}

TEST_CASE("types need the structure of the law's own tokens and positions") {
  const auto law = recall_in_slots({2, 5, 2}, 3);
  const auto right = law.structure();
  CHECK_THROWS_AS((void)enumerate_types(law, lindyn::symmetry::full_symmetric(6), right.positions),
                  lindyn::shape_error);
  CHECK_THROWS_AS((void)enumerate_types(law, right.tokens, lindyn::symmetry::cyclic(7)), lindyn::shape_error);
}

TEST_CASE("the types under any binary group are what merging gives, in one class or several") {
  using namespace lindyn::symmetry;
  const structure place = orbital_table(1, {});
  const std::vector<structure> groups{direct_sum({{matching(4), "c"}, {full_symmetric(3), "r"}}), directed_matching(6),
                                      wreath(cyclic(3), full_symmetric(3))};
  for (const structure& tokens : groups) {
    CAPTURE(tokens.size());
    const auto drawn = law(recall_tokens({2, tokens.size(), 2}), one_place());
    const auto expected = merged(enumerated(drawn), product(tokens, place));
    const relational_types found = enumerate_types(drawn, tokens, place, 10'000);
    CHECK(found.types.size() == static_cast<lindyn::index>(expected.size()));
    double difference = 0;
    for (const auto& [relations, weight] : merged(found.types, product(tokens, place))) {
      REQUIRE(expected.count(relations) == 1);
      difference = std::max(difference, std::abs(weight - expected.at(relations)));
    }
    CHECK(difference < 1e-15);
  }
}

TEST_CASE("types are refused under groups whose relations may not tell them, with the argument named") {
  const auto law = recall_in_slots({1, 4, 2}, 3);
  const auto right = law.structure();
  const auto generic = [](const lindyn::symmetry::structure& of) {
    return lindyn::symmetry::orbital_table(of.size(), of.generators());
  };
  CHECK(lindyn::testing::complaint([&] {
          (void)enumerate_types(law, generic(right.tokens), right.positions);
        }).starts_with("tokens = a group that isn't known to be binary is not allowed"));
  CHECK(lindyn::testing::complaint([&] {
          (void)enumerate_types(law, right.tokens, generic(right.positions));
        }).starts_with("positions = a group that isn't known to be binary is not allowed"));
}

/// A process whose paths meet: the answer is the sum of two throws.
struct two_throws {
  [[nodiscard]] process_sizes sizes() const { return {5, 1, 1}; }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    positions[0] = choose.position(0, 0);
    tokens[0] = choose.token(0, 0);
    return choose.among(3) + choose.among(3);
  }
};

/// Shows a token that some of the weighted places know, then says which place it was.
struct weighted_places {
  [[nodiscard]] process_sizes sizes() const { return {4, 1, 1}; }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    positions[0] = choose.position(0, 0);
    const std::vector<int> weights{3, 0, 1};
    const int place = choose.weighted(weights);
    tokens[0] = choose.token(0, place);
    const std::vector<int> again{0, 2, 2};
    return choose.weighted(again);
  }
};

TEST_CASE("places are enumerated with their weights, those of weight zero never") {
  const auto table = enumerated(weighted_places());
  CHECK(table.size() == 4);
  CHECK(std::abs(table.total_weight() - 1) < 1e-15);
  for (const auto& [token, expected] : {std::pair(0, 0.375), std::pair(1, 0.0), std::pair(2, 0.125)}) {
    const std::vector<int> tokens{token}, zero{0};
    CHECK(probability(weighted_places(), {tokens, zero, 0}) == 0);
    for (const int answer : {1, 2}) CHECK(probability(weighted_places(), {tokens, zero, answer}) == expected);
  }
}

TEST_CASE("an enumeration ends where its visitor says so") {
  int visits = 0;
  enumerate(two_throws(), [&](const sequence&) { return ++visits < 4; });
  CHECK(visits == 4);
}

TEST_CASE("paths that meet add up in the probability") {
  const std::vector<int> zero{0};
  CHECK(enumerated(two_throws()).size() == 9);
  const double ninth = 1.0 / 9;
  for (const auto& [sum, ways] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 3), std::pair(3, 2), std::pair(4, 1)})
    CHECK(std::abs(probability(two_throws(), {zero, zero, sum}) - ways * ninth) < 1e-15);
}

}  // namespace
