// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/population/whole_population.hpp>

#include "../compare/confinement_laws.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using population::sequence_count;
using population::whole_population;

const auto ring_law = on_ring({.pairs = 2, .vocabulary = 4, .block = 2}, 5);  // 4! 2 5 = 240 sequences
const auto large = on_slots({.pairs = 4, .vocabulary = 16, .block = 2});      // 16!/8! 4 6!/1! 2^5
const auto many_types = stored_on_slots({.pairs = 7, .vocabulary = 30, .block = 2}, 0.5);
const auto skewed = population::law(frequent_token{{.pairs = 1, .vocabulary = 5, .block = 2}},
                                    population::ring_positions({.pairs = 1, .vocabulary = 5, .block = 2}, 3));

template <class Law>
std::string complaint(const Law& law, lindyn::index bound) {
  try {
    (void)whole_population(law, bound, "take less");
  } catch (const too_many_error& fault) {
    CHECK(fault.bound() == static_cast<double>(bound));
    return fault.what();
  }
  return "nothing was thrown";
}

TEST_CASE("a whole population holds every sequence once, with its weight") {
  const auto all = whole_population(ring_law, 240);
  CHECK(all.size() == 240);
  CHECK(all.total_weight() == doctest::Approx(1).epsilon(1e-14));
  CHECK(sequence_count(ring_law) == 240);
}

TEST_CASE("the number of sequences comes from the relational types where it can, whatever the bound") {
  CHECK(sequence_count(large, 10) == 47'823'519'744'000.0);
  CHECK(complaint(large, 2'000'000) ==
        "47823519744000 sequences are too many to enumerate (at most 2000000): take less");
  CHECK(complaint(ring_law, 239).starts_with("240 sequences"));
}

TEST_CASE("where the types are too many, sequences are counted up to the bound") {
  CHECK(sequence_count(many_types, 1000) == 1001);
  CHECK(complaint(many_types, 1000).starts_with("1001 or more sequences"));
}

TEST_CASE("sequences of more arrangements than memory has room for are counted up to the bound") {
  const auto bursty = on_ring({.pairs = 32, .vocabulary = 128, .block = 2, .burstiness = 16}, 65);
  CHECK_THROWS_WITH_AS((void)population::enumerate_types(bursty),
                       doctest::Contains("601080390 relational types are too many to enumerate (at most 20000)"),
                       too_many_error);
  CHECK(sequence_count(bursty, 1000) == 1001);
  CHECK(complaint(bursty, 1000).starts_with("1001 or more sequences"));
}

TEST_CASE("a law that has no types, as it isn't invariant, is counted too") {
  const population::listed_law listed(whole_population(skewed), skewed.structure());
  CHECK_THROWS_AS((void)population::enumerate_types(listed), invariance_error);
  CHECK(sequence_count(listed) == 60);  // 5 4 token pairs, on 3 places of the ring
  CHECK(whole_population(listed, 60).size() == 60);
  CHECK(sequence_count(listed, 59) == 60);
  CHECK(sequence_count(listed, 10) == 11);
  CHECK(complaint(listed, 59).starts_with("60 or more sequences"));
}

TEST_CASE("a negative bound is refused") { CHECK_THROWS_AS((void)whole_population(ring_law, -1), argument_error); }

}  // namespace
