// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The forward and backward pass of `attention_only` over one block of sequences: one worker's share and scratch space.

#include <algorithm>
#include <cmath>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/model/lanes.hpp>
#include <lindyn/model/strided.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model::detail {

/// The stream behind l layers holds (H+1)^l copies P_c X_0 of the one-hot input, where P_c is a product of attention
/// patterns and c = sum_m h_m (H+1)^(m-1) says which head of layer m it runs through (0: none). So nothing of the
/// stream's width D (H+1)^l is ever formed for all places:
///
///     scores      S = sum_cd P_c R_cd P_d',   R_cd = X_0 W_cd X_0' : n x n, four entries of W added up for each entry
///     query side  F_cd = R_cd, then for m = 1..l:  F_c += A_mh F_{c + h (H+1)^(m-1)}     leaves sum_c P_c R_cd
///     key side    likewise over d with F_0d += F_0{d + ..} A_mh'                          leaves S in F_00
///
/// The backward pass runs the same steps in reverse order: dF_{c + ..} = A_mh' dF_c, dA_mh += dF_c F_{c + ..}', and
/// at the end dW_cd += X_0' dF_cd X_0, a scatter. In the last layer only the last place q asks, so that its stream
/// x_q, its queries x_q W (one dense product for all sequences of the block) and everything behind are rows:
///
///     fold   u_d = X_0 (x_q W)_d, u_d += A_mh u_{d + ..}   leaves the scores;   push   p_{c + ..} = p_c A_mh
///     readout x = [x_q | push(a_1) X_0 | .. | push(a_H) X_0],  z = W_out x
///
/// with fold and push each other's adjoint. Sequences run in the lanes of SIMD vectors (lanes.hpp).
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
    copies_ = copies(below_, heads_);
    state_size_ = layout();
    constexpr index memory = 1 << 25;  // bytes that a block's state should stay within; 128 rows feed the products well
    groups_ = std::clamp<index>(memory / (state_size_ * static_cast<index>(sizeof(entry))), 1, 128 / lane_count);
    state_memory_.reserve(groups_ * state_size_);
    const index inner = below_ > 0 ? reach(below_ - 1) : 1;
    scratch_memory_.reserve(std::max(inner * inner * n_ * n_, copies_ * n_ + index{shape.vocabulary}));
  }

  /// The number of sequences in a block: a function of the sizes alone.
  [[nodiscard]] index block_rows() const noexcept { return groups_ * lane_count; }

  /// The patterns of all full layers for the sequences [begin, end), at most block_rows() of them.
  void attend_all(const Scalar* weights, const task::batch_view& batch, index begin, index end) {
    weights_ = weights;
    batch_ = &batch;
    begin_ = begin;
    end_ = end;
    used_groups_ = (end - begin + lane_count - 1) / lane_count;
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
      stream.row(row)[query_token(row)] = 1;
      stream.row(row)[shape_.vocabulary + query_position(row)] = 1;
    }
    for (index group = 0; group < used_groups_; ++group) {
      entry* const path = path_of(group);
      push(group, path, true);
      for (index copy = 1; copy < copies_; ++copy)
        to_input(group, path + copy * n_, stream.data + copy * width_, readout_width());
    }
    for (int head = 0; head < heads_; ++head) {
      auto query = queries(head);
      const auto w = weight(below_, head);
      for (index row = 0; row < query.rows; ++row) {
        std::copy_n(w.row(query_token(row)), w.columns, query.row(row));
        add_entries(query.row(row), w.row(shape_.vocabulary + query_position(row)), w.columns);
      }
      products::add(query, stream.middle_columns(width_, hidden()), w.rows_from(width_));
      for (index group = 0; group < used_groups_; ++group) {
        entry* const key = key_of(group, head);
        for (index copy = 0; copy < copies_; ++copy)
          from_input(group, query.data + copy * width_, stream_width(), key + copy * n_);
        fold(group, key);
        entry* const readout = readout_of(group, head);
        std::copy_n(key, n_, readout);
        lane_softmax<Scalar>(readout, n_);
        push(group, readout, false);
        for (index copy = 0; copy < copies_; ++copy)
          to_input(group, readout + copy * n_, stream.data + ((head + 1) * copies_ + copy) * width_, readout_width());
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
      alignas(entry) Scalar factor[lane_count] = {};
      Scalar chosen[lane_count];
      for (index v = 0; v < vocabulary; ++v) own[v] = column[v * used_groups_];
      for (index lane = 0; lane < lane_count; ++lane) {
        const index place = sequence(group, lane);
        chosen[lane] = lane_of(own, batch_->answers[static_cast<std::size_t>(place)], lane);
        if (valid(group, lane)) factor[lane] = static_cast<Scalar>(batch_->weight(place));
      }
      softmax_scale<Scalar> scale{};
      if (kind == task::loss::cross_entropy) scale = lane_softmax<Scalar>(own, vocabulary);
      for (index lane = 0; lane < lane_count; ++lane)
        lane_of(own, batch_->answers[static_cast<std::size_t>(sequence(group, lane))], lane) -= 1;
      entry squares{};
      if (kind == task::loss::squared_error)
        for (index v = 0; v < vocabulary; ++v) squares += own[v] * own[v];
      for (index lane = 0; lane < lane_count && valid(group, lane); ++lane) {
        const double loss = kind == task::loss::cross_entropy
                                ? std::log(static_cast<double>(scale.sum[lane])) +
                                      (static_cast<double>(scale.top[lane]) - static_cast<double>(chosen[lane]))
                                : static_cast<double>(squares[lane]) / 2;
        total += batch_->weight(sequence(group, lane)) * loss;
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
      std::fill_n(d_pattern_of(group, 0, 0), index{below_} * heads_ * n_ * n_, entry{});
      for (int head = 0; head < heads_; ++head) backward_last(group, head, slope);
    }
    for (int head = 0; head < heads_; ++head) {
      const auto d_query = queries(head);
      auto d_weight = weight_gradient(below_, head);
      for (index row = 0; row < end_ - begin_; ++row) {
        add_entries(d_weight.row(query_token(row)), d_query.row(row), d_query.columns);
        add_entries(d_weight.row(shape_.vocabulary + query_position(row)), d_query.row(row), d_query.columns);
      }
      products::add_left_transposed(d_weight.rows_from(width_), stream.middle_columns(width_, hidden()), d_query);
      products::add_right_transposed(slope.middle_columns(width_, hidden()), d_query,
                                     weight(below_, head).rows_from(width_));
    }
    for (index group = used_groups_; below_ > 0 && group-- > 0;) {
      entry* const d_path = scratch_memory_.data();
      for (index copy = 1; copy < copies_; ++copy)
        from_input(group, slope.data + copy * width_, readout_width(), d_path + copy * n_);
      push_backward(group, path_of(group), d_path, true);
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
    const index group = place / lane_count;
    for (int head = 0; head < heads_; ++head)
      for (index i = 0; i < n_; ++i, to += n_) {
        std::fill_n(to, n_, Scalar(0));
        for (index j = 0; j <= i; ++j) to[j] = lane_of(pattern_of(group, layer, head), i * n_ + j, place % lane_count);
      }
  }

private:
  // Sizes ----------------------------------------------------------------------------------------------------------
  [[nodiscard]] index stream_width() const noexcept { return copies_ * width_; }
  [[nodiscard]] index readout_width() const noexcept { return stream_width() * (heads_ + 1); }
  [[nodiscard]] index hidden() const noexcept { return stream_width() - width_; }
  [[nodiscard]] index rows_entries(index columns) const noexcept { return groups_ * columns; }
  /// (H+1)^level, the distance of the copies that a head of layer level + 1 connects.
  [[nodiscard]] index reach(int level) const noexcept { return copies(level, heads_); }

  /// Offsets of what a group of sequences keeps from its forward to its backward pass; returns their end.
  index layout() {
    index end = 2 * index{below_} * heads_ * n_ * n_;
    folded_offset_ = end;
    for (int layer = 1; layer < below_; ++layer) end += heads_ * reach(layer) * reach(layer) * n_ * n_;
    path_offset_ = end;
    return end + (1 + 2 * heads_) * copies_ * n_;
  }
  [[nodiscard]] entry* state(index group) { return state_memory_.data() + group * state_size_; }
  [[nodiscard]] entry* pattern_of(index group, int layer, int head) {
    return state(group) + (layer * heads_ + head) * n_ * n_;
  }
  [[nodiscard]] entry* d_pattern_of(index group, int layer, int head) {
    return pattern_of(group, below_ + layer, head);
  }
  [[nodiscard]] entry* folded_of(index group, int layer, int head) {
    index offset = folded_offset_;
    for (int lower = 1; lower < layer; ++lower) offset += heads_ * reach(lower) * reach(lower) * n_ * n_;
    return state(group) + offset + head * reach(layer) * reach(layer) * n_ * n_;
  }
  [[nodiscard]] entry* path_of(index group) { return state(group) + path_offset_; }
  [[nodiscard]] entry* key_of(index group, int head) { return path_of(group) + (1 + head) * copies_ * n_; }
  [[nodiscard]] entry* readout_of(index group, int head) { return key_of(group, heads_ + head); }

  // Sequences and weights ------------------------------------------------------------------------------------------
  /// Lanes behind the block's end repeat its last sequence, with weight zero.
  [[nodiscard]] bool valid(index group, index lane) const noexcept { return begin_ + group * lane_count + lane < end_; }
  [[nodiscard]] index sequence(index group, index lane) const noexcept {
    return std::min(begin_ + group * lane_count + lane, end_ - 1);
  }
  [[nodiscard]] const int* tokens(index group, index lane) const noexcept {
    return batch_->tokens.data + sequence(group, lane) * n_;
  }
  [[nodiscard]] const int* positions(index group, index lane) const noexcept {
    return batch_->positions.data + sequence(group, lane) * n_;
  }
  [[nodiscard]] index query_token(index row) const noexcept {
    return tokens(row / lane_count, row % lane_count)[n_ - 1];
  }
  [[nodiscard]] index query_position(index row) const noexcept {
    return positions(row / lane_count, row % lane_count)[n_ - 1];
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

  // Between the D-wide input space and the n places ------------------------------------------------------------------
  /// row_b += v_b X_0 for the group's sequences b; `first` points into the row of the group 0's first.
  void to_input(index group, const entry* v, Scalar* first, index stride) const {
    for (index lane = 0; lane < lane_count; ++lane) {
      Scalar* const row = first + (group * lane_count + lane) * stride;
      Scalar* const position_row = row + shape_.vocabulary;
      const int *token = tokens(group, lane), *position = positions(group, lane);
      const Scalar* value = reinterpret_cast<const Scalar*>(v) + lane;
      for (index j = 0; j < n_; ++j, value += lane_count) {
        const Scalar share = *value;
        row[token[j]] += share;
        position_row[position[j]] += share;
      }
    }
  }
  /// v_b = X_0 row_b', its adjoint.
  void from_input(index group, const Scalar* first, index stride, entry* v) const {
    for (index lane = 0; lane < lane_count; ++lane) {
      const Scalar* const row = first + (group * lane_count + lane) * stride;
      const Scalar* const position_row = row + shape_.vocabulary;
      const int *token = tokens(group, lane), *position = positions(group, lane);
      Scalar* value = reinterpret_cast<Scalar*>(v) + lane;
      for (index j = 0; j < n_; ++j, value += lane_count) *value = row[token[j]] + position_row[position[j]];
    }
  }
  /// relation = X_0 W X_0' for a D x D block of weights; only the lower tiles if `lower`.
  void gather(index group, const Scalar* w, index stride, entry* relation, bool lower) const {
    const index vocabulary = shape_.vocabulary;
    for (index i = 0; i < n_; ++i) {
      const index end = lower ? tile_end(i, n_) : n_;
      for (index lane = 0; lane < lane_count; ++lane) {
        const int *token = tokens(group, lane), *position = positions(group, lane);
        const Scalar* const by_token = w + token[i] * stride;
        const Scalar* const by_position = w + (vocabulary + position[i]) * stride;
        Scalar* value = reinterpret_cast<Scalar*>(relation + i * n_) + lane;
        for (index j = 0; j < end; ++j, value += lane_count)
          *value = (by_token[token[j]] + by_token[vocabulary + position[j]]) +
                   (by_position[token[j]] + by_position[vocabulary + position[j]]);
      }
    }
  }
  /// W += X_0' relation X_0, its adjoint; of the lower triangle alone if `lower`.
  void scatter(index group, const entry* relation, Scalar* w, index stride, bool lower) const {
    const index vocabulary = shape_.vocabulary;
    for (index i = 0; i < n_; ++i) {
      const index end = lower ? i + 1 : n_;
      for (index lane = 0; lane < lane_count && valid(group, lane); ++lane) {
        const int *token = tokens(group, lane), *position = positions(group, lane);
        Scalar* const by_token = w + token[i] * stride;
        Scalar* const by_position = w + (vocabulary + position[i]) * stride;
        const Scalar* value = reinterpret_cast<const Scalar*>(relation + i * n_) + lane;
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

  // Rows: the last layer's query -------------------------------------------------------------------------------------
  /// From p_0 all p_c = p_0 A.. of the copies c. With `unit`, p_0 is the unit vector of the last place (not stored).
  void push(index group, entry* p, bool unit) {
    for (int level = below_; level-- > 0;)
      for (index from = 0; from < copies_; from += reach(level + 1))
        for (int head = 0; head < heads_; ++head) {
          const entry* const a = pattern_of(group, level, head);
          entry* const to = p + (from + (head + 1) * reach(level)) * n_;
          if (unit && from == 0)
            std::copy_n(a + (n_ - 1) * n_, n_, to);
          else
            lane_product<false>(1, n_, n_, to, n_, {p + from * n_, 0, 1}, {a, 1, n_}, {.from_column = true});
        }
  }
  /// Turns the derivatives by all p_c into that by p_0 (none with `unit`), and adds those by the patterns.
  void push_backward(index group, const entry* p, entry* d, bool unit) {
    for (int level = 0; level < below_; ++level)
      for (index from = 0; from < copies_; from += reach(level + 1))
        for (int head = 0; head < heads_; ++head) {
          const entry* const d_to = d + (from + (head + 1) * reach(level)) * n_;
          entry* const d_a = d_pattern_of(group, level, head);
          if (unit && from == 0) {
            for (index k = 0; k < n_; ++k) d_a[(n_ - 1) * n_ + k] += d_to[k];
            continue;
          }
          lane_product<true>(1, n_, n_, d + from * n_, n_, {d_to, 0, 1}, {pattern_of(group, level, head), n_, 1},
                             {.to_column = true});
          lane_product<true>(n_, n_, 1, d_a, n_, {p + from * n_, 1, 0}, {d_to, 1, 0}, {.lower = true});
        }
  }
  /// From all u_d their sum_d P_d u_d, in u_0.
  void fold(index group, entry* u) {
    for (int level = 0; level < below_; ++level)
      for (index to = 0; to < copies_; to += reach(level + 1))
        for (int head = 0; head < heads_; ++head)
          lane_product<true>(1, n_, n_, u + to * n_, n_, {u + (to + (head + 1) * reach(level)) * n_, 0, 1},
                             {pattern_of(group, level, head), n_, 1}, {.to_column = true});
  }
  /// From the derivative by the sum those by all u_d, and adds those by the patterns.
  void fold_backward(index group, const entry* u, entry* d) {
    for (int level = below_; level-- > 0;)
      for (index to = 0; to < copies_; to += reach(level + 1))
        for (int head = 0; head < heads_; ++head) {
          const index from = to + (head + 1) * reach(level);
          lane_product<false>(1, n_, n_, d + from * n_, n_, {d + to * n_, 0, 1},
                              {pattern_of(group, level, head), 1, n_}, {.from_column = true});
          lane_product<true>(n_, n_, 1, d_pattern_of(group, level, head), n_, {d + to * n_, 1, 0},
                             {u + from * n_, 1, 0}, {.lower = true});
        }
  }
  /// From the derivatives by the readout's rows those by the queries, which replace the queries.
  void backward_last(index group, int head, const block& slope) {
    entry* const d = scratch_memory_.data();
    for (index copy = 0; copy < copies_; ++copy)
      from_input(group, slope.data + ((head + 1) * copies_ + copy) * width_, readout_width(), d + copy * n_);
    push_backward(group, readout_of(group, head), d, false);
    lane_softmax_backward<Scalar>(readout_of(group, head), d, n_);
    fold_backward(group, key_of(group, head), d);
    auto d_query = queries(head);
    std::fill_n(d_query.row(group * lane_count), lane_count * d_query.columns, Scalar(0));
    for (index copy = 0; copy < copies_; ++copy)
      to_input(group, d + copy * n_, d_query.data + copy * width_, stream_width());
  }

  // Matrices: the layers below, in which every place asks
  // --------------------------------------------------------------
  void attend(index group, int layer) {
    for (int head = 0; head < heads_; ++head) {
      entry* const pattern = pattern_of(group, layer, head);
      if (layer == 0) {
        gather(group, weight(0, head).data, width_, pattern, true);
      } else {
        entry* const folded = folded_of(group, layer, head);
        fold_relations(group, layer, head, folded);
        for (index i = 0; i < n_; ++i) std::copy_n(folded + i * n_, i + 1, pattern + i * n_);
      }
      for (index i = 0; i < n_; ++i) {
        lane_softmax<Scalar>(pattern + i * n_, i + 1);
        std::fill(pattern + i * n_ + i + 1, pattern + i * n_ + tile_end(i, n_), entry{});
      }
    }
  }

  void fold_relations(index group, int layer, int head, entry* folded) {
    const index count = reach(layer), square = n_ * n_;
    const auto f = [&](index c, index d) { return folded + (c * count + d) * square; };
    const auto w = weight(layer, head);
    for (index c = 0; c < count; ++c)
      for (index d = 0; d < count; ++d)
        gather(group, w.data + c * width_ * w.columns + d * width_, w.columns, f(c, d), c == 0);
    for (int level = 0; level < layer; ++level)
      for (index to = 0; to < count; to += reach(level + 1))
        for (int lower = 0; lower < heads_; ++lower)
          for (index d = 0; d < count; ++d)
            lane_product<true>(n_, n_, n_, f(to, d), n_, {pattern_of(group, level, lower), n_, 1},
                               {f(to + (lower + 1) * reach(level), d), 1, n_}, {.lower = to == 0, .to_row = true});
    for (int level = 0; level < layer; ++level)
      for (index to = 0; to < count; to += reach(level + 1))
        for (int lower = 0; lower < heads_; ++lower)
          lane_product<true>(n_, n_, n_, f(0, to), n_, {f(0, to + (lower + 1) * reach(level)), n_, 1},
                             {pattern_of(group, level, lower), n_, 1}, {.lower = true, .to_column = true});
  }

  void attend_backward(index group, int layer) {
    for (int head = 0; head < heads_; ++head) {
      entry* const d_score = d_pattern_of(group, layer, head);
      for (index i = 0; i < n_; ++i) {
        lane_softmax_backward<Scalar>(pattern_of(group, layer, head) + i * n_, d_score + i * n_, i + 1);
        std::fill(d_score + i * n_ + i + 1, d_score + i * n_ + tile_end(i, n_), entry{});
      }
      if (layer == 0)
        scatter(group, d_score, weight_gradient(0, head).data, width_, true);
      else
        unfold_relations(group, layer, head, d_score);
    }
  }

  void unfold_relations(index group, int layer, int head, entry* d_score) {
    const index count = reach(layer), square = n_ * n_;
    entry *const folded = folded_of(group, layer, head), *const d_folded = scratch_memory_.data();
    const auto f = [&](index c, index d) { return folded + (c * count + d) * square; };
    const auto d_f = [&](index c, index d) { return c + d == 0 ? d_score : d_folded + (c * count + d) * square; };
    for (int level = layer; level-- > 0;)
      for (index to = 0; to < count; to += reach(level + 1))
        for (int lower = 0; lower < heads_; ++lower) {
          const index from = to + (lower + 1) * reach(level);
          lane_product<false>(n_, n_, n_, d_f(0, from), n_, {d_f(0, to), n_, 1},
                              {pattern_of(group, level, lower), 1, n_},
                              {.lower = true, .from_column = true, .to_row = true});
          lane_product<true>(n_, n_, n_, d_pattern_of(group, level, lower), n_, {d_f(0, to), 1, n_},
                             {f(0, from), 1, n_}, {.lower = true, .from_row = true});
        }
    for (int level = layer; level-- > 0;)
      for (index to = 0; to < count; to += reach(level + 1))
        for (int lower = 0; lower < heads_; ++lower)
          for (index d = 0; d < count; ++d) {
            const index from = to + (lower + 1) * reach(level);
            const bool causal = to == 0;  // the derivatives by F_0d vanish above the diagonal
            lane_product<false>(n_, n_, n_, d_f(from, d), n_, {pattern_of(group, level, lower), 1, n_},
                                {d_f(to, d), 1, n_}, {.from_row = true, .from_column = causal});
            lane_product<true>(n_, n_, n_, d_pattern_of(group, level, lower), n_, {d_f(to, d), n_, 1},
                               {f(from, d), n_, 1}, {.lower = true, .to_row = causal});
          }
    const auto d_weight = weight_gradient(layer, head);
    for (index c = 0; c < count; ++c)
      for (index d = 0; d < count; ++d)
        scatter(group, d_f(c, d), weight_gradient(layer, head).data + c * width_ * d_weight.columns + d * width_,
                d_weight.columns, c == 0);
  }

  attention_shape shape_;
  const parameter_table* table_ = nullptr;
  index n_ = 0, width_ = 0, copies_ = 1, groups_ = 0, state_size_ = 0, folded_offset_ = 0, path_offset_ = 0;
  int heads_ = 0, below_ = 0;  // below_: the layers under the last one

  const Scalar* weights_ = nullptr;
  Scalar* gradient_ = nullptr;
  const task::batch_view* batch_ = nullptr;
  index begin_ = 0, end_ = 0, used_groups_ = 0;

  lane_memory<Scalar> state_memory_, scratch_memory_, stream_memory_, slope_memory_, query_memory_, logit_memory_;
};

}  // namespace lindyn::model::detail
