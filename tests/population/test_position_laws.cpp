// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <lindyn/population/position_laws.hpp>

#include "../complaint.hpp"
#include "relations.hpp"

namespace {
using namespace lindyn::population;
using lindyn::testing::complaint;

/// The positions of a position law under the same token everywhere.
template <class PositionLaw>
struct positions_only {
  PositionLaw law;
  int length;
  [[nodiscard]] process_sizes sizes() const { return {1, law.positions(), length}; }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    law(choose, positions);
    for (std::size_t place = 0; place < tokens.size(); ++place)
      tokens[place] = choose.token(static_cast<int>(place), 0);
    return 0;
  }
};

/// Whether slots hold one block each, in consecutive phases.
bool in_slots(const std::vector<int>& positions, int block) {
  std::set<int> slots;
  for (std::size_t begin = 0; begin < positions.size(); begin += static_cast<std::size_t>(block)) {
    const int slot = positions[begin] / block, phase = positions[begin] % block;
    if (!slots.insert(slot).second) return false;
    for (std::size_t place = begin; place < positions.size() && place < begin + static_cast<std::size_t>(block);
         ++place)
      if (positions[place] != slot * block + (phase + static_cast<int>(place - begin)) % block) return false;
  }
  return true;
}

bool on_ring(const std::vector<int>& positions, int ring) {
  for (std::size_t place = 1; place < positions.size(); ++place)
    if (positions[place] != (positions[place - 1] + 1) % ring) return false;
  return true;
}

/// All positions that satisfy `allowed` are equally likely, and no others occur.
template <class PositionLaw, class Allowed>
void compare(const PositionLaw& law, int length, Allowed allowed) {
  std::set<std::vector<int>> seen;
  const auto table = lindyn::testing::enumerated(positions_only<PositionLaw>{law, length});
  for (const auto& sequence : table) {
    seen.emplace(sequence.positions.begin(), sequence.positions.end());
    CHECK(std::abs(sequence.weight * static_cast<double>(table.size()) - 1) < 1e-13);
  }
  CHECK(static_cast<lindyn::index>(seen.size()) == table.size());
  std::vector<int> positions(static_cast<std::size_t>(length), 0);
  std::size_t possible = 0;
  do {
    if (!allowed(positions)) continue;
    ++possible;
    CHECK(seen.count(positions) == 1);
  } while (lindyn::testing::next(positions, law.positions()));
  CHECK(seen.size() == possible);
}

TEST_CASE("every block has a slot and a phase of its own, all alike") {
  for (const auto& [list, slots] : {std::pair(block_list{2, 9, 2}, 3), std::pair(block_list{2, 9, 2}, 4),
                                    std::pair(block_list{1, 9, 3}, 2), std::pair(block_list{1, 9, 2}, 2)}) {
    const slot_positions law(list, slots);
    CHECK(law.positions() == slots * list.block);
    compare(law, list.length(), [k = list.block](const auto& positions) { return in_slots(positions, k); });
  }
}

TEST_CASE("a ring has one uniform offset, and its end is followed by its beginning") {
  for (const int ring : {5, 6, 7})
    compare(ring_positions({2, 9, 2}, ring), 5, [=](const auto& positions) { return on_ring(positions, ring); });
}

TEST_CASE("there are two slots more than pairs unless told otherwise") {
  CHECK(slot_positions({4, 16, 2}).slots() == 6);
  CHECK(slot_positions({4, 16, 3}).positions() == 18);
  CHECK(slot_positions({4, 16, 2}, 5).slots() == 5);
}

TEST_CASE("position laws promise their symmetry") {
  const auto slots = slot_positions({2, 9, 3}).structure();
  CHECK(slots.size() == 12);
  CHECK(slots.orbital_count() == 3);
  const auto ring = ring_positions({2, 9, 2}, 7).structure();
  CHECK(ring.size() == 7);
  CHECK(ring.orbital_count() == 6);
}

TEST_CASE("too few slots and too short rings are refused with the value and what is allowed") {
  CHECK(complaint([] {
          return slot_positions({2, 9, 2}, 2);
        }) == "slots = 2 is not allowed: it must be at least pairs + 1 = 3 (0: pairs + 2)");
  CHECK(complaint([] { return slot_positions({2, 9, 2}, -1); }).starts_with("slots = -1"));
  CHECK(complaint([] { return slot_positions({2, 9, 2}, 1'000'000); }).starts_with("slots = 1000000"));
  CHECK(complaint([] { return slot_positions({0, 9, 2}); }).starts_with("pairs = 0"));
  CHECK(complaint([] { return slot_positions({2, 9, 1}); }).starts_with("block = 1"));
  CHECK(complaint([] {
          return slot_positions({std::numeric_limits<int>::max(), 9, 2});
        }).starts_with("pairs = 2147483647"));

  CHECK(complaint([] {
          return ring_positions({2, 9, 2}, 4);
        }) == "ring = 4 is not allowed: it must be at least 5, the length of a sequence");
  CHECK(complaint([] { return ring_positions({1, 9, 2}, 2); }).starts_with("ring = 2"));
  CHECK(complaint([] { return ring_positions({2, 9, 2}, 1'000'000); }).starts_with("ring = 1000000"));
  CHECK(complaint([] { return ring_positions({0, 9, 2}, 9); }).starts_with("pairs = 0"));
  CHECK(complaint([] { return ring_positions({2, 9, 1}, 9); }).starts_with("block = 1"));
}

}  // namespace
