// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One layer of the relational model, forward and backward, on a block of rows.
///
/// A block keeps, for the copies c of its stream, X_c = rows of P^c, and for each layer l and head
///   Y_b = sum_a,S theta_abS X_a R^S,   Z_b = Y_b + sum over children fold(Z_child),   A = softmax(Z_0).
/// A copy's parent drops the digit of its lowest copying layer k: P^c = P^parent A_k.

#include <algorithm>
#include <span>
#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/attention_operators.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/pair_scores.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>
#include <lindyn/reduced/row_softmax.hpp>

namespace lindyn::reduced::detail {

/// Where the model is evaluated: on one trunk with its queries, at a point of the manifold.
struct evaluation {
  const relation_context& context;
  std::span<const double> coordinates;
  std::span<double> gradient;  ///< added to by the backward pass
};

class layer_pass {
public:
  layer_pass(const manifold::layout& layout, const relation_plan& plan)
      : layout_(layout), pairs_(plan), spare_(at(plan.longest_trunk + 1)) {}

  // ---- first layer: scores are the kinds' where related, and the classes' ------------------------------------------

  void first_layer_of_trunk(const evaluation& now, attention_operators& attention, int head) {
    pairs_.load(now.coordinates, layout_.block(1, head, 0, 0));
    attention.first()[at(head)].assign(pairs_.scores());
  }
  void first_layer_of_trunk_backward(const evaluation& now, attention_operators& attention, int head) {
    std::ranges::fill(pairs_.gradients(), 0.0);
    attention.first()[at(head)].finish(pairs_.gradients());
    pairs_.store(now.gradient, layout_.block(1, head, 0, 0));
  }

  void first_layer_of_queries(const evaluation& now, const block_memory& memory, row_block& block, int head) {
    pairs_.load(now.coordinates, layout_.block(1, head, 0, 0));
    std::fill_n(spare_.data(), block.width(), lanes{});
    pairs_.relate(now.context, block, 0, nullptr, spare_.data());
    softmax(block, spare_.data(), memory.attention(block.values, 1, head));
  }
  void first_layer_of_queries_backward(const evaluation& now, const block_memory& memory, row_block& block, int head) {
    const index place = layout_.block(1, head, 0, 0);
    softmax_backward(block.width(), memory.attention(block.values, 1, head), memory.attention(block.gradients, 1, head),
                     spare_.data());
    pairs_.load(now.coordinates, place);
    pairs_.relate_backward(now.context, block, 0, nullptr, spare_.data(), nullptr);
    pairs_.store(now.gradient, place);
  }

  // ---- layers from the second on: Y, folds, softmax ----------------------------------------------------------------

  void later_layer(const evaluation& now, attention_operators& attention, row_block& block, int layer, int head) {
    const block_memory& memory = attention.memory();
    const int copies = layout_.copies(layer), columns = block.width();
    for (int key = copies - 1; key >= 0; --key) {
      lanes* z = memory.score(block.values, layer, head, key);
      std::fill_n(z, columns, lanes{});
      for (int query = 0; query < copies; ++query) {
        pairs_.load(now.coordinates, layout_.block(layer, head, query, key));
        pairs_.relate(now.context, block, query, memory.copy(block.values, query), z);
      }
    }
    for (int key = copies - 1; key > 0; --key) {
      const copy_link& link = memory.link(key);
      const lanes* z = memory.score(block.values, layer, head, key);
      lanes* folded = memory.folded_score(block.values, layer, head, key);
      lanes* parent = memory.score(block.values, layer, head, link.parent);
      attention.fold(block, link.layer, link.head, z, folded);
      for (int j = 0; j < columns; ++j) parent[j] += folded[j];
    }
    softmax(block, memory.score(block.values, layer, head, 0), memory.attention(block.values, layer, head));
  }

  void later_layer_backward(const evaluation& now, attention_operators& attention, row_block& block, int layer,
                            int head) {
    const block_memory& memory = attention.memory();
    const int copies = layout_.copies(layer), columns = block.width();
    softmax_backward(columns, memory.attention(block.values, layer, head),
                     memory.attention(block.gradients, layer, head), memory.score(block.gradients, layer, head, 0));
    for (int key = 0; key < copies; ++key) {
      lanes* dz = memory.score(block.gradients, layer, head, key);
      if (key > 0) {
        const copy_link& link = memory.link(key);
        const lanes* dparent = memory.score(block.gradients, layer, head, link.parent);
        const lanes* z = memory.score(block.values, layer, head, key);
        attention.push(block, link.layer, link.head, dparent, dz);
        attention.accumulate(block, link.layer, link.head, dparent, z,
                             memory.folded_score(block.values, layer, head, key));
      }
      for (int query = 0; query < copies; ++query) {
        const index place = layout_.block(layer, head, query, key);
        pairs_.load(now.coordinates, place);
        pairs_.relate_backward(now.context, block, query, memory.copy(block.values, query), dz,
                               memory.copy(block.gradients, query));
        pairs_.store(now.gradient, place);
      }
    }
  }

  // ---- copies ------------------------------------------------------------------------------------------------------

  /// X_c for the copies that `layer` made.
  void copy_layer(attention_operators& attention, row_block& block, int layer) {
    const block_memory& memory = attention.memory();
    for (int c = layout_.copies(layer); c < layout_.copies(layer + 1); ++c) {
      const copy_link& link = memory.link(c);
      if (link.parent > 0)
        attention.push(block, link.layer, link.head, memory.copy(block.values, link.parent),
                       memory.copy(block.values, c));
    }
  }

  /// The adjoint of copy_layer; what reaches a row of A itself is already in place, as both share their array.
  void copy_layer_backward(attention_operators& attention, row_block& block, int layer) {
    const block_memory& memory = attention.memory();
    for (int c = layout_.copies(layer + 1) - 1; c >= layout_.copies(layer); --c) {
      const copy_link& link = memory.link(c);
      if (link.parent == 0) continue;
      const lanes* dy = memory.copy(block.gradients, c);
      attention.fold(block, link.layer, link.head, dy, spare_.data());
      attention.accumulate(block, link.layer, link.head, memory.copy(block.values, link.parent), dy, spare_.data());
      lanes* dx = memory.copy(block.gradients, link.parent);
      for (int j = 0; j < block.width(); ++j) dx[j] += spare_[at(j)];
    }
  }

private:
  manifold::layout layout_;
  pair_scores pairs_;
  std::vector<lanes> spare_;
};

}  // namespace lindyn::reduced::detail
