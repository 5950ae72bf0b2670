// SPDX-License-Identifier: MIT
#include "generic_orbitals.hpp"

#include <lindyn/symmetry/structure.hpp>

#include <limits>
#include <vector>

namespace {
using namespace lindyn::symmetry;

std::vector<std::string> names(const structure& group) {
  std::vector<std::string> all;
  for (int s = 0; s < group.orbital_count(); ++s) all.push_back(group.name(s));
  return all;
}

TEST_CASE("a sum's closed form is the generic one, whatever its parts") {
  compare_with_generic_orbitals(direct_sum({{matching(6), "c"}, {full_symmetric(3), "r"}}));
  compare_with_generic_orbitals(direct_sum({{cyclic(4)}}));
  compare_with_generic_orbitals(
      direct_sum({{directed_matching(4)}, {cyclic(3), "x"}, {slot_phase(2, 3), "y"}, {orbital_table(2, {}), "z"}}));
  const direct_sum classes({{full_symmetric(3), "c"}, {full_symmetric(4), "r"}});
  compare_with_generic_orbitals(direct_sum({{matching(4)}, {classes, "+"}}));
}

TEST_CASE("a sum's selections span the centred commutant") {
  check_centred_commutant(direct_sum({{matching(4), "c"}, {full_symmetric(3), "r"}}));
  check_centred_commutant(direct_sum({{cyclic(3)}, {directed_matching(4)}, {orbital_table(1, {})}}));
}

TEST_CASE("parts move independently") {
  CHECK(enumerate(direct_sum({{matching(4), "c"}, {full_symmetric(3), "r"}}).generators()).size() == 8 * 6);
  CHECK(enumerate(direct_sum({{cyclic(4), "a"}, {cyclic(4), "b"}}).generators()).size() == 16);
}

TEST_CASE("common and rare tokens have a class each, with names that tell the class where both use them") {
  const direct_sum tokens({{matching(8), "c"}, {full_symmetric(4), "r"}});
  CHECK(names(tokens) == std::vector<std::string>{"Ic", "C", "Ir"});
  CHECK(tokens.size() == 12);
  CHECK(tokens.orbit(7) == 0);
  CHECK(tokens.orbit(8) == 1);
  CHECK(tokens.orbital(7, 6) == 1);
  CHECK(tokens.orbital(8, 8) == 2);
  CHECK(tokens.orbital(9, 8) == -1);
  CHECK(tokens.orbital(8, 7) == -1);
  CHECK(tokens.block(2) == std::pair(1, 1));
  CHECK(gram(tokens, 0, 1) == -1.0);
  CHECK(gram(tokens, 2, 2) == 3.0);
  CHECK(gram(tokens, 0, 2) == 0.0);
  CHECK(centred_value(tokens, 2, 8, 8) == 0.75);
  CHECK(centred_value(tokens, 0, 8, 8) == 0.0);
  CHECK(tokens.parts().size() == 2);
  CHECK(tokens.parts()[1].suffix == "r");
}

TEST_CASE("a sum of sums extends the names once more") {
  const direct_sum classes({{full_symmetric(3), "c"}, {full_symmetric(4), "r"}});
  CHECK(names(direct_sum({{classes, "1"}, {classes, "2"}})) == std::vector<std::string>{"Ic1", "Ir1", "Ic2", "Ir2"});
  CHECK(names(direct_sum({{classes}, {full_symmetric(3)}})) == std::vector<std::string>{"Ic", "Ir", "I"});
}

TEST_CASE("a sum is known to be binary if all its parts are") {
  const orbital_table hexagon(6, {{1, 2, 3, 4, 5, 0}, {0, 5, 4, 3, 2, 1}});
  CHECK(direct_sum({{matching(4), "c"}, {cyclic(3)}, {orbital_table(2, {})}}).is_binary());
  CHECK_FALSE(direct_sum({{matching(4), "c"}, {hexagon, "h"}}).is_binary());
}

TEST_CASE("large sums are asked as quickly as small ones") {
  const direct_sum tokens({{matching(400'000), "c"}, {full_symmetric(100'000), "r"}});
  CHECK(tokens.size() == 500'000);
  CHECK(tokens.orbital(399'998, 399'999) == 1);
  CHECK(tokens.orbital(499'999, 499'999) == 2);
  CHECK(gram(tokens, 1, 1) == 399'999.0);
}

TEST_CASE("no parts, too many points, and names used twice are refused, with the part named") {
  CHECK_THROWS_WITH_AS(direct_sum({}), "parts.size() = 0 is not allowed: it must be at least 1",
                       lindyn::argument_error);
  CHECK_THROWS_WITH_AS(
      direct_sum({{full_symmetric(3)}, {matching(4)}}),
      "parts[1].suffix = \"\" is not allowed: it must be one that gives the orbital I a name of its own",
      lindyn::argument_error);
  CHECK_THROWS_AS(direct_sum({{full_symmetric(3), "r"}, {full_symmetric(3), "r"}}), lindyn::argument_error);
  const int most = std::numeric_limits<int>::max();
  CHECK_THROWS_WITH_AS(direct_sum({{full_symmetric(3), "c"}, {full_symmetric(most), "r"}}),
                       "parts[1].group.size() = 2147483647 is not allowed: it must be small enough for all points to "
                       "be counted by an int",
                       lindyn::argument_error);
}

TEST_CASE("classes of fewer than 3 tokens are refused") {
  CHECK_THROWS_AS(direct_sum({{matching(8), "c"}, {full_symmetric(2), "r"}}), lindyn::argument_error);
  CHECK_THROWS_AS(direct_sum({{matching(2), "c"}, {full_symmetric(4), "r"}}), lindyn::argument_error);
}

}  // namespace
