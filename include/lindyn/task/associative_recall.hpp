// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Associative recall and in-context k-grams, with the features that change the symmetry of their tokens.

#include <array>
#include <concepts>
#include <string_view>

#include <lindyn/core/sizes.hpp>
#include <lindyn/task/block_list_task.hpp>

namespace lindyn {

/// Marks a task whose labels may be stored in the weights: tokens are matched in couples of partners, each of which may
/// be the other's label. Their selections are {I, C}, C for partners.
struct stored_association {};

/// Marks a task whose labels may be stored in the weights, every token being either an item or a label. The selections
/// are {Ia, Ib, C, C'}: equal items, equal labels, the label of an item, the item of a label.
struct directed_association {};

/// Marks a task with a second class of tokens, rare ones without partners. Each class has its own selections, with the
/// suffix c (common) or r (rare) where names meet: {Ic, Ir}, {Ic, C, Ir}, {Ia, Ib, C, C', I}.
struct rare_tokens {};

namespace task {

namespace detail {

/// The names of the selections of tokens, in the order of the orbitals of the law's structure.
template <bool Stored, bool Directed, bool Rare>
[[nodiscard]] constexpr auto recall_selections() {
  using namespace std::string_view_literals;
  if constexpr (Stored && Rare)
    return std::array{"Ic"sv, "C"sv, "Ir"sv};
  else if constexpr (Stored)
    return std::array{"I"sv, "C"sv};
  else if constexpr (Directed && Rare)
    return std::array{"Ia"sv, "Ib"sv, "C"sv, "C'"sv, "I"sv};
  else if constexpr (Directed)
    return std::array{"Ia"sv, "Ib"sv, "C"sv, "C'"sv};
  else if constexpr (Rare)
    return std::array{"Ic"sv, "Ir"sv};
  else
    return std::array{"I"sv};
}

}  // namespace detail

/// Recall the token that followed the query's keys in a list of blocks. How sequences are drawn says
/// population::recall_law; what the manifold is, manifold::imir.
/// \tparam Block     block<k>, k tokens of which the first k - 1 are shown again
/// \tparam Features  any of stored_association or directed_association, and rare_tokens
template <class Block, class... Features>
struct associative_recall {
private:
  template <class Feature>
  static constexpr int times = (0 + ... + int{std::same_as<Features, Feature>});

  static_assert(times<lindyn::stored_association> + times<lindyn::directed_association> + times<lindyn::rare_tokens> ==
                    sizeof...(Features),
                "lindyn: the features of associative_recall are: stored_association, directed_association, "
                "rare_tokens.");
  static_assert(times<lindyn::stored_association> <= 1 && times<lindyn::directed_association> <= 1 &&
                    times<lindyn::rare_tokens> <= 1,
                "lindyn: name each feature of associative_recall once.");
  static_assert(times<lindyn::stored_association> + times<lindyn::directed_association> <= 1,
                "lindyn: stored_association and directed_association exclude each other: a couple is directed or not.");

public:
  /// k, tokens of a block.
  static constexpr int block = Block::value;
  /// Whether common tokens are matched in couples of partners.
  static constexpr bool stored = times<lindyn::stored_association> > 0;
  /// Whether common tokens are matched in couples of an item and its label.
  static constexpr bool directed = times<lindyn::directed_association> > 0;
  /// Whether there is a class of rare tokens.
  static constexpr bool rare = times<lindyn::rare_tokens> > 0;
  /// Names of the selections of tokens.
  static constexpr auto token_selections = detail::recall_selections<stored, directed, rare>();
};

/// Complete an in-context k-gram: the same as associative recall with k tokens a block.
template <int K>
using ngram = associative_recall<lindyn::block<K>>;

}  // namespace task
}  // namespace lindyn
