// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The relations between a sequence's places, weighted with the coordinates of a block: X_a R of eight rows.

#include <algorithm>
#include <span>
#include <vector>

#include <lindyn/reduced/class_sums.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>

namespace lindyn::reduced::detail {

/// The score that each kind of pair adds in one block of an attention weight, and the gradient by it. R is sparse, but
/// for a constant in each block of several classes of places: there X_a R needs no more than the sums of X_a by class.
class pair_scores {
public:
  explicit pair_scores(const relation_plan& plan)
      : score_(plan.kinds.size()), gradient_(plan.kinds.size()), gradient_lanes_(plan.kinds.size()) {
    int classes = 1;
    for (const auto& context : plan.contexts) classes = std::max(classes, context.class_count);
    row_sums_.resize(at(classes));
    column_sums_.resize(at(classes));
    for (std::size_t kind = 0; kind < plan.kinds.size(); ++kind)
      for (const score_term& term : plan.kinds[kind]) terms_.push_back({kind, term});
  }

  /// Takes the scores from the coordinates of the block that begins at `place`.
  void load(std::span<const double> coordinates, index place) {
    std::ranges::fill(score_, 0.0);
    for (const auto& [kind, term] : terms_) score_[kind] += term.factor * coordinates[at(place + term.selection)];
  }
  /// Adds the gradient by the scores to that by the coordinates.
  void store(std::span<double> gradient, index place) const {
    for (const auto& [kind, term] : terms_) gradient[at(place + term.selection)] += term.factor * gradient_[kind];
  }
  /// By kind.
  [[nodiscard]] std::span<const double> scores() const noexcept { return score_; }
  [[nodiscard]] std::span<double> gradients() noexcept { return gradient_; }

  /// y += X_a R, with R weighted by the kinds' scores.
  /// \param query_copy  a; X_0 is the identity, and isn't looked at
  void relate(const relation_context& context, const row_block& block, int query_copy, const lanes* x, lanes* y) {
    relate_pairs(context, block, query_copy, x, y);
    if (context.class_count == 1) return;
    if (query_copy == 0)
      gather_identity(context, block, row_sums_.data());
    else
      gather(context, block, x, row_sums_.data());
    std::ranges::fill(column_sums_, lanes{});
    for_class_pairs(context, [&](int row, int column, int kind) {
      column_sums_[at(column)] += row_sums_[at(row)] * score_[at(kind)];
    });
    spread(context, block, column_sums_.data(), y);
  }

  /// The adjoint of relate: dX_a += dY R', and the gradient of the kinds' scores.
  void relate_backward(const relation_context& context, const row_block& block, int query_copy, const lanes* x,
                       const lanes* dy, lanes* dx) {
    relate_pairs_backward(context, block, query_copy, x, dy, dx);
    if (context.class_count == 1) return;
    if (query_copy == 0)
      gather_identity(context, block, row_sums_.data());
    else
      gather(context, block, x, row_sums_.data());
    gather(context, block, dy, column_sums_.data());
    for_class_pairs(context, [&](int row, int column, int kind) {
      gradient_[at(kind)] += (row_sums_[at(row)] * column_sums_[at(column)]).sum();
    });
    if (query_copy == 0) return;
    std::ranges::fill(row_sums_, lanes{});
    for_class_pairs(context, [&](int row, int column, int kind) {
      row_sums_[at(row)] += column_sums_[at(column)] * score_[at(kind)];
    });
    spread(context, block, row_sums_.data(), dx);
  }

private:
  struct numbered_term {
    std::size_t kind;
    score_term term;
  };

  void relate_pairs(const relation_context& context, const row_block& block, int query_copy, const lanes* x,
                    lanes* y) const {
    const int self = context.trunk;
    if (query_copy == 0 && !block.queries) {
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

  void relate_pairs_backward(const relation_context& context, const row_block& block, int query_copy, const lanes* x,
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
    for (std::size_t kind = 0; kind < gradient_.size(); ++kind) gradient_[kind] = gradient_lanes_[kind].sum();
  }

  template <class Work>
  static void for_pairs(const relation_context& context, int row, int columns, Work&& work) {
    for (int e = context.row_begin[at(row)]; e < context.row_begin[at(row) + 1]; ++e) {
      const related_pair& pair = context.pairs[at(e)];
      if (pair.column >= columns) break;
      work(pair);
    }
  }

  /// Columns of class 0 have no share: they are what the others are compared with.
  template <class Work>
  static void for_class_pairs(const relation_context& context, Work&& work) {
    for (int row = 0; row < context.class_count; ++row)
      for (int column = 1; column < context.class_count; ++column)
        work(row, column, context.class_kinds[at(row * context.class_count + column)]);
  }

  std::vector<numbered_term> terms_;
  std::vector<double> score_, gradient_;
  std::vector<lanes> gradient_lanes_;
  std::vector<lanes> row_sums_, column_sums_;  // by class
};

}  // namespace lindyn::reduced::detail
