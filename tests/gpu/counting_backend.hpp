// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A backend that computes nothing: it counts what kernels must read, write and compute at least.

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/views.hpp>

namespace gpu {

/// What calls of a kernel need at least. Operations are those of products, as tensor cores do them.
struct kernel_cost {
  double calls = 0, bytes = 0, operations = 0;
};

/// Counts for one run: each array that a kernel has as argument is read or written once. Its memory is the host's, but
/// tables are laid out as for a device, with their inverse lists.
class counting_backend {
public:
  template <class T>
  using array = std::vector<T>;
  using index = lindyn::index;
  template <class T>
  using matrix = lindyn::backend::strided_matrix<T>;
  template <class T>
  using vector = lindyn::backend::vector_argument<T>;
  template <class T>
  using run_vector = lindyn::backend::run_vector<T>;
  using table = lindyn::backend::index_table;
  using row_table = lindyn::backend::row_table;
  using visible_keys = lindyn::backend::visible_keys;
  using update = lindyn::backend::update;

  static constexpr bool host_memory = false;

  explicit counting_backend(std::map<std::string, kernel_cost>& costs) : costs_(&costs) {}
  [[nodiscard]] static int runs() noexcept { return 1; }

  template <class S>
  void linear(matrix<const S> x, matrix<const S> w, vector<const S> bias, matrix<S> y, update how) {
    note("linear", of(x) + of(w) + (bias.data ? of(y.columns, bias) : 0) + written(y, how),
         2.0 * product(x) * number(w.rows));
  }
  template <class S>
  void linear_backward_input(matrix<const S> dy, matrix<const S> w, matrix<S> dx, update how) {
    note("linear_backward_input", of(dy) + of(w) + written(dx, how), 2.0 * product(dy) * number(w.columns));
  }
  template <class S>
  void linear_backward_weights(matrix<const S> dy, matrix<const S> x, matrix<S> dw, vector<S> dbias) {
    note("linear_backward_weights", of(dy) + of(x) + of(dw) + (dbias.data ? of(dy.columns, dbias) : 0),
         2.0 * product(dy) * number(x.columns));
  }
  template <class S>
  void layer_norm(matrix<const S> x, vector<const S> gain, vector<const S>, matrix<S> y, vector<S> saved) {
    note("layer_norm", of(x) + 2 * of(x.columns, gain) + of(y) + of(2 * x.rows, saved));
  }
  template <class S>
  void layer_norm_backward(matrix<const S> x, vector<const S> saved, vector<const S> gain, matrix<const S> dy,
                           matrix<S> dx, update how, vector<S>, vector<S>) {
    note("layer_norm_backward", of(x) + of(2 * x.rows, saved) + 3 * of(x.columns, gain) + of(dy) + written(dx, how));
  }
  template <class S>
  void activate(lindyn::backend::activation, matrix<S> x, matrix<S> derivative) {
    note("activate", 2 * of(x) + (derivative.data ? of(derivative) : 0));
  }
  template <class S>
  void multiply(matrix<S> x, matrix<const S> factor) {
    note("multiply", 2 * of(x) + of(factor));
  }
  template <class S>
  void gather_rows(matrix<const S> x, const table& rows, matrix<S> y, update how) {
    note("gather_rows", std::min(of(x), of(y)) + of(rows) + written(y, how));
  }
  template <class S>
  void scatter_rows(matrix<const S> dy, const row_table& rows, matrix<S> dx) {
    note("scatter_rows", of(dy) + of(rows.first) + of(rows.order) + 2 * of(dx));
  }
  template <class S>
  void attend(int heads, matrix<const S> q, const table& query_rows, matrix<const S> k, matrix<const S> v,
              const visible_keys& visible, vector<S> patterns, matrix<S> out) {
    note("attend",
         of(q) + of(query_rows) + of(k) + of(v) + of(visible.keys) + of(visible.counts) + of(out) +
             of(out.rows * heads * visible.context, patterns),
         4.0 * pairs(visible) * number(out.columns));
  }
  template <class S>
  void attend_backward(int heads, matrix<const S> q, const row_table& query_table, matrix<const S> k, matrix<const S> v,
                       const visible_keys& visible, vector<const S> patterns, matrix<const S> dout, matrix<S> dq,
                       matrix<S> dk, matrix<S> dv) {
    const double tables = of(query_table.rows) + of(query_table.first) + of(query_table.order) + of(visible.keys) +
                          of(visible.counts) + of(visible.first) + of(visible.order);
    note("attend_backward",
         of(q) + of(k) + of(v) + of(dout) + of(dq) + of(dk) + of(dv) + tables +
             of(dout.rows * heads * visible.context, patterns),
         8.0 * pairs(visible) * number(dout.columns));
  }
  template <class S>
  void cross_entropy(matrix<const S> logits, const table& answers, const table& counts, double, matrix<S> dlogits,
                     lindyn::backend::answer_score* score) {
    note("cross_entropy", of(logits) + of(answers) + of(counts) + (dlogits.data ? of(dlogits) : 0));
    *score = {1, 0, 1};
  }
  template <class S>
  void weighted_loss(lindyn::backend::answer_loss, matrix<const S> logits, const table& answers,
                     run_vector<const double>, matrix<S> dlogits, double*) {
    note("weighted_loss", of(logits) + of(answers) + 8 * number(logits.rows) + (dlogits.data ? of(dlogits) : 0));
  }
  template <class S>
  void scale(run_vector<S> values, index size, double) {
    note("scale", 2 * of(size, values));
  }
  template <class S>
  void fill(run_vector<S> to, index size, S) {
    note("fill", of(size, to));
  }
  template <class S>
  void copy(run_vector<const S> from, vector<S>, index size) {
    note("copy", 2 * of(size, from));
  }
  template <class S>
  void largest_magnitude(run_vector<const S> values, index size, std::span<double>) {
    note("largest_magnitude", of(size, values));
  }
  template <class S>
  void sum_of_squares(run_vector<const S> values, index size, std::span<double>) {
    note("sum_of_squares", of(size, values));
  }
  template <class T>
  void from_host(std::span<const T> from, T* to) {
    std::ranges::copy(from, to);
  }
  template <class T>
  void to_host(const T* from, std::span<T> to) {
    std::copy_n(from, to.size(), to.begin());
  }

private:
  static double number(index count) { return static_cast<double>(count); }
  template <class S>
  static double product(const matrix<S>& x) {
    return number(x.rows) * number(x.columns);
  }
  template <class S>
  static double of(const matrix<S>& x) {
    return product(x) * sizeof(S);
  }
  template <class S>
  static double of(index size, const run_vector<S>&) {
    return number(size) * sizeof(S);
  }
  static double of(const table& rows) { return number(rows.size) * sizeof(int); }
  template <class S>
  static double written(const matrix<S>& y, update how) {
    return (how == update::add ? 2 : 1) * of(y);
  }
  static double pairs(const visible_keys& visible) {
    double sum = 0;
    for (index row = 0; row < visible.counts.size; ++row) sum += visible.counts[row];
    return sum;
  }
  void note(const char* kernel, double bytes, double operations = 0) {
    kernel_cost& cost = (*costs_)[kernel];
    cost.calls += 1;
    cost.bytes += bytes;
    cost.operations += operations;
  }

  std::map<std::string, kernel_cost>* costs_;
};

}  // namespace gpu
