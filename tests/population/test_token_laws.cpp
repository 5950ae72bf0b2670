// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <lindyn/population/token_laws.hpp>

#include "../complaint.hpp"
#include "relations.hpp"

namespace {
using namespace lindyn::population;
using lindyn::testing::complaint;
using lindyn::testing::next;

/// The tokens of a token law at fixed positions.
template <class TokenLaw>
struct tokens_only {
  TokenLaw law;
  [[nodiscard]] process_sizes sizes() const { return {law.list().vocabulary, 1, law.list().length()}; }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    for (std::size_t place = 0; place < positions.size(); ++place)
      positions[place] = choose.position(static_cast<int>(place), 0);
    return law(choose, tokens);
  }
};

/// The probability of tokens (with the answer as the last of them) by the definition of the law.
double defined(const block_list& list, double within_class, bool association, const std::vector<int>& values) {
  const auto at = [&](int pair, int r) { return values[static_cast<std::size_t>(pair * list.block + r)]; };
  const auto same_couple = [](int a, int b) { return a / 2 == b / 2; };
  const int last = list.block - 1;

  double asked = 0;  // the last values are the whole queried block
  for (int pair = 0; pair < list.pairs; ++pair) {
    bool equal = true;
    for (int r = 0; r <= last; ++r) equal = equal && at(pair, r) == at(list.pairs, r);
    asked += equal ? 1.0 / list.pairs : 0.0;
  }

  double result = asked;
  if (!association) {
    const std::set<int> different(values.begin(), values.begin() + list.pairs * list.block);
    if (static_cast<int>(different.size()) < list.pairs * list.block) return 0;
    for (int draw = 0; draw < list.pairs * list.block; ++draw) result /= list.vocabulary - draw;
    return result;
  }
  std::vector<int> keys, labels;
  for (int pair = 0; pair < list.pairs; ++pair)
    for (int r = 0; r < last; ++r) {
      for (const int key : keys)
        if (same_couple(key, at(pair, r))) return 0;
      result /= list.vocabulary - 2.0 * static_cast<double>(keys.size());
      keys.push_back(at(pair, r));
    }
  for (int pair = 0; pair < list.pairs; ++pair) {
    const int item = at(pair, last - 1), label = at(pair, last);
    const auto varied = [&](int token) {
      return std::ranges::count(keys, token) == 0 && std::ranges::count(labels, token) == 0 &&
             !same_couple(token, item);
    };
    int choices = 0;
    for (int token = 0; token < list.vocabulary; ++token) choices += varied(token);
    double probability = 0;
    if (label != item && same_couple(label, item)) probability += 1 - within_class;
    if (varied(label)) probability += within_class / choices;
    result *= probability;
    labels.push_back(label);
  }
  return result;
}

/// Compares the law with its definition for every list of tokens that can be written down.
template <class TokenLaw>
void compare_with_definition(const TokenLaw& law, double within_class, bool association) {
  std::map<std::vector<int>, double> weights;
  for (const auto& sequence : lindyn::testing::enumerated(tokens_only<TokenLaw>{law})) {
    std::vector<int> values(sequence.tokens.begin(), sequence.tokens.end());
    values.push_back(sequence.answer);
    weights[values] += sequence.weight;
  }
  std::vector<int> values(static_cast<std::size_t>(law.list().length()) + 1, 0);
  std::size_t possible = 0;
  double difference = 0;
  do {
    const double expected = defined(law.list(), within_class, association, values);
    if (expected == 0) continue;
    ++possible;
    const auto found = weights.find(values);
    REQUIRE(found != weights.end());
    difference = std::max(difference, std::abs(found->second / expected - 1));
  } while (next(values, law.list().vocabulary));
  CHECK(weights.size() == possible);
  CHECK(difference < 1e-13);
}

TEST_CASE("recall draws distinct tokens and a uniform query, and nothing else") {
  for (const block_list& list : {block_list{2, 5, 2}, block_list{1, 4, 2}, block_list{1, 5, 3}, block_list{2, 4, 2}}) {
    CAPTURE(list.pairs);
    CAPTURE(list.block);
    compare_with_definition(recall_tokens(list), 0, false);
  }
}

TEST_CASE("stored associations follow their definition at every share of varied labels") {
  for (const double within_class : {0.0, 0.3, 1.0})
    for (const block_list& list : {block_list{2, 6, 2}, block_list{1, 4, 2}, block_list{1, 6, 3}}) {
      CAPTURE(within_class);
      CAPTURE(list.pairs);
      CAPTURE(list.block);
      compare_with_definition(stored_association_tokens(list, within_class), within_class, true);
    }
}

TEST_CASE("the tightest vocabularies that are accepted leave a token for every draw") {
  // With certain labels the couples of the keys suffice; a varied label needs one token more than keys and labels.
  struct tight {
    block_list list;
    double within_class;
  };
  for (const tight& sizes :
       {tight{{3, 6, 2}, 0}, tight{{3, 8, 2}, 1}, tight{{1, 4, 3}, 0.5}, tight{{2, 8, 3}, 1}, tight{{1, 4, 2}, 1}}) {
    CAPTURE(sizes.list.pairs);
    CAPTURE(sizes.list.block);
    const stored_association_tokens law(sizes.list, sizes.within_class);
    CHECK(std::abs(lindyn::testing::enumerated(tokens_only<stored_association_tokens>{law}).total_weight() - 1) <
          1e-15);
  }
}

TEST_CASE("an n-gram is recall with more keys") {
  const recall_tokens law = ngram_tokens(3, 2, 7);
  CHECK(law.list().block == 3);
  CHECK(law.list().pairs == 2);
  CHECK(law.list().vocabulary == 7);
  CHECK(law.list().length() == 8);
}

TEST_CASE("token laws promise their symmetry") {
  CHECK(recall_tokens({2, 7, 2}).structure().orbital_count() == 1);
  const auto matched = stored_association_tokens({2, 8, 2}, 0.5).structure();
  CHECK(matched.orbital_count() == 2);
  CHECK(matched.name(matched.orbital(2, 3)) == "C");
}

TEST_CASE("sizes that leave nothing to draw are refused with the argument, its value and what is allowed") {
  CHECK(complaint([] { return recall_tokens({0, 9, 2}); }) == "pairs = 0 is not allowed: it must be at least 1");
  CHECK(complaint([] { return recall_tokens({-3, 9, 2}); }) == "pairs = -3 is not allowed: it must be at least 1");
  CHECK(complaint([] {
          return recall_tokens({2, 9, 1});
        }) == "block = 1 is not allowed: it must be at least 2: a key and the token that follows it");
  CHECK(complaint([] {
          return recall_tokens({2, 3, 2});
        }) == "vocabulary = 3 is not allowed: it must be at least 4, for 4 distinct tokens");
  CHECK(complaint([] {
          return recall_tokens({1, 2, 2});
        }) == "vocabulary = 2 is not allowed: it must be at least 3, for 2 distinct tokens");
  CHECK(complaint([] { return ngram_tokens(1, 2, 9); }).starts_with("block = 1"));
  CHECK(complaint([] { return ngram_tokens(4, 3, 11); }).starts_with("vocabulary = 11"));
  CHECK(complaint([] {
          return recall_tokens({std::numeric_limits<int>::max(), 9, 2});
        }).starts_with("pairs = 2147483647"));
  CHECK(complaint([] {
          return recall_tokens({2, std::numeric_limits<int>::max(), 2});
        }).starts_with("vocabulary = 2147483"));

  const auto stored = [](block_list list, double within_class) {
    return complaint([&] { return stored_association_tokens(list, within_class); });
  };
  CHECK(stored({2, 7, 2}, 0.5) == "vocabulary = 7 is not allowed: it must be even, as tokens are matched in couples");
  CHECK(stored({3, 4, 2}, 0.0) ==
        "vocabulary = 4 is not allowed: it must be at least 6, for the keys' couples and varied labels");
  CHECK(stored({3, 6, 2}, 0.1).starts_with("vocabulary = 6 is not allowed: it must be at least 8"));
  CHECK(stored({1, 2, 2}, 0.0).starts_with("vocabulary = 2 is not allowed: it must be at least 4"));
  CHECK(stored({0, 8, 2}, 0.5).starts_with("pairs = 0"));
  CHECK(stored({2, 8, 1}, 0.5).starts_with("block = 1"));
  CHECK(stored({2, 8, 2}, -0.1).ends_with("it must be a probability in [0, 1]"));
  CHECK(stored({2, 8, 2}, 1.5).starts_with("within_class = 1.5 is not allowed"));
  CHECK(stored({2, 8, 2}, std::numeric_limits<double>::quiet_NaN()).starts_with("within_class = nan is not allowed"));
}

}  // namespace
