// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The forward and backward pass of the attention-only network on dense streams, in terms of a backend's kernels.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/dense_tables.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model::detail {

/// One block of sequences at a time, of every run. The stream that enters a layer is the first columns of that which
/// enters the last one, and so are the derivatives; behind the last layer, only the last places are computed.
///
/// With X the stream that enters a layer of width w, the kernel's keys and values are both X, and its queries
/// sqrt(w) X W, as it divides scores by sqrt(w). In the first layer, where rows of X are the sum of two unit vectors, X W
/// is two rows of W, and dW two sums of rows.
template <class Scalar, class Backend>
class dense_attention_pass {
public:
  using matrix = backend::strided_matrix<Scalar>;
  using input = backend::strided_matrix<const Scalar>;

  explicit dense_attention_pass(Backend where) : on(std::move(where)) {}

  Backend on;

  /// Most sequences of a block, by which the memory of all runs stays below about 2^27 entries if a sequence a run does.
  [[nodiscard]] static index most_sequences(const attention_shape& shape, index length, index runs) {
    const index width = shape.width(shape.layers - 1), heads = shape.heads;
    const index entries =
        length * (5 * width + heads * (2 * width + shape.layers * length)) + 2 * shape.width(shape.layers);
    return std::max<index>(1, (index{1} << 27) / runs / entries);
  }

  /// Makes room for blocks of `count` sequences, of which the last layer computes the last places or, if `every_place`,
  /// all patterns and no logits.
  void fit(const attention_shape& shape, const parameter_table& table, index count, index length, bool every_place) {
    shape_ = shape;
    every_place_ = every_place;
    offsets_.clear();
    for (const parameter& which : table) offsets_.push_back(which.offset);
    run_stride_ = table.size();
    tables_.fit(on, shape, count, length, every_place || shape.layers > 1);
    const index rows = tables_.rows(), width = shape.width(shape.layers - 1);
    make_units();
    take(stream_, rows, width);
    take(by_stream_, rows, width);
    take(by_keys_, rows, width);
    take(by_values_, rows, width);
    take(by_queries_, rows, width);
    heads_.resize(static_cast<std::size_t>(shape.layers * shape.heads));
    for (int layer = 0; layer < shape.layers; ++layer)
      for (int head = 0; head < shape.heads; ++head) {
        head_memory& of = heads_[place(layer, head)];
        const index computed = reads_last(layer) ? count : rows;
        take(of.queries, computed, shape.width(layer));
        take(of.patterns, computed, length);
      }
    take(answer_, count, shape.width(shape.layers));
    take(by_answer_, count, shape.width(shape.layers));
    take(logits_, count, shape.vocabulary);
    take(by_logits_, count, shape.vocabulary);
    if (losses_size_ < on.runs()) losses_.resize(static_cast<std::size_t>(losses_size_ = on.runs()));
  }

  /// The logits, or all patterns, of the sequences from `begin` on of every run's batch.
  /// \param weights  of all runs, which stay where they are until `backward`
  void forward(const Scalar* weights, std::span<const task::batch_view> batches, index begin) {
    weights_ = weights;
    tables_.place(on, batches, begin);
    const index vocabulary = shape_.vocabulary, positions = shape_.positions;
    on.gather_rows(unit(vocabulary), tables_.tokens(), view(stream_).columns_from(0, vocabulary), assign);
    on.gather_rows(unit(positions), tables_.positions(), view(stream_).columns_from(vocabulary, positions), assign);
    for (int layer = 0; layer < shape_.layers; ++layer)
      for (int head = 0; head < shape_.heads; ++head) attend(layer, head);
    if (every_place_) return;
    const index width = shape_.width(shape_.layers - 1);
    copy(last_rows(view(stream_)), view(answer_).columns_from(0, width), assign);
    on.linear(input(view(answer_)), readout(weights_), nullptr, view(logits_), assign);
  }

  /// Computes losses; ready for `backward` if `differentiate`.
  void score(task::loss kind, bool differentiate) {
    on.weighted_loss(
        kind == task::loss::cross_entropy ? backend::answer_loss::cross_entropy : backend::answer_loss::squared_error,
        input(view(logits_)), tables_.answers(), tables_.weights(), differentiate ? view(by_logits_) : matrix{},
        losses_.data());
  }
  /// Waits for sum_b weight_b loss_b of every run.
  void losses(std::span<double> of) { on.to_host(static_cast<const double*>(losses_.data()), of); }

  /// Assigns the derivative of all runs' losses to `gradient`, or adds it.
  void backward(Scalar* gradient, backend::update how) {
    if (how == assign)
      for (int head = 0; head < shape_.heads; ++head)  // where rows are added in any case
        clear(weight(gradient, 0, head));
    by_weight(input(view(by_logits_)), input(view(answer_)), readout(gradient), how);
    on.linear_backward_input(input(view(by_logits_)), readout(weights_), view(by_answer_), assign);
    if (shape_.layers > 1) {
      clear(view(by_stream_));
      copy(view(by_answer_).columns_from(0, shape_.width(shape_.layers - 1)), last_rows(view(by_stream_)), assign);
    }
    for (int layer = shape_.layers; layer-- > 0;)
      for (int head = 0; head < shape_.heads; ++head) attend_backward(gradient, layer, head, how);
  }

  /// Sequences of a block.
  [[nodiscard]] index count() const noexcept { return tables_.count(); }
  /// count x V logits of every run.
  [[nodiscard]] matrix logits() const noexcept { return view(logits_); }
  /// The patterns of a head, place by place, of every run: entry (place x count + b, key place).
  [[nodiscard]] matrix patterns(int layer, int head) const noexcept {
    return view(heads_[place(layer, head)].patterns);
  }

private:
  static constexpr auto assign = backend::update::assign;
  static constexpr auto add = backend::update::add;

  /// A matrix of each run, one behind the other.
  struct run_matrices {
    typename Backend::template array<Scalar> memory;
    index size = 0;
    matrix first;
  };
  struct head_memory {
    run_matrices queries, patterns;
  };

  void attend(int layer, int head) {
    const index width = shape_.width(layer);
    head_memory& of = heads_[place(layer, head)];
    const matrix keys = view(stream_).columns_from(0, width), queries = view(of.queries);
    const bool last = reads_last(layer);
    if (layer == 0) {
      on.gather_rows(input(token_rows(weight(weights_, 0, head))), tables_.query_tokens().rows, queries, assign);
      on.gather_rows(input(position_rows(weight(weights_, 0, head))), tables_.query_positions().rows, queries, add);
    } else {
      on.linear_backward_input(input(last ? last_rows(keys) : keys), weight(weights_, layer, head), queries, assign);
    }
    scale(queries, width);
    const bool unread = every_place_ && layer + 1 == shape_.layers;
    const matrix out = last ? view(answer_) : unread ? view(by_stream_) : view(stream_);
    on.attend(1, input(queries), {}, input(keys), input(keys), visible(layer), patterns_of(of),
              unread ? out.columns_from(0, width) : out.columns_from((head + 1) * width, width));
  }

  void attend_backward(Scalar* gradient, int layer, int head, backend::update how) {
    const index width = shape_.width(layer);
    head_memory& of = heads_[place(layer, head)];
    const matrix keys = view(stream_).columns_from(0, width), queries = view(of.queries);
    const bool last = reads_last(layer);
    const matrix above = (last ? view(by_answer_) : view(by_stream_)).columns_from((head + 1) * width, width),
                 by_queries = cut(by_queries_, queries.rows, width), by_keys = cut(by_keys_, keys.rows, width),
                 by_values = cut(by_values_, keys.rows, width);
    on.attend_backward(1, input(queries), {}, input(keys), input(keys), visible(layer), patterns_of(of), input(above),
                       by_queries, by_keys, by_values);
    scale(by_queries, width);
    const matrix slope = weight(gradient, layer, head);
    if (layer == 0) {
      on.scatter_rows(input(by_queries), tables_.query_tokens(), token_rows(slope));
      on.scatter_rows(input(by_queries), tables_.query_positions(), position_rows(slope));
      return;
    }
    by_weight(input(last ? last_rows(keys) : keys), input(by_queries), slope, how);
    const matrix below = view(by_stream_).columns_from(0, width);
    copy(by_keys, below, add);
    copy(by_values, below, add);
    on.linear(input(by_queries), weight(weights_, layer, head), nullptr, last ? last_rows(below) : below, add);
  }

  /// slope = dy' x, or added to it.
  void by_weight(input dy, input x, matrix slope, backend::update how) {
    if (how == assign) return on.linear_backward_weights(dy, x, slope, nullptr);
    const index width = shape_.width(shape_.layers - 1);
    take(part_, 1, std::max(width * width, shape_.vocabulary * shape_.width(shape_.layers)));
    const matrix part = cut(part_, slope.rows, slope.columns);
    on.linear_backward_weights(dy, x, part, nullptr);
    copy(part, slope, add);
  }
  void copy(matrix from, matrix to, backend::update how) {
    on.gather_rows(input(from), tables_.same(from.rows), to, how);
  }
  /// Makes up for what the kernel of attention divides scores by.
  void scale(matrix queries, index width) {
    on.scale(entries(queries), queries.rows * queries.columns, std::sqrt(static_cast<double>(width)));
  }
  void clear(matrix of) { on.fill(entries(of), of.rows * of.columns, Scalar(0)); }
  /// Those of a matrix without gaps.
  [[nodiscard]] static backend::run_vector<Scalar> entries(matrix of) { return {of.data, of.run_stride}; }

  [[nodiscard]] static std::size_t number(int layer, int head, int heads) {
    return static_cast<std::size_t>(layer * heads + head);
  }
  [[nodiscard]] std::size_t place(int layer, int head) const { return number(layer, head, shape_.heads); }
  [[nodiscard]] bool reads_last(int layer) const noexcept { return layer + 1 == shape_.layers && !every_place_; }
  [[nodiscard]] backend::visible_keys visible(int layer) const {
    return reads_last(layer) ? tables_.last_visible() : tables_.all_visible();
  }
  [[nodiscard]] static backend::run_vector<Scalar> patterns_of(head_memory& of) {
    return {of.patterns.first.data, of.patterns.first.run_stride};
  }

  /// W_lh, or W_out for layer L and head 0, within buffers of all runs.
  template <class T>
  [[nodiscard]] backend::strided_matrix<T> weight(T* buffers, int layer, int head) const {
    const index width = shape_.width(layer), rows = layer == shape_.layers ? shape_.vocabulary : width;
    return {buffers + offsets_[place(layer, head)], rows, width, width, run_stride_};
  }
  template <class T>
  [[nodiscard]] backend::strided_matrix<T> readout(T* buffers) const {
    return weight(buffers, shape_.layers, 0);
  }
  template <class T>
  [[nodiscard]] backend::strided_matrix<T> token_rows(backend::strided_matrix<T> first_weight) const {
    return first_weight.first_rows(shape_.vocabulary);
  }
  template <class T>
  [[nodiscard]] backend::strided_matrix<T> position_rows(backend::strided_matrix<T> first_weight) const {
    return rows_from(first_weight, shape_.vocabulary);
  }
  [[nodiscard]] matrix last_rows(matrix of) const { return rows_from(of, of.rows - tables_.count()); }
  template <class T>
  [[nodiscard]] static backend::strided_matrix<T> rows_from(backend::strided_matrix<T> of, index first) {
    return {of.row(first), of.rows - first, of.columns, of.stride, of.run_stride};
  }

  // ---- Memory ---------------------------------------------------------------------------------------------------

  [[nodiscard]] static matrix view(const run_matrices& of) noexcept { return of.first; }
  /// A smaller matrix without gaps in the same memory.
  [[nodiscard]] static matrix cut(const run_matrices& of, index rows, index columns) noexcept {
    return {of.first.data, rows, columns, columns, of.first.run_stride};
  }
  void take(run_matrices& of, index rows, index columns) {
    const index wanted = rows * columns * on.runs();
    if (wanted > of.size) of.memory.resize(static_cast<std::size_t>(of.size = wanted));
    of.first = {of.memory.data(), rows, columns, columns, rows * columns};
  }
  /// The first rows and columns of the identity, which all runs share.
  [[nodiscard]] input unit(index size) const { return {units_.data(), size, size, units_width_, 0}; }
  void make_units() {
    const index width = std::max(shape_.vocabulary, shape_.positions);
    if (width == units_width_) return;
    std::vector<Scalar> identity(static_cast<std::size_t>(width * width));
    for (index i = 0; i < width; ++i) identity[static_cast<std::size_t>(i * (width + 1))] = 1;
    units_.resize(identity.size());
    on.from_host(std::span<const Scalar>(identity), units_.data());
    units_width_ = width;
  }

  attention_shape shape_;
  bool every_place_ = false;
  std::vector<index> offsets_;
  index run_stride_ = 0;  // of weights and gradients
  const Scalar* weights_ = nullptr;
  dense_tables<Backend> tables_;
  typename Backend::template array<Scalar> units_;
  typename Backend::template array<double> losses_;
  index units_width_ = 0, losses_size_ = 0;
  std::vector<head_memory> heads_;
  run_matrices stream_, by_stream_, by_keys_, by_values_, by_queries_, answer_, by_answer_, logits_, by_logits_, part_;
};

}  // namespace lindyn::model::detail
