// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Forward and backward pass of the relational model over one trunk and its queries, eight rows at a time.
///
/// Rows are the places of the trunk (in all layers but the last) and the queries.

#include <algorithm>
#include <span>
#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/attention_operators.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/layer_pass.hpp>
#include <lindyn/reduced/readout_pass.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced::detail {

class relational_pass {
public:
  relational_pass(const manifold::layout& layout, const relation_plan& plan, task::loss loss)
      : layout_(layout),
        attention_(layout, plan.longest_trunk + 1),
        layers_(layout, plan),
        readout_(layout, plan, loss) {
    query_rows_.values.resize(attention_.memory().size());
    query_rows_.gradients.resize(attention_.memory().size());
  }

  double loss(const relation_context& context, std::span<const double> coordinates) {
    const evaluation now{context, coordinates, {}};
    forward_trunk(now);
    double total = 0;
    for (const auto& queries : context.queries) total += forward_queries(now, queries);
    return total;
  }

  double loss_and_gradient(const relation_context& context, std::span<const double> coordinates,
                           std::span<double> gradient) {
    const evaluation now{context, coordinates, gradient};
    forward_trunk(now);
    attention_.clear_gradient();
    double total = 0;
    for (const auto& queries : context.queries) {
      total += forward_queries(now, queries);
      backward_queries(now);
    }
    backward_trunk(now);
    return total;
  }

private:
  void forward_trunk(const evaluation& now) {
    const block_memory& memory = attention_.memory();
    attention_.prepare(now.context);
    for (int head = 0; head < static_cast<int>(attention_.first().size()); ++head)
      layers_.first_layer_of_trunk(now, attention_, head);
    trunk_blocks_ = attention_.has_later() ? (now.context.trunk + lanes::count - 1) / lanes::count : 0;
    if (static_cast<int>(trunk_rows_.size()) < trunk_blocks_) trunk_rows_.resize(at(trunk_blocks_));
    for (int number = 0; number < trunk_blocks_; ++number) {
      row_block& block = trunk_rows_[at(number)];
      block.first = number * lanes::count;
      block.columns = std::min(now.context.trunk, block.first + lanes::count);
      block.values.resize(memory.size());
      block.gradients.resize(memory.size());
      for (int head = 0; head < layout_.heads(); ++head)
        attention_.first()[at(head)].read_rows(block.first, memory.attention(block.values, 1, head), block.columns);
      for (int layer = 2; layer < layout_.layers(); ++layer) {
        layers_.copy_layer(attention_, block, layer - 1);
        for (int head = 0; head < layout_.heads(); ++head) {
          layers_.later_layer(now, attention_, block, layer, head);
          attention_.later(layer, head)
              .write_rows(block.first, memory.attention(block.values, layer, head), block.columns);
        }
      }
    }
  }

  void backward_trunk(const evaluation& now) {
    const block_memory& memory = attention_.memory();
    for (int number = trunk_blocks_ - 1; number >= 0; --number) {
      row_block& block = trunk_rows_[at(number)];
      std::fill_n(block.gradients.data(), memory.size_of_copies(), lanes{});
      for (int layer = layout_.layers() - 1; layer >= 2; --layer) {
        if (layer < layout_.layers() - 1) layers_.copy_layer_backward(attention_, block, layer);
        for (int head = 0; head < layout_.heads(); ++head) {
          attention_.later(layer, head)
              .read_gradient(block.first, memory.attention(block.gradients, layer, head), block.columns);
          layers_.later_layer_backward(now, attention_, block, layer, head);
        }
      }
      for (int head = 0; head < layout_.heads(); ++head)
        attention_.first()[at(head)].accumulate_rows(block.first, memory.attention(block.values, 1, head),
                                                     memory.attention(block.gradients, 1, head), block.columns);
    }
    for (int head = 0; head < static_cast<int>(attention_.first().size()); ++head)
      layers_.first_layer_of_trunk_backward(now, attention_, head);
  }

  double forward_queries(const evaluation& now, const query_block& queries) {
    row_block& block = query_rows_;
    block.columns = now.context.trunk;
    block.queries = &queries;
    for (int head = 0; head < layout_.heads(); ++head)
      layers_.first_layer_of_queries(now, attention_.memory(), block, head);
    for (int layer = 2; layer <= layout_.layers(); ++layer) {
      layers_.copy_layer(attention_, block, layer - 1);
      for (int head = 0; head < layout_.heads(); ++head) layers_.later_layer(now, attention_, block, layer, head);
    }
    return readout_.forward(now, attention_, block);
  }

  void backward_queries(const evaluation& now) {
    row_block& block = query_rows_;
    std::ranges::fill(block.gradients, lanes{});
    readout_.backward(now, attention_, block);
    for (int layer = layout_.layers(); layer >= 2; --layer) {
      if (layer < layout_.layers()) layers_.copy_layer_backward(attention_, block, layer);
      for (int head = 0; head < layout_.heads(); ++head)
        layers_.later_layer_backward(now, attention_, block, layer, head);
    }
    for (int head = 0; head < layout_.heads(); ++head)
      layers_.first_layer_of_queries_backward(now, attention_.memory(), block, head);
  }

  manifold::layout layout_;
  attention_operators attention_;
  layer_pass layers_;
  readout_pass readout_;
  std::vector<row_block> trunk_rows_;
  int trunk_blocks_ = 0;
  row_block query_rows_;
};

}  // namespace lindyn::reduced::detail
