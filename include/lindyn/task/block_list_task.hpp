// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Block-list tasks as types: what a compile-time manifold has to know of them.

#include <concepts>
#include <cstddef>
#include <string_view>

namespace lindyn::task {

/// A block-list task at compile time.
/// - `T::block`: k, tokens of a block.
/// - `T::token_selections`: the names of the selections of tokens, an array of std::string_view in the order of the
///   orbitals that the symmetry of the task's law has: {"I"}, {"I", "C"}, ..
template <class T>
concept block_list_task = requires {
  { T::block } -> std::convertible_to<int>;
  { T::token_selections.size() } -> std::convertible_to<std::size_t>;
  { T::token_selections[0] } -> std::convertible_to<std::string_view>;
};

}  // namespace lindyn::task
