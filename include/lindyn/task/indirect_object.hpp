// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The task of naming the other one of two.

#include <array>
#include <string_view>

namespace lindyn::task {

/// Indirect object: in a list of N couples of names, one name is shown again; answer with the other one of its couple.
/// N = 1 is "A and B .. B gave to A". The law is population::indirect_object_tokens.
struct indirect_object {
  /// Tokens of a block.
  static constexpr int block = 2;
  /// Names of the selections of tokens.
  static constexpr std::array<std::string_view, 1> token_selections{"I"};
};

}  // namespace lindyn::task
