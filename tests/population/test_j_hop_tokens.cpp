// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <vector>

#include <lindyn/population/j_hop_tokens.hpp>

#include "../complaint.hpp"
#include "token_law_checks.hpp"

namespace {
using namespace lindyn::population;
using namespace lindyn::testing;

/// Whether the blocks hold as many distinct tokens as a chain of `hops` and distractors have, and following the query
/// for so many blocks gives the answer.
bool allowed(const std::vector<int>& tokens, int answer, int hops) {
  std::map<int, int> next;
  for (std::size_t item = 0; item + 1 < tokens.size(); item += 2) next[tokens[item]] = tokens[item + 1];
  const std::set<int> distinct(tokens.begin(), tokens.end() - 1);
  if (distinct.size() != tokens.size() - static_cast<std::size_t>(hops)) return false;
  int token = tokens.back();
  for (int hop = 0; hop < hops; ++hop) {
    if (next.count(token) == 0) return false;
    token = next[token];
  }
  return token == answer && next.count(token) == 0;
}

TEST_CASE("j-hop recall draws every chain among distinct distractors equally often, and nothing else") {
  struct sizes {
    block_list list;
    int hops;
  };
  for (const sizes& of :
       {sizes{{2, 5}, 1}, sizes{{2, 4}, 2}, sizes{{3, 6}, 2}, sizes{{3, 5}, 3}, sizes{{1, 4}, 1}, sizes{{4, 5}, 4}}) {
    const int pairs = of.list.pairs, hops = of.hops;
    CAPTURE(pairs);
    CAPTURE(hops);
    // the blocks of the chain in their order, then its tokens and the distractors'
    const double count = arrangements(pairs, hops) * arrangements(of.list.vocabulary, 2 * pairs - hops + 1);
    check_uniform(j_hop_tokens(of.list, hops), count,
                  [&](const std::vector<int>& tokens, int answer) { return allowed(tokens, answer, hops); });
  }
}

TEST_CASE("one hop is associative recall") {
  const law one(j_hop_tokens({2, 5}, 1), one_place());
  const law recall(recall_tokens({2, 5}), one_place());
  for (const auto& sequence : enumerated(recall))
    CHECK(std::abs(probability(one, sequence) / sequence.weight - 1) < 1e-14);
}

TEST_CASE("two hops by hand") {
  const j_hop_tokens law({3, 6}, 2);
  const double p = 1 / (6.0 * 720);  // places of the two blocks, and five distinct tokens
  CHECK(token_probability(law, {4, 2, 0, 1, 3, 4, 3}, 2) == doctest::Approx(p).epsilon(1e-14));
  CHECK(token_probability(law, {3, 4, 0, 1, 4, 2, 3}, 2) == doctest::Approx(p).epsilon(1e-14));
  CHECK(token_probability(law, {4, 2, 0, 1, 3, 4, 3}, 4) == 0);  // after one hop
  CHECK(token_probability(law, {4, 2, 0, 1, 3, 4, 4}, 2) == 0);  // from the middle of the chain
  CHECK(token_probability(law, {4, 2, 0, 1, 3, 5, 3}, 5) == 0);  // no chain
  CHECK(token_probability(law, {4, 2, 2, 1, 3, 4, 3}, 2) == 0);  // a chain that goes on
  CHECK(token_probability(law, {4, 2, 2, 1, 3, 4, 3}, 1) == 0);
}

TEST_CASE("samples of j-hop recall are as frequent as their probabilities say") {
  check_samples(j_hop_tokens({2, 4}, 2), 20'000, 1);  // 48 sequences
  check_samples(j_hop_tokens({3, 5}, 2), 20'000, 2);  // 720
}

TEST_CASE("the types of j-hop recall are the places of the chain") {
  check_types_on_positions(j_hop_tokens({2, 5}, 1), 2);
  check_types_on_positions(j_hop_tokens({2, 4}, 2), 2);
  CHECK(enumerate_types(law(j_hop_tokens({6, 64}, 3), slot_positions({6, 64}))).types.size() == 6 * 5 * 4);
}

TEST_CASE("a probability needs no enumeration of all the places that a long chain can have") {
  const block_list list{24, 64};
  const law law(j_hop_tokens(list, 12), ring_positions(list, 64));
  std::vector<int> tokens(static_cast<std::size_t>(list.length())), positions(tokens.size());
  sampler sampler(law, 3);
  const int answer = sampler.draw(0, tokens, positions);
  const double expected = 1 / arrangements(24, 12) / arrangements(64, 37) / 64;
  CHECK(probability(law, {tokens, positions, answer}) == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("chains that don't fit are refused") {
  CHECK(j_hop_tokens({4, 16}, 3).hops() == 3);
  CHECK(j_hop_tokens({4, 16}, 3).structure().orbital_count() == 1);
  CHECK(complaint([] {
          return j_hop_tokens({4, 16}, 0);
        }) == "hops = 0 is not allowed: it must be at least 1 and at most pairs = 4, as every hop takes a block");
  CHECK(complaint([] { return j_hop_tokens({4, 16}, 5); }).starts_with("hops = 5"));
  CHECK(complaint([] {
          return j_hop_tokens({4, 6}, 2);
        }) == "vocabulary = 6 is not allowed: it must be at least 7, for 7 distinct tokens");
  CHECK(complaint([] {
          return j_hop_tokens({1, 2}, 1);
        }) == "vocabulary = 2 is not allowed: it must be at least 3, for 2 distinct tokens");
  CHECK(complaint([] { return j_hop_tokens({4, 16, 3}, 1); }) == "block = 3 is not allowed: it must be 2 for this law");
  CHECK(complaint([] { return j_hop_tokens({0, 16}, 1); }).starts_with("pairs = 0"));
  CHECK(complaint([] {
          return j_hop_tokens({4, 16, 2, 2}, 1);
        }) == "burstiness = 2 is not allowed: it must be 1 for this law");
  CHECK(complaint([] {
          return j_hop_tokens({4, 16, 2, 1, 3}, 1);
        }) == "distractors = 3 is not allowed: it must be 0 for this law");
}

TEST_CASE("the task of j hops has this law") {
  using two_hops = lindyn::task::j_hop<2>;
  const recall_law<two_hops, lindyn::positions::ring<9>> law{{.pairs = 3, .vocabulary = 6}};
  static_assert(data_law<decltype(law)>);
  CHECK(law.tokens().hops() == 2);
  CHECK(law.sizes().length == 7);
  CHECK(recall_law<two_hops>{{.pairs = 3, .vocabulary = 6}}.sizes().positions == 10);
  CHECK(complaint([] { return recall_law<two_hops>{{.pairs = 1}}; }).starts_with("hops = 2"));
  CHECK(complaint([] { return recall_law<two_hops>{{.rare = 0.5}}; }).starts_with("rare = 0.5"));
  CHECK(complaint([] { return recall_law<two_hops>{{.burstiness = 2}}; }).starts_with("burstiness = 2"));
}

}  // namespace
