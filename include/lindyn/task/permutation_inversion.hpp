// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The task of inverting a permutation that is shown in context.

#include <array>
#include <string_view>

namespace lindyn::task {

/// Permutation inversion: blocks [x pi(x)] of a permutation pi of N tokens. Shown a token, answer with the one that pi
/// carries to it. The law is population::permutation_inversion_tokens.
struct permutation_inversion {
  /// Tokens of a block.
  static constexpr int block = 2;
  /// Names of the selections of tokens.
  static constexpr std::array<std::string_view, 1> token_selections{"I"};
};

}  // namespace lindyn::task
