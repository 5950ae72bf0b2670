// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the loss on the manifold needs to know of a population: which places of a sequence are related, and how.
///
/// On the manifold all scores and logits depend on a sequence through the 0/1 matrices between its own tokens and
/// positions alone. Sequences that agree in them are merged, and sequences that differ in their last place alone (the
/// query) share everything else, their *trunk*: under a causal mask its rows don't see the query.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/reduced/lanes.hpp>

namespace lindyn::reduced {

/// How two places are related: a token selection and a position selection, -1 where none holds. The score that a
/// related pair adds in a block is the sum of the two coordinates.
struct pair_kind {
  int token = -1;     ///< token selection
  int position = -1;  ///< position selection
  /// Ordered by the token selection, then the position selection.
  friend constexpr auto operator<=>(const pair_kind&, const pair_kind&) noexcept = default;
};

/// A related pair of places of the trunk, in relation_plan::kinds[kind].
struct related_pair {
  int row = 0;     ///< the asking place
  int column = 0;  ///< the place asked
  int kind = 0;    ///< how they are related
};

/// Selection `selection` of the token at `column` adds to the logit in `slot`.
struct logit_entry {
  int selection = 0;  ///< a token selection
  int column = 0;     ///< a place of the trunk
  int slot = 0;       ///< of the logit
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
    int slot = 0;       ///< of the logit
    lanes mask{};       ///< for which queries it holds
  };
  int count = 0;                           ///< queries
  lanes weight{};                          ///< 0 in unused lanes
  std::array<int, lanes::count> answer{};  ///< slot of the answer
  std::vector<relation> rows;              ///< pairs (query, trunk column)
  std::vector<relation> columns;           ///< pairs (trunk row `column`, query)
  std::vector<self_relation> self;         ///< pairs (query, query)
  std::vector<self_logit> logits;          ///< what the query's own token adds
};

/// A trunk of T places with the queries that follow it.
struct relation_context {
  int trunk = 0;                     ///< T
  std::vector<related_pair> pairs;   ///< sorted by row, then column
  std::vector<int> row_begin;        ///< T + 1 places in `pairs`
  std::vector<related_pair> causal;  ///< the pairs with column <= row
  std::vector<int> causal_begin;     ///< T + 1 places in `causal`
  std::vector<logit_entry> logits;   ///< what the trunk's tokens add
  int slots = 0;                     ///< tokens whose logits may differ from the common one of all others
  double others = 0;                 ///< number of these others
  std::vector<query_block> queries;  ///< all that follow the trunk
};

/// A population, compiled for one manifold.
struct relation_plan {
  std::vector<pair_kind> kinds;            ///< all kinds that occur
  std::vector<relation_context> contexts;  ///< the trunks with their queries
  int longest_trunk = 0;                   ///< largest relation_context::trunk
  int most_slots = 0;                      ///< largest relation_context::slots

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

/// Compiles sequences one by one, merging what agrees.
class plan_builder {
public:
  explicit plan_builder(const manifold::basis& basis) : tokens_(basis.tokens()), positions_(basis.positions()) {
    for (const auto* set : {&tokens_, &positions_})
      require(set->structure().orbit_count() == 1 && set->centred() == manifold::centring::orbit_mean, "basis",
              "one with several orbits or without centring",
              "centred, with one orbit of tokens and one of positions; use reduced::plain_model for others");
  }

  void add(const task::sequence& sequence) {
    require_valid(sequence);
    if (sequence.weight == 0) return;
    const int trunk = static_cast<int>(sequence.tokens.size()) - 1;
    relation_context context;
    context.trunk = trunk;
    // Trunks are one if the same places are related, and the same logits added to.
    std::vector<int> key{trunk};
    std::map<int, int> slots;  // token -> slot, numbered in the order in which the trunk reaches them
    for (int j = 0; j < trunk; ++j)
      for (int s = 0; s < tokens_.count(); ++s)
        for (const int v : relatives(sequence.tokens[static_cast<std::size_t>(j)], s)) {
          context.logits.push_back({s, j, slot_of(slots, v)});
          key.push_back(context.logits.back().slot);
        }
    context.row_begin.push_back(0);
    context.causal_begin.push_back(0);
    for (int i = 0; i < trunk; ++i) {
      for (int j = 0; j < trunk; ++j)
        if (const int kind = kind_of(sequence, i, j); kind >= 0) {
          context.pairs.push_back({i, j, kind});
          if (j <= i) context.causal.push_back({i, j, kind});
          key.insert(key.end(), {i, j, kind});
        }
      context.row_begin.push_back(static_cast<int>(context.pairs.size()));
      context.causal_begin.push_back(static_cast<int>(context.causal.size()));
    }
    const auto [found, added] = places_.try_emplace(std::move(key), entries_.size());
    if (added) entries_.push_back({std::move(context), {}});
    add_query(sequence, entries_[found->second], std::move(slots));
  }

  /// Merges nothing that follows with anything so far; returns the number of contexts so far.
  std::size_t separate() {
    places_.clear();
    return entries_.size();
  }

  [[nodiscard]] relation_plan finish() && {
    relation_plan plan;
    plan.kinds.resize(kinds_.size());
    for (const auto& [kind, place] : kinds_) plan.kinds[static_cast<std::size_t>(place)] = kind;
    for (auto& [context, queries] : entries_) {
      for (const auto& [asked, weight] : queries) {
        if (context.queries.empty() || context.queries.back().count == lanes::count) {
          context.queries.emplace_back();
        }
        append(context.queries.back(), asked, weight.sum + weight.lost);
      }
      context.others = tokens_.size() - context.slots;
      plan.longest_trunk = std::max(plan.longest_trunk, context.trunk);
      plan.most_slots = std::max(plan.most_slots, context.slots);
      plan.contexts.push_back(std::move(context));
    }
    return plan;
  }

private:
  /// Everything about a query that enters its loss.
  struct query {
    std::vector<std::array<int, 2>> rows, columns, logits;  // (column, kind), (row, kind), (selection, slot)
    int self = -1, answer = 0;
    friend auto operator<=>(const query&, const query&) = default;
  };
  /// A sum of weights, compensated (Neumaier), so that millions of small ones merge without loss.
  struct weight_sum {
    double sum = 0, lost = 0;
    void operator+=(double weight) noexcept {
      const double next = sum + weight;
      lost += sum >= weight ? (sum - next) + weight : (weight - next) + sum;
      sum = next;
    }
  };
  struct entry {
    relation_context context;
    std::map<query, weight_sum> queries;
  };

  void require_valid(const task::sequence& sequence) const {
    require(!sequence.tokens.empty(), "sequence.tokens.size()", 0, "at least 1");
    require_extent("sequence.positions.size()", sequence.positions.size(), sequence.tokens.size());
    require(sequence.weight >= 0 && sequence.weight <= 1e300, "sequence.weight", sequence.weight,
            "finite and not negative");
    const auto in_range = [](std::string_view argument, int value, int size) {
      require(value >= 0 && value < size, argument, value, "in [0, " + std::to_string(size) + ")");
    };
    for (const int token : sequence.tokens) in_range("sequence.tokens", token, tokens_.size());
    for (const int position : sequence.positions) in_range("sequence.positions", position, positions_.size());
    in_range("sequence.answer", sequence.answer, tokens_.size());
  }

  [[nodiscard]] static int slot_of(std::map<int, int>& slots, int token) {
    return slots.try_emplace(token, static_cast<int>(slots.size())).first->second;
  }

  [[nodiscard]] std::vector<int> relatives(int token, int selection) const {
    std::vector<int> result;
    for (int v = 0; v < tokens_.size(); ++v)
      if (tokens_.between(v, token) == selection) result.push_back(v);
    return result;
  }

  [[nodiscard]] int kind_of(const task::sequence& sequence, int i, int j) {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    const pair_kind kind{tokens_.between(sequence.tokens[a], sequence.tokens[b]),
                         positions_.between(sequence.positions[a], sequence.positions[b])};
    if (kind == pair_kind{}) return -1;
    return kinds_.try_emplace(kind, static_cast<int>(kinds_.size())).first->second;
  }

  void add_query(const task::sequence& sequence, entry& into, std::map<int, int> slots) {
    const int trunk = into.context.trunk;
    query asked;
    for (int j = 0; j < trunk; ++j) {
      if (const int kind = kind_of(sequence, trunk, j); kind >= 0) asked.rows.push_back({j, kind});
      if (const int kind = kind_of(sequence, j, trunk); kind >= 0) asked.columns.push_back({j, kind});
    }
    asked.self = kind_of(sequence, trunk, trunk);
    for (int s = 0; s < tokens_.count(); ++s)
      for (const int v : relatives(sequence.tokens[static_cast<std::size_t>(trunk)], s))
        asked.logits.push_back({s, slot_of(slots, v)});
    asked.answer = slot_of(slots, sequence.answer);
    into.context.slots = std::max(into.context.slots, static_cast<int>(slots.size()));
    into.queries[std::move(asked)] += sequence.weight;
  }

  static void append(query_block& block, const query& asked, double weight) {
    const int lane = block.count++;
    block.weight[lane] = weight;
    block.answer[static_cast<std::size_t>(lane)] = asked.answer;
    // One masked entry serves all lanes for which the same holds.
    const auto mark = [lane](auto& entries, const auto& entry, auto same) {
      auto found = std::ranges::find_if(entries, same);
      if (found == entries.end()) found = entries.insert(entries.end(), entry);
      found->mask[lane] = 1;
    };
    const auto relate = [&](std::vector<query_block::relation>& entries, int place, int kind) {
      mark(entries, query_block::relation{place, kind},
           [=](const auto& other) { return other.column == place && other.kind == kind; });
    };
    for (const auto& [column, kind] : asked.rows) relate(block.rows, column, kind);
    for (const auto& [row, kind] : asked.columns) relate(block.columns, row, kind);
    if (asked.self >= 0)
      mark(block.self, query_block::self_relation{asked.self},
           [&](const auto& other) { return other.kind == asked.self; });
    for (const auto& logit : asked.logits) {
      const int selection = logit[0], slot = logit[1];
      mark(block.logits, query_block::self_logit{selection, slot},
           [=](const auto& other) { return other.selection == selection && other.slot == slot; });
    }
  }

  const manifold::selection_set& tokens_;
  const manifold::selection_set& positions_;
  std::map<pair_kind, int> kinds_;
  std::map<std::vector<int>, std::size_t> places_;
  std::vector<entry> entries_;
};

}  // namespace detail

/// Compiles a population: relational types, or all sequences, which are then merged into types here.
/// The weights are taken as they are (they should sum to 1).
/// Throws argument_error if the basis isn't centred or has several orbits, or a sequence doesn't fit it.
template <population::weighted_sequences Sequences>
[[nodiscard]] relation_plan compile_relations(const manifold::basis& basis, Sequences&& sequences) {
  detail::plan_builder builder(basis);
  for (auto&& sequence : sequences) builder.add(sequence);
  return std::move(builder).finish();
}

}  // namespace lindyn::reduced
