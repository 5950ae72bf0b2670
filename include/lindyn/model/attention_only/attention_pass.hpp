// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The forward and backward pass of `attention_only` over one block of sequences: one worker's share and scratch space.

#include <algorithm>
#include <cmath>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/group_state.hpp>
#include <lindyn/model/attention_only/lanes.hpp>
#include <lindyn/model/attention_only/one_hot_block.hpp>
#include <lindyn/model/attention_only/path_products.hpp>
#include <lindyn/model/attention_only/strided.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model::detail::inline LINDYN_VECTORS {

/// The stream behind l layers holds (H+1)^l copies P_c X_0 of the one-hot input, with P_c the product of the patterns
/// along path c (path_products.hpp). So nothing of the stream's width D (H+1)^l is ever formed for all places:
///
///     scores  S = sum_cd P_c R_cd P_d',   R_cd = X_0 W_cd X_0' : n x n, four entries of W added up for each entry
///
/// by folding the relations R_cd; the backward pass ends with dW_cd += X_0' dR_cd X_0, a scatter. In the last layer
/// only the last place q asks, so that its stream x_q, its queries x_q W (one dense product for all sequences of the
/// block) and everything behind are rows:
///
///     scores  s = sum_d P_d u_d,  u_d = X_0 (x_q W)_d, by folding;   patterns a_h, pushed to all a_h P_c
///     readout x = [x_q | push(a_1) X_0 | .. | push(a_H) X_0],  z = W_out x
///
/// Sequences run in the lanes of SIMD vectors (lanes.hpp).
template <class Scalar>
class attention_pass {
  using entry = lane_entry<Scalar>;
  static constexpr index lane_count = lanes<Scalar>::count;
  using block = strided<Scalar>;
  using products = dense_products<Scalar>;

public:
  /// Sets the sizes, for sequences of `length` tokens. Allocates only when they have grown.
  /// \param full_layers layers in which every place asks: L - 1, or L for attend_all().
  void prepare(const attention_shape& shape, const parameter_table& table, index length, int full_layers) {
    shape_ = shape;
    table_ = &table;
    n_ = length;
    heads_ = shape.heads;
    below_ = full_layers;
    width_ = shape.input_width();
    const group_state<Scalar> sizes = state(0);
    copies_ = sizes.copies();
    state_size_ = sizes.size();
    constexpr index memory = 1 << 25;  // bytes that a block's state should stay within; 128 rows feed the products well
    groups_ = std::clamp<index>(memory / (state_size_ * static_cast<index>(sizeof(entry))), 1, 128 / lane_count);
    state_memory_.reserve(groups_ * state_size_);
    const index inner = below_ > 0 ? sizes.reach(below_ - 1) : 1;
    scratch_memory_.reserve(std::max(inner * inner * sizes.square(), copies_ * n_ + index{shape.vocabulary}));
  }

  /// The number of sequences in a block: a function of the sizes alone.
  [[nodiscard]] index block_rows() const noexcept { return groups_ * lane_count; }

  /// The patterns of all full layers for the sequences [begin, end), at most block_rows() of them.
  void attend_all(const Scalar* weights, const task::batch_view& batch, index begin, index end) {
    weights_ = weights;
    input_ = {batch, begin, end, shape_.vocabulary};
    used_groups_ = input_.groups();
    for (index group = 0; group < used_groups_; ++group)
      for (int layer = 0; layer < below_; ++layer) attend(group, layer);
  }

  /// Logits of the sequences [begin, end), at most block_rows() of them.
  void forward(const Scalar* weights, const task::batch_view& batch, index begin, index end) {
    attend_all(weights, batch, begin, end);
    stream_memory_.reserve(rows_entries(readout_width()));
    query_memory_.reserve(heads_ * rows_entries(stream_width()));
    logit_memory_.reserve(rows_entries(shape_.vocabulary));
    auto stream = rows(stream_memory_, readout_width());
    stream.set_zero();
    for (index row = 0; row < stream.rows; ++row) {
      stream.row(row)[input_.query_token(row)] = 1;
      stream.row(row)[shape_.vocabulary + input_.query_position(row)] = 1;
    }
    for (index group = 0; group < used_groups_; ++group) {
      entry* const path = state(group).path();
      push_rows(state(group), path, path_start::last_place);
      for (index copy = 1; copy < copies_; ++copy)
        input_.to_input(group, path + copy * n_, stream.data + copy * width_, readout_width());
    }
    for (int head = 0; head < heads_; ++head) {
      auto query = queries(head);
      const auto w = weight(below_, head);
      for (index row = 0; row < query.rows; ++row) {
        std::copy_n(w.row(input_.query_token(row)), w.columns, query.row(row));
        add_entries(query.row(row), w.row(shape_.vocabulary + input_.query_position(row)), w.columns);
      }
      products::add(query, stream.middle_columns(width_, hidden()), w.rows_from(width_));
      for (index group = 0; group < used_groups_; ++group) {
        entry* const key = state(group).key(head);
        for (index copy = 0; copy < copies_; ++copy)
          input_.from_input(group, query.data + copy * width_, stream_width(), key + copy * n_);
        fold_rows(state(group), key);
        entry* const readout = state(group).readout(head);
        std::copy_n(key, n_, readout);
        lane_softmax<Scalar>(readout, n_);
        push_rows(state(group), readout, path_start::row);
        for (index copy = 0; copy < copies_; ++copy)
          input_.to_input(group, readout + copy * n_, stream.data + ((head + 1) * copies_ + copy) * width_,
                          readout_width());
      }
    }
    logits().set_zero();
    products::add_right_transposed(logits(), weight(shape_.layers, 0), stream);
  }

  /// sum_b weight_b loss_b of the block behind forward(); the logits become their derivatives.
  double score(task::loss kind) {
    double total = 0;
    entry* const own = scratch_memory_.data();
    const index vocabulary = shape_.vocabulary;
    for (index group = 0; group < used_groups_; ++group) {
      entry* const column = logit_memory_.data() + group;
      alignas(entry) Scalar factor[lane_count];
      Scalar chosen[lane_count];
      for (index v = 0; v < vocabulary; ++v) own[v] = column[v * used_groups_];
      for (index lane = 0; lane < lane_count; ++lane) {
        chosen[lane] = lane_of(own, input_.answer(group, lane), lane);
        factor[lane] = static_cast<Scalar>(input_.weight(group, lane));
      }
      softmax_scale<Scalar> scale{};
      if (kind == task::loss::cross_entropy) scale = lane_softmax<Scalar>(own, vocabulary);
      for (index lane = 0; lane < lane_count; ++lane) lane_of(own, input_.answer(group, lane), lane) -= 1;
      entry squares{};
      if (kind == task::loss::squared_error)
        for (index v = 0; v < vocabulary; ++v) squares += own[v] * own[v];
      for (index lane = 0; lane < lane_count && input_.valid(group, lane); ++lane) {
        const double loss = kind == task::loss::cross_entropy
                                ? std::log(static_cast<double>(scale.sum[lane])) +
                                      (static_cast<double>(scale.top[lane]) - static_cast<double>(chosen[lane]))
                                : static_cast<double>(squares[lane]) / 2;
        total += input_.weight(group, lane) * loss;
      }
      const entry& share = *reinterpret_cast<const entry*>(factor);
      for (index v = 0; v < vocabulary; ++v) column[v * used_groups_] = own[v] * share;
    }
    return total;
  }

  /// Adds the block's gradient, behind score(), to `gradient`.
  void backward(Scalar* gradient) {
    gradient_ = gradient;
    slope_memory_.reserve(rows_entries(readout_width()));
    const auto stream = rows(stream_memory_, readout_width());
    auto slope = rows(slope_memory_, readout_width());
    slope.set_zero();
    products::add_left_transposed(slope, logits(), weight(shape_.layers, 0));
    products::add(weight_gradient(shape_.layers, 0), logits(), stream);
    for (index group = used_groups_; group-- > 0;) {
      std::fill_n(state(group).d_pattern(0, 0), index{below_} * heads_ * n_ * n_, entry{});
      for (int head = 0; head < heads_; ++head) backward_last(group, head, slope);
    }
    for (int head = 0; head < heads_; ++head) {
      const auto d_query = queries(head);
      auto d_weight = weight_gradient(below_, head);
      for (index row = 0; row < input_.count(); ++row) {
        add_entries(d_weight.row(input_.query_token(row)), d_query.row(row), d_query.columns);
        add_entries(d_weight.row(shape_.vocabulary + input_.query_position(row)), d_query.row(row), d_query.columns);
      }
      products::add_left_transposed(d_weight.rows_from(width_), stream.middle_columns(width_, hidden()), d_query);
      products::add_right_transposed(slope.middle_columns(width_, hidden()), d_query,
                                     weight(below_, head).rows_from(width_));
    }
    for (index group = used_groups_; below_ > 0 && group-- > 0;) {
      entry* const d_path = scratch_memory_.data();
      for (index copy = 1; copy < copies_; ++copy)
        input_.from_input(group, slope.data + copy * width_, readout_width(), d_path + copy * n_);
      push_rows_backward(state(group), state(group).path(), d_path, path_start::last_place);
      for (int layer = below_ - 1; layer >= 0; --layer) attend_backward(group, layer);
    }
  }

  /// V x rows: column b is sequence begin + b.
  [[nodiscard]] block logits() {
    const index count = used_groups_ * lane_count;
    return {scalars(logit_memory_), shape_.vocabulary, count, count};
  }

  /// Writes the H x n x n patterns of a full layer for sequence begin + `place`.
  void copy_patterns(index place, int layer, Scalar* to) {
    const auto group = state(place / lane_count);
    for (int head = 0; head < heads_; ++head)
      for (index i = 0; i < n_; ++i, to += n_) {
        std::fill_n(to, n_, Scalar(0));
        for (index j = 0; j <= i; ++j) to[j] = lane_of(group.pattern(layer, head), i * n_ + j, place % lane_count);
      }
  }

private:
  // Memory and weights ---------------------------------------------------------------------------------------------
  [[nodiscard]] index stream_width() const noexcept { return copies_ * width_; }
  [[nodiscard]] index readout_width() const noexcept { return stream_width() * (heads_ + 1); }
  [[nodiscard]] index hidden() const noexcept { return stream_width() - width_; }
  [[nodiscard]] index rows_entries(index columns) const noexcept { return groups_ * columns; }

  [[nodiscard]] group_state<Scalar> state(index group) {
    return {state_memory_.data() + group * state_size_, n_, heads_, below_};
  }
  [[nodiscard]] static Scalar* scalars(lane_memory<Scalar>& memory) { return reinterpret_cast<Scalar*>(memory.data()); }
  [[nodiscard]] static Scalar& lane_of(entry* entries, index place, index lane) {
    return reinterpret_cast<Scalar*>(entries)[place * lane_count + lane];
  }
  [[nodiscard]] block rows(lane_memory<Scalar>& memory, index columns) {
    return {scalars(memory), used_groups_ * lane_count, columns, columns};
  }
  [[nodiscard]] block queries(int head) {
    return {scalars(query_memory_) + head * rows_entries(stream_width()) * lane_count, used_groups_ * lane_count,
            stream_width(), stream_width()};
  }
  /// W_KQ of a layer and head; W_out for layer L and head 0.
  [[nodiscard]] strided<const Scalar> weight(int layer, int head) const {
    const parameter& which = (*table_)[index{layer} * heads_ + head];
    return {weights_ + which.offset, which.rows, which.columns, which.columns};
  }
  [[nodiscard]] block weight_gradient(int layer, int head) const {
    const parameter& which = (*table_)[index{layer} * heads_ + head];
    return {gradient_ + which.offset, which.rows, which.columns, which.columns};
  }

  // The last layer, in which the last place alone asks -------------------------------------------------------------
  /// From the derivatives by the readout's rows those by the queries, which replace the queries.
  void backward_last(index group, int head, const block& slope) {
    entry* const d = scratch_memory_.data();
    for (index copy = 0; copy < copies_; ++copy)
      input_.from_input(group, slope.data + ((head + 1) * copies_ + copy) * width_, readout_width(), d + copy * n_);
    entry* const readout = state(group).readout(head);
    push_rows_backward(state(group), readout, d, path_start::row);
    lane_softmax_backward<Scalar>(readout, d, n_);
    fold_rows_backward(state(group), state(group).key(head), d);
    auto d_query = queries(head);
    std::fill_n(d_query.row(group * lane_count), lane_count * d_query.columns, Scalar(0));
    for (index copy = 0; copy < copies_; ++copy)
      input_.to_input(group, d + copy * n_, d_query.data + copy * width_, stream_width());
  }

  // The layers below, in which every place asks --------------------------------------------------------------------
  void attend(index group, int layer) {
    for (int head = 0; head < heads_; ++head) {
      entry* const pattern = state(group).pattern(layer, head);
      const auto w = weight(layer, head);
      if (layer == 0) {
        input_.gather(group, w.data, w.columns, pattern, true);
      } else {
        const auto f = state(group).relations(layer, head);
        for (index c = 0; c < f.count; ++c)
          for (index d = 0; d < f.count; ++d)
            input_.gather(group, w.row(c * width_) + d * width_, w.columns, f(c, d), c == 0);
        fold_relations(state(group), layer, f);
        for (index i = 0; i < n_; ++i) std::copy_n(f(0, 0) + i * n_, i + 1, pattern + i * n_);
      }
      for (index i = 0; i < n_; ++i) {
        lane_softmax<Scalar>(pattern + i * n_, i + 1);
        std::fill(pattern + i * n_ + i + 1, pattern + i * n_ + tile_end(i, n_), entry{});
      }
    }
  }

  void attend_backward(index group, int layer) {
    for (int head = 0; head < heads_; ++head) {
      entry *const pattern = state(group).pattern(layer, head), *const d_score = state(group).d_pattern(layer, head);
      for (index i = 0; i < n_; ++i) {
        lane_softmax_backward<Scalar>(pattern + i * n_, d_score + i * n_, i + 1);
        std::fill(d_score + i * n_ + i + 1, d_score + i * n_ + tile_end(i, n_), entry{});
      }
      const auto d_weight = weight_gradient(layer, head);
      if (layer == 0) {
        input_.scatter(group, d_score, d_weight.data, d_weight.columns, true);
      } else {
        const auto f = state(group).relations(layer, head);
        const relation_grid<Scalar> others{scratch_memory_.data(), f.count, f.size};
        const auto d_f = [&](index c, index d) { return c + d == 0 ? d_score : others(c, d); };
        fold_relations_backward(state(group), layer, f, d_f);
        for (index c = 0; c < f.count; ++c)
          for (index d = 0; d < f.count; ++d)
            input_.scatter(group, d_f(c, d), d_weight.row(c * width_) + d * width_, d_weight.columns, c == 0);
      }
    }
  }

  attention_shape shape_;
  const parameter_table* table_ = nullptr;
  index n_ = 0, width_ = 0, copies_ = 1, groups_ = 0, state_size_ = 0;
  int heads_ = 0, below_ = 0;  // below_: the layers under the last one

  const Scalar* weights_ = nullptr;
  Scalar* gradient_ = nullptr;
  one_hot_block<Scalar> input_;
  index used_groups_ = 0;

  lane_memory<Scalar> state_memory_, scratch_memory_, stream_memory_, slope_memory_, query_memory_, logit_memory_;
};

}  // namespace lindyn::model::detail::inline LINDYN_VECTORS
