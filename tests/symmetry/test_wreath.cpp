// SPDX-License-Identifier: MIT
#include "generic_orbitals.hpp"

#include <lindyn/symmetry/structure.hpp>

#include <vector>

namespace {
using namespace lindyn::symmetry;

std::vector<std::string> names(const structure& group) {
  std::vector<std::string> all;
  for (int s = 0; s < group.orbital_count(); ++s) all.push_back(group.name(s));
  return all;
}

/// The group of order 2 on two points, and the trivial one on n.
const orbital_table swap(2, {{1, 0}});
orbital_table fixed(int n) { return {n, {}}; }

TEST_CASE("a wreath product's closed form is the generic one, whatever its factors") {
  compare_with_generic_orbitals(wreath(cyclic(3), full_symmetric(4)));
  compare_with_generic_orbitals(wreath(full_symmetric(4), cyclic(5)));
  compare_with_generic_orbitals(wreath(cyclic(3), cyclic(4)));
  compare_with_generic_orbitals(wreath(full_symmetric(3), matching(4)));
  compare_with_generic_orbitals(wreath(swap, swap));
  compare_with_generic_orbitals(wreath(wreath(swap, full_symmetric(3)), swap));
}

TEST_CASE("also if the slots have several orbits, or fixed ones among them") {
  compare_with_generic_orbitals(wreath(full_symmetric(3), directed_matching(6)));
  compare_with_generic_orbitals(wreath(cyclic(4), direct_sum({{full_symmetric(3), "c"}, {cyclic(3)}})));
  compare_with_generic_orbitals(wreath(cyclic(3), fixed(3)));
  compare_with_generic_orbitals(wreath(cyclic(3), orbital_table(4, {{0, 2, 1, 3}})));
}

TEST_CASE("a wreath product's selections span the centred commutant") {
  check_centred_commutant(wreath(cyclic(3), swap));
  check_centred_commutant(wreath(swap, cyclic(4)));
  check_centred_commutant(wreath(full_symmetric(3), fixed(2)));
  check_centred_commutant(wreath(swap, directed_matching(4)));
}

TEST_CASE("its order is that of the inner group once for every slot, times the outer's") {
  CHECK(enumerate(wreath(cyclic(3), full_symmetric(3)).generators()).size() == 27 * 6);
  CHECK(enumerate(wreath(full_symmetric(3), directed_matching(4)).generators()).size() == 1296 * 2);
  CHECK(enumerate(wreath(cyclic(4), fixed(3)).generators()).size() == 64);
}

TEST_CASE("slots of phases and the matching are wreath products") {
  const auto same_orbitals = [](const structure& a, const structure& b) {
    REQUIRE(a.size() == b.size());
    REQUIRE(a.orbital_count() == b.orbital_count());
    for (int i = 0; i < a.size(); ++i)
      for (int j = 0; j < a.size(); ++j) CHECK(a.orbital(i, j) == b.orbital(i, j));
  };
  same_orbitals(wreath(cyclic(3), full_symmetric(5)), slot_phase(5, 3));
  same_orbitals(wreath(swap, full_symmetric(4)), matching(8));
}

TEST_CASE("names tell one slot from different slots, and outer orbits apart") {
  using list = std::vector<std::string>;
  CHECK(names(wreath(cyclic(3), full_symmetric(4))) == list{"Ip", "M", "R"});
  CHECK(names(wreath(full_symmetric(3), matching(4))) == list{"I", "R", "Cs"});
  CHECK(names(wreath(cyclic(3), cyclic(4))) == list{"Ip", "M", "R", "Ms", "M2s"});
  CHECK(names(wreath(full_symmetric(3), directed_matching(4))) == list{"I.0", "R.0", "I.1", "R.1", "Cs", "C's"});
  CHECK(names(wreath(cyclic(3), fixed(2))) == list{"Ip.0", "M.0", "Ip.1", "M.1"});
  const wreath classes(full_symmetric(3), matching(4));
  CHECK(names(wreath(classes, matching(4))) == list{"I", "R", "Cs", "R'", "Cs'"});
}

TEST_CASE("relations in one slot are the inner's, between slots the outer's") {
  const wreath group(cyclic(4), cyclic(5));
  CHECK(group.size() == 20);
  CHECK(group.name(group.orbital(6, 5)) == "M");
  CHECK(group.name(group.orbital(4, 5)) == "R");
  CHECK(group.name(group.orbital(11, 4)) == "Ms");
  CHECK(group.name(group.orbital(8, 7)) == "Ms");
  CHECK(group.orbital(0, 4) == -1);
  CHECK(group.pairs(group.orbital(11, 4)) == 80);
  CHECK(group.inner().size() == 4);
  CHECK(group.outer().size() == 5);
}

TEST_CASE("a wreath product is known to be binary if both groups are") {
  CHECK(wreath(cyclic(3), matching(4)).is_binary());
  CHECK_FALSE(wreath(swap, matching(4)).is_binary());
  CHECK_FALSE(wreath(cyclic(3), swap).is_binary());
}

TEST_CASE("inner groups that don't mix their phases, single slots or phases, and too many points are refused") {
  CHECK_THROWS_WITH_AS(wreath(directed_matching(4), full_symmetric(3)),
                       "inner.orbit_count() = 2 is not allowed: it must be 1, a transitive group",
                       lindyn::argument_error);
  CHECK_THROWS_WITH_AS(wreath(fixed(1), full_symmetric(3)), "inner.size() = 1 is not allowed: it must be at least 2",
                       lindyn::argument_error);
  CHECK_THROWS_WITH_AS(wreath(cyclic(3), fixed(1)), "outer.size() = 1 is not allowed: it must be at least 2",
                       lindyn::argument_error);
  CHECK_THROWS_AS(wreath(full_symmetric(70'000), full_symmetric(70'000)), lindyn::argument_error);
}

}  // namespace
