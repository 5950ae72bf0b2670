// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/structure.hpp>

namespace {
using namespace lindyn::symmetry;

/// A structure answers every question as the group it holds does.
template <orbital_structure Group>
void check_forwarding(const Group& group) {
  const structure held = group;
  REQUIRE(held.size() == group.size());
  REQUIRE(held.orbital_count() == group.orbital_count());
  REQUIRE(held.orbit_count() == group.orbit_count());
  CHECK(held.is_binary() == group.is_binary());
  CHECK(held.generators() == group.generators());
  for (int i = 0; i < group.size(); ++i) {
    CHECK(held.orbit(i) == group.orbit(i));
    for (int j = 0; j < group.size(); ++j) CHECK(held.orbital(i, j) == group.orbital(i, j));
  }
  for (int o = 0; o < group.orbit_count(); ++o) CHECK(held.orbit_size(o) == group.orbit_size(o));
  for (int s = 0; s < group.orbital_count(); ++s) {
    CHECK(held.block(s) == group.block(s));
    CHECK(held.pairs(s) == group.pairs(s));
    CHECK(held.name(s) == group.name(s));
    CHECK(gram(held, s, 0) == gram(group, s, 0));
    CHECK(centred_value(held, s, 1, 0) == centred_value(group, s, 1, 0));
  }
  CHECK(commutant_dimension(held) == commutant_dimension(group));
}

TEST_CASE("a structure answers as what it holds") {
  check_forwarding(full_symmetric(5));
  check_forwarding(matching(6));
  check_forwarding(cyclic(5));
  check_forwarding(slot_phase(3, 2));
  check_forwarding(directed_matching(6));
  check_forwarding(direct_sum({{matching(6), "c"}, {full_symmetric(3), "r"}}));
  check_forwarding(wreath(cyclic(3), directed_matching(4)));
  check_forwarding(orbital_table(6, {{2, 3, 0, 1, 4, 5}, {2, 3, 4, 5, 0, 1}}));
}

TEST_CASE("a structure is a value: copies outlive their original and may be assigned another group") {
  structure copy = cyclic(4);
  {
    const structure original = orbital_table(5, {{1, 0, 2, 3, 4}});
    copy = original;
  }
  CHECK(copy.size() == 5);
  CHECK(copy.orbit_count() == 4);
  copy = full_symmetric(3);
  CHECK(copy.name(0) == "I");
}

TEST_CASE("a visit reaches the type inside") {
  const structure held = slot_phase(3, 2);
  CHECK(held.visit([](const auto& group) { return std::is_same_v<decltype(group), const slot_phase&>; }));
}

}  // namespace
