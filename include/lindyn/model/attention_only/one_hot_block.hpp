// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The one-hot input X_0 (n x D) of every sequence of a block: products with it are gathers, their adjoints scatters.

#include <algorithm>

#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/lanes.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::model::detail::inline LINDYN_VECTORS {

/// The sequences [begin, end) of a batch, in groups of one sequence a lane. Lanes behind the block's end repeat its
/// last sequence, with weight zero. The batch's arrays must outlive the block.
/// The loops stay functions of their own: inlined into a long one, GCC 12 keeps their variables in memory, which made
/// a whole step up to a third slower.
template <class Scalar>
class one_hot_block {
  using entry = lane_entry<Scalar>;
  static constexpr index lane_count = lanes<Scalar>::count;

public:
  one_hot_block() = default;
  one_hot_block(const task::batch_view& batch, index begin, index end, int vocabulary)
      : batch_(batch), begin_(begin), end_(end), vocabulary_(vocabulary) {}

  [[nodiscard]] index count() const noexcept { return end_ - begin_; }
  [[nodiscard]] index groups() const noexcept { return (count() + lane_count - 1) / lane_count; }
  [[nodiscard]] bool valid(index group, index lane) const noexcept { return group * lane_count + lane < count(); }
  [[nodiscard]] int answer(index group, index lane) const noexcept {
    return batch_.answers[static_cast<std::size_t>(sequence(group, lane))];
  }
  [[nodiscard]] double weight(index group, index lane) const noexcept {
    return valid(group, lane) ? batch_.weight(sequence(group, lane)) : 0;
  }
  /// Token of the last place, the one that asks; `row` counts the sequences of the block.
  [[nodiscard]] int query_token(index row) const noexcept {
    return tokens(row / lane_count, row % lane_count)[length() - 1];
  }
  [[nodiscard]] int query_position(index row) const noexcept {
    return positions(row / lane_count, row % lane_count)[length() - 1];
  }

  /// row_b += v_b X_0 for the group's sequences b; `first` points into the row of the block's first sequence.
  [[gnu::noinline]] void to_input(index group, const entry* v, Scalar* first, index stride) const {
    const index n = length();
    for (index lane = 0; lane < lane_count; ++lane) {
      Scalar* const row = first + (group * lane_count + lane) * stride;
      Scalar* const position_row = row + vocabulary_;
      const int *token = tokens(group, lane), *position = positions(group, lane);
      const Scalar* value = reinterpret_cast<const Scalar*>(v) + lane;
      for (index j = 0; j < n; ++j, value += lane_count) {
        const Scalar share = *value;
        row[token[j]] += share;
        position_row[position[j]] += share;
      }
    }
  }
  /// v_b = X_0 row_b', its adjoint.
  [[gnu::noinline]] void from_input(index group, const Scalar* first, index stride, entry* v) const {
    const index n = length();
    for (index lane = 0; lane < lane_count; ++lane) {
      const Scalar* const row = first + (group * lane_count + lane) * stride;
      const Scalar* const position_row = row + vocabulary_;
      const int *token = tokens(group, lane), *position = positions(group, lane);
      Scalar* value = reinterpret_cast<Scalar*>(v) + lane;
      for (index j = 0; j < n; ++j, value += lane_count) *value = row[token[j]] + position_row[position[j]];
    }
  }

  /// relation = X_0 W X_0' (n x n) for a D x D block of weights; only the lower tiles if `lower`.
  [[gnu::noinline]] void gather(index group, const Scalar* w, index stride, entry* relation, bool lower) const {
    const index n = length(), vocabulary = vocabulary_;
    for (index i = 0; i < n; ++i) {
      const index end = lower ? tile_end(i, n) : n;
      for (index lane = 0; lane < lane_count; ++lane) {
        const int *token = tokens(group, lane), *position = positions(group, lane);
        const Scalar* const by_token = w + token[i] * stride;
        const Scalar* const by_position = w + (vocabulary + position[i]) * stride;
        Scalar* value = reinterpret_cast<Scalar*>(relation + i * n) + lane;
        for (index j = 0; j < end; ++j, value += lane_count)
          *value = (by_token[token[j]] + by_token[vocabulary + position[j]]) +
                   (by_position[token[j]] + by_position[vocabulary + position[j]]);
      }
    }
  }
  /// W += X_0' relation X_0 over the group's valid lanes, its adjoint; of the lower triangle alone if `lower`.
  [[gnu::noinline]] void scatter(index group, const entry* relation, Scalar* w, index stride, bool lower) const {
    const index n = length(), vocabulary = vocabulary_;
    for (index i = 0; i < n; ++i) {
      const index end = lower ? i + 1 : n;
      for (index lane = 0; lane < lane_count && valid(group, lane); ++lane) {
        const int *token = tokens(group, lane), *position = positions(group, lane);
        Scalar* const by_token = w + token[i] * stride;
        Scalar* const by_position = w + (vocabulary + position[i]) * stride;
        const Scalar* value = reinterpret_cast<const Scalar*>(relation + i * n) + lane;
        for (index j = 0; j < end; ++j, value += lane_count) {
          const Scalar slope = *value;
          by_token[token[j]] += slope;
          by_token[vocabulary + position[j]] += slope;
          by_position[token[j]] += slope;
          by_position[vocabulary + position[j]] += slope;
        }
      }
    }
  }

private:
  [[nodiscard]] index length() const noexcept { return batch_.length(); }
  [[nodiscard]] index sequence(index group, index lane) const noexcept {
    return std::min(begin_ + group * lane_count + lane, end_ - 1);
  }
  [[nodiscard]] const int* tokens(index group, index lane) const noexcept {
    return batch_.tokens.data + sequence(group, lane) * length();
  }
  [[nodiscard]] const int* positions(index group, index lane) const noexcept {
    return batch_.positions.data + sequence(group, lane) * length();
  }

  task::batch_view batch_;
  index begin_ = 0, end_ = 0;
  index vocabulary_ = 0;
};

}  // namespace lindyn::model::detail::inline LINDYN_VECTORS
