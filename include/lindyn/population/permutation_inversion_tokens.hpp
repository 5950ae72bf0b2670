// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `permutation_inversion_tokens`: which token does a permutation carry to this one?

#include <span>
#include <utility>

#include <lindyn/population/block_list.hpp>
#include <lindyn/population/distinct_tokens.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

/// The N blocks of two, [x pi(x)], show a permutation pi of N distinct tokens: the tokens x are uniform, in uniform
/// order, and pi is a uniform permutation of them (it may have fixed points, [x x]). The query is one of the N tokens,
/// uniform, and the answer is pi^-1(query), the token before it in the block where it comes second.
///
///     N = 3:   [4 9] [2 4] [9 2]   4 -> 2
///
/// Every token occurs once as first and once as second of a block, so that matching the query without regard to the
/// place finds pi(query) as well as pi^-1(query). Symmetry: all permutations of the tokens. (IMIR names the task; the
/// law is our choice.)
class permutation_inversion_tokens {
public:
  /// Throws argument_error if the blocks aren't of two tokens, or there are fewer than N (or 3) tokens.
  explicit permutation_inversion_tokens(const block_list& list) : list_(list) {
    detail::require_block_list(list);
    detail::require_distinct(list, 2, list.pairs);
  }

  /// N blocks, V tokens, two tokens a block.
  [[nodiscard]] const block_list& list() const noexcept { return list_; }
  /// The symmetry of the tokens.
  [[nodiscard]] symmetry::structure structure() const { return symmetry::full_symmetric(list_.vocabulary); }

  /// Writes the tokens, returns the answer.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    const auto at = [&](int place) -> int& { return tokens[static_cast<std::size_t>(place)]; };
    const int query = list_.pairs * 2;
    auto& unused = choose.tokens();
    for (int item = 0; item < query; item += 2) at(item) = at(item + 1) = detail::draw_unused(choose, unused, item);
    for (int image = 1; image < query; image += 2) {  // Fisher-Yates
      std::swap(at(image), at(image + 2 * choose.among((query - image + 1) / 2)));
      at(image) = choose.token(image, at(image));
    }
    const int asked = 2 * choose.among(list_.pairs);
    at(query) = choose.token(query, at(asked + 1));
    return at(asked);
  }

private:
  block_list list_;
};

}  // namespace lindyn::population
