// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the loss on the manifold needs to know of a population: which places of a sequence are related, and how.
///
/// On the manifold all scores and logits depend on a sequence through the 0/1 matrices between its own tokens and
/// positions alone, and through what centring takes from each block of these: a constant for each *class* of the row
/// and of the column, where the group has several orbits (see detail::point_classes). Sequences that agree in all that
/// are merged, and sequences that differ in their last place alone (the query) share everything else, their *trunk*:
/// under a causal mask its rows don't see the query.

#include <array>
#include <cstddef>
#include <vector>

#include <lindyn/core/views.hpp>
#include <lindyn/reduced/lanes.hpp>

namespace lindyn::reduced {

/// A coordinate's share in a score.
struct score_term {
  int selection = 0;  ///< of a block of an attention weight: token selections first, then position selections
  double factor = 1;  ///< of the coordinate
  /// Ordered by the selection, then the factor.
  friend constexpr auto operator<=>(const score_term&, const score_term&) noexcept = default;
};

/// How two places, or two classes of places, are related: what such a pair adds to the score in a block.
using pair_kind = std::vector<score_term>;

/// A related pair of places of the trunk, in relation_plan::kinds[kind].
struct related_pair {
  int row = 0;     ///< the asking place
  int column = 0;  ///< the place asked
  int kind = 0;    ///< how they are related
};

/// `factor` x selection `selection` of the token at `column` adds to the logit in `slot`.
struct logit_entry {
  int selection = 0;  ///< a token selection
  int column = 0;     ///< a place of the trunk
  int slot = 0;       ///< of the logit; in relation_context::shifts a token class
  double factor = 1;  ///< 1 but for shifts
};

/// Up to eight queries of one trunk. What holds for some of them only comes with a mask, 1 in their lanes and else 0.
struct query_block {
  /// A relation between the query and a place of the trunk.
  struct relation {
    int column = 0;  ///< the place
    int kind = 0;    ///< how they are related
    lanes mask{};    ///< for which queries it holds
  };
  /// A relation of the query with itself.
  struct self_relation {
    int kind = 0;  ///< how it is related
    lanes mask{};  ///< for which queries it holds
  };
  /// Selection `selection` of the query's token adds to the logit in `slot`.
  struct self_logit {
    int selection = 0;  ///< a token selection
    int slot = 0;       ///< of the logit; in `shifts` a token class
    lanes mask{};       ///< the factor, in the lanes of the queries for which it holds
  };
  int count = 0;                           ///< queries
  lanes weight{};                          ///< 0 in unused lanes
  std::array<int, lanes::count> answer{};  ///< slot of the answer
  std::vector<relation> rows;              ///< pairs (query, trunk column)
  std::vector<relation> columns;           ///< pairs (trunk row `column`, query)
  std::vector<self_relation> self;         ///< pairs (query, query)
  std::vector<lanes> classes;              ///< by class of places: which queries are of it
  std::vector<self_logit> logits;          ///< what the query's own token adds
  std::vector<self_logit> shifts;          ///< what centring takes from whole classes for it
};

/// A trunk of T places with the queries that follow it.
///
/// Its classes of places (token and position) are numbered from 0, the first place's. A row's score of a column of
/// class c is that of its relation, if any, plus what centring takes from their classes' block; the latter is given
/// against columns of class 0, since what all columns of a row have in common doesn't matter.
struct relation_context {
  int trunk = 0;                     ///< T
  std::vector<related_pair> pairs;   ///< sorted by row, then column
  std::vector<int> row_begin;        ///< T + 1 places in `pairs`
  std::vector<related_pair> causal;  ///< the pairs with column <= row
  std::vector<int> causal_begin;     ///< T + 1 places in `causal`
  int class_count = 1;               ///< K, classes of places in trunk and queries
  std::vector<int> classes;          ///< of the trunk's T places
  std::vector<int> class_kinds;      ///< K x K, kind of (row class, column class); -1 for columns of class 0
  std::vector<int> unrelated;        ///< K x T: number of columns of a class, <= row, that aren't related to the row
  std::vector<logit_entry> logits;   ///< what the trunk's tokens add
  std::vector<logit_entry> shifts;   ///< what centring takes from the logits of whole token classes
  std::vector<int> slots;            ///< tokens whose logits may differ from those of others: the class of each
  std::vector<double> others;        ///< by token class: number of tokens without slot
  std::vector<query_block> queries;  ///< all that follow the trunk
};

/// A population, compiled for one manifold.
struct relation_plan {
  std::vector<pair_kind> kinds;            ///< all kinds that occur
  std::vector<relation_context> contexts;  ///< the trunks with their queries
  int longest_trunk = 0;                   ///< largest relation_context::trunk

  /// Number of queries, that is of sequences that differ in their relations.
  [[nodiscard]] index types() const noexcept {
    index result = 0;
    for (const auto& context : contexts)
      for (const auto& block : context.queries) result += block.count;
    return result;
  }
};

namespace detail {

/// A vector's place, from the signed sizes used everywhere.
[[nodiscard]] constexpr std::size_t at(index place) noexcept { return static_cast<std::size_t>(place); }

}  // namespace detail

}  // namespace lindyn::reduced
