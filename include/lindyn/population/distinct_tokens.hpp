// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What token laws that draw new tokens without any preference have in common.

#include <algorithm>
#include <string>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/block_list.hpp>
#include <lindyn/population/pool.hpp>

namespace lindyn::population::detail {

/// Draws the token at a place uniformly from those that are unused, and takes it out of them.
template <class Choices>
int draw_unused(Choices& choose, pool& unused, int place) {
  const int token = choose.token(place, unused);
  unused.remove(token);
  return token;
}

/// Throws argument_error unless the list has this number of tokens a block, neither burstiness nor distractors, and as
/// many distinct tokens (at least 3, as a class of tokens needs them) in its vocabulary. Comes after
/// require_block_list, which keeps the number of pairs so small that `distinct` can be computed from it.
inline void require_distinct(const block_list& list, int block, int distinct) {
  require(list.block == block, "block", list.block, std::to_string(block) + " for this law");
  require(list.burstiness == 1, "burstiness", list.burstiness, "1 for this law");
  require(list.distractors == 0, "distractors", list.distractors, "0 for this law");
  const int least = std::max(3, distinct);
  require(list.vocabulary >= least, "vocabulary", list.vocabulary,
          "at least " + std::to_string(least) + ", for " + std::to_string(distinct) + " distinct tokens");
}

}  // namespace lindyn::population::detail
