// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/task/associative_recall.hpp>

#include "planted_circuits.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;

TEST_CASE("an induction head planted in three layers is returned exactly for 100 of 100 seeds, whichever its heads") {
  CHECK(planted_circuit(four_pairs(), 3, induction_head_of(3, 1, 2)).found_of_100() == 100);
  CHECK(planted_circuit(four_pairs(), 3, induction_head_of(3, 1, 3)).found_of_100() == 100);
  CHECK(planted_circuit(four_pairs(), 3, induction_head_of(3, 2, 3)).found_of_100() == 100);
}

}  // namespace
