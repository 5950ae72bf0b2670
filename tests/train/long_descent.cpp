// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "../compare/confinement_laws.hpp"
#include "full_against_map.hpp"

namespace {
using namespace lindyn::testing;
using lindyn::task::loss;

TEST_CASE("exact gradient descent on two pairs and three slots is the map on the manifold") {
  const auto law = on_slots({.pairs = 2, .vocabulary = 4, .block = 2}, 3);  // 2,304 sequences
  check_full_against_map(law, {.layers = 2});
  check_full_against_map(law, {.layers = 2, .heads = 2});
  check_full_against_map(law, {.layers = 3, .learning_rate = 0.3});
  check_full_against_map(law, {.layers = 2, .heads = 2, .learning_rate = 0.15, .loss = loss::squared_error});
}

TEST_CASE("and so it is on a ring, with two heads and with three layers") {
  const auto law = on_ring({.pairs = 2, .vocabulary = 4, .block = 2}, 5);
  check_full_against_map(law, {.layers = 2, .heads = 2});
  check_full_against_map(law, {.layers = 3});
  check_full_against_map(law, {.layers = 2, .heads = 2, .learning_rate = 0.15, .loss = loss::squared_error});
}

TEST_CASE("and so it is on slots, with a stored association") {
  const auto law = stored_on_slots({.pairs = 1, .vocabulary = 6, .block = 2}, 0.3, 2);
  check_full_against_map(law, {.layers = 2});
  check_full_against_map(law, {.layers = 2, .heads = 2, .learning_rate = 0.1, .loss = loss::squared_error});
}

TEST_CASE("and so it is for larger vocabularies, stored associations and blocks of three") {
  check_full_against_map(on_ring({.pairs = 2, .vocabulary = 5, .block = 2}, 5), {.layers = 3});
  check_full_against_map(stored_on_ring({.pairs = 2, .vocabulary = 6, .block = 2}, 0.4, 5), {.layers = 2});
  check_full_against_map(on_slots({.pairs = 1, .vocabulary = 5, .block = 3}, 2), {.layers = 2});
}

}  // namespace
