// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Weighted sequences in memory: what an enumeration, a list of types or a minibatch is stored in.

#include <concepts>
#include <ranges>
#include <vector>

#include <lindyn/task/batch.hpp>

namespace lindyn::population {

/// A population: any range of weighted (tokens, positions, answer).
template <class R>
concept weighted_sequences =
    std::ranges::input_range<R> && std::convertible_to<std::ranges::range_reference_t<R>, task::sequence>;

/// Owns sequences of one length; itself a population (a range of task::sequence), and a batch for a network.
class sequence_table {
public:
  /// Reaches the sequences in their order. (std::views would do, but not under clang 14 with GCC's library.)
  class iterator {
  public:
    /// \{
    /// As std::forward_iterator requires; the sequence is a view into the table.
    using value_type = task::sequence;
    using difference_type = index;

    iterator() = default;
    iterator(const sequence_table& table, index place) noexcept : table_(&table), place_(place) {}
    [[nodiscard]] task::sequence operator*() const noexcept { return (*table_)[place_]; }
    iterator& operator++() noexcept { return ++place_, *this; }
    iterator operator++(int) noexcept { return {*table_, place_++}; }
    friend bool operator==(const iterator&, const iterator&) noexcept = default;
    /// \}

  private:
    const sequence_table* table_ = nullptr;
    index place_ = 0;
  };

  /// \param length tokens in a sequence, n.
  explicit sequence_table(int length) : length_(length) { require(length >= 1, "length", length, "at least 1"); }

  /// Copies any population. Throws shape_error if the sequences differ in length, argument_error if there is none.
  template <weighted_sequences R>
  [[nodiscard]] static sequence_table from(R&& sequences) {
    auto place = std::ranges::begin(sequences);
    const auto end = std::ranges::end(sequences);
    require(place != end, "sequences", "an empty range", "at least one sequence");
    sequence_table result(static_cast<int>(task::sequence(*place).tokens.size()));
    for (; place != end; ++place) result.append(*place);
    return result;
  }

  /// Copies a sequence behind the last one. Throws shape_error for another length, argument_error for a weight that is
  /// negative or not finite.
  void append(const task::sequence& sequence) {
    require_extent("sequence.tokens.size()", sequence.tokens.size(), length_);
    require_extent("sequence.positions.size()", sequence.positions.size(), length_);
    require(sequence.weight >= 0 && sequence.weight <= 1e300, "sequence.weight", sequence.weight,
            "finite and not negative");
    tokens_.insert(tokens_.end(), sequence.tokens.begin(), sequence.tokens.end());
    positions_.insert(positions_.end(), sequence.positions.begin(), sequence.positions.end());
    answers_.push_back(sequence.answer);
    weights_.push_back(sequence.weight);
  }
  /// Makes room for `count` sequences.
  void reserve(index count) {
    const auto size = static_cast<std::size_t>(count);
    tokens_.reserve(size * static_cast<std::size_t>(length_));
    positions_.reserve(size * static_cast<std::size_t>(length_));
    answers_.reserve(size);
    weights_.reserve(size);
  }

  /// Number of sequences.
  [[nodiscard]] index size() const noexcept { return static_cast<index>(answers_.size()); }
  /// n, tokens of a sequence.
  [[nodiscard]] int length() const noexcept { return length_; }
  /// The first sequence.
  [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
  /// Behind the last sequence.
  [[nodiscard]] iterator end() const noexcept { return {*this, size()}; }
  /// The sequence at `place`, which isn't checked; it lives until the table changes.
  [[nodiscard]] task::sequence operator[](index place) const noexcept { return view()[place]; }
  /// All of them; it lives until the table changes.
  [[nodiscard]] task::batch_view view() const noexcept {
    return {{tokens_.data(), size(), length_}, {positions_.data(), size(), length_}, answers_, weights_};
  }
  /// The same, where a batch is asked for.
  operator task::batch_view() const noexcept { return view(); }

  /// Sum of the weights, compensated (Neumaier), so that an exact enumeration gives 1 to the last bits.
  [[nodiscard]] double total_weight() const noexcept {
    double sum = 0, lost = 0;
    for (const double weight : weights_) {
      const double next = sum + weight;
      lost += sum >= weight ? (sum - next) + weight : (weight - next) + sum;
      sum = next;
    }
    return sum + lost;
  }

private:
  int length_;
  std::vector<int> tokens_, positions_, answers_;
  std::vector<double> weights_;
};

static_assert(weighted_sequences<const sequence_table&> && std::ranges::forward_range<const sequence_table&>);

}  // namespace lindyn::population
