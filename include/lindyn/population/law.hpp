// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Data laws: tokens, positions and the symmetry they promise; and the laws of compile-time tasks.

#include <span>
#include <type_traits>
#include <utility>

#include <lindyn/population/conditional_retrieval_tokens.hpp>
#include <lindyn/population/enumeration.hpp>
#include <lindyn/population/indirect_object_tokens.hpp>
#include <lindyn/population/j_hop_tokens.hpp>
#include <lindyn/population/permutation_inversion_tokens.hpp>
#include <lindyn/population/position_laws.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/population/token_laws.hpp>
#include <lindyn/symmetry/joint.hpp>
#include <lindyn/task/associative_recall.hpp>
#include <lindyn/task/conditional_retrieval.hpp>
#include <lindyn/task/indirect_object.hpp>
#include <lindyn/task/j_hop.hpp>
#include <lindyn/task/permutation_inversion.hpp>

namespace lindyn::population {

/// A data law: its sizes, the symmetry it promises (checked by compare::confinement), exact enumeration, probabilities
/// and samples. Processes are laws; `listed_law` makes one of any weighted sequences.
template <class L>
concept data_law = requires(const L& law, const task::sequence& sequence, random_choices& choose, std::span<int> out) {
  { law.sizes() } -> std::convertible_to<process_sizes>;
  { law.structure() } -> std::convertible_to<symmetry::stream_structure>;
  {enumerate(law, [](const task::sequence&) {})};
  { probability(law, sequence) } -> std::convertible_to<double>;
  { law(choose, out, out) } -> std::convertible_to<int>;
};

/// Tokens and positions drawn independently of each other.
/// \tparam TokenLaw     recall_tokens, stored_association_tokens or alike
/// \tparam PositionLaw  slot_positions, ring_positions or alike
template <class TokenLaw, class PositionLaw>
class law {
public:
  /// The law that draws from both.
  law(TokenLaw tokens, PositionLaw positions) : tokens_(std::move(tokens)), positions_(std::move(positions)) {}

  /// Where the tokens come from.
  [[nodiscard]] const TokenLaw& tokens() const noexcept { return tokens_; }
  /// Where the positions come from.
  [[nodiscard]] const PositionLaw& positions() const noexcept { return positions_; }
  /// V, P and n.
  [[nodiscard]] process_sizes sizes() const noexcept {
    return {tokens_.list().vocabulary, positions_.positions(), tokens_.list().length()};
  }
  /// The product of both symmetries.
  [[nodiscard]] symmetry::stream_structure structure() const {
    return symmetry::product(tokens_.structure(), positions_.structure());
  }

  /// The process: writes tokens and positions, returns the answer.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    positions_(choose, positions);
    return tokens_(choose, tokens);
  }

private:
  TokenLaw tokens_;
  PositionLaw positions_;
};

/// Options of recall_law.
struct recall_options {
  int pairs = 4;              ///< N, blocks before the query that may be asked for
  int vocabulary = 16;        ///< V, tokens, rare ones included
  double within_class = 0.5;  ///< f_v, probability of a label other than the stored one; unused without associations
  int slots = 0;              ///< m, slots of positions; 0: pairs + distractors + 2 (positions::slots only)
  double rare = 0;            ///< f_r, probability that the tokens of a pair are rare (rare_tokens only)
  int rare_vocabulary = 0;    ///< V_r, rare tokens, the last ones of the vocabulary; at least 3 (rare_tokens only)
  int burstiness = 1;         ///< b, blocks among the N that hold the queried pair
  int distractors = 0;        ///< D, further blocks that are never asked for
};

namespace detail {

inline void require_no_rare_tokens(const recall_options& options) {
  require(options.rare == 0, "rare", options.rare, "0, as the task has no rare_tokens");
  require(options.rare_vocabulary == 0, "rare_vocabulary", options.rare_vocabulary,
          "0, as the task has no rare_tokens");
}

/// The block list of a task without features.
template <class Task>
[[nodiscard]] block_list featureless(const recall_options& options) {
  require_no_rare_tokens(options);
  return {options.pairs, options.vocabulary, Task::block, options.burstiness, options.distractors};
}

}  // namespace detail

/// The token law of a task: `task_tokens<Task>::law(options)` makes it, throwing argument_error for options that leave
/// nothing to draw. Specialise it for a block-list task of your own, and recall_law is its law.
template <class Task>
struct task_tokens;

/// Associative recall, with any features.
template <class Block, class... Features>
struct task_tokens<task::associative_recall<Block, Features...>> {
  /// recall_tokens, stored_association_tokens or directed_association_tokens.
  [[nodiscard]] static auto law(const recall_options& options) {
    using recall = task::associative_recall<Block, Features...>;
    const block_list list{options.pairs, options.vocabulary, recall::block, options.burstiness, options.distractors};
    const rare_class rare{options.rare, options.rare_vocabulary};
    if constexpr (recall::rare)
      require(rare.rare_vocabulary >= 3, "rare_vocabulary", rare.rare_vocabulary,
              "at least 3, as the task has rare_tokens");
    else
      detail::require_no_rare_tokens(options);
    if constexpr (recall::stored)
      return stored_association_tokens(list, options.within_class, rare);
    else if constexpr (recall::directed)
      return directed_association_tokens(list, options.within_class, rare);
    else
      return recall_tokens(list, rare);
  }
};

/// Recall along a chain of blocks.
template <int Hops>
struct task_tokens<task::j_hop<Hops>> {
  /// j_hop_tokens of j hops.
  [[nodiscard]] static j_hop_tokens law(const recall_options& options) {
    return {detail::featureless<task::j_hop<Hops>>(options), Hops};
  }
};

/// The other one of two names.
template <>
struct task_tokens<task::indirect_object> {
  /// indirect_object_tokens.
  [[nodiscard]] static indirect_object_tokens law(const recall_options& options) {
    return indirect_object_tokens(detail::featureless<task::indirect_object>(options));
  }
};

/// A label found by a condition and a key.
template <int Conditions>
struct task_tokens<task::conditional_retrieval<Conditions>> {
  /// conditional_retrieval_tokens of m conditions and pairs / m keys.
  [[nodiscard]] static conditional_retrieval_tokens law(const recall_options& options) {
    return {detail::featureless<task::conditional_retrieval<Conditions>>(options), Conditions};
  }
};

/// What a permutation carries to a token.
template <>
struct task_tokens<task::permutation_inversion> {
  /// permutation_inversion_tokens.
  [[nodiscard]] static permutation_inversion_tokens law(const recall_options& options) {
    return permutation_inversion_tokens(detail::featureless<task::permutation_inversion>(options));
  }
};

namespace detail {

template <class Positions>
[[nodiscard]] auto position_law(const block_list& list, int slots) {
  if constexpr (std::is_same_v<Positions, lindyn::positions::slots>) {
    return slot_positions(list, slots);
  } else {
    require(slots == 0, "slots", slots, "0, as a ring has no slots");
    return ring_positions(list, Positions::size);
  }
}

template <class Task, class Positions>
[[nodiscard]] auto law_of(const recall_options& options) {
  require_probability("within_class", options.within_class);  // even of a task without associations
  auto tokens = task_tokens<Task>::law(options);
  auto positions = position_law<Positions>(tokens.list(), options.slots);
  return law(std::move(tokens), std::move(positions));
}

template <class Task, class Positions>
using law_type = decltype(law_of<Task, Positions>({}));

}  // namespace detail

/// The law of a compile-time task: `recall_law<task>{{.pairs = 16, .vocabulary = 64}}`.
template <task::block_list_task Task, class Positions = lindyn::positions::slots>
class recall_law : public detail::law_type<Task, Positions> {
public:
  /// Throws argument_error, naming the option, for options that leave nothing to draw, and for any but their defaults
  /// that the task or its positions don't have. Only within_class is taken by every task, and must be a probability.
  explicit recall_law(const recall_options& options)
      : detail::law_type<Task, Positions>(detail::law_of<Task, Positions>(options)) {}
};

/// The relational types of a law under the symmetry it promises.
template <class Law>
[[nodiscard]] relational_types enumerate_types(const Law& law, index bound = 20'000) {
  if constexpr (requires { law.enumerate_types(bound); }) {
    return law.enumerate_types(bound);
  } else {
    const auto structure = law.structure();
    return enumerate_types(law, structure.tokens, structure.positions, bound);
  }
}

}  // namespace lindyn::population
