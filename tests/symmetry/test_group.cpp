// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/group.hpp>

#include <algorithm>

namespace {
using namespace lindyn::symmetry;

TEST_CASE("enumerated groups have their known orders") {
  CHECK(enumerate(full_symmetric(5).generators()).size() == 120);
  CHECK(enumerate(cyclic(7).generators()).size() == 7);
  CHECK(enumerate(matching(8).generators()).size() == 16 * 24);      // 2^4 4!
  CHECK(enumerate(slot_phase(3, 4).generators()).size() == 64 * 6);  // 4^3 3!
  CHECK(enumerate(slot_phase(2, 3).generators()).size() == 9 * 2);
  const permutation rotation{1, 2, 3, 4, 5, 0}, reflection{0, 5, 4, 3, 2, 1};
  CHECK(enumerate(std::vector<permutation>{rotation, reflection}).size() == 12);  // dihedral
  CHECK(enumerate(std::vector<permutation>{identity(4)}).size() == 1);
}

TEST_CASE("an enumerated group is closed under composition and inversion, and begins with the identity") {
  std::vector<permutation> group = enumerate(matching(6).generators());
  CHECK(group.front() == identity(6));
  std::ranges::sort(group);
  CHECK(std::ranges::adjacent_find(group) == group.end());
  for (const permutation& p : group) {
    CHECK(std::ranges::binary_search(group, inverse(p)));
    for (const permutation& q : group) CHECK(std::ranges::binary_search(group, compose(p, q)));
  }
}

TEST_CASE("a group with exactly the bound's number of elements is listed, one with more is refused") {
  const auto generators = full_symmetric(4).generators();
  CHECK(enumerate(generators, 24).size() == 24);
  CHECK_THROWS_AS((void)enumerate(generators, 23), lindyn::too_many_error);
  CHECK_THROWS_AS((void)enumerate(full_symmetric(12).generators(), 1000), lindyn::too_many_error);
}

TEST_CASE("orbits are numbered by their smallest points") {
  const std::vector<permutation> generators{{0, 3, 2, 1, 4, 5}, {0, 1, 2, 3, 5, 4}, {0, 1, 2, 5, 4, 3}};
  CHECK(orbit_labels(generators, 6) == std::vector<int>{0, 1, 2, 1, 1, 1});
  CHECK(orbit_labels({}, 3) == std::vector<int>{0, 1, 2});
}

TEST_CASE("groups without points, without generators to list from, or of mixed sizes are refused") {
  CHECK_THROWS_AS((void)enumerate({}), lindyn::argument_error);
  CHECK_THROWS_AS((void)enumerate(std::vector<permutation>{identity(3), identity(4)}), lindyn::shape_error);
  CHECK_THROWS_AS((void)enumerate(std::vector<permutation>{permutation{0, 0}}), lindyn::argument_error);
  CHECK_THROWS_AS((void)orbit_labels({}, 0), lindyn::argument_error);
  CHECK_THROWS_AS((void)orbit_labels(std::vector<permutation>{identity(3)}, 4), lindyn::shape_error);
}

}  // namespace
