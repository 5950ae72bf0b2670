// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A backend for tests that computes several runs at once, in memory that the host can't read.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/plain.hpp>
#include <lindyn/core/views.hpp>

namespace backend_test {

using lindyn::index;
using lindyn::backend::index_table;
using lindyn::backend::row_table;
using lindyn::backend::run_vector;
using lindyn::backend::strided_matrix;
using lindyn::backend::update;
using lindyn::backend::vector_argument;
using lindyn::backend::visible_keys;

/// Each run is computed by `plain`, and rows are added up by inverse lists. Addresses have a bit flipped outside of its
/// kernels: whoever else looks there gets a fault.
class plain_runs {
  static constexpr std::uintptr_t flipped = std::uintptr_t{1} << 60;

  template <class T>
  static T* flip(T* address) {
    return address ? reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) ^ flipped) : nullptr;
  }

public:
  template <class T>
  class array {
  public:
    array() = default;
    explicit array(std::size_t size) : entries_(size) {}
    void resize(std::size_t size) { entries_.resize(size); }
    [[nodiscard]] T* data() { return flip(entries_.data()); }
    [[nodiscard]] const T* data() const { return flip(entries_.data()); }

  private:
    std::vector<T> entries_;
  };

  static constexpr bool host_memory = false;
  explicit plain_runs(int runs = 1) : runs_(runs) {}
  [[nodiscard]] int runs() const { return runs_; }

  template <class S>
  void linear(strided_matrix<const S> x, strided_matrix<const S> w, vector_argument<const S> bias, strided_matrix<S> y,
              update how) const {
    each([&](int r) { on_.linear<S>(of(x, r), of(w, r), of(bias, r), of(y, r), how); });
  }
  template <class S>
  void linear_backward_input(strided_matrix<const S> dy, strided_matrix<const S> w, strided_matrix<S> dx,
                             update how) const {
    each([&](int r) { on_.linear_backward_input<S>(of(dy, r), of(w, r), of(dx, r), how); });
  }
  template <class S>
  void linear_backward_weights(strided_matrix<const S> dy, strided_matrix<const S> x, strided_matrix<S> dw,
                               vector_argument<S> dbias) const {
    each([&](int r) { on_.linear_backward_weights<S>(of(dy, r), of(x, r), of(dw, r), of(dbias, r)); });
  }
  template <class S>
  void layer_norm(strided_matrix<const S> x, vector_argument<const S> gain, vector_argument<const S> bias,
                  strided_matrix<S> y, vector_argument<S> saved) const {
    each([&](int r) { on_.layer_norm<S>(of(x, r), of(gain, r), of(bias, r), of(y, r), of(saved, r)); });
  }
  template <class S>
  void layer_norm_backward(strided_matrix<const S> x, vector_argument<const S> saved, vector_argument<const S> gain,
                           strided_matrix<const S> dy, strided_matrix<S> dx, update how, vector_argument<S> dgain,
                           vector_argument<S> dbias) const {
    each([&](int r) {
      on_.layer_norm_backward<S>(of(x, r), of(saved, r), of(gain, r), of(dy, r), of(dx, r), how, of(dgain, r),
                                 of(dbias, r));
    });
  }
  template <class S>
  void activate(lindyn::backend::activation kind, strided_matrix<S> x, strided_matrix<S> derivative) const {
    each([&](int r) { on_.activate<S>(kind, of(x, r), of(derivative, r)); });
  }
  template <class S>
  void multiply(strided_matrix<S> x, strided_matrix<const S> factor) const {
    each([&](int r) { on_.multiply<S>(of(x, r), of(factor, r)); });
  }
  template <class S>
  void gather_rows(strided_matrix<const S> x, const index_table& rows, strided_matrix<S> y, update how) const {
    each([&](int r) { on_.gather_rows<S>(of(x, r), of(rows, r), of(y, r), how); });
  }
  template <class S>
  void scatter_rows(strided_matrix<const S> dy, const row_table& table, strided_matrix<S> dx) const {
    each([&](int r) {
      const auto from = of(dy, r);
      const auto to = of(dx, r);
      const index_table first = of(table.first, r), order = of(table.order, r);
      for (index row = 0; row < to.rows; ++row)
        for (index i = first[row]; i < first[row + 1]; ++i)
          for (index c = 0; c < to.columns; ++c) to(row, c) += from(order[i], c);
    });
  }
  template <class S>
  void attend(int heads, strided_matrix<const S> q, const index_table& query_rows, strided_matrix<const S> k,
              strided_matrix<const S> v, const visible_keys& visible, vector_argument<S> patterns,
              strided_matrix<S> out) const {
    each([&](int r) {
      const host_keys seen(visible, r);
      on_.attend<S>(heads, of(q, r), of(query_rows, r), of(k, r), of(v, r), seen.visible, of(patterns, r), of(out, r));
    });
  }
  template <class S>
  void attend_backward(int heads, strided_matrix<const S> q, const row_table& query_table, strided_matrix<const S> k,
                       strided_matrix<const S> v, const visible_keys& visible, vector_argument<const S> patterns,
                       strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk,
                       strided_matrix<S> dv) const {
    each([&](int r) {
      const host_keys seen(visible, r);
      on_.attend_backward<S>(heads, of(q, r), of(query_table.rows, r), of(k, r), of(v, r), seen.visible,
                             of(patterns, r), of(dout, r), of(dq, r), of(dk, r), of(dv, r));
    });
  }
  template <class S>
  void cross_entropy(strided_matrix<const S> logits, const index_table& answers, const index_table& counts,
                     double scale, strided_matrix<S> dlogits, lindyn::backend::answer_score* scores) const {
    each([&](int r) {
      on_.cross_entropy<S>(of(logits, r), of(answers, r), of(counts, r), scale, of(dlogits, r), flip(scores) + r);
    });
  }
  template <class S>
  void weighted_loss(lindyn::backend::answer_loss kind, strided_matrix<const S> logits, const index_table& answers,
                     run_vector<const double> weights, strided_matrix<S> dlogits, double* losses) const {
    each([&](int r) {
      on_.weighted_loss<S>(kind, of(logits, r), of(answers, r), of(weights, r), of(dlogits, r), flip(losses) + r);
    });
  }
  template <class S>
  void scale(run_vector<S> values, index size, double factor) const {
    each([&](int r) { on_.scale(of(values, r), size, factor); });
  }
  template <class S>
  void largest_magnitude(run_vector<const S> values, index size, std::span<double> result) const {
    each([&](int r) { on_.largest_magnitude<S>(of(values, r), size, result.subspan(static_cast<std::size_t>(r), 1)); });
  }
  template <class S>
  void sum_of_squares(run_vector<const S> values, index size, std::span<double> result) const {
    each([&](int r) { on_.sum_of_squares<S>(of(values, r), size, result.subspan(static_cast<std::size_t>(r), 1)); });
  }
  template <class S>
  void fill(run_vector<S> to, index size, S value) const {
    each([&](int r) { on_.fill(of(to, r), size, value); });
  }
  template <class S>
  void copy(run_vector<const S> from, vector_argument<S> to, index size) const {
    each([&](int r) { on_.copy<S>(of(from, r), of(to, r), size); });
  }
  template <class T>
  void from_host(std::span<const T> from, T* to) const {
    std::ranges::copy(from, flip(to));
  }
  template <class T>
  void to_host(const T* from, std::span<T> to) const {
    std::copy_n(flip(from), to.size(), to.begin());
  }

private:
  template <class T>
  static strided_matrix<T> of(strided_matrix<T> of_all, int run) {
    of_all.data = flip(of_all.data);
    if (of_all.data) of_all.data += run * of_all.run_stride;
    return of_all;
  }
  template <class T>
  static run_vector<T> of(run_vector<T> of_all, int run) {
    return of_all.data ? run_vector<T>(flip(of_all.data) + run * of_all.run_stride) : run_vector<T>();
  }
  static index_table of(const index_table& of_all, int run) {
    return of_all.data ? index_table(flip(of_all.data) + run * of_all.run_stride, of_all.size, 0) : index_table();
  }

  /// What `plain` reads: each row is a segment.
  struct host_keys {
    std::vector<lindyn::backend::row_segment> segments;
    visible_keys visible;

    host_keys(const visible_keys& of_all, int run) {
      const index_table counts = of(of_all.counts, run);
      for (index row = 0; row < counts.size; ++row) segments.push_back({row, row + 1, counts[row]});
      visible = {.keys = of(of_all.keys, run), .context = of_all.context, .segments = segments};
    }
  };

  template <class Work>
  void each(Work work) const {
    for (int run = 0; run < runs_; ++run) work(run);
  }

  int runs_;
  lindyn::backend::plain on_;
};

static_assert(lindyn::backend::backend<plain_runs, float> && lindyn::backend::backend<plain_runs, double>);

}  // namespace backend_test
