// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `indirect_object_tokens`: the other one of two names.

#include <span>

#include <lindyn/population/block_list.hpp>
#include <lindyn/population/distinct_tokens.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

/// Each of the N blocks holds two names; all 2N are distinct and uniform. The query is one of the 2N, uniform, that is
/// either member of a uniform block, and the answer is the other member of its block. N = 1 is the classic "A and B ..
/// B gave to A".
///
///     N = 2:   [5 2] [8 3]   3 -> 8
///
/// Recall in both directions: the answer stands before the query's name as often as after it. Symmetry: all
/// permutations of the tokens. (IMIR names the task; several couples of names are our generalisation.)
class indirect_object_tokens {
public:
  /// Throws argument_error if the blocks aren't of two tokens, or there are fewer than 2N (or 3) tokens.
  explicit indirect_object_tokens(const block_list& list) : list_(list) {
    detail::require_block_list(list);
    detail::require_distinct(list, 2, 2 * list.pairs);
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
    for (int place = 0; place < query; ++place) at(place) = detail::draw_unused(choose, unused, place);
    const int shown = choose.among(query);
    at(query) = choose.token(query, at(shown));
    return at(shown ^ 1);
  }

private:
  block_list list_;
};

}  // namespace lindyn::population
