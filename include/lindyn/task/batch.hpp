// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is asked of a network: weighted sequences of tokens at positions, each with the token that follows the last.

#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::task {

/// One sequence of a population: n tokens, their n positions, the answer, and the sequence's weight.
struct sequence {
  std::span<const int> tokens;     ///< n entries in [0, V)
  std::span<const int> positions;  ///< n entries in [0, P)
  int answer = 0;                  ///< the token that follows, in [0, V)
  double weight = 1.0;             ///< probability, or share of an average
};

/// Sequences of one length n, stored elsewhere. The loss of a batch is sum_b weight_b loss_b.
struct batch_view {
  matrix_view<const int> tokens;      ///< count x n
  matrix_view<const int> positions;   ///< count x n
  std::span<const int> answers;       ///< count
  std::span<const double> weights{};  ///< count, or empty: every sequence weighs 1 / count

  /// Number of sequences.
  [[nodiscard]] constexpr index count() const noexcept { return tokens.rows; }
  /// n, tokens of a sequence.
  [[nodiscard]] constexpr index length() const noexcept { return tokens.columns; }
  /// Weight of the sequence at `place`, 1 / count if all weigh the same.
  [[nodiscard]] constexpr double weight(index place) const noexcept {
    return weights.empty() ? 1.0 / static_cast<double>(count()) : weights[static_cast<std::size_t>(place)];
  }
  /// The sequence at `place`, which isn't checked.
  [[nodiscard]] constexpr sequence operator[](index place) const noexcept {
    return {tokens.row(place), positions.row(place), answers[static_cast<std::size_t>(place)], weight(place)};
  }
  /// The sequences [begin, end), with the weights they have here (needs explicit weights to be a part of an average).
  [[nodiscard]] constexpr batch_view slice(index begin, index end) const noexcept {
    const auto first = static_cast<std::size_t>(begin);
    const auto size = static_cast<std::size_t>(end - begin);
    return {{tokens.data + begin * tokens.columns, end - begin, tokens.columns},
            {positions.data + begin * positions.columns, end - begin, positions.columns},
            answers.subspan(first, size),
            weights.empty() ? weights : weights.subspan(first, size)};
  }
};

/// Throws unless the parts of the batch fit each other and all tokens and positions lie in their ranges.
inline void require_valid(const batch_view& batch, int vocabulary, int positions) {
  require(batch.count() >= 1, "batch.count()", batch.count(), "at least 1");
  require(batch.length() >= 1, "batch.length()", batch.length(), "at least 1");
  require_extent("batch.positions.rows", batch.positions.rows, batch.tokens.rows);
  require_extent("batch.positions.columns", batch.positions.columns, batch.tokens.columns);
  require_extent("batch.answers.size()", batch.answers.size(), batch.count());
  if (!batch.weights.empty()) require_extent("batch.weights.size()", batch.weights.size(), batch.count());
  const auto in_range = [](std::string_view argument, auto values, int size) {
    for (const int value : values)
      if (value < 0 || value >= size) require(false, argument, value, "in [0, " + std::to_string(size) + ")");
  };
  in_range("batch.tokens", batch.tokens, vocabulary);
  in_range("batch.positions", batch.positions, positions);
  in_range("batch.answers", batch.answers, vocabulary);
}

}  // namespace lindyn::task
