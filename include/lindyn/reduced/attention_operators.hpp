// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Attention of every layer and head as operators on a block of rows: of trunk rows, or of queries with a column of
/// their own.

#include <utility>
#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/first_attention.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/later_attention.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>

namespace lindyn::reduced::detail {

/// The attention matrices of a trunk, in all layers but the last. The queries' own rows lie in their block.
class attention_operators {
public:
  /// \param columns  of the longest row
  attention_operators(const manifold::layout& layout, int columns)
      : layout_(layout),
        memory_(layout, columns),
        first_(at(layout.layers() > 1 ? layout.heads() : 0)),
        later_(at(layout.layers() > 2 ? layout.heads() * (layout.layers() - 2) : 0)) {}

  /// Makes room for the attention of a trunk.
  void prepare(const relation_context& context) {
    if (context_ == &context) return;
    context_ = &context;
    for (auto& attention : first_) attention.resize(context);
    for (auto& attention : later_) attention.resize(context);
  }
  void clear_gradient() {
    for (auto& attention : later_) attention.clear_gradient();
  }

  [[nodiscard]] const block_memory& memory() const noexcept { return memory_; }
  /// By head; none if the first layer is the last.
  [[nodiscard]] std::vector<first_attention>& first() noexcept { return first_; }
  /// Of the layers 2 .. L - 1.
  [[nodiscard]] later_attention& later(int layer, int head) noexcept {
    return later_[at((layer - 2) * layout_.heads() + head)];
  }
  /// Whether trunk rows have more than a first layer.
  [[nodiscard]] bool has_later() const noexcept { return !later_.empty(); }

  /// Y = X A.
  void push(row_block& block, int layer, int head, const lanes* x, lanes* y) {
    with_trunk(layer, head, [&](auto& trunk) { trunk.push(x, y, block.columns); });
    if (!block.queries) return;
    const lanes* own = memory_.attention(block.values, layer, head);
    const lanes weight = x[self()];
    for (int j = 0; j < block.columns; ++j) y[j] += weight * own[j];
    y[self()] = weight * own[self()];
  }
  /// F = X A'.
  void fold(row_block& block, int layer, int head, const lanes* x, lanes* f) {
    with_trunk(layer, head, [&](auto& trunk) { trunk.fold(x, f, block.columns); });
    if (!block.queries) return;
    const lanes* own = memory_.attention(block.values, layer, head);
    lanes sum{x[self()] * own[self()]};
    for (int j = 0; j < block.columns; ++j) sum += x[j] * own[j];
    f[self()] = sum;
  }
  /// dA += L'R, the queries' own rows of A included; `folded` = fold(R).
  void accumulate(row_block& block, int layer, int head, const lanes* left, const lanes* right, const lanes* folded) {
    with_trunk(layer, head, [&](auto& trunk) { trunk.accumulate(left, right, folded, block.columns); });
    if (!block.queries) return;
    lanes* own = memory_.attention(block.gradients, layer, head);
    const lanes weight = left[self()];
    for (int j = 0; j < block.columns; ++j) own[j] += weight * right[j];
    own[self()] += weight * right[self()];
  }

private:
  [[nodiscard]] int self() const noexcept { return context_->trunk; }

  /// Calls `work` with the trunk's attention of a layer and head.
  template <class Work>
  void with_trunk(int layer, int head, Work&& work) {
    if (layer == 1)
      work(first_[at(head)]);
    else
      work(later(layer, head));
  }

  manifold::layout layout_;
  block_memory memory_;
  const relation_context* context_ = nullptr;
  std::vector<first_attention> first_;  // by head
  std::vector<later_attention> later_;  // by layer and head
};

}  // namespace lindyn::reduced::detail
