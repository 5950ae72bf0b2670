// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/group.hpp>
#include <lindyn/symmetry/structure.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace {
using namespace lindyn::symmetry;

/// Whether tuples of a length that have the same orbits and pairwise orbitals are always in one orbit of the group:
/// then there are as many kinds of relations as orbits of tuples.
bool relations_tell_orbits(const structure& group, int length) {
  const int n = group.size();
  int tuples = 1;
  for (int place = 0; place < length; ++place) tuples *= n;
  std::vector<int> tuple(static_cast<std::size_t>(length));
  const auto read = [&](int number) {
    for (int& point : tuple) {
      point = number % n;
      number /= n;
    }
  };
  std::set<std::vector<int>> kinds;
  std::vector<int> relations;
  std::vector<permutation> moved;
  for (std::size_t g = 0; g < group.generators().size(); ++g) moved.emplace_back(tuples);
  const auto generators = group.generators();
  for (int number = 0; number < tuples; ++number) {
    read(number);
    relations.clear();
    for (const int a : tuple) {
      relations.push_back(group.orbit(a));
      for (const int b : tuple) relations.push_back(group.orbital(a, b));
    }
    kinds.insert(relations);
    for (std::size_t g = 0; g < generators.size(); ++g) {
      int image = 0;
      for (int place = length - 1; place >= 0; --place) image = image * n + generators[g][tuple[place]];
      moved[g][number] = image;
    }
  }
  return static_cast<int>(kinds.size()) == 1 + std::ranges::max(orbit_labels(moved, tuples));
}

/// The even permutations of 4 points: any two points are alike to any others, but not three.
const orbital_table alternating(4, {{1, 2, 0, 3}, {0, 2, 3, 1}});
const orbital_table swap(2, {{1, 0}});

TEST_CASE("of the groups that are said to be binary, relations tell the orbits of triples and quadruples") {
  const std::vector<structure> groups{full_symmetric(5),
                                      matching(6),
                                      cyclic(6),
                                      slot_phase(2, 3),
                                      slot_phase(3, 2),
                                      directed_matching(4),
                                      directed_matching(8),
                                      orbital_table(4, {}),
                                      direct_sum({{matching(4), "c"}, {full_symmetric(3), "r"}}),
                                      direct_sum({{directed_matching(4)}, {cyclic(4), "r"}}),
                                      wreath(cyclic(3), full_symmetric(3)),
                                      wreath(full_symmetric(3), cyclic(3)),
                                      wreath(cyclic(3), directed_matching(4)),
                                      wreath(cyclic(3), orbital_table(2, {}))};
  for (const structure& group : groups) {
    CAPTURE(group.size());
    CHECK(group.is_binary());
    for (const int length : {2, 3, 4}) CHECK(relations_tell_orbits(group, length));
  }
}

TEST_CASE("one factor that isn't binary makes a sum or a wreath product that isn't") {
  const std::vector<structure> groups{alternating, direct_sum({{alternating}, {cyclic(3)}}), wreath(alternating, swap),
                                      wreath(swap, alternating)};
  for (const structure& group : groups) {
    CAPTURE(group.size());
    CHECK_FALSE(group.is_binary());
    CHECK(relations_tell_orbits(group, 2));
    CHECK_FALSE(relations_tell_orbits(group, 3));
  }
}

}  // namespace
