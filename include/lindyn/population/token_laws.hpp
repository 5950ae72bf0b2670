// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the tokens of block lists are drawn: `recall_tokens`, `ngram_tokens` and `stored_association_tokens`.
///
/// A list of N blocks of k tokens is followed by the first k - 1 tokens of one of them, the query; the answer is the
/// k-th. The first k - 1 tokens of a block are its keys, the last of these its item, the k-th token its label.

#include <algorithm>
#include <span>
#include <string>

#include <lindyn/population/process.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

/// Sizes of a block list.
struct block_list {
  int pairs = 4;        ///< N, blocks before the query
  int vocabulary = 16;  ///< V, tokens
  int block = 2;        ///< k, tokens of a block

  /// n = N k + k - 1.
  [[nodiscard]] constexpr int length() const noexcept { return pairs * block + block - 1; }
};

namespace detail {

inline void require_block_list(const block_list& list) {
  require(list.pairs >= 1, "pairs", list.pairs, "at least 1");
  require(list.pairs <= 4096, "pairs", list.pairs, "at most 4096");
  require(list.block >= 2, "block", list.block, "at least 2: a key and the token that follows it");
  require(list.block <= 64, "block", list.block, "at most 64");
  require(list.vocabulary <= 1'000'000, "vocabulary", list.vocabulary, "at most 1000000");
}

/// Ends a block list with the query of a uniform block; returns its label.
template <class Choices>
int ask(Choices& choose, const block_list& list, std::span<int> tokens) {
  const auto at = [&](int place) -> int& { return tokens[static_cast<std::size_t>(place)]; };
  const int queried = choose.among(list.pairs) * list.block;
  for (int key = 0; key < list.block - 1; ++key) {
    const int place = list.pairs * list.block + key;
    at(place) = choose.token(place, at(queried + key));
  }
  return at(queried + list.block - 1);
}

}  // namespace detail

/// All N k tokens of the blocks are distinct and uniform; the queried block is uniform. With k = 2 this is associative
/// recall (IMIR, task of section 2), with k > 2 in-context k-gram completion. Symmetry: all permutations of the tokens.
class recall_tokens {
public:
  /// Throws argument_error if fewer than 1 pair, fewer than 2 tokens a block, or fewer than N k (or 3) tokens.
  explicit recall_tokens(const block_list& list) : list_(list) {
    detail::require_block_list(list);
    const int least = std::max(3, list.pairs * list.block);
    require(
        list.vocabulary >= least, "vocabulary", list.vocabulary,
        "at least " + std::to_string(least) + ", for " + std::to_string(list.pairs * list.block) + " distinct tokens");
  }

  [[nodiscard]] const block_list& list() const noexcept { return list_; }
  [[nodiscard]] symmetry::structure structure() const { return symmetry::full_symmetric(list_.vocabulary); }

  /// Writes the tokens, returns the answer.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    auto& unused = choose.tokens();
    for (int place = 0; place < list_.pairs * list_.block; ++place) {
      const int token = choose.token(place, unused);
      tokens[static_cast<std::size_t>(place)] = token;
      unused.remove(token);
    }
    return detail::ask(choose, list_, tokens);
  }

private:
  block_list list_;
};

/// N blocks of k distinct tokens; the answer completes the one whose first k - 1 tokens are shown again.
[[nodiscard]] inline recall_tokens ngram_tokens(int k, int blocks, int vocabulary) {
  return recall_tokens({blocks, vocabulary, k});
}

/// Tokens are matched in couples (2i, 2i + 1), C(v) being the partner of v, and labels can be recalled from the
/// weights. First all N (k - 1) keys: distinct couples in uniform order, either member with probability 1/2. Then per
/// block, in order and independently: the label is C(item) with probability 1 - within_class, else uniform over the
/// tokens that are no key, no earlier label and not C(item). It may be another item's partner, and so be repeated by a
/// later stored label. The queried block is uniform. Symmetry: the permutations that keep couples together, Z_2 wr
/// S_(V/2), as C occurs in both orientations. (The law of design; IMIR leaves the details open.)
class stored_association_tokens {
public:
  /// \param within_class probability f_v that a label is not the item's partner
  /// Throws argument_error if V is odd or too small for the draws, or within_class is no probability.
  stored_association_tokens(const block_list& list, double within_class) : list_(list), within_class_(within_class) {
    detail::require_block_list(list);
    require_probability("within_class", within_class);
    const int keys = list.pairs * (list.block - 1);
    require(list.vocabulary % 2 == 0, "vocabulary", list.vocabulary, "even, as tokens are matched in couples");
    // A varied label needs a token beside the keys, the earlier labels and the item's own partner.
    const int least = std::max({4, 2 * keys, within_class > 0 ? keys + list.pairs + 1 : 0});
    require(list.vocabulary >= least, "vocabulary", list.vocabulary,
            "at least " + std::to_string(least) + ", for the keys' couples and varied labels");
  }

  [[nodiscard]] const block_list& list() const noexcept { return list_; }
  [[nodiscard]] double within_class() const noexcept { return within_class_; }
  [[nodiscard]] symmetry::structure structure() const { return symmetry::matching(list_.vocabulary); }

  /// Writes the tokens, returns the answer.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    const auto at = [&](int place) -> int& { return tokens[static_cast<std::size_t>(place)]; };
    const int k = list_.block;
    auto& unused = choose.tokens();
    for (int pair = 0; pair < list_.pairs; ++pair)
      for (int place = pair * k; place < pair * k + k - 1; ++place) {
        at(place) = choose.token(place, unused);
        unused.remove(at(place));
        unused.remove(at(place) ^ 1);
      }
    unused.restore();
    for (int pair = 0; pair < list_.pairs; ++pair)
      for (int place = pair * k; place < pair * k + k - 1; ++place) unused.remove(at(place));
    for (int pair = 0; pair < list_.pairs; ++pair) {
      const int place = pair * k + k - 1, partner = at(place - 1) ^ 1;
      if (choose.chance(1 - within_class_)) {
        at(place) = choose.token(place, partner);
      } else {
        const auto removals = unused.removals();
        unused.remove(partner);
        at(place) = choose.token(place, unused);
        unused.restore(removals);
      }
      unused.remove(at(place));
    }
    return detail::ask(choose, list_, tokens);
  }

private:
  block_list list_;
  double within_class_;
};

}  // namespace lindyn::population
