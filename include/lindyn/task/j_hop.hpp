// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The task of following a chain of blocks.

#include <array>
#include <string_view>

namespace lindyn::task {

/// Recall along a chain: among N blocks of two tokens, j form a chain a_0 -> a_1 -> .. -> a_j in any order. Shown a_0,
/// answer a_j; one hop is associative recall. The law is population::j_hop_tokens.
/// \tparam Hops  j, at least 1
template <int Hops>
struct j_hop {
  static_assert(Hops >= 1, "lindyn: j_hop needs at least one hop.");
  /// Tokens of a block.
  static constexpr int block = 2;
  /// j, hops from the query to the answer.
  static constexpr int hops = Hops;
  /// Names of the selections of tokens.
  static constexpr std::array<std::string_view, 1> token_selections{"I"};
};

}  // namespace lindyn::task
