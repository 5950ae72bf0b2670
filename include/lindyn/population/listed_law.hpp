// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `listed_law`: a data law made of any weighted sequences, with the symmetry that the user claims for it.

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/population/enumeration.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>
#include <lindyn/symmetry/joint.hpp>

namespace lindyn::population {

/// Bring your own: the sequences of a law one by one.
///
/// Any range will do whose elements convert to task::sequence. Weights say how often a sequence is drawn, relative to
/// the sum of all, so that they may be counts; a sequence that is listed several times has the sum of its weights.
///
///     struct example {
///       std::vector<int> tokens, positions;
///       int answer;
///       operator task::sequence() const { return {tokens, positions, answer}; }
///     };
///     const std::vector<example> examples = ..;  // V = 3 tokens at P = 4 positions; both may be turned
///     const population::listed_law law(examples, 3, 4, {{.tokens = {1, 2, 0}, .positions = {0, 1, 2, 3}},
///                                                       {.tokens = {0, 1, 2}, .positions = {1, 2, 3, 0}}});
///
/// A law of too many sequences for a list is written as a process: a class with sizes(), structure(), and the call
/// operator template of recall_tokens and slot_positions, is a data_law.
class listed_law {
public:
  /// \param sequences  of one length, tokens and answers in [0, V), positions in [0, P), weights finite and >= 0
  /// \param structure  the symmetry claimed for the law, V tokens and P positions. That the weights are invariant isn't
  ///                   checked here: see enumerate_types.
  /// Throws argument_error (shape_error for differing lengths), naming the sequence and its entry.
  template <weighted_sequences R>
  listed_law(R&& sequences, symmetry::stream_structure structure)
      : structure_(std::move(structure)), table_(distinct(sequence_table::from(sequences))) {
    prepare_draws();
  }
  /// \param vocabulary,positions  V and P
  /// \param generators            of the symmetry; throws as symmetry::from_generators does
  template <weighted_sequences R>
  listed_law(R&& sequences, int vocabulary, int positions, std::vector<symmetry::generator> generators)
      : listed_law(sequences, symmetry::from_generators(vocabulary, positions, std::move(generators))) {}

  /// V, P and n.
  [[nodiscard]] process_sizes sizes() const noexcept {
    return {structure_.tokens.size(), structure_.positions.size(), table_.length()};
  }
  /// The symmetry that is claimed.
  [[nodiscard]] const symmetry::stream_structure& structure() const noexcept { return structure_; }
  /// The distinct sequences of positive weight in lexicographic order; their weights sum to 1.
  [[nodiscard]] const sequence_table& table() const noexcept { return table_; }

  /// The place of a sequence in the table.
  [[nodiscard]] std::optional<index> find(const task::sequence& given) const {
    index first = 0, last = table_.size();
    while (first < last) {
      const index middle = first + (last - first) / 2;
      if (precedes(table_[middle], given))
        first = middle + 1;
      else
        last = middle;
    }
    if (first == table_.size() || precedes(given, table_[first])) return std::nullopt;
    return first;
  }

  /// The process: two choices, whatever the number of sequences.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    int place = choose.among(static_cast<int>(table_.size()));
    if (!choose.chance(kept_[static_cast<std::size_t>(place)])) place = alias_[static_cast<std::size_t>(place)];
    const task::sequence sequence = table_[place];
    std::ranges::copy(sequence.tokens, tokens.begin());
    std::ranges::copy(sequence.positions, positions.begin());
    return sequence.answer;
  }

  /// Visits every sequence once, until `visit` returns false.
  template <class Visit>
  void enumerate(Visit&& visit) const {
    for (const task::sequence& sequence : table_)
      if (!detail::goes_on(visit, sequence)) return;
  }

  /// The weight of a sequence, 0 if it isn't listed.
  [[nodiscard]] double probability(const task::sequence& given) const {
    const auto place = find(given);
    return place ? table_[*place].weight : 0.0;
  }

  /// The orbits of the sequences under the generators: exact for any group.
  /// Throws invariance_error if a generator carries a sequence to one of another weight, too_many_error beyond `bound`.
  [[nodiscard]] relational_types enumerate_types(index bound = 20'000) const {
    symmetry::disjoint_sets orbits(static_cast<std::size_t>(table_.size()));
    for (std::size_t g = 0; g < structure_.generators.size(); ++g)
      for (index place = 0; place < table_.size(); ++place)
        orbits.unite(static_cast<int>(place), static_cast<int>(image(g, place)));
    const std::vector<int> type_of = std::move(orbits).labels();  // numbered in the order of their first sequences
    const auto count = static_cast<index>(1 + std::ranges::max(type_of));
    if (count > bound)
      throw too_many_error("relational types", static_cast<double>(count), static_cast<double>(bound),
                           "name more generators if the law has them, or raise the bound");
    std::vector<task::sequence> types;
    for (index place = 0; place < table_.size(); ++place) {
      const auto type = static_cast<std::size_t>(type_of[static_cast<std::size_t>(place)]);
      if (type == types.size())
        types.push_back(table_[place]);
      else
        types[type].weight += table_[place].weight;
    }
    return {sequence_table::from(types), static_cast<double>(table_.size())};
  }

private:
  static bool precedes(const task::sequence& a, const task::sequence& b) {
    const auto compare = [](std::span<const int> x, std::span<const int> y) {
      return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
    };
    auto order = compare(a.tokens, b.tokens);
    if (order == 0) order = compare(a.positions, b.positions);
    return order == 0 ? a.answer < b.answer : order < 0;
  }

  /// Checks the entries of all sequences, sorts those of positive weight, adds up equal ones, and divides by the sum.
  [[nodiscard]] sequence_table distinct(const sequence_table& given) const {
    for (index place = 0; place < given.size(); ++place) {
      const std::string which = "sequences[" + std::to_string(place) + "].";
      require_below(which + "tokens", given[place].tokens, structure_.tokens.size());
      require_below(which + "positions", given[place].positions, structure_.positions.size());
      require_below(which + "answer", std::span(&given.view().answers[static_cast<std::size_t>(place)], 1),
                    structure_.tokens.size());
    }
    const double total = given.total_weight();
    require(total > 0 && total <= std::numeric_limits<double>::max(), "the sum of the weights", total,
            "finite and positive");
    std::vector<index> order;
    for (index place = 0; place < given.size(); ++place)
      if (given[place].weight > 0) order.push_back(place);
    std::ranges::stable_sort(order, precedes, [&](index place) { return given[place]; });

    sequence_table result(given.length());
    for (auto place = order.begin(); place != order.end();) {
      task::sequence sequence = given[*place];
      for (++place; place != order.end() && !precedes(sequence, given[*place]); ++place)
        sequence.weight += given[*place].weight;
      sequence.weight /= total;
      result.append(sequence);
    }
    require(result.size() <= std::numeric_limits<int>::max(), "sequences.size()", result.size(), "at most 2^31 - 1");
    return result;
  }
  static void require_below(const std::string& argument, std::span<const int> values, int size) {
    for (const int value : values)
      require(value >= 0 && value < size, argument, value, "in [0, " + std::to_string(size) + ")");
  }

  /// The place of the image of a sequence under a generator. Throws invariance_error if that has another weight.
  [[nodiscard]] index image(std::size_t g, index place) const {
    const auto& [tokens, positions] = structure_.generators[g];
    const task::sequence sequence = table_[place];
    const auto move = [](const symmetry::permutation& p, std::span<const int> values) {
      std::vector<int> moved;
      for (const int value : values) moved.push_back(p[static_cast<std::size_t>(value)]);
      return moved;
    };
    const std::vector<int> moved_tokens = move(tokens, sequence.tokens);
    const std::vector<int> moved_positions = move(positions, sequence.positions);
    const auto found = find({moved_tokens, moved_positions, tokens[static_cast<std::size_t>(sequence.answer)]});
    const double weight = found ? table_[*found].weight : 0.0;
    if (std::abs(weight - sequence.weight) > 1e-9 * sequence.weight)
      throw invariance_error("the law isn't invariant: generator " + std::to_string(g) + " carries table()[" +
                             std::to_string(place) + "] of weight " + lindyn::detail::to_text(sequence.weight) +
                             " to a sequence of weight " + lindyn::detail::to_text(weight));
    return *found;
  }

  /// Tables for drawing in constant time: place i is kept with probability kept_[i], else alias_[i] is taken.
  /// Source: Vose, "A linear algorithm for generating random numbers with a given distribution", IEEE Transactions on
  /// Software Engineering 17 (1991).
  void prepare_draws() {
    const auto count = static_cast<int>(table_.size());
    std::vector<int> below, above;
    for (int place = 0; place < count; ++place) {
      kept_.push_back(table_[place].weight * count);
      alias_.push_back(place);
      (kept_.back() < 1 ? below : above).push_back(place);
    }
    while (!below.empty() && !above.empty()) {
      const int taker = below.back(), giver = above.back();
      below.pop_back();
      alias_[static_cast<std::size_t>(taker)] = giver;
      double& rest = kept_[static_cast<std::size_t>(giver)];
      rest -= 1 - kept_[static_cast<std::size_t>(taker)];
      if (rest >= 1) continue;
      above.pop_back();
      below.push_back(giver);
    }
    // What is left over is 1 but for rounding, and its own alias.
  }

  symmetry::stream_structure structure_;
  sequence_table table_;
  std::vector<double> kept_;
  std::vector<int> alias_;
};

}  // namespace lindyn::population
