// SPDX-License-Identifier: MIT
// Rare tokens, burstiness, distractors and both associations in every combination, against their definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>

#include "../complaint.hpp"
#include "token_law_checks.hpp"

namespace {
using namespace lindyn::population;
using lindyn::testing::complaint;
using lindyn::testing::one_place;
using sequence = lindyn::task::sequence;

enum class association { none, stored, directed };

/// A law, its sizes and probabilities.
struct features {
  block_list list;
  rare_class rare{};
  double within_class = 0;
};

/// The probability of a sequence by the definition of the law, place by place and choice by choice.
class definition {
public:
  definition(const features& of, association kind)
      : of_(of), kind_(kind), common_(of.list.vocabulary - of.rare.rare_vocabulary) {}

  /// Sums over the sets of blocks that are distractors, and that hold the queried pair.
  [[nodiscard]] double operator()(const sequence& given) const {
    const block_list& list = of_.list;
    double sum = 0;
    int arrangements = 0;
    const auto all = 1u << static_cast<unsigned>(list.blocks());
    for (unsigned distractors = 0; distractors < all; ++distractors)
      for (unsigned queried = 0; queried < all; ++queried) {
        if (std::popcount(distractors) != list.distractors || std::popcount(queried) != list.burstiness ||
            (distractors & queried) != 0)
          continue;
        ++arrangements;
        if (is_queried(given, queried)) sum += pairs(given, distractors, queried);
      }
    return sum / arrangements;
  }

private:
  [[nodiscard]] int at(const sequence& given, int block, int r) const {
    return given.tokens[static_cast<std::size_t>(block * of_.list.block + r)];
  }
  /// Whether all of these blocks are what the query and the answer show.
  [[nodiscard]] bool is_queried(const sequence& given, unsigned queried) const {
    for (int block = 0; block < of_.list.blocks(); ++block)
      if ((queried >> block & 1u) != 0) {
        if (at(given, block, of_.list.block - 1) != given.answer) return false;
        for (int r = 0; r < of_.list.block - 1; ++r)
          if (at(given, block, r) != at(given, of_.list.blocks(), r)) return false;
      }
    return true;
  }
  /// The probability of the different pairs, in the order of their first blocks, distractors last.
  [[nodiscard]] double pairs(const sequence& given, unsigned distractors, unsigned queried) const {
    std::vector<int> blocks, last;
    for (int block = 0; block < of_.list.blocks(); ++block) {
      if ((queried >> block & 1u) != 0 && (queried & ((1u << block) - 1u)) != 0) continue;  // a repetition
      ((distractors >> block & 1u) != 0 ? last : blocks).push_back(block);
    }
    const std::size_t queryable = blocks.size();
    blocks.insert(blocks.end(), last.begin(), last.end());

    const int label = of_.list.block - 1;
    double result = 1;
    std::vector<int> drawn, labels;
    for (const int block : blocks) {
      const bool rare = is_rare(at(given, block, 0));
      result *= !has_rare() ? 1 : rare ? of_.rare.rare : 1 - of_.rare.rare;
      for (int r = 0; r < label; ++r) result *= key(at(given, block, r), rare, drawn);
    }
    for (std::size_t pair = 0; pair < blocks.size(); ++pair) {
      const bool rare = is_rare(at(given, blocks[pair], 0));
      result *=
          label_of(at(given, blocks[pair], label - 1), at(given, blocks[pair], label), rare, pair >= queryable, drawn);
    }
    return result;
  }
  [[nodiscard]] bool has_rare() const { return of_.rare.rare_vocabulary > 0; }
  [[nodiscard]] bool is_rare(int token) const { return token >= common_; }

  /// The share of one key among those that may come next: of the class, not drawn, and nobody's partner if matched.
  [[nodiscard]] double key(int token, bool rare, std::vector<int>& drawn) const {
    const auto may = [&](int candidate) {
      return is_rare(candidate) == rare && std::ranges::count(drawn, candidate) == 0 &&
             (rare || kind_ == association::none || std::ranges::count(drawn, candidate ^ 1) == 0) &&
             (rare || kind_ != association::directed || candidate % 2 == 0);
    };
    return share(token, may, drawn);
  }
  [[nodiscard]] double label_of(int item, int label, bool rare, bool distractor, std::vector<int>& drawn) const {
    const bool matched = kind_ != association::none && !rare;
    const auto varied = [&](int candidate) {
      return is_rare(candidate) == rare && std::ranges::count(drawn, candidate) == 0 &&
             (!matched || candidate != (item ^ 1)) &&
             (!matched || kind_ != association::directed || candidate % 2 == 1);
    };
    if (!matched) return share(label, varied, drawn);
    const double f_v = distractor ? 1 : of_.within_class;
    const double stored = label == (item ^ 1) ? 1 - f_v : 0;
    return f_v > 0 ? stored + f_v * share(label, varied, drawn) : (drawn.push_back(label), stored);
  }
  template <class May>
  [[nodiscard]] double share(int token, const May& may, std::vector<int>& drawn) const {
    int count = 0;
    for (int candidate = 0; candidate < of_.list.vocabulary; ++candidate) count += may(candidate);
    const bool possible = may(token);
    drawn.push_back(token);
    return possible ? 1.0 / count : 0;
  }

  features of_;
  association kind_;
  int common_;
};

std::vector<int> values(const sequence& given) {
  std::vector<int> result(given.tokens.begin(), given.tokens.end());
  result.push_back(given.answer);
  return result;
}

/// The law draws what its definition says: enumerated, asked for one by one, sampled, by types, and under its symmetry.
template <class TokenLaw>
void check(const TokenLaw& tokens, const features& of, association kind) {
  const law<TokenLaw, one_place> law(tokens, one_place());
  const auto table = lindyn::testing::enumerated(law);
  const auto structure = law.structure();
  const definition defined(of, kind);

  std::map<std::vector<int>, double> merged;
  long double total = 0;
  for (const sequence& one : table) {
    merged[values(one)] += one.weight;
    total += one.weight;
  }
  CHECK(std::abs(static_cast<double>(total - 1)) <= 1e-15);
  // Only which of two pairs with the same kind of label is the distractor can be told in more than one way.
  if (of.list.distractors == 0 || kind == association::none || of.within_class == 0)
    CHECK(merged.size() == static_cast<std::size_t>(table.size()));

  double difference = 0;
  const std::vector<int> positions(table[0].positions.size(), 0);
  for (const auto& [listed, weight] : merged) {
    const std::vector<int> sequence_tokens(listed.begin(), listed.end() - 1);
    const sequence one{sequence_tokens, positions, listed.back()};
    difference = std::max(difference, std::abs(defined(one) / weight - 1));
    difference = std::max(difference, std::abs(probability(law, one) / weight - 1));
    for (const auto& generator : structure.generators)
      difference =
          std::max(difference, std::abs(probability(law, lindyn::testing::image(one, generator)) / weight - 1));
  }
  CHECK(difference < 1e-13);

  const auto by_relations = lindyn::testing::merged(table, structure);
  const relational_types types = enumerate_types(law);
  CHECK(types.sequence_count == static_cast<double>(table.size()));
  CHECK(types.types.size() < table.size());
  CHECK(std::abs(types.types.total_weight() - 1) <= 1e-14);
  const auto of_types = lindyn::testing::merged(types.types, structure);
  REQUIRE(of_types.size() == by_relations.size());
  difference = 0;
  for (const auto& [relations, weight] : of_types) {
    REQUIRE(by_relations.count(relations) == 1);
    difference = std::max(difference, std::abs(weight - by_relations.at(relations)));
  }
  CHECK(difference < 1e-13);

  constexpr int draws = 5'000;
  std::map<std::vector<int>, int> counts;
  sampler sampler(law, 11);
  minibatch batch;
  sampler.draw(0, draws, batch);
  for (int draw = 0; draw < draws; ++draw) ++counts[lindyn::testing::relations(batch.view()[draw], structure)];
  double farthest = 0;
  int total_count = 0;
  for (const auto& [relations, weight] : by_relations) {
    const int count = counts.count(relations) == 1 ? counts.at(relations) : 0;
    total_count += count;
    // A rare type's count is no normal variable: 10 of them are told from none as well.
    farthest =
        std::max(farthest, std::abs(count - draws * weight) / std::sqrt(std::max(10.0, draws * weight * (1 - weight))));
  }
  CHECK(total_count == draws);
  CHECK(farthest < 5);
}

void check(const features& of, association kind) {
  CAPTURE(of.list.pairs);
  CAPTURE(of.list.block);
  CAPTURE(of.list.burstiness);
  CAPTURE(of.list.distractors);
  CAPTURE(of.rare.rare);
  CAPTURE(of.within_class);
  if (kind == association::none)
    check(recall_tokens(of.list, of.rare), of, kind);
  else if (kind == association::stored)
    check(stored_association_tokens(of.list, of.within_class, of.rare), of, kind);
  else
    check(directed_association_tokens(of.list, of.within_class, of.rare), of, kind);
}

TEST_CASE("recall with rare tokens, burstiness and distractors follows its definition") {
  for (const features& of : {features{{2, 8, 2}, {0.3, 4}}, features{{1, 6, 2}, {0, 3}}, features{{1, 6, 2}, {1, 3}},
                             features{{1, 7, 3}, {0.6, 3}}, features{{3, 5, 2, 2}}, features{{3, 4, 2, 3}},
                             features{{2, 6, 3, 2}}, features{{1, 5, 2, 1, 1}}, features{{2, 5, 2, 2, 1}},
                             features{{3, 9, 2, 3, 1}, {0.4, 4}}, features{{2, 7, 2, 2}, {0.4, 3}}})
    check(of, association::none);
}

TEST_CASE("stored associations with rare tokens, burstiness and distractors follow their definition") {
  for (const features& of :
       {features{{1, 8, 2}, {0.3, 4}, 0.4}, features{{2, 10, 2}, {0.3, 4}, 0}, features{{1, 7, 2}, {1, 3}, 1},
        features{{1, 7, 3}, {0.6, 3}, 0.5}, features{{3, 6, 2, 2}, {}, 0.3}, features{{2, 6, 3, 2}, {}, 1},
        features{{1, 6, 2, 1, 1}, {}, 0.3}, features{{1, 6, 2, 1, 1}, {}, 0}, features{{2, 6, 2, 2, 1}, {}, 0.3},
        features{{2, 10, 2, 2, 1}, {0.4, 4}, 0}, features{{2, 9, 2, 2}, {0.4, 3}, 0.3}})
    check(of, association::stored);
}

TEST_CASE("directed associations with rare tokens, burstiness and distractors follow their definition") {
  for (const features& of :
       {features{{2, 6, 2}, {}, 0.3}, features{{2, 4, 2}, {}, 0}, features{{2, 6, 2}, {}, 1},
        features{{1, 6, 3}, {}, 0.4}, features{{3, 6, 2, 2}, {}, 0.3}, features{{1, 6, 2, 1, 1}, {}, 0.3},
        features{{1, 8, 2, 1, 2}, {}, 0}, features{{2, 10, 2}, {0.3, 4}, 0.4}, features{{1, 7, 3}, {0.6, 3}, 0.5},
        features{{2, 10, 2, 2, 1}, {0.4, 4}, 0.3}})
    check(of, association::directed);
}

TEST_CASE("a distractor among distinct pairs is a pair like the others") {
  const law with(recall_tokens({2, 8, 2, 2, 1}), one_place());
  const law without(recall_tokens({3, 8, 2, 2}), one_place());
  const auto table = lindyn::testing::enumerated(with);
  REQUIRE(table.size() == lindyn::testing::enumerated(without).size());
  double difference = 0;
  for (const sequence& one : table)
    difference = std::max(difference, std::abs(probability(without, one) / one.weight - 1));
  CHECK(difference < 1e-14);
}

TEST_CASE("of hundreds of millions of arrangements none is stored, and a sequence tells which is its own") {
  const law law(recall_tokens({32, 128, 2, 16}), one_place());
  CHECK_THROWS_AS((void)enumerate_types(law, 100), lindyn::too_many_error);
  sampler sampler(law, 5);
  minibatch batch;
  sampler.draw(0, 1, batch);
  const sequence drawn = batch.view()[0];
  const double arrangements = 601'080'390 * lindyn::testing::arrangements(128, 2 * 17);  // C(32, 16), and 17 pairs
  CHECK(probability(law, drawn, 1) * arrangements == doctest::Approx(1).epsilon(1e-13));
  std::vector<int> tokens(drawn.tokens.begin(), drawn.tokens.end());
  const auto other = std::ranges::find_if(tokens, [&](int token) { return token != tokens.back(); });
  tokens.back() = *other;  // the query of a pair that stands in one block only
  CHECK(probability(law, {tokens, drawn.positions, drawn.answer}) == 0);
}

TEST_CASE("a sequence doesn't tell its distractors beside associations, so that too many of them are refused") {
  const law law(stored_association_tokens({16, 96, 2, 1, 16}, 0.5), one_place());
  sampler sampler(law, 5);
  minibatch batch;
  sampler.draw(0, 1, batch);
  CHECK_THROWS_AS((void)probability(law, batch.view()[0], 1000), lindyn::too_many_error);
}

TEST_CASE("beside distractors a type may be listed along each path that leads to it") {
  const law law(stored_association_tokens({2, 14, 2, 1, 1}, 0.5), one_place());
  const sequence_table types = enumerate_types(law).types;
  CHECK(types.size() == 240);
  CHECK(lindyn::testing::merged(types, law.structure()).size() == 144);
  CHECK(std::abs(types.total_weight() - 1) <= 1e-14);
}

TEST_CASE("the tightest vocabularies that are accepted leave a token for every draw") {
  const auto total = [](const auto& tokens) {
    return lindyn::testing::enumerated(law(tokens, one_place())).total_weight();
  };
  // One distinct pair, repeated, asks for no more than one pair does.
  CHECK(std::abs(total(recall_tokens({4, 3, 2, 4})) - 1) < 1e-15);
  CHECK(std::abs(total(stored_association_tokens({3, 4, 2, 3}, 0.5)) - 1) < 1e-15);
  // With certain labels a distractor still needs a varied one: keys 2, labels 2, a partner.
  CHECK(std::abs(total(stored_association_tokens({1, 6, 2, 1, 1}, 0)) - 1) < 1e-14);
  CHECK(std::abs(total(directed_association_tokens({2, 6, 2}, 1)) - 1) < 1e-14);
  // Of a class that is never drawn three tokens, or two couples, suffice.
  CHECK(std::abs(total(stored_association_tokens({2, 8, 2}, 1, {1, 4})) - 1) < 1e-14);
  CHECK(std::abs(total(recall_tokens({2, 7, 2}, {0, 3})) - 1) < 1e-14);
}

TEST_CASE("each feature makes the symmetry it should") {
  const auto names = [](const lindyn::symmetry::structure& structure) {
    std::string result;
    for (int s = 0; s < structure.orbital_count(); ++s) result += structure.name(s) + " ";
    return result;
  };
  CHECK(names(recall_tokens({2, 8, 2}, {0.3, 4}).structure()) == "Ic Ir ");
  CHECK(names(stored_association_tokens({2, 12, 2}, 0.3, {0.3, 4}).structure()) == "Ic C Ir ");
  CHECK(names(directed_association_tokens({2, 8, 2}, 0.3).structure()) == "Ia Ib C C' ");
  CHECK(names(directed_association_tokens({2, 12, 2}, 0.3, {0.3, 4}).structure()) == "Ia Ib C C' I ");
  // Burstiness and distractors leave it as it is.
  CHECK(names(stored_association_tokens({2, 8, 2, 2, 1}, 0.3).structure()) == "I C ");
}

TEST_CASE("features that leave nothing to draw are refused with the argument, its value and what is allowed") {
  const auto recall = [](const block_list& list, const rare_class& rare = {}) {
    return complaint([&] { return recall_tokens(list, rare); });
  };
  CHECK(recall({2, 8, 2, 0}) == "burstiness = 0 is not allowed: it must be at least 1 and at most pairs = 2");
  CHECK(recall({2, 8, 2, 3}) == "burstiness = 3 is not allowed: it must be at least 1 and at most pairs = 2");
  CHECK(recall({64, 256, 2, 32}).starts_with("burstiness = 32 is not allowed: it must be so small (or large) that"));
  CHECK(recall({2, 8, 2, 1, -1}) == "distractors = -1 is not allowed: it must be in [0, 4096]");
  CHECK(recall({2, 5, 2, 1, 1}) == "vocabulary = 5 is not allowed: it must be at least 6, for 6 distinct tokens");
  CHECK(recall({2, 8, 2}, {0.5, 3}) ==
        "rare_vocabulary = 3 is not allowed: it must be at least 4 (and at most 1000000), for 4 distinct rare tokens");
  CHECK(recall({2, 8, 2}, {0.5, 0}).starts_with("rare_vocabulary = 0"));
  CHECK(recall({2, 8, 2}, {0, 2}).starts_with("rare_vocabulary = 2"));
  CHECK(recall({2, 8, 2}, {0, std::numeric_limits<int>::min()}).starts_with("rare_vocabulary = -2147483648"));
  CHECK(recall({2, 8, 2}, {0.5, std::numeric_limits<int>::max()}).starts_with("rare_vocabulary = 2147483647"));
  CHECK(recall({2, 7, 2}, {0.5, 4}) ==
        "vocabulary = 7 is not allowed: it must be at least 4 beside rare_vocabulary = 4, for 4 distinct tokens");
  CHECK(recall({2, 6, 2}, {1, 4}).starts_with("vocabulary = 6"));  // a class needs three tokens
  CHECK(recall({2, 8, 2}, {-0.1, 4}).starts_with("rare = -0.1 is not allowed"));
  CHECK(recall({2, 8, 2}, {std::numeric_limits<double>::quiet_NaN(), 4}).starts_with("rare = nan is not allowed"));

  const auto stored = [](const block_list& list, double within_class, const rare_class& rare = {}) {
    return complaint([&] { return stored_association_tokens(list, within_class, rare); });
  };
  CHECK(stored({2, 12, 2}, 0.5, {0.5, 5}) ==
        "vocabulary = 12 is not allowed: it must be even beside rare_vocabulary = 5, as tokens are matched in couples");
  CHECK(stored({2, 4, 2, 2, 1}, 0).starts_with("vocabulary = 4 is not allowed: it must be at least 6"));
  CHECK(stored({20, 256, 2, 1, 20}, 0.5).starts_with("distractors = 20 is not allowed: it must be so small"));

  const auto directed = [](const block_list& list, double within_class, const rare_class& rare = {}) {
    return complaint([&] { return directed_association_tokens(list, within_class, rare); });
  };
  CHECK(directed({2, 7, 2}, 0.5) == "vocabulary = 7 is not allowed: it must be even, as tokens are matched in couples");
  CHECK(directed({3, 4, 2}, 0) ==
        "vocabulary = 4 is not allowed: it must be at least 6, for the keys and varied labels");
  CHECK(directed({3, 6, 2}, 0.1).starts_with("vocabulary = 6 is not allowed: it must be at least 8"));
  CHECK(directed({2, 8, 2}, 1.5).starts_with("within_class = 1.5"));
  CHECK(directed({0, 8, 2}, 0.5).starts_with("pairs = 0"));
}

}  // namespace
