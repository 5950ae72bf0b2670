// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "../compare/confinement_laws.hpp"
#include "relational_checks.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;

TEST_CASE("the relational model is the plain one in up to four layers of up to three heads") {
  for (const int layers : {1, 2, 3, 4})
    for (const int heads : {1, 2, 3}) {
      check_law(on_slots({.pairs = 5, .vocabulary = 12, .block = 2}), layers, heads);
      check_law(on_ring({.pairs = 3, .vocabulary = 9, .block = 3}, 11), layers, heads);
      if (layers < 4) check_law(stored_on_slots({.pairs = 3, .vocabulary = 10, .block = 2}, 0.4), layers, heads);
    }
}

TEST_CASE("a trunk of 34 rows and 17 queries is no exception") {
  for (const int layers : {1, 2, 3}) check_law(on_slots({.pairs = 17, .vocabulary = 36, .block = 2}), layers, 1);
}

TEST_CASE("loss, gradient and velocity are the full network's, over up to half a million sequences") {
  for (const auto kind : both_losses) {
    check_against_network(on_slots({.pairs = 2, .vocabulary = 5, .block = 2}, 3), 2, 2, kind);
    check_against_network(on_slots({.pairs = 2, .vocabulary = 6, .block = 3}, 3), 2, 1, kind);
    check_against_network(stored_on_slots({.pairs = 2, .vocabulary = 6, .block = 2}, 0.4, 4), 2, 1, kind);
    check_against_network(stored_on_ring({.pairs = 3, .vocabulary = 8, .block = 2}, 0.4, 9), 2, 1, kind);
  }
}

}  // namespace
