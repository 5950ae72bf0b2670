// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include <lindyn/population/permutation_inversion_tokens.hpp>

#include "../complaint.hpp"
#include "token_law_checks.hpp"

namespace {
using namespace lindyn::population;
using namespace lindyn::testing;

/// Whether the blocks are a permutation that carries the answer to the query.
bool allowed(const std::vector<int>& tokens, int answer) {
  std::set<int> from, to;
  bool carried = false;
  for (std::size_t place = 0; place + 1 < tokens.size(); place += 2) {
    from.insert(tokens[place]);
    to.insert(tokens[place + 1]);
    carried = carried || (tokens[place] == answer && tokens[place + 1] == tokens.back());
  }
  return carried && from == to && from.size() == tokens.size() / 2;
}

TEST_CASE("permutation inversion draws every permutation and every query equally often, and nothing else") {
  for (const block_list& list :
       {block_list{1, 3}, block_list{2, 3}, block_list{3, 3}, block_list{3, 5}, block_list{4, 4}}) {
    CAPTURE(list.pairs);
    const double count = arrangements(list.vocabulary, list.pairs) * arrangements(list.pairs, list.pairs) * list.pairs;
    check_uniform(permutation_inversion_tokens(list), count, allowed);
  }
}

TEST_CASE("permutation inversion by hand: the token before the query, not the one after it") {
  const permutation_inversion_tokens law({3, 5});
  const double p = 1 / (60.0 * 6 * 3);
  CHECK(token_probability(law, {4, 1, 2, 4, 1, 2, 4}, 2) == doctest::Approx(p).epsilon(1e-14));
  CHECK(token_probability(law, {4, 1, 2, 4, 1, 2, 4}, 1) == 0);
  CHECK(token_probability(law, {4, 4, 2, 1, 1, 2, 4}, 4) == doctest::Approx(p).epsilon(1e-14));  // a fixed point
  CHECK(token_probability(law, {4, 1, 2, 4, 1, 2, 0}, 2) == 0);                                  // not shown
  CHECK(token_probability(law, {4, 1, 2, 4, 1, 4, 4}, 2) == 0);                                  // no permutation
  CHECK(token_probability(law, {4, 1, 2, 4, 1, 3, 4}, 2) == 0);                                  // of other tokens
}

TEST_CASE("samples of permutation inversion are as frequent as their probabilities say") {
  check_samples(permutation_inversion_tokens({3, 3}), 20'000, 1);  // 108 sequences
  check_samples(permutation_inversion_tokens({2, 5}), 20'000, 2);  // 80
}

TEST_CASE("the types of permutation inversion are the permutations of the blocks, with each query") {
  check_types_on_positions(permutation_inversion_tokens({1, 3}), 1);
  check_types_on_positions(permutation_inversion_tokens({2, 4}), 4);
  check_types(law(permutation_inversion_tokens({3, 5}), one_place()), 18);
  CHECK(enumerate_types(law(permutation_inversion_tokens({5, 64}), slot_positions({5, 64}))).types.size() == 120 * 5);
}

TEST_CASE("a probability needs no enumeration of the permutations") {
  const block_list list{20, 64};
  const law law(permutation_inversion_tokens(list), ring_positions(list, 50));
  std::vector<int> tokens(static_cast<std::size_t>(list.length())), positions(tokens.size());
  sampler sampler(law, 3);
  const int answer = sampler.draw(0, tokens, positions);
  const double expected = 1 / arrangements(64, 20) / arrangements(20, 20) / 20 / 50;
  CHECK(probability(law, {tokens, positions, answer}) == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("permutations that don't fit are refused") {
  CHECK(permutation_inversion_tokens({4, 4}).structure().orbital_count() == 1);
  CHECK(complaint([] {
          return permutation_inversion_tokens({4, 3});
        }) == "vocabulary = 3 is not allowed: it must be at least 4, for 4 distinct tokens");
  CHECK(complaint([] { return permutation_inversion_tokens({1, 2}); }).starts_with("vocabulary = 2"));
  CHECK(complaint([] { return permutation_inversion_tokens({4, 16, 3}); }).starts_with("block = 3"));
  CHECK(complaint([] { return permutation_inversion_tokens({0, 16}); }).starts_with("pairs = 0"));
  CHECK(complaint([] { return permutation_inversion_tokens({4, 16, 2, 2}); }).starts_with("burstiness = 2"));
}

TEST_CASE("the task of permutation inversion has this law") {
  const recall_law<lindyn::task::permutation_inversion> law{{.pairs = 3, .vocabulary = 6}};
  static_assert(data_law<decltype(law)>);
  CHECK(law.sizes().length == 7);
  CHECK(enumerate_types(law).types.size() == 18);
}

}  // namespace
