// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `j_hop_tokens`: recall along a chain of blocks.

#include <algorithm>
#include <span>
#include <string>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/block_list.hpp>
#include <lindyn/population/distinct_tokens.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

/// A chain a_0 -> a_1 -> .. -> a_j stands in j of the N blocks of two, [a_0 a_1], [a_1 a_2], .., [a_(j-1) a_j]; the
/// other N - j blocks are distractors of two tokens each. All 2N - j + 1 tokens are distinct and uniform, and so is
/// the order of the blocks. The query is a_0, the answer a_j: with j = 1 this is associative recall.
///
///     j = 2, N = 3:   [7 4] [1 9] [3 7]   3 -> 4
///
/// Symmetry: all permutations of the tokens. (IMIR names the task; that the distractors form no chain of their own and
/// that the blocks' order is uniform are our choice.)
class j_hop_tokens {
public:
  /// \param list  blocks of two tokens
  /// \param hops  j, in [1, N]
  /// Throws argument_error if hops or list.block is another number, or there are fewer than 2N - j + 1 (or 3) tokens.
  j_hop_tokens(const block_list& list, int hops) : list_(list), hops_(hops) {
    detail::require_block_list(list);
    require(hops >= 1 && hops <= list.pairs, "hops", hops,
            "at least 1 and at most pairs = " + std::to_string(list.pairs) + ", as every hop takes a block");
    detail::require_distinct(list, 2, 2 * list.pairs - hops + 1);
  }

  /// N blocks, V tokens, two tokens a block.
  [[nodiscard]] const block_list& list() const noexcept { return list_; }
  /// j.
  [[nodiscard]] int hops() const noexcept { return hops_; }
  /// The symmetry of the tokens.
  [[nodiscard]] symmetry::structure structure() const { return symmetry::full_symmetric(list_.vocabulary); }

  /// Writes the tokens, returns the answer. Follows the chain from the query, each hop into one of the blocks that are
  /// still empty, so that a given sequence is told apart from all others hop by hop.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    constexpr int empty = -1;
    const auto at = [&](int place) -> int& { return tokens[static_cast<std::size_t>(place)]; };
    auto& unused = choose.tokens();
    std::ranges::fill(tokens, empty);
    int end = list_.pairs * 2;  // where the last token of the chain stands, at first the query
    at(end) = detail::draw_unused(choose, unused, end);
    for (int hop = 0; hop < hops_; ++hop) {
      int item = 0;
      for (int skipped = choose.among(list_.pairs - hop); at(item) != empty || skipped-- > 0;) item += 2;
      at(item) = choose.token(item, at(end));
      end = item + 1;
      at(end) = detail::draw_unused(choose, unused, end);
    }
    for (int place = 0; place < list_.pairs * 2; ++place)
      if (at(place) == empty) at(place) = detail::draw_unused(choose, unused, place);
    return at(end);
  }

private:
  block_list list_;
  int hops_;
};

}  // namespace lindyn::population
