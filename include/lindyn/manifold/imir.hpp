// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The invariant manifold of a task and a network, known at compile time.

#include <array>
#include <string>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/labels.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/population/position_laws.hpp>
#include <lindyn/task/associative_recall.hpp>

namespace lindyn::manifold {

namespace detail {

template <class Positions>
struct position_selections;
template <>
struct position_selections<positions::slots> {
  static constexpr int of(int block) noexcept { return block; }
};
template <int P>
struct position_selections<positions::ring<P>> {
  static constexpr int of(int) noexcept { return P - 1; }
};

}  // namespace detail

/// The manifold of block-list tasks (IMIR): its dimension, coordinates and labels are constants. Each class of tokens
/// is centred for itself, so that rare tokens need selections of their own.
/// \tparam Task      task::associative_recall<block<k>, ..> or any other block_list_task
/// \tparam Net       model::attention_only<layers<L>, heads<H>>
/// \tparam Positions positions::slots, or positions::ring<P>
///
///     using recall = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;
///     using net    = lindyn::model::attention_only<lindyn::layers<2>, lindyn::heads<1>>;
///     using imir   = lindyn::manifold::imir<recall, net>;
///     static_assert(imir::dimension == 28);  // with rare_tokens too: 37
template <task::block_list_task Task, class Net, class Positions = positions::slots>
struct imir {
  static_assert(Net::layers != dynamic && Net::heads != dynamic,
                "lindyn: imir needs the numbers of layers and heads at compile time; at run time use "
                "manifold::layout or manifold::basis.");
  using task = Task;               ///< what is asked
  using net = Net;                 ///< of which network
  using position_law = Positions;  ///< where blocks stand

  /// |T|: {I}, {I, C}, or what else the task's features make of its tokens.
  static constexpr int token_selections = static_cast<int>(Task::token_selections.size());
  /// |P|: {I, M, .., M^(k-1)} for slots, {M^0, .., M^(P-2)} for a ring.
  static constexpr int position_selections = detail::position_selections<Positions>::of(Task::block);
  /// Which coordinate stands where.
  static constexpr manifold::layout layout{Net::layers, Net::heads, token_selections, position_selections};
  /// dim S.
  static constexpr index dimension = layout.dimension();
  /// A point of the manifold.
  using coordinates = std::array<double, static_cast<std::size_t>(dimension)>;

  /// The coordinate at a place in [0, dimension).
  [[nodiscard]] static constexpr coordinate at(index place) noexcept { return layout.at(place); }
  /// The place of a coordinate.
  [[nodiscard]] static constexpr index place(const coordinate& which) noexcept { return layout.place(which); }
  /// The label of the coordinate at a place.
  [[nodiscard]] static constexpr label_text label(index place) {
    const coordinate which = layout.at(place);
    return manifold::label(layout, which, selection_name(layout, which.selection, Task::token_selections));
  }
  /// What the coordinate at a place does, in a sentence; with a strength below zero, the reverse.
  [[nodiscard]] static std::string describe(index place, double strength = 1) {
    return manifold::describe(layout, layout.at(place), Task::token_selections, {}, strength);
  }
  /// All weights zero.
  [[nodiscard]] static constexpr coordinates origin() noexcept { return {}; }

  /// The basis of the full weights, for the vocabulary and the positions of a law. Throws shape_error if the law's
  /// structure has another number of selections, argument_error if one of them has another name than here.
  template <class Law>
  [[nodiscard]] static manifold::basis basis(const Law& law) {
    manifold::basis result(Net::layers, Net::heads, law.structure());
    require_extent("law.structure().tokens.orbital_count()", result.layout().token_selections(), token_selections);
    require_extent("law.structure().positions.orbital_count()", result.layout().position_selections(),
                   position_selections);
    for (int s = 0; s < layout.selections(); ++s) {
      const label_text expected = selection_name(layout, s, Task::token_selections);
      const std::string name = result.selection_name(s);
      require(expected == name, "the name of selection " + std::to_string(s) + " of law.structure()", name,
              std::string(expected.view()) + ", as imir has it");
    }
    return result;
  }
};

}  // namespace lindyn::manifold
