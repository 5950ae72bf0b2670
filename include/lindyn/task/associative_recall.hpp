// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Block-list tasks as types: what a compile-time manifold has to know of them.

#include <concepts>

#include <lindyn/core/sizes.hpp>

namespace lindyn {

/// Marks a task whose labels may be stored in the weights: tokens are matched in couples, and the selections of tokens
/// are {I, C} instead of {I}.
struct stored_association {};

namespace task {

/// Recall the token that followed the query's keys in a list of blocks.
/// \tparam Block     block<k>, k tokens of which the first k - 1 are shown again
/// \tparam Features  nothing, or stored_association
template <class Block, class... Features>
struct associative_recall {
  static_assert(((std::same_as<Features, stored_association>)&&...),
                "lindyn: the features of associative_recall are: stored_association.");
  static_assert(sizeof...(Features) <= 1, "lindyn: name each feature of associative_recall once.");
  static constexpr int block = Block::value;
  static constexpr bool association = sizeof...(Features) == 1;
};

/// Complete an in-context k-gram: the same as associative recall with k tokens a block.
template <int K>
using ngram = associative_recall<lindyn::block<K>>;

/// A block-list task at compile time.
template <class T>
concept block_list_task = requires {
  { T::block } -> std::convertible_to<int>;
  { T::association } -> std::convertible_to<bool>;
};

}  // namespace task
}  // namespace lindyn
