// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `compile_relations`: from sequences to a relation_plan.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/reduced/point_classes.hpp>
#include <lindyn/reduced/relational_plan.hpp>

namespace lindyn::reduced {

namespace detail {

/// Compiles sequences one by one, merging what agrees.
class plan_builder {
public:
  explicit plan_builder(const manifold::basis& basis)
      : tokens_(basis.tokens()), positions_(basis.positions()), token_classes_(tokens_), position_classes_(positions_) {
    for (const auto* set : {&tokens_, &positions_})
      require(set->centred() == manifold::centring::orbit_mean, "basis", "one without centring",
              "centred; use reduced::plain_model for others");
  }

  void add(const task::sequence& sequence) {
    require_valid(sequence);
    if (sequence.weight == 0) return;
    const int trunk = static_cast<int>(sequence.tokens.size()) - 1;
    relation_context context;
    context.trunk = trunk;
    // Trunks are one if places of the same classes are related, and the same logits added to.
    for (int j = 0; j < trunk; ++j) context.classes.push_back(class_of(sequence, j));
    std::vector<int> key{trunk};
    key.insert(key.end(), context.classes.begin(), context.classes.end());
    slot_numbers slots;
    for (int j = 0; j < trunk; ++j) {
      const int token = sequence.tokens[at(j)];
      for (int s = 0; s < tokens_.count(); ++s) {
        for (const int v : relatives(token, s)) {
          context.logits.push_back({s, j, slot_of(v, slots, context)});
          key.push_back(context.logits.back().slot);
        }
        if (const auto [row, column] = token_classes_.block(s); column == token_classes_.of(token))
          context.shifts.push_back({s, j, row, -tokens_.mean(s)});
      }
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
    for (const auto& [relations, kind] : kinds_) {
      const auto [token, position] = relations;
      if (token >= 0) plan.kinds[at(kind)].push_back({token});
      if (position >= 0) plan.kinds[at(kind)].push_back({tokens_.count() + position});
    }
    std::map<pair_kind, int> class_kinds;
    for (auto& [context, queries] : entries_) {
      const std::vector<int> classes = number_classes(context, queries);
      for (const int row : classes)
        for (const int column : classes) {
          int& kind = context.class_kinds.emplace_back(-1);
          if (column == classes.front()) continue;
          const auto [found, added] =
              class_kinds.try_emplace(class_kind(row, column, classes.front()), static_cast<int>(plan.kinds.size()));
          if (added) plan.kinds.push_back(found->first);
          kind = found->second;
        }
      for (const auto& [asked, weight] : queries) {
        if (context.queries.empty() || context.queries.back().count == lanes::count) context.queries.emplace_back();
        const auto place_class = std::ranges::find(classes, asked.place_class) - classes.begin();
        context.queries.back().classes.resize(classes.size());
        append(context.queries.back(), asked, static_cast<int>(place_class), weight.sum + weight.lost);
      }
      for (int which = 0; which < token_classes_.count(); ++which)
        context.others.push_back(
            static_cast<double>(token_classes_.size(which) - std::ranges::count(context.slots, which)));
      count_unrelated(context);
      plan.longest_trunk = std::max(plan.longest_trunk, context.trunk);
      plan.contexts.push_back(std::move(context));
    }
    return plan;
  }

private:
  /// Everything about a query that enters its loss.
  struct query {
    std::vector<std::array<int, 2>> rows, columns, logits;  // (column, kind), (row, kind), (selection, slot)
    int self = -1, place_class = 0, answer = 0;
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
  /// The slots of one sequence's tokens.
  struct slot_numbers {
    std::map<int, int> of_token;
    std::vector<bool> taken;  // by slot
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

  /// The slot of a token: a new one takes the first of its class that the sequence has no token for, so that a slot is
  /// of one class for all queries of a trunk.
  [[nodiscard]] int slot_of(int token, slot_numbers& numbers, relation_context& context) const {
    const auto [found, added] = numbers.of_token.try_emplace(token, 0);
    if (!added) return found->second;
    const int token_class = token_classes_.of(token);
    std::size_t slot = 0;
    numbers.taken.resize(context.slots.size());
    while (slot < context.slots.size() && (numbers.taken[slot] || context.slots[slot] != token_class)) ++slot;
    if (slot == context.slots.size()) {
      context.slots.push_back(token_class);
      numbers.taken.push_back(false);
    }
    numbers.taken[slot] = true;
    return found->second = static_cast<int>(slot);
  }

  [[nodiscard]] std::vector<int> relatives(int token, int selection) const {
    std::vector<int> result;
    for (int v = 0; v < tokens_.size(); ++v)
      if (tokens_.between(v, token) == selection) result.push_back(v);
    return result;
  }

  [[nodiscard]] int kind_of(const task::sequence& sequence, int i, int j) {
    const std::pair relations(tokens_.between(sequence.tokens[at(i)], sequence.tokens[at(j)]),
                              positions_.between(sequence.positions[at(i)], sequence.positions[at(j)]));
    if (relations == std::pair(-1, -1)) return -1;
    return kinds_.try_emplace(relations, static_cast<int>(kinds_.size())).first->second;
  }

  /// The class of a place, among all of the basis.
  [[nodiscard]] int class_of(const task::sequence& sequence, int place) const {
    return token_classes_.of(sequence.tokens[at(place)]) * position_classes_.count() +
           position_classes_.of(sequence.positions[at(place)]);
  }

  /// What a pair of places of these classes adds to the score, against a pair whose column is of class `reference`.
  [[nodiscard]] pair_kind class_kind(int row, int column, int reference) const {
    const int positions = position_classes_.count();
    pair_kind result;
    token_classes_.append_shift(result, 0, row / positions, column / positions, reference / positions);
    position_classes_.append_shift(result, tokens_.count(), row % positions, column % positions, reference % positions);
    return result;
  }

  void add_query(const task::sequence& sequence, entry& into, slot_numbers slots) {
    const int trunk = into.context.trunk, token = sequence.tokens[at(trunk)];
    query asked;
    for (int j = 0; j < trunk; ++j) {
      if (const int kind = kind_of(sequence, trunk, j); kind >= 0) asked.rows.push_back({j, kind});
      if (const int kind = kind_of(sequence, j, trunk); kind >= 0) asked.columns.push_back({j, kind});
    }
    asked.self = kind_of(sequence, trunk, trunk);
    asked.place_class = class_of(sequence, trunk);
    for (int s = 0; s < tokens_.count(); ++s)
      for (const int v : relatives(token, s)) asked.logits.push_back({s, slot_of(v, slots, into.context)});
    asked.answer = slot_of(sequence.answer, slots, into.context);
    into.queries[std::move(asked)] += sequence.weight;
  }

  /// Numbers the classes of a context's places in the order in which trunk and queries reach them; returns what they
  /// were among all classes of the basis.
  static std::vector<int> number_classes(relation_context& context, const std::map<query, weight_sum>& queries) {
    std::vector<int> classes;
    const auto number = [&](int which) {
      const auto found = std::ranges::find(classes, which);
      const auto result = static_cast<int>(found - classes.begin());
      if (found == classes.end()) classes.push_back(which);
      return result;
    };
    for (int& which : context.classes) which = number(which);
    for (const auto& [asked, weight] : queries) number(asked.place_class);
    context.class_count = static_cast<int>(classes.size());
    return classes;
  }

  static void count_unrelated(relation_context& context) {
    context.unrelated.assign(at(context.class_count * context.trunk), 0);
    for (int i = 0; i < context.trunk; ++i) {
      const auto count = [&](int column) -> int& {
        return context.unrelated[at(context.classes[at(column)] * context.trunk + i)];
      };
      for (int j = 0; j <= i; ++j) ++count(j);
      for (int e = context.causal_begin[at(i)]; e < context.causal_begin[at(i) + 1]; ++e)
        --count(context.causal[at(e)].column);
    }
  }

  /// \param place_class  the query's, as numbered in its context
  void append(query_block& block, const query& asked, int place_class, double weight) const {
    const int lane = block.count++;
    block.weight[lane] = weight;
    block.classes[at(place_class)][lane] = 1;
    block.answer[at(lane)] = asked.answer;
    // One masked entry serves all lanes for which the same holds.
    const auto mark = [lane](auto& entries, const auto& first, auto same, double factor = 1) {
      auto found = std::ranges::find_if(entries, same);
      if (found == entries.end()) found = entries.insert(entries.end(), first);
      found->mask[lane] = factor;
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
    const auto add_to = [&](std::vector<query_block::self_logit>& entries, int selection, int slot, double factor) {
      mark(
          entries, query_block::self_logit{selection, slot},
          [=](const auto& other) { return other.selection == selection && other.slot == slot; }, factor);
    };
    for (const auto& [selection, slot] : asked.logits) add_to(block.logits, selection, slot, 1);
    for (int s = 0; s < tokens_.count(); ++s)
      if (const auto [row, column] = token_classes_.block(s); column == asked.place_class / position_classes_.count())
        add_to(block.shifts, s, row, -tokens_.mean(s));
  }

  const manifold::selection_set& tokens_;
  const manifold::selection_set& positions_;
  point_classes token_classes_, position_classes_;
  std::map<std::pair<int, int>, int> kinds_;
  std::map<std::vector<int>, std::size_t> places_;
  std::vector<entry> entries_;
};

}  // namespace detail

/// Compiles a population: relational types, or all sequences, which are then merged into types here.
/// The weights are taken as they are (they should sum to 1).
/// Throws argument_error if the basis isn't centred, or a sequence doesn't fit it.
template <population::weighted_sequences Sequences>
[[nodiscard]] relation_plan compile_relations(const manifold::basis& basis, Sequences&& sequences) {
  detail::plan_builder builder(basis);
  for (auto&& sequence : sequences) builder.add(sequence);
  return std::move(builder).finish();
}

}  // namespace lindyn::reduced
