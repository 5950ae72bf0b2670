// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Block lists: their sizes, the query that ends them, and where their pairs stand.
///
/// A list of blocks of k tokens is followed by the first k - 1 tokens of one of them, the query; the answer is the
/// k-th. The first k - 1 tokens of a block are its keys, the last of these its item, the k-th token its label. What a
/// block holds is called a pair, of keys and label.

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/pool.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/population/subsets.hpp>

namespace lindyn::population {

/// Sizes of a block list.
struct block_list {
  int pairs = 4;        ///< N, blocks before the query that may be asked for
  int vocabulary = 16;  ///< V, tokens
  int block = 2;        ///< k, tokens of a block
  int burstiness = 1;   ///< b, blocks among the N that hold the queried pair
  int distractors = 0;  ///< D, further blocks, which are never asked for

  /// N + D.
  [[nodiscard]] constexpr int blocks() const noexcept { return pairs + distractors; }
  /// N - b + 1 + D, as b blocks hold the same pair.
  [[nodiscard]] constexpr int different_pairs() const noexcept { return blocks() - burstiness + 1; }
  /// n = (N + D) k + k - 1.
  [[nodiscard]] constexpr int length() const noexcept { return blocks() * block + block - 1; }
};

namespace detail {

inline void require_block_list(const block_list& list) {
  require(list.pairs >= 1, "pairs", list.pairs, "at least 1");
  require(list.pairs <= 4096, "pairs", list.pairs, "at most 4096");
  require(list.block >= 2, "block", list.block, "at least 2: a key and the token that follows it");
  require(list.block <= 64, "block", list.block, "at most 64");
  require(list.vocabulary <= 1'000'000, "vocabulary", list.vocabulary, "at most 1000000");
  require(list.burstiness >= 1 && list.burstiness <= list.pairs, "burstiness", list.burstiness,
          "at least 1 and at most pairs = " + std::to_string(list.pairs));
  require(list.distractors >= 0 && list.distractors <= 4096, "distractors", list.distractors, "in [0, 4096]");
}

/// Ends a block list with the keys of a block; returns its label.
template <class Choices>
int show_query(Choices& choose, const block_list& list, int queried, std::span<int> tokens) {
  const auto at = [&](int place) -> int& { return tokens[static_cast<std::size_t>(place)]; };
  for (int key = 0; key < list.block - 1; ++key) {
    const int place = list.blocks() * list.block + key;
    at(place) = choose.token(place, at(queried * list.block + key));
  }
  return at(queried * list.block + list.block - 1);
}

/// Ends a block list with the query of a uniform block; returns its label.
template <class Choices>
int ask(Choices& choose, const block_list& list, std::span<int> tokens) {
  return show_query(choose, list, choose.among(list.pairs), tokens);
}

/// Where the different pairs of one sequence stand, numbered in the order of their first blocks, distractors last.
struct pair_places {
  std::vector<int> first{};    ///< the first block of each pair; empty: pair i stands in block i
  std::vector<int> further{};  ///< the further blocks of the pair that is repeated
  int repeated = -1;           ///< the number of that pair; -1: none

  /// The first block of a pair.
  [[nodiscard]] int block(int pair) const noexcept {
    return first.empty() ? pair : first[static_cast<std::size_t>(pair)];
  }
};

/// How places are drawn: the distractors' blocks are a uniform subset of all, then those of the queried pair a uniform
/// subset of the others. Both are chosen at once each, so that every arrangement is reached along one path.
class pair_order {
public:
  /// Throws argument_error if the list has more than 2^31 - 1 arrangements of either kind.
  explicit pair_order(const block_list& list)
      : list_(list),
        distractors_(list.distractors, list.blocks(), "distractors"),
        repeats_(list.burstiness, list.pairs, "burstiness") {}

  template <class Choices>
  [[nodiscard]] pair_places operator()(Choices& choose) const {
    pair_places result;
    if (list_.distractors == 0 && list_.burstiness == 1) return result;
    std::vector<int> distractors, others;
    if (list_.distractors > 0) distractors = distractors_[choose.among(distractors_.count())];
    for (int block = 0; block < list_.blocks(); ++block)
      if (!std::ranges::binary_search(distractors, block)) others.push_back(block);
    std::vector<int> repeats;
    if (list_.burstiness > 1) {
      const auto only = [&](std::span<const int> tokens) { return queried(tokens, others); };
      for (const int place : repeats_[among(choose, repeats_.count(), only)])
        repeats.push_back(others[static_cast<std::size_t>(place)]);
    }
    for (const int block : others)
      if (repeats.empty() || block == repeats.front() || !std::ranges::binary_search(repeats, block))
        result.first.push_back(block);
    if (!repeats.empty()) {
      result.repeated = static_cast<int>(std::ranges::find(result.first, repeats.front()) - result.first.begin());
      result.further.assign(std::next(repeats.begin()), repeats.end());
    }
    result.first.insert(result.first.end(), distractors.begin(), distractors.end());
    return result;
  }

private:
  /// Which of the blocks show the keys of the query, those of the queried pair alone: the rank of this subset, none
  /// unless there are as many as there should be.
  [[nodiscard]] std::optional<int> queried(std::span<const int> tokens, std::span<const int> blocks) const {
    const auto keys = [&](int block) {
      return tokens.subspan(static_cast<std::size_t>(block * list_.block), static_cast<std::size_t>(list_.block - 1));
    };
    std::vector<int> places;
    for (int place = 0; const int block : blocks) {
      if (std::ranges::equal(keys(block), keys(list_.blocks()))) places.push_back(place);
      ++place;
    }
    if (static_cast<int>(places.size()) != list_.burstiness) return std::nullopt;
    return repeats_.rank(places);
  }

  block_list list_;
  subsets distractors_, repeats_;
};

/// Writes the pairs of one sequence: a token goes to all blocks of its pair.
template <class Choices>
class pair_writer {
public:
  pair_writer(Choices& choose, const block_list& list, pair_places places, std::span<int> tokens)
      : choose_(choose), list_(list), places_(std::move(places)), tokens_(tokens) {}

  /// Who makes the choices.
  [[nodiscard]] Choices& choose() const noexcept { return choose_; }
  /// k.
  [[nodiscard]] int block() const noexcept { return list_.block; }
  /// The number of different pairs.
  [[nodiscard]] int pairs() const noexcept { return list_.different_pairs(); }
  /// Whether a pair is never asked for.
  [[nodiscard]] bool is_distractor(int pair) const noexcept { return pair >= pairs() - list_.distractors; }
  /// What was written as the r-th token of a pair.
  [[nodiscard]] int token(int pair, int r) const noexcept { return tokens_[static_cast<std::size_t>(place(pair, r))]; }
  /// Draws the r-th token of a pair, and takes it out of the pool.
  int draw(int pair, int r, pool& from) {
    const int token = choose_.token(place(pair, r), from);
    from.remove(token);
    return put(pair, r, token);
  }
  /// Writes the r-th token of a pair, which is certain.
  int set(int pair, int r, int token) { return put(pair, r, choose_.token(place(pair, r), token)); }
  /// Writes the query, and returns the answer. Of pairs that stand in one block each, a uniform one is asked for.
  int ask() {
    const int pair = places_.repeated >= 0 ? places_.repeated : choose_.among(list_.pairs);
    return show_query(choose_, list_, places_.block(pair), tokens_);
  }

private:
  [[nodiscard]] int place(int pair, int r) const noexcept { return places_.block(pair) * block() + r; }
  int put(int pair, int r, int token) {
    tokens_[static_cast<std::size_t>(place(pair, r))] = token;
    if (pair == places_.repeated)
      for (const int further : places_.further) {
        const int copy = further * block() + r;
        tokens_[static_cast<std::size_t>(copy)] = choose_.token(copy, token);
      }
    return token;
  }

  Choices& choose_;
  block_list list_;
  pair_places places_;
  std::span<int> tokens_;
};

}  // namespace detail
}  // namespace lindyn::population
