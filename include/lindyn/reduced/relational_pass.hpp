// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Forward and backward pass of the relational model over one trunk and its queries, eight rows at a time.
///
/// Rows are the places of the trunk (in all layers but the last) and the queries. A block of rows keeps, for the copies
/// c of its stream, X_c = rows of P^c, and for each layer l and head
///   Y_b = sum_a,S theta_abS X_a R^S,   Z_b = Y_b + sum over children fold(Z_child),   A = softmax(Z_0).
/// A copy's parent drops the digit of its lowest copying layer k: P^c = P^parent A_k. The readout pushes from the top
/// layer down, M_r += push(M_(r + digit)), until M_0 = sum_b c_b P^b.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/logit_loss.hpp>
#include <lindyn/reduced/pair_scores.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>
#include <lindyn/reduced/row_softmax.hpp>
#include <lindyn/reduced/trunk_attention.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced::detail {

class relational_pass {
public:
  /// \param token_means  what centring takes from each token selection
  relational_pass(const manifold::layout& layout, const relation_plan& plan, task::loss loss,
                  std::vector<double> token_means)
      : layout_(layout),
        token_means_(std::move(token_means)),
        memory_(layout, plan.longest_trunk + 1),
        pairs_(layout, plan.kinds),
        logits_(loss, plan.most_slots),
        first_(at(layout.layers() > 1 ? layout.heads() : 0)),
        later_(at(layout.layers() > 2 ? layout.heads() * (layout.layers() - 2) : 0)),
        spare_(at(plan.longest_trunk + 1)) {
    query_rows_.values.resize(memory_.size());
    query_rows_.gradients.resize(memory_.size());
  }

  double loss(const relation_context& context, std::span<const double> coordinates) {
    coordinates_ = coordinates;
    forward_trunk(context);
    double total = 0;
    for (const auto& queries : context.queries) total += forward_queries(queries);
    return total;
  }

  double loss_and_gradient(const relation_context& context, std::span<const double> coordinates,
                           std::span<double> gradient) {
    coordinates_ = coordinates;
    gradient_ = gradient;
    forward_trunk(context);
    for (auto& attention : later_) attention.clear_gradient();
    double total = 0;
    for (const auto& queries : context.queries) {
      total += forward_queries(queries);
      backward_queries();
    }
    backward_trunk();
    return total;
  }

private:
  [[nodiscard]] int self() const noexcept { return context_->trunk; }
  [[nodiscard]] later_attention& later(int layer, int head) noexcept {
    return later_[at((layer - 2) * layout_.heads() + head)];
  }

  /// Calls `work` with the trunk's attention of a layer and head.
  template <class Work>
  void with_trunk(int layer, int head, Work&& work) {
    if (layer == 1)
      work(first_[at(head)]);
    else
      work(later(layer, head));
  }

  // ---- the two primitives on a block, with the queries' own column, and their adjoint ------------------------------

  void push(row_block& block, int layer, int head, const lanes* x, lanes* y) {
    with_trunk(layer, head, [&](auto& trunk) { trunk.push(x, y, block.columns); });
    if (!block.queries) return;
    const lanes* own = memory_.attention(block.values, layer, head);
    const lanes weight = x[self()];
    for (int j = 0; j < block.columns; ++j) y[j] += weight * own[j];
    y[self()] = weight * own[self()];
  }
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

  // ---- one layer of one block --------------------------------------------------------------------------------------

  /// First layer of queries: scores are the kinds' where related, else 0.
  void first_layer_of_queries(row_block& block, int head) {
    pairs_.load(coordinates_, layout_.block(1, head, 0, 0));
    lanes* a = memory_.attention(block.values, 1, head);
    std::fill_n(spare_.data(), block.width(), lanes{});
    pairs_.relate(*context_, block, 0, nullptr, spare_.data());
    softmax(block, spare_.data(), a);
  }

  /// Layers from the second on: Y, folds, softmax.
  void later_layer(row_block& block, int layer, int head) {
    const int copies = layout_.copies(layer), columns = block.width();
    for (int key = copies - 1; key >= 0; --key) {
      lanes* z = memory_.score(block.values, layer, head, key);
      std::fill_n(z, columns, lanes{});
      for (int query = 0; query < copies; ++query) {
        pairs_.load(coordinates_, layout_.block(layer, head, query, key));
        pairs_.relate(*context_, block, query, memory_.copy(block.values, query), z);
      }
    }
    for (int key = copies - 1; key > 0; --key) {
      const copy_link& link = memory_.link(key);
      const lanes* z = memory_.score(block.values, layer, head, key);
      lanes* folded = memory_.folded_score(block.values, layer, head, key);
      lanes* parent = memory_.score(block.values, layer, head, link.parent);
      fold(block, link.layer, link.head, z, folded);
      for (int j = 0; j < columns; ++j) parent[j] += folded[j];
    }
    softmax(block, memory_.score(block.values, layer, head, 0), memory_.attention(block.values, layer, head));
  }

  /// X_c for the copies that `layer` made.
  void copy_layer(row_block& block, int layer) {
    for (int c = layout_.copies(layer); c < layout_.copies(layer + 1); ++c) {
      const copy_link& link = memory_.link(c);
      if (link.parent > 0)
        push(block, link.layer, link.head, memory_.copy(block.values, link.parent), memory_.copy(block.values, c));
    }
  }

  void later_layer_backward(row_block& block, int layer, int head) {
    const int copies = layout_.copies(layer), columns = block.width();
    softmax_backward(columns, memory_.attention(block.values, layer, head),
                     memory_.attention(block.gradients, layer, head), memory_.score(block.gradients, layer, head, 0));
    for (int key = 0; key < copies; ++key) {
      lanes* dz = memory_.score(block.gradients, layer, head, key);
      if (key > 0) {
        const copy_link& link = memory_.link(key);
        const lanes* dparent = memory_.score(block.gradients, layer, head, link.parent);
        const lanes* z = memory_.score(block.values, layer, head, key);
        push(block, link.layer, link.head, dparent, dz);
        accumulate(block, link.layer, link.head, dparent, z, memory_.folded_score(block.values, layer, head, key));
      }
      for (int query = 0; query < copies; ++query) {
        const index place = layout_.block(layer, head, query, key);
        pairs_.load(coordinates_, place);
        pairs_.relate_backward(*context_, block, query, memory_.copy(block.values, query), dz,
                               memory_.copy(block.gradients, query));
        pairs_.store(gradient_, place);
      }
    }
  }

  /// The adjoint of copy_layer; what reaches a row of A itself is already in place, as both share their array.
  void copy_layer_backward(row_block& block, int layer) {
    for (int c = layout_.copies(layer + 1) - 1; c >= layout_.copies(layer); --c) {
      const copy_link& link = memory_.link(c);
      if (link.parent == 0) continue;
      const lanes* dy = memory_.copy(block.gradients, c);
      fold(block, link.layer, link.head, dy, spare_.data());
      accumulate(block, link.layer, link.head, memory_.copy(block.values, link.parent), dy, spare_.data());
      lanes* dx = memory_.copy(block.gradients, link.parent);
      for (int j = 0; j < block.width(); ++j) dx[j] += spare_[at(j)];
    }
  }

  // ---- trunk -------------------------------------------------------------------------------------------------------

  void forward_trunk(const relation_context& context) {
    context_ = &context;
    if (prepared_ != &context) {
      for (auto& attention : first_) attention.resize(context);
      for (auto& attention : later_) attention.resize(context);
      prepared_ = &context;
    }
    for (int head = 0; head < static_cast<int>(first_.size()); ++head) {
      pairs_.load(coordinates_, layout_.block(1, head, 0, 0));
      first_[at(head)].assign(pairs_.scores());
    }
    trunk_blocks_ = later_.empty() ? 0 : (context.trunk + lanes::count - 1) / lanes::count;
    if (static_cast<int>(trunk_rows_.size()) < trunk_blocks_) trunk_rows_.resize(at(trunk_blocks_));
    for (int number = 0; number < trunk_blocks_; ++number) {
      row_block& block = trunk_rows_[at(number)];
      block.first = number * lanes::count;
      block.columns = std::min(context.trunk, block.first + lanes::count);
      block.values.resize(memory_.size());
      block.gradients.resize(memory_.size());
      for (int head = 0; head < layout_.heads(); ++head)
        first_[at(head)].read_rows(block.first, memory_.attention(block.values, 1, head), block.columns);
      for (int layer = 2; layer < layout_.layers(); ++layer) {
        copy_layer(block, layer - 1);
        for (int head = 0; head < layout_.heads(); ++head) {
          later_layer(block, layer, head);
          later(layer, head).write_rows(block.first, memory_.attention(block.values, layer, head), block.columns);
        }
      }
    }
  }

  void backward_trunk() {
    for (int number = trunk_blocks_ - 1; number >= 0; --number) {
      row_block& block = trunk_rows_[at(number)];
      std::fill_n(block.gradients.data(), memory_.size_of_copies(), lanes{});
      for (int layer = layout_.layers() - 1; layer >= 2; --layer) {
        if (layer < layout_.layers() - 1) copy_layer_backward(block, layer);
        for (int head = 0; head < layout_.heads(); ++head) {
          later(layer, head).read_gradient(block.first, memory_.attention(block.gradients, layer, head), block.columns);
          later_layer_backward(block, layer, head);
        }
      }
      for (int head = 0; head < layout_.heads(); ++head)
        first_[at(head)].accumulate_rows(block.first, memory_.attention(block.values, 1, head),
                                         memory_.attention(block.gradients, 1, head), block.columns);
    }
    for (int head = 0; head < static_cast<int>(first_.size()); ++head) {
      std::ranges::fill(pairs_.gradients(), 0.0);
      first_[at(head)].finish(pairs_.gradients());
      pairs_.store(gradient_, layout_.block(1, head, 0, 0));
    }
  }

  // ---- queries -----------------------------------------------------------------------------------------------------

  double forward_queries(const query_block& queries) {
    row_block& block = query_rows_;
    block.columns = context_->trunk;
    block.queries = &queries;
    for (int layer = 1; layer <= layout_.layers(); ++layer) {
      if (layer > 1) copy_layer(block, layer - 1);
      for (int head = 0; head < layout_.heads(); ++head)
        layer == 1 ? first_layer_of_queries(block, head) : later_layer(block, layer, head);
    }
    read_out(block);
    return logits_.score(queries);
  }

  /// M_0 of every selection, and from it the logits.
  void read_out(row_block& block) {
    const int columns = block.width(), layers = layout_.layers();
    logits_.clear(*context_);
    for (int s = 0; s < layout_.token_selections(); ++s) {
      const auto coefficient = [&](int copy) { return coordinates_[at(layout_.readout(copy) + s)]; };
      for (int rest = 0; rest < memory_.copies(); ++rest) {
        lanes* m = memory_.readout(block.values, s, rest);
        std::fill_n(m, columns, lanes{});
        m[self()] += lanes::all(coefficient(rest));
        for (int head = 0; head < layout_.heads(); ++head) {
          const lanes* a = memory_.attention(block.values, layers, head);
          const double c = coefficient(rest + (head + 1) * memory_.copies());
          for (int j = 0; j < columns; ++j) m[j] += a[j] * c;
        }
      }
      for (int layer = layers - 1; layer >= 1; --layer)
        for (int rest = 0; rest < layout_.copies(layer); ++rest)
          for (int head = 0; head < layout_.heads(); ++head) {
            push(block, layer, head, memory_.readout(block.values, s, rest + (head + 1) * layout_.copies(layer)),
                 spare_.data());
            lanes* m = memory_.readout(block.values, s, rest);
            for (int j = 0; j < columns; ++j) m[j] += spare_[at(j)];
          }
      for (int copy = 0; copy < layout_.copies(layers + 1); ++copy)
        logits_.common() -= token_means_[at(s)] * coefficient(copy);
    }
    for (const auto& [selection, column, slot] : context_->logits)
      logits_[slot] += memory_.readout(block.values, selection, 0)[column];
    for (const auto& [selection, slot, mask] : block.queries->logits)
      logits_[slot] += memory_.readout(block.values, selection, 0)[self()] * mask;
  }

  void backward_queries() {
    row_block& block = query_rows_;
    std::ranges::fill(block.gradients, lanes{});
    read_out_backward(block);
    for (int layer = layout_.layers(); layer >= 1; --layer) {
      if (layer < layout_.layers()) copy_layer_backward(block, layer);
      for (int head = 0; head < layout_.heads(); ++head)
        layer == 1 ? first_layer_of_queries_backward(block, head) : later_layer_backward(block, layer, head);
    }
  }

  void read_out_backward(row_block& block) {
    const int columns = block.width(), layers = layout_.layers();
    for (const auto& [selection, column, slot] : context_->logits)
      memory_.readout(block.gradients, selection, 0)[column] += logits_[slot];
    for (const auto& [selection, slot, mask] : block.queries->logits)
      memory_.readout(block.gradients, selection, 0)[self()] += logits_[slot] * mask;
    for (int s = 0; s < layout_.token_selections(); ++s) {
      for (int layer = 1; layer < layers; ++layer)
        for (int rest = 0; rest < layout_.copies(layer); ++rest)
          for (int head = 0; head < layout_.heads(); ++head) {
            const int source = rest + (head + 1) * layout_.copies(layer);
            const lanes* dm = memory_.readout(block.gradients, s, rest);
            lanes* dsource = memory_.readout(block.gradients, s, source);
            fold(block, layer, head, dm, dsource);
            accumulate(block, layer, head, memory_.readout(block.values, s, source), dm, dsource);
          }
      for (int rest = 0; rest < memory_.copies(); ++rest) {
        const lanes* dm = memory_.readout(block.gradients, s, rest);
        gradient_[at(layout_.readout(rest) + s)] += dm[self()].sum() - token_means_[at(s)] * logits_.common_gradient();
        for (int head = 0; head < layout_.heads(); ++head) {
          const index place = layout_.readout(rest + (head + 1) * memory_.copies()) + s;
          const lanes* a = memory_.attention(block.values, layers, head);
          lanes* da = memory_.attention(block.gradients, layers, head);
          const double c = coordinates_[at(place)];
          lanes product{};
          for (int j = 0; j < columns; ++j) {
            product += a[j] * dm[j];
            da[j] += dm[j] * c;
          }
          gradient_[at(place)] += product.sum() - token_means_[at(s)] * logits_.common_gradient();
        }
      }
    }
  }

  void first_layer_of_queries_backward(row_block& block, int head) {
    const index place = layout_.block(1, head, 0, 0);
    softmax_backward(block.width(), memory_.attention(block.values, 1, head),
                     memory_.attention(block.gradients, 1, head), spare_.data());
    pairs_.load(coordinates_, place);
    pairs_.relate_backward(*context_, block, 0, nullptr, spare_.data(), nullptr);
    pairs_.store(gradient_, place);
  }

  manifold::layout layout_;
  std::vector<double> token_means_;
  block_memory memory_;
  pair_scores pairs_;
  logit_loss logits_;

  const relation_context* context_ = nullptr;
  const relation_context* prepared_ = nullptr;
  std::span<const double> coordinates_;
  std::span<double> gradient_;
  std::vector<first_attention> first_;  // by head
  std::vector<later_attention> later_;  // layers 2 .. L - 1, by layer and head
  std::vector<row_block> trunk_rows_;
  int trunk_blocks_ = 0;
  row_block query_rows_;
  std::vector<lanes> spare_;
};

}  // namespace lindyn::reduced::detail
