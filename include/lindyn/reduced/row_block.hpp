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
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/trunk_attention.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced::detail {

/// What a block of eight rows keeps from the forward pass for the backward pass.
struct row_block {
  int first = 0;                         ///< first trunk row; unused for queries
  int columns = 0;                       ///< trunk columns that any of its rows sees
  const query_block* queries = nullptr;  ///< null for trunk rows; queries have a further column, their own, at T
  std::vector<lanes> values, gradients;
};

/// Which copy a copy is a copy of, and through which layer and head.
struct copy_link {
  int parent = 0, layer = 0, head = 0;
};

class relational_pass {
public:
  relational_pass(const manifold::layout& layout, const relation_plan& plan, task::loss loss,
                  std::vector<double> token_means)
      : layout_(layout),
        kinds_(plan.kinds),
        loss_(loss),
        token_means_(std::move(token_means)),
        stride_(plan.longest_trunk + 1),
        copies_(layout.copies(layout.layers())) {
    for (int c = 0; c < copies_; ++c) {
      copy_link link{c, 0, 0};
      for (int layer = 1; layer < layout.layers(); ++layer) {
        const int digit = c / layout.copies(layer) % (layout.heads() + 1);
        if (digit == 0) continue;
        link = {c - digit * layout.copies(layer), layer, digit - 1};
        break;
      }
      links_.push_back(link);
    }
    const auto heads = static_cast<std::size_t>(layout.heads());
    first_.resize(layout.layers() > 1 ? heads : 0);
    later_.resize(layout.layers() > 2 ? heads * static_cast<std::size_t>(layout.layers() - 2) : 0);
    kind_score_.resize(kinds_.size());
    kind_gradient_.resize(kinds_.size());
    kind_lanes_.resize(kinds_.size());
    logits_.resize(static_cast<std::size_t>(plan.most_slots));
    spare_.resize(static_cast<std::size_t>(stride_));
    query_rows_.values.resize(size_of_block());
    query_rows_.gradients.resize(size_of_block());
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
  static constexpr std::size_t at(index place) noexcept { return static_cast<std::size_t>(place); }

  // Layout of a block's memory, in arrays of stride_ lanes: the copies X_c, c < copies_ (those of single digit are rows
  // of A), the A of the last layer, then Z_b and F_b = fold(Z_b) of every layer and head, then M_r of every selection.
  [[nodiscard]] index arrays_before_layer(int layer) const noexcept {
    return copies_ + layout_.heads() + 2 * arrays_of_layers(layer);
  }
  [[nodiscard]] index arrays_of_layers(int layer) const noexcept {
    index result = 0;
    for (int before = 2; before < layer; ++before) result += layout_.heads() * layout_.copies(before);
    return result;
  }
  [[nodiscard]] std::size_t size_of_block() const noexcept {
    return at((arrays_before_layer(layout_.layers() + 1) + index{copies_} * layout_.token_selections()) * stride_);
  }
  [[nodiscard]] lanes* array(std::vector<lanes>& memory, index number) const noexcept {
    return memory.data() + number * stride_;
  }
  [[nodiscard]] index copy_array(int copy) const noexcept { return copy; }
  [[nodiscard]] index attention_array(int layer, int head) const noexcept {
    return layer == layout_.layers() ? copies_ + head : (head + 1) * layout_.copies(layer);
  }
  [[nodiscard]] index score_array(int layer, int head, int copy) const noexcept {
    return arrays_before_layer(layer) + 2 * (head * layout_.copies(layer) + copy);
  }
  [[nodiscard]] index readout_array(int selection, int rest) const noexcept {
    return arrays_before_layer(layout_.layers() + 1) + index{selection} * copies_ + rest;
  }

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
    const lanes* own = array(block.values, attention_array(layer, head));
    const lanes weight = x[self()];
    for (int j = 0; j < block.columns; ++j) y[j] += weight * own[j];
    y[self()] = weight * own[self()];
  }
  void fold(row_block& block, int layer, int head, const lanes* x, lanes* f) {
    with_trunk(layer, head, [&](auto& trunk) { trunk.fold(x, f, block.columns); });
    if (!block.queries) return;
    const lanes* own = array(block.values, attention_array(layer, head));
    lanes sum{x[self()] * own[self()]};
    for (int j = 0; j < block.columns; ++j) sum += x[j] * own[j];
    f[self()] = sum;
  }
  /// dA += L'R, the queries' own rows of A included; `folded` = fold(R).
  void accumulate(row_block& block, int layer, int head, const lanes* left, const lanes* right, const lanes* folded) {
    with_trunk(layer, head, [&](auto& trunk) { trunk.accumulate(left, right, folded, block.columns); });
    if (!block.queries) return;
    lanes* own = array(block.gradients, attention_array(layer, head));
    const lanes weight = left[self()];
    for (int j = 0; j < block.columns; ++j) own[j] += weight * right[j];
    own[self()] += weight * right[self()];
  }

  // ---- scores ------------------------------------------------------------------------------------------------------

  /// The score that each kind of related pair adds in a block.
  void load_kinds(index block) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const auto [token, position] = kinds_[kind];
      kind_score_[kind] = (token < 0 ? 0 : coordinates_[at(block + token)]) +
                          (position < 0 ? 0 : coordinates_[at(block + layout_.token_selections() + position)]);
    }
  }
  /// Adds the gradient of the kinds' scores to that of the coordinates.
  void store_kinds(index block) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const auto [token, position] = kinds_[kind];
      if (token >= 0) gradient_[at(block + token)] += kind_gradient_[kind];
      if (position >= 0) gradient_[at(block + layout_.token_selections() + position)] += kind_gradient_[kind];
    }
  }

  /// y += X_a R, with R weighted by the kinds' scores.
  void relate(const row_block& block, int query_copy, const lanes* x, lanes* y) const {
    if (query_copy == 0 && !block.queries) {  // X_0 is the identity
      for (int row = block.first; row < block.columns; ++row)
        for_pairs(row, block.columns,
                  [&](const related_pair& pair) { y[pair.column][row - block.first] += kind_score_[at(pair.kind)]; });
      return;
    }
    if (query_copy > 0)
      for (int row = 0; row < block.columns; ++row)
        for_pairs(row, block.columns,
                  [&](const related_pair& pair) { y[pair.column] += x[row] * kind_score_[at(pair.kind)]; });
    if (!block.queries) return;
    const query_block& queries = *block.queries;
    const lanes weight = query_copy == 0 ? ones() : x[self()];
    for (const auto& [column, kind, mask] : queries.rows) y[column] += weight * mask * kind_score_[at(kind)];
    lanes own = y[self()];
    for (const auto& [kind, mask] : queries.self) own += weight * mask * kind_score_[at(kind)];
    if (query_copy > 0)
      for (const auto& [row, kind, mask] : queries.columns) own += x[row] * mask * kind_score_[at(kind)];
    y[self()] = own;
  }

  /// The adjoint of relate: dX_a += dY R', and the gradient of the kinds' scores.
  void relate_backward(const row_block& block, int query_copy, const lanes* x, const lanes* dy, lanes* dx) {
    if (query_copy == 0 && !block.queries) {
      std::ranges::fill(kind_gradient_, 0.0);
      for (int row = block.first; row < block.columns; ++row)
        for_pairs(row, block.columns, [&](const related_pair& pair) {
          kind_gradient_[at(pair.kind)] += dy[pair.column][row - block.first];
        });
      return;
    }
    std::ranges::fill(kind_lanes_, lanes{});
    if (query_copy > 0)
      for (int row = 0; row < block.columns; ++row) {
        const lanes from = x[row];
        lanes back = dx[row];
        for_pairs(row, block.columns, [&](const related_pair& pair) {
          const lanes& to = dy[pair.column];
          kind_lanes_[at(pair.kind)] += from * to;
          back += to * kind_score_[at(pair.kind)];
        });
        dx[row] = back;
      }
    if (block.queries) {
      const query_block& queries = *block.queries;
      const lanes weight = query_copy == 0 ? ones() : x[self()], to_self = dy[self()];
      lanes back{};
      const auto pass = [&](int kind, const lanes& mask, const lanes& to) {
        const lanes masked{to * mask};
        kind_lanes_[at(kind)] += weight * masked;
        back += masked * kind_score_[at(kind)];
      };
      for (const auto& [column, kind, mask] : queries.rows) pass(kind, mask, dy[column]);
      for (const auto& [kind, mask] : queries.self) pass(kind, mask, to_self);
      if (query_copy > 0) {
        dx[self()] += back;
        for (const auto& [row, kind, mask] : queries.columns) {
          const lanes masked{to_self * mask};
          kind_lanes_[at(kind)] += x[row] * masked;
          dx[row] += masked * kind_score_[at(kind)];
        }
      }
    }
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) kind_gradient_[kind] = kind_lanes_[kind].sum();
  }

  template <class Work>
  void for_pairs(int row, int columns, Work&& work) const {
    for (int e = context_->row_begin[at(row)]; e < context_->row_begin[at(row) + 1]; ++e) {
      const related_pair& pair = context_->pairs[at(e)];
      if (pair.column >= columns) break;
      work(pair);
    }
  }

  [[nodiscard]] static lanes ones() noexcept { return lanes::all(1.0); }

  /// Number of columns of a block's rows, the queries' own one included.
  [[nodiscard]] static int width(const row_block& block) noexcept { return block.columns + (block.queries ? 1 : 0); }

  // ---- softmax -----------------------------------------------------------------------------------------------------

  /// a = softmax of the rows of `scores` over the columns that each row sees.
  void softmax(const row_block& block, const lanes* scores, lanes* a) const {
    constexpr double hidden = -std::numeric_limits<double>::infinity();
    const int columns = width(block);
    std::copy_n(scores, columns, a);
    if (!block.queries)
      for (int j = block.first + 1; j < block.columns; ++j)
        for (int lane = 0; lane < j - block.first; ++lane) a[j][lane] = hidden;
    lanes largest = a[0];
    for (int j = 1; j < columns; ++j) largest = larger(largest, a[j]);
    lanes total{};
    for (int j = 0; j < columns; ++j) {
      a[j] -= largest;
      a[j] = exponential(a[j]);
      total += a[j];
    }
    total = lanes::all(1.0) / total;
    for (int j = 0; j < columns; ++j) a[j] *= total;
  }

  /// ds = A (dA - sum_k A_k dA_k).
  static void softmax_backward(int columns, const lanes* a, const lanes* da, lanes* ds) {
    lanes mean{};
    for (int j = 0; j < columns; ++j) mean += a[j] * da[j];
    for (int j = 0; j < columns; ++j) ds[j] = a[j] * (da[j] - mean);
  }

  // ---- one layer of one block --------------------------------------------------------------------------------------

  /// First layer of queries: scores are the kinds' where related, else 0.
  void first_layer_of_queries(row_block& block, int head) {
    load_kinds(layout_.block(1, head, 0, 0));
    lanes* a = array(block.values, attention_array(1, head));
    std::fill_n(spare_.data(), width(block), lanes{});
    relate(block, 0, nullptr, spare_.data());
    softmax(block, spare_.data(), a);
  }

  /// Layers from the second on: Y, folds, softmax.
  void later_layer(row_block& block, int layer, int head) {
    const int copies = layout_.copies(layer), columns = width(block);
    for (int key = copies - 1; key >= 0; --key) {
      lanes* z = array(block.values, score_array(layer, head, key));
      std::fill_n(z, columns, lanes{});
      for (int query = 0; query < copies; ++query) {
        load_kinds(layout_.block(layer, head, query, key));
        relate(block, query, array(block.values, copy_array(query)), z);
      }
    }
    for (int key = copies - 1; key > 0; --key) {
      const copy_link& link = links_[at(key)];
      const lanes* z = array(block.values, score_array(layer, head, key));
      lanes* folded = array(block.values, score_array(layer, head, key) + 1);
      lanes* parent = array(block.values, score_array(layer, head, link.parent));
      fold(block, link.layer, link.head, z, folded);
      for (int j = 0; j < columns; ++j) parent[j] += folded[j];
    }
    softmax(block, array(block.values, score_array(layer, head, 0)), array(block.values, attention_array(layer, head)));
  }

  /// X_c for the copies that `layer` made.
  void copy_layer(row_block& block, int layer) {
    for (int c = layout_.copies(layer); c < layout_.copies(layer + 1); ++c) {
      const copy_link& link = links_[at(c)];
      if (link.parent > 0)
        push(block, link.layer, link.head, array(block.values, copy_array(link.parent)),
             array(block.values, copy_array(c)));
    }
  }

  void later_layer_backward(row_block& block, int layer, int head) {
    const int copies = layout_.copies(layer), columns = width(block);
    softmax_backward(columns, array(block.values, attention_array(layer, head)),
                     array(block.gradients, attention_array(layer, head)),
                     array(block.gradients, score_array(layer, head, 0)));
    for (int key = 0; key < copies; ++key) {
      lanes* dz = array(block.gradients, score_array(layer, head, key));
      if (key > 0) {
        const copy_link& link = links_[at(key)];
        const lanes* dparent = array(block.gradients, score_array(layer, head, link.parent));
        const lanes* z = array(block.values, score_array(layer, head, key));
        push(block, link.layer, link.head, dparent, dz);
        accumulate(block, link.layer, link.head, dparent, z, array(block.values, score_array(layer, head, key) + 1));
      }
      for (int query = 0; query < copies; ++query) {
        const index place = layout_.block(layer, head, query, key);
        load_kinds(place);
        relate_backward(block, query, array(block.values, copy_array(query)), dz,
                        array(block.gradients, copy_array(query)));
        store_kinds(place);
      }
    }
  }

  /// The adjoint of copy_layer; what reaches a row of A itself is already in place, as both share their array.
  void copy_layer_backward(row_block& block, int layer) {
    for (int c = layout_.copies(layer + 1) - 1; c >= layout_.copies(layer); --c) {
      const copy_link& link = links_[at(c)];
      if (link.parent == 0) continue;
      const lanes* dy = array(block.gradients, copy_array(c));
      fold(block, link.layer, link.head, dy, spare_.data());
      accumulate(block, link.layer, link.head, array(block.values, copy_array(link.parent)), dy, spare_.data());
      lanes* dx = array(block.gradients, copy_array(link.parent));
      for (int j = 0; j < width(block); ++j) dx[j] += spare_[at(j)];
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
      load_kinds(layout_.block(1, head, 0, 0));
      first_[at(head)].assign(kind_score_);
    }
    trunk_blocks_ = later_.empty() ? 0 : (context.trunk + lanes::count - 1) / lanes::count;
    if (static_cast<int>(trunk_rows_.size()) < trunk_blocks_) trunk_rows_.resize(at(trunk_blocks_));
    for (int number = 0; number < trunk_blocks_; ++number) {
      row_block& block = trunk_rows_[at(number)];
      block.first = number * lanes::count;
      block.columns = std::min(context.trunk, block.first + lanes::count);
      block.values.resize(size_of_block());
      block.gradients.resize(size_of_block());
      for (int head = 0; head < layout_.heads(); ++head)
        first_[at(head)].read_rows(block.first, array(block.values, attention_array(1, head)), block.columns);
      for (int layer = 2; layer < layout_.layers(); ++layer) {
        copy_layer(block, layer - 1);
        for (int head = 0; head < layout_.heads(); ++head) {
          later_layer(block, layer, head);
          later(layer, head).write_rows(block.first, array(block.values, attention_array(layer, head)), block.columns);
        }
      }
    }
  }

  void backward_trunk() {
    for (int number = trunk_blocks_ - 1; number >= 0; --number) {
      row_block& block = trunk_rows_[at(number)];
      std::fill_n(block.gradients.data(), copies_ * stride_, lanes{});
      for (int layer = layout_.layers() - 1; layer >= 2; --layer) {
        if (layer < layout_.layers() - 1) copy_layer_backward(block, layer);
        for (int head = 0; head < layout_.heads(); ++head) {
          later(layer, head)
              .read_gradient(block.first, array(block.gradients, attention_array(layer, head)), block.columns);
          later_layer_backward(block, layer, head);
        }
      }
      for (int head = 0; head < layout_.heads(); ++head)
        first_[at(head)].accumulate_rows(block.first, array(block.values, attention_array(1, head)),
                                         array(block.gradients, attention_array(1, head)), block.columns);
    }
    for (int head = 0; head < static_cast<int>(first_.size()); ++head) {
      std::ranges::fill(kind_gradient_, 0.0);
      first_[at(head)].finish(kind_gradient_);
      store_kinds(layout_.block(1, head, 0, 0));
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
    return loss_of_logits(queries);
  }

  /// M_0 of every selection, and from it the logits.
  void read_out(row_block& block) {
    const int columns = width(block), layers = layout_.layers();
    std::fill_n(logits_.data(), context_->slots, lanes{});
    common_logit_ = 0;
    for (int s = 0; s < layout_.token_selections(); ++s) {
      const auto coefficient = [&](int copy) { return coordinates_[at(layout_.readout(copy) + s)]; };
      for (int rest = 0; rest < copies_; ++rest) {
        lanes* m = array(block.values, readout_array(s, rest));
        std::fill_n(m, columns, lanes{});
        m[self()] += lanes::all(coefficient(rest));
        for (int head = 0; head < layout_.heads(); ++head) {
          const lanes* a = array(block.values, attention_array(layers, head));
          const double c = coefficient(rest + (head + 1) * copies_);
          for (int j = 0; j < columns; ++j) m[j] += a[j] * c;
        }
      }
      for (int layer = layers - 1; layer >= 1; --layer)
        for (int rest = 0; rest < layout_.copies(layer); ++rest)
          for (int head = 0; head < layout_.heads(); ++head) {
            push(block, layer, head, array(block.values, readout_array(s, rest + (head + 1) * layout_.copies(layer))),
                 spare_.data());
            lanes* m = array(block.values, readout_array(s, rest));
            for (int j = 0; j < columns; ++j) m[j] += spare_[at(j)];
          }
      for (int copy = 0; copy < layout_.copies(layers + 1); ++copy)
        common_logit_ -= token_means_[at(s)] * coefficient(copy);
    }
    for (const auto& [selection, column, slot] : context_->logits)
      logits_[at(slot)] += array(block.values, readout_array(selection, 0))[column];
    for (const auto& [selection, slot, mask] : block.queries->logits)
      logits_[at(slot)] += array(block.values, readout_array(selection, 0))[self()] * mask;
  }

  /// The weighted loss of the queries; leaves dL/dlogit in logits_ and that of the common shift in common_gradient_.
  double loss_of_logits(const query_block& queries) {
    const int slots = context_->slots;
    const double others = context_->others;
    const lanes weight = queries.weight;
    double total = 0;
    common_gradient_ = 0;
    if (loss_ == task::loss::squared_error) {
      lanes sum = lanes::all(0.5 * others * common_logit_ * common_logit_), shift{};
      for (int lane = 0; lane < queries.count; ++lane) logits_[at(queries.answer[at(lane)])][lane] -= 1;
      for (int slot = 0; slot < slots; ++slot) {
        lanes& z = logits_[at(slot)];
        z += lanes::all(common_logit_);
        sum += z * z * 0.5;
        z *= weight;
        shift += z;
      }
      total = (sum * weight).sum();
      common_gradient_ = shift.sum() + others * common_logit_ * weight.sum();
      return total;
    }
    lanes largest = others > 0 ? lanes{} : logits_[0];
    for (int slot = 0; slot < slots; ++slot) largest = larger(largest, logits_[at(slot)]);
    lanes answers{}, sum = -largest;
    for (int lane = 0; lane < queries.count; ++lane)
      answers[lane] = logits_[at(queries.answer[at(lane)])][lane] - largest[lane];
    sum = exponential(sum);
    sum *= others;
    for (int slot = 0; slot < slots; ++slot) {
      lanes& z = logits_[at(slot)];
      z -= largest;
      z = exponential(z);
      sum += z;
    }
    const lanes scale{weight / sum};
    for (int slot = 0; slot < slots; ++slot) logits_[at(slot)] *= scale;
    for (int lane = 0; lane < queries.count; ++lane) {
      total += weight[lane] * (std::log(sum[lane]) - answers[lane]);
      logits_[at(queries.answer[at(lane)])][lane] -= weight[lane];
    }
    return total;
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
    const int columns = width(block), layers = layout_.layers();
    for (const auto& [selection, column, slot] : context_->logits)
      array(block.gradients, readout_array(selection, 0))[column] += logits_[at(slot)];
    for (const auto& [selection, slot, mask] : block.queries->logits)
      array(block.gradients, readout_array(selection, 0))[self()] += logits_[at(slot)] * mask;
    for (int s = 0; s < layout_.token_selections(); ++s) {
      for (int layer = 1; layer < layers; ++layer)
        for (int rest = 0; rest < layout_.copies(layer); ++rest)
          for (int head = 0; head < layout_.heads(); ++head) {
            const index source = readout_array(s, rest + (head + 1) * layout_.copies(layer));
            const lanes* dm = array(block.gradients, readout_array(s, rest));
            fold(block, layer, head, dm, array(block.gradients, source));
            accumulate(block, layer, head, array(block.values, source), dm, array(block.gradients, source));
          }
      for (int rest = 0; rest < copies_; ++rest) {
        const lanes* dm = array(block.gradients, readout_array(s, rest));
        gradient_[at(layout_.readout(rest) + s)] += dm[self()].sum() - token_means_[at(s)] * common_gradient_;
        for (int head = 0; head < layout_.heads(); ++head) {
          const index place = layout_.readout(rest + (head + 1) * copies_) + s;
          const lanes* a = array(block.values, attention_array(layers, head));
          lanes* da = array(block.gradients, attention_array(layers, head));
          const double c = coordinates_[at(place)];
          lanes product{};
          for (int j = 0; j < columns; ++j) {
            product += a[j] * dm[j];
            da[j] += dm[j] * c;
          }
          gradient_[at(place)] += product.sum() - token_means_[at(s)] * common_gradient_;
        }
      }
    }
  }

  void first_layer_of_queries_backward(row_block& block, int head) {
    const index place = layout_.block(1, head, 0, 0);
    softmax_backward(width(block), array(block.values, attention_array(1, head)),
                     array(block.gradients, attention_array(1, head)), spare_.data());
    load_kinds(place);
    relate_backward(block, 0, nullptr, spare_.data(), nullptr);
    store_kinds(place);
  }

  manifold::layout layout_;
  std::vector<pair_kind> kinds_;
  task::loss loss_;
  std::vector<double> token_means_;
  int stride_;
  int copies_;  // that the last layer reads
  std::vector<copy_link> links_;

  const relation_context* context_ = nullptr;
  const relation_context* prepared_ = nullptr;
  std::span<const double> coordinates_;
  std::span<double> gradient_;
  std::vector<first_attention> first_;  // by head
  std::vector<later_attention> later_;  // layers 2 .. L - 1, by layer and head
  std::vector<row_block> trunk_rows_;
  int trunk_blocks_ = 0;
  row_block query_rows_;
  std::vector<double> kind_score_, kind_gradient_;
  std::vector<lanes> kind_lanes_, logits_, spare_;
  double common_logit_ = 0, common_gradient_ = 0;
};

}  // namespace lindyn::reduced::detail
