// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The readout of a block of queries, forward and backward.
///
/// For every token selection it keeps M_r, r counting the copies that the last layer reads, and pushes them from the
/// top layer down, M_r += push(M_(r + digit)), until M_0 = sum_b c_b P^b: what each column adds to the logits of the
/// tokens that its token is related to.

#include <algorithm>
#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/attention_operators.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/layer_pass.hpp>
#include <lindyn/reduced/logit_loss.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>

namespace lindyn::reduced::detail {

class readout_pass {
public:
  readout_pass(const manifold::layout& layout, const relation_plan& plan, task::loss loss)
      : layout_(layout), logits_(loss), spare_(at(plan.longest_trunk + 1)) {}

  /// The loss of the block's queries.
  double forward(const evaluation& now, attention_operators& attention, row_block& block) {
    const block_memory& memory = attention.memory();
    const int columns = block.width(), layers = layout_.layers(), self = now.context.trunk;
    for (int s = 0; s < layout_.token_selections(); ++s) {
      const auto coefficient = [&](int copy) { return now.coordinates[at(layout_.readout(copy) + s)]; };
      for (int rest = 0; rest < memory.copies(); ++rest) {
        lanes* m = memory.readout(block.values, s, rest);
        std::fill_n(m, columns, lanes{});
        m[self] += lanes::all(coefficient(rest));
        for (int head = 0; head < layout_.heads(); ++head) {
          const lanes* a = memory.attention(block.values, layers, head);
          const double c = coefficient(rest + (head + 1) * memory.copies());
          for (int j = 0; j < columns; ++j) m[j] += a[j] * c;
        }
      }
      for (int layer = layers - 1; layer >= 1; --layer)
        for (int rest = 0; rest < layout_.copies(layer); ++rest)
          for (int head = 0; head < layout_.heads(); ++head) {
            attention.push(block, layer, head,
                           memory.readout(block.values, s, rest + (head + 1) * layout_.copies(layer)), spare_.data());
            lanes* m = memory.readout(block.values, s, rest);
            for (int j = 0; j < columns; ++j) m[j] += spare_[at(j)];
          }
    }
    logits_.clear(now.context);
    for (const auto& [selection, column, slot, factor] : now.context.logits)
      logits_[slot] += memory.readout(block.values, selection, 0)[column];
    for (const auto& [selection, slot, mask] : block.queries->logits)
      logits_[slot] += memory.readout(block.values, selection, 0)[self] * mask;
    if (logits_.has_shifts()) {
      for (const auto& [selection, column, slot, factor] : now.context.shifts)
        logits_.shift(slot) += memory.readout(block.values, selection, 0)[column] * factor;
      for (const auto& [selection, slot, mask] : block.queries->shifts)
        logits_.shift(slot) += memory.readout(block.values, selection, 0)[self] * mask;
    }
    return logits_.score(*block.queries);
  }

  /// Goes on from the derivatives that scoring left.
  void backward(const evaluation& now, attention_operators& attention, row_block& block) {
    const block_memory& memory = attention.memory();
    const int columns = block.width(), layers = layout_.layers(), self = now.context.trunk;
    for (const auto& [selection, column, slot, factor] : now.context.logits)
      memory.readout(block.gradients, selection, 0)[column] += logits_[slot];
    for (const auto& [selection, slot, mask] : block.queries->logits)
      memory.readout(block.gradients, selection, 0)[self] += logits_[slot] * mask;
    if (logits_.has_shifts()) {
      for (const auto& [selection, column, slot, factor] : now.context.shifts)
        memory.readout(block.gradients, selection, 0)[column] += logits_.shift(slot) * factor;
      for (const auto& [selection, slot, mask] : block.queries->shifts)
        memory.readout(block.gradients, selection, 0)[self] += logits_.shift(slot) * mask;
    }
    for (int s = 0; s < layout_.token_selections(); ++s) {
      for (int layer = 1; layer < layers; ++layer)
        for (int rest = 0; rest < layout_.copies(layer); ++rest)
          for (int head = 0; head < layout_.heads(); ++head) {
            const int source = rest + (head + 1) * layout_.copies(layer);
            const lanes* dm = memory.readout(block.gradients, s, rest);
            lanes* dsource = memory.readout(block.gradients, s, source);
            attention.fold(block, layer, head, dm, dsource);
            attention.accumulate(block, layer, head, memory.readout(block.values, s, source), dm, dsource);
          }
      for (int rest = 0; rest < memory.copies(); ++rest) {
        const lanes* dm = memory.readout(block.gradients, s, rest);
        now.gradient[at(layout_.readout(rest) + s)] += dm[self].sum();
        for (int head = 0; head < layout_.heads(); ++head) {
          const index place = layout_.readout(rest + (head + 1) * memory.copies()) + s;
          const lanes* a = memory.attention(block.values, layers, head);
          lanes* da = memory.attention(block.gradients, layers, head);
          const double c = now.coordinates[at(place)];
          lanes product{};
          for (int j = 0; j < columns; ++j) {
            product += a[j] * dm[j];
            da[j] += dm[j] * c;
          }
          now.gradient[at(place)] += product.sum();
        }
      }
    }
  }

private:
  manifold::layout layout_;
  logit_loss logits_;
  std::vector<lanes> spare_;
};

}  // namespace lindyn::reduced::detail
