// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The task of looking up a label by two things at once.

#include <array>
#include <string_view>

namespace lindyn::task {

/// Conditional retrieval: blocks [condition key label], one for each pair of m conditions and q = N / m keys. Shown a
/// condition and a key, answer with the label of the block where both match. The law is
/// population::conditional_retrieval_tokens.
/// \tparam Conditions  m, at least 2
template <int Conditions>
struct conditional_retrieval {
  static_assert(Conditions >= 2, "lindyn: conditional_retrieval needs at least two conditions.");
  /// Tokens of a block.
  static constexpr int block = 3;
  /// m, distinct conditions of a sequence.
  static constexpr int conditions = Conditions;
  /// Names of the selections of tokens.
  static constexpr std::array<std::string_view, 1> token_selections{"I"};
};

}  // namespace lindyn::task
