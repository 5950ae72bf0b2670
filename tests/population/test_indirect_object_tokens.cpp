// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include <lindyn/population/indirect_object_tokens.hpp>

#include "../complaint.hpp"
#include "token_law_checks.hpp"

namespace {
using namespace lindyn::population;
using namespace lindyn::testing;

/// Whether all names are distinct, and query and answer are the two of one block.
bool allowed(const std::vector<int>& tokens, int answer) {
  const std::set<int> distinct(tokens.begin(), tokens.end() - 1);
  if (distinct.size() + 1 != tokens.size()) return false;
  for (std::size_t first = 0; first + 1 < tokens.size(); first += 2)
    if (std::set{tokens[first], tokens[first + 1]} == std::set{tokens.back(), answer}) return true;
  return false;
}

TEST_CASE("the indirect object law shows either name of any couple equally often, and nothing else") {
  for (const block_list& list : {block_list{1, 3}, block_list{1, 5}, block_list{2, 5}, block_list{3, 6}}) {
    CAPTURE(list.pairs);
    check_uniform(indirect_object_tokens(list), arrangements(list.vocabulary, 2 * list.pairs) * 2 * list.pairs,
                  allowed);
  }
}

TEST_CASE("the indirect object by hand: A and B, B gave to A") {
  const indirect_object_tokens one({1, 4}), two({2, 5});
  CHECK(token_probability(one, {0, 1, 1}, 0) == doctest::Approx(1.0 / 24).epsilon(1e-14));
  CHECK(token_probability(one, {0, 1, 0}, 1) == doctest::Approx(1.0 / 24).epsilon(1e-14));
  CHECK(token_probability(one, {0, 1, 0}, 0) == 0);
  CHECK(token_probability(one, {0, 1, 2}, 1) == 0);
  CHECK(token_probability(one, {0, 0, 0}, 0) == 0);
  CHECK(token_probability(two, {4, 2, 3, 1, 1}, 3) == doctest::Approx(1.0 / 480).epsilon(1e-14));
  CHECK(token_probability(two, {4, 2, 3, 1, 1}, 2) == 0);
  CHECK(token_probability(two, {4, 2, 2, 1, 4}, 2) == 0);
}

TEST_CASE("samples of the indirect object law are as frequent as their probabilities say") {
  check_samples(indirect_object_tokens({1, 5}), 20'000, 1);  // 40 sequences
  check_samples(indirect_object_tokens({2, 5}), 20'000, 2);  // 480
}

TEST_CASE("the types of the indirect object law are the places of the query's name") {
  check_types_on_positions(indirect_object_tokens({1, 4}), 2);
  check_types_on_positions(indirect_object_tokens({2, 4}), 4);
  CHECK(enumerate_types(law(indirect_object_tokens({16, 64}), slot_positions({16, 64}))).types.size() == 32);
}

TEST_CASE("couples of names that don't fit are refused") {
  CHECK(indirect_object_tokens({4, 16}).structure().orbital_count() == 1);
  CHECK(complaint([] {
          return indirect_object_tokens({4, 7});
        }) == "vocabulary = 7 is not allowed: it must be at least 8, for 8 distinct tokens");
  CHECK(complaint([] { return indirect_object_tokens({1, 2}); }).starts_with("vocabulary = 2"));
  CHECK(complaint([] { return indirect_object_tokens({4, 16, 3}); }).starts_with("block = 3"));
  CHECK(complaint([] { return indirect_object_tokens({0, 16}); }).starts_with("pairs = 0"));
  CHECK(complaint([] { return indirect_object_tokens({4, 16, 2, 1, 1}); }).starts_with("distractors = 1"));
}

TEST_CASE("the task of the indirect object has this law") {
  const recall_law<lindyn::task::indirect_object> law{{.pairs = 2, .vocabulary = 6}};
  static_assert(data_law<decltype(law)>);
  CHECK(law.sizes().length == 5);
  CHECK(enumerate_types(law).types.size() == 4);
}

}  // namespace
