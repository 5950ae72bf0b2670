// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The relations between a sequence's places, weighted with the coordinates of a block: X_a R of eight rows.

#include <algorithm>
#include <span>
#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>

namespace lindyn::reduced::detail {

/// The score that each kind of related pair adds in one block of an attention weight, and the gradient by it.
class pair_scores {
public:
  pair_scores(const manifold::layout& layout, std::vector<pair_kind> kinds)
      : tokens_(layout.token_selections()),
        kinds_(std::move(kinds)),
        score_(kinds_.size()),
        gradient_(kinds_.size()),
        gradient_lanes_(kinds_.size()) {}

  /// Takes the scores from the coordinates of the block that begins at `place`.
  void load(std::span<const double> coordinates, index place) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const auto [token, position] = kinds_[kind];
      score_[kind] = (token < 0 ? 0 : coordinates[at(place + token)]) +
                     (position < 0 ? 0 : coordinates[at(place + tokens_ + position)]);
    }
  }
  /// Adds the gradient by the scores to that by the coordinates.
  void store(std::span<double> gradient, index place) const {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const auto [token, position] = kinds_[kind];
      if (token >= 0) gradient[at(place + token)] += gradient_[kind];
      if (position >= 0) gradient[at(place + tokens_ + position)] += gradient_[kind];
    }
  }
  /// By kind.
  [[nodiscard]] std::span<const double> scores() const noexcept { return score_; }
  [[nodiscard]] std::span<double> gradients() noexcept { return gradient_; }

  /// y += X_a R, with R weighted by the kinds' scores.
  void relate(const relation_context& context, const row_block& block, int query_copy, const lanes* x, lanes* y) const {
    const int self = context.trunk;
    if (query_copy == 0 && !block.queries) {  // X_0 is the identity
      for (int row = block.first; row < block.columns; ++row)
        for_pairs(context, row, block.columns,
                  [&](const related_pair& pair) { y[pair.column][row - block.first] += score_[at(pair.kind)]; });
      return;
    }
    if (query_copy > 0)
      for (int row = 0; row < block.columns; ++row)
        for_pairs(context, row, block.columns,
                  [&](const related_pair& pair) { y[pair.column] += x[row] * score_[at(pair.kind)]; });
    if (!block.queries) return;
    const query_block& queries = *block.queries;
    const lanes weight = query_copy == 0 ? lanes::all(1.0) : x[self];
    for (const auto& [column, kind, mask] : queries.rows) y[column] += weight * mask * score_[at(kind)];
    lanes own = y[self];
    for (const auto& [kind, mask] : queries.self) own += weight * mask * score_[at(kind)];
    if (query_copy > 0)
      for (const auto& [row, kind, mask] : queries.columns) own += x[row] * mask * score_[at(kind)];
    y[self] = own;
  }

  /// The adjoint of relate: dX_a += dY R', and the gradient of the kinds' scores.
  void relate_backward(const relation_context& context, const row_block& block, int query_copy, const lanes* x,
                       const lanes* dy, lanes* dx) {
    const int self = context.trunk;
    if (query_copy == 0 && !block.queries) {
      std::ranges::fill(gradient_, 0.0);
      for (int row = block.first; row < block.columns; ++row)
        for_pairs(context, row, block.columns,
                  [&](const related_pair& pair) { gradient_[at(pair.kind)] += dy[pair.column][row - block.first]; });
      return;
    }
    std::ranges::fill(gradient_lanes_, lanes{});
    if (query_copy > 0)
      for (int row = 0; row < block.columns; ++row) {
        const lanes from = x[row];
        lanes back = dx[row];
        for_pairs(context, row, block.columns, [&](const related_pair& pair) {
          const lanes& to = dy[pair.column];
          gradient_lanes_[at(pair.kind)] += from * to;
          back += to * score_[at(pair.kind)];
        });
        dx[row] = back;
      }
    if (block.queries) {
      const query_block& queries = *block.queries;
      const lanes weight = query_copy == 0 ? lanes::all(1.0) : x[self], to_self = dy[self];
      lanes back{};
      const auto pass = [&](int kind, const lanes& mask, const lanes& to) {
        const lanes masked{to * mask};
        gradient_lanes_[at(kind)] += weight * masked;
        back += masked * score_[at(kind)];
      };
      for (const auto& [column, kind, mask] : queries.rows) pass(kind, mask, dy[column]);
      for (const auto& [kind, mask] : queries.self) pass(kind, mask, to_self);
      if (query_copy > 0) {
        dx[self] += back;
        for (const auto& [row, kind, mask] : queries.columns) {
          const lanes masked{to_self * mask};
          gradient_lanes_[at(kind)] += x[row] * masked;
          dx[row] += masked * score_[at(kind)];
        }
      }
    }
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) gradient_[kind] = gradient_lanes_[kind].sum();
  }

private:
  template <class Work>
  static void for_pairs(const relation_context& context, int row, int columns, Work&& work) {
    for (int e = context.row_begin[at(row)]; e < context.row_begin[at(row) + 1]; ++e) {
      const related_pair& pair = context.pairs[at(e)];
      if (pair.column >= columns) break;
      work(pair);
    }
  }

  int tokens_;
  std::vector<pair_kind> kinds_;
  std::vector<double> score_, gradient_;
  std::vector<lanes> gradient_lanes_;
};

}  // namespace lindyn::reduced::detail
