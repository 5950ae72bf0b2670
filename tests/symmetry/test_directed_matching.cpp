// SPDX-License-Identifier: MIT
#include "generic_orbitals.hpp"

#include <lindyn/symmetry/directed_matching.hpp>

namespace {
using namespace lindyn::symmetry;

static_assert(directed_matching::partner(6) == 7 && directed_matching::partner(7) == 6);
static_assert(directed_matching(10).orbital(5, 4) == 2);
static_assert(commutant_dimension(directed_matching(10)) == 8);
static_assert(gram(directed_matching(10), 2, 2) == 4.0 && gram(directed_matching(10), 0, 2) == 0.0);
static_assert(directed_matching(10).is_binary());

TEST_CASE("the directed matching's closed form is the generic one") {
  for (const int n : {4, 6, 8, 16}) compare_with_generic_orbitals(directed_matching(n));
}

TEST_CASE("its four selections span the centred commutant") {
  for (const int n : {4, 6, 8}) check_centred_commutant(directed_matching(n));
}

TEST_CASE("all permutations of the couples are generated, and nothing else") {
  CHECK(enumerate(directed_matching(4).generators()).size() == 2);
  CHECK(enumerate(directed_matching(10).generators()).size() == 120);
}

TEST_CASE("items are even and labels odd, and C leads from the column's item to its label in the row") {
  const directed_matching couples(8);
  CHECK(couples.orbit(4) == 0);
  CHECK(couples.orbit(5) == 1);
  CHECK(couples.name(couples.orbital(4, 4)) == "Ia");
  CHECK(couples.name(couples.orbital(5, 5)) == "Ib");
  CHECK(couples.name(couples.orbital(5, 4)) == "C");
  CHECK(couples.name(couples.orbital(4, 5)) == "C'");
  CHECK(couples.block(2) == std::pair(1, 0));
  CHECK(couples.block(3) == std::pair(0, 1));
  CHECK(couples.orbital(4, 6) == -1);
  CHECK(couples.orbital(4, 3) == -1);
}

TEST_CASE("fewer than two couples, and tokens without partner, are refused") {
  for (const int n : {-2, 0, 2, 3, 7}) CHECK_THROWS_AS(directed_matching{n}, lindyn::argument_error);
  CHECK_THROWS_WITH_AS(
      directed_matching{5},
      "tokens = 5 is not allowed: it must be even and at least 4, as a directed matching needs two couples",
      lindyn::argument_error);
}

}  // namespace
