// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the tokens of block lists are drawn: `recall_tokens`, `ngram_tokens`, `stored_association_tokens` and
/// `directed_association_tokens`.
///
/// All of them have rare tokens, burstiness and distractors: see `rare_class` and `block_list`. With b = burstiness > 1
/// the queried pair fills b of the N blocks (same keys, same label) at uniform places, and the N - b others hold other
/// pairs. D = distractors further blocks at uniform places hold tokens of their own, rare ones as often as pairs do,
/// and are never asked for. What is said of the pairs' order is the order of their first blocks, distractors last.

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <lindyn/population/block_list.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/population/token_classes.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

namespace detail {

/// The process that the token laws of recall share.
/// \tparam Pairs  draws the tokens of the different pairs: distinct_pairs or matched_pairs
template <class Pairs>
class recall_process {
public:
  /// The sizes of the list.
  [[nodiscard]] const block_list& list() const noexcept { return list_; }
  /// The symmetry of the tokens.
  [[nodiscard]] const symmetry::structure& structure() const noexcept { return structure_; }

  /// Writes the tokens, returns the answer.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    pair_writer write(choose, drawn_, order_(choose), tokens);
    pairs_(write);
    return write.ask();
  }

protected:
  /// \param drawn  the list with the blocks that are told apart when it is drawn
  recall_process(const block_list& list, const block_list& drawn, Pairs pairs, symmetry::structure structure)
      : list_(list), drawn_(drawn), order_(drawn), pairs_(std::move(pairs)), structure_(std::move(structure)) {}

  /// How the tokens of the pairs are drawn.
  [[nodiscard]] const Pairs& pairs() const noexcept { return pairs_; }

private:
  block_list list_, drawn_;
  pair_order order_;
  Pairs pairs_;
  symmetry::structure structure_;
};

}  // namespace detail

/// All tokens of the different pairs are distinct and uniform over their class; the queried block is uniform. With
/// k = 2 this is associative recall (IMIR, task of section 2), with k > 2 in-context k-gram completion. A distractor is
/// a pair like the others, so that the law with D distractors is that of N + D pairs. Symmetry: all permutations of
/// the common tokens, and all of the rare ones.
class recall_tokens : public detail::recall_process<detail::distinct_pairs> {
public:
  /// Throws argument_error if fewer than 1 pair, fewer than 2 tokens a block, or too few tokens: as many of each class
  /// that is drawn as the different pairs have (or 3).
  explicit recall_tokens(const block_list& list, const rare_class& rare = {})
      : recall_tokens(list, classes(list, rare)) {}

private:
  recall_tokens(const block_list& list, const detail::token_classes& classes)
      : recall_process(list, without_distractors(list), detail::distinct_pairs(classes),
                       classes.structure(symmetry::full_symmetric(classes.common()))) {}

  [[nodiscard]] static detail::token_classes classes(const block_list& list, const rare_class& rare) {
    detail::require_block_list(list);
    const int distinct = list.different_pairs() * list.block;
    return {list, rare, false, distinct, std::to_string(distinct) + " distinct tokens"};
  }
  [[nodiscard]] static block_list without_distractors(block_list list) {
    list.pairs += std::exchange(list.distractors, 0);
    return list;
  }
};

/// N blocks of k distinct tokens; the answer completes the one whose first k - 1 tokens are shown again.
[[nodiscard]] inline recall_tokens ngram_tokens(int k, int blocks, int vocabulary) {
  return recall_tokens({blocks, vocabulary, k});
}

namespace detail {

/// What the common tokens of matched pairs must suffice for.
struct matched_needs {
  int keys;    ///< of all pairs
  int labels;  ///< of all pairs, if some may be varied; else 0

  /// Throws argument_error for an invalid list, or if within_class is no probability.
  matched_needs(const block_list& list, double within_class) {
    require_block_list(list);
    require_probability("within_class", within_class);
    keys = list.different_pairs() * (list.block - 1);
    labels = within_class > 0 || list.distractors > 0 ? list.different_pairs() : 0;
  }
};

}  // namespace detail

/// Tokens are matched in couples (2i, 2i + 1), C(v) being the partner of v, and labels can be recalled from the
/// weights. First the keys of all pairs: distinct couples in uniform order, either member with probability 1/2. Then
/// the labels, pair by pair, in order and independently: the label is C(item) with probability 1 - within_class, else
/// uniform over the tokens that are no key, no earlier label and not C(item). It may be another item's partner, and so
/// be repeated by a later stored label. The queried block is uniform. Symmetry: the permutations that keep couples
/// together, Z_2 wr S_(V/2), as C occurs in both orientations. (IMIR leaves these details open; they are
/// our choice.)
///
/// Whether a pair is rare is decided before its keys are drawn; the label of a rare one comes in its turn, uniform over
/// the rare tokens that don't occur yet. A distractor's label is never C(item): it is drawn, after all others, as that
/// of a varied pair.
class stored_association_tokens : public detail::recall_process<detail::matched_pairs> {
public:
  /// \param list          sizes
  /// \param within_class  probability f_v that a label is not the item's partner
  /// \param rare          the class of rare tokens, if there is one
  /// Throws argument_error if the number of common tokens is odd or too small for the draws, or within_class is no
  /// probability.
  stored_association_tokens(const block_list& list, double within_class, const rare_class& rare = {})
      : stored_association_tokens(list, within_class, classes(list, within_class, rare)) {}

  /// f_v.
  [[nodiscard]] double within_class() const noexcept { return pairs().within_class(); }

private:
  stored_association_tokens(const block_list& list, double within_class, const detail::token_classes& classes)
      : recall_process(list, list,
                       detail::matched_pairs(classes, {0, classes.common()}, {0, classes.common()}, within_class),
                       classes.structure(symmetry::matching(classes.common()))) {}

  [[nodiscard]] static detail::token_classes classes(const block_list& list, double within_class,
                                                     const rare_class& rare) {
    const auto [keys, varied] = detail::matched_needs(list, within_class);
    // A varied label needs a token beside the keys, the earlier labels and the item's own partner; couples make it even.
    return {list, rare, true, std::max(2 * keys, varied > 0 ? (keys + varied + 2) / 2 * 2 : 0),
            "the keys' couples and varied labels"};
  }
};

/// Items and labels are tokens of their own: the even ones are items, 2i + 1 = C(2i) is the label of 2i, and labels can
/// be recalled from the weights. First the keys of all pairs: distinct items, uniform. Then the labels, pair by pair,
/// in order and independently: the label is C(item) with probability 1 - within_class, else uniform over the labels but
/// for earlier ones and C(item); it may be another item's, and so be repeated by a later stored label. The queried
/// block is uniform. Symmetry: the permutations of the couples, S_(V/2), which keep the sides. Rare tokens and
/// distractors are as in stored_association_tokens.
class directed_association_tokens : public detail::recall_process<detail::matched_pairs> {
public:
  /// \param list          sizes
  /// \param within_class  probability f_v that a label is not the item's own
  /// \param rare          the class of rare tokens, if there is one
  /// Throws argument_error if the number of common tokens is odd or too small for the draws, or within_class is no
  /// probability.
  directed_association_tokens(const block_list& list, double within_class, const rare_class& rare = {})
      : directed_association_tokens(list, within_class, classes(list, within_class, rare)) {}

  /// f_v.
  [[nodiscard]] double within_class() const noexcept { return pairs().within_class(); }

private:
  directed_association_tokens(const block_list& list, double within_class, const detail::token_classes& classes)
      : recall_process(list, list,
                       detail::matched_pairs(classes, {0, classes.common(), 2}, {1, classes.common(), 2}, within_class),
                       classes.structure(symmetry::directed_matching(classes.common()))) {}

  [[nodiscard]] static detail::token_classes classes(const block_list& list, double within_class,
                                                     const rare_class& rare) {
    const auto [keys, varied] = detail::matched_needs(list, within_class);
    // A varied label needs one beside the earlier labels and the item's own.
    return {list, rare, true, 2 * std::max(keys, varied > 0 ? varied + 1 : 0), "the keys and varied labels"};
  }
};

}  // namespace lindyn::population
