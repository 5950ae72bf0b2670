// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The backend of the processor: vectorised kernels on a few threads.

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_activation.hpp>
#include <lindyn/backend/host_attention.hpp>
#include <lindyn/backend/host_cross_entropy.hpp>
#include <lindyn/backend/host_layer_norm.hpp>
#include <lindyn/backend/host_product.hpp>
#include <lindyn/backend/host_rows.hpp>
#include <lindyn/backend/host_weighted_loss.hpp>
#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::inline LINDYN_VECTORS {

/// Kernels for the vector registers that the compiler may use, on `threads` threads that stay alive as long as the
/// object. The kernels are those of the concept `backend`. A copy has threads of its own, so that different objects
/// may be used at the same time; one object may not.
class host {
public:
  /// Memory of this backend.
  template <class S>
  using array = aligned_vector<S>;

  static constexpr bool host_memory = true;  ///< the host can read and write it
  /// It computes one run.
  [[nodiscard]] static constexpr int runs() noexcept { return 1; }

  /// \param threads  how many threads work, the calling one included
  /// \throws argument_error  if that is less than 1
  explicit host(int threads = 1) : pool_(threads) {}

  /// How many threads work.
  [[nodiscard]] int threads() const noexcept { return pool_.threads(); }

  /// The threads, for work on flat memory between kernels.
  [[nodiscard]] worker_pool& workers() noexcept { return pool_; }

  /// y = x W' + bias; `bias` may be null.
  template <class S>
  void linear(strided_matrix<const S> x, strided_matrix<const S> w, vector_argument<const S> bias, strided_matrix<S> y,
              update how) {
    detail::linear(pool_, memory<detail::panels<S>>(), x, w, bias.data, y, how);
  }

  /// dx = dy W.
  template <class S>
  void linear_backward_input(strided_matrix<const S> dy, strided_matrix<const S> w, strided_matrix<S> dx, update how) {
    detail::linear_backward_input(pool_, memory<detail::panels<S>>(), dy, w, dx, how);
  }

  /// dW = dy' x, dbias = column sums of dy; `dbias` may be null.
  template <class S>
  void linear_backward_weights(strided_matrix<const S> dy, strided_matrix<const S> x, strided_matrix<S> dw,
                               vector_argument<S> dbias) {
    detail::linear_backward_weights(pool_, dy, x, dw, dbias.data);
  }

  /// y = gain (x - mean) / sqrt(variance + 1e-5) + bias by rows; saved: mean and 1 / deviation.
  template <class S>
  void layer_norm(strided_matrix<const S> x, vector_argument<const S> gain, vector_argument<const S> bias,
                  strided_matrix<S> y, vector_argument<S> saved) {
    detail::layer_norm(pool_, x, gain.data, bias.data, y, saved.data);
  }

  /// Derivatives of layer_norm by x, gain and bias.
  template <class S>
  void layer_norm_backward(strided_matrix<const S> x, vector_argument<const S> saved, vector_argument<const S> gain,
                           strided_matrix<const S> dy, strided_matrix<S> dx, update how, vector_argument<S> dgain,
                           vector_argument<S> dbias) {
    detail::layer_norm_backward(pool_, scratch<S>(), x, saved.data, gain.data, dy, dx, how, dgain.data, dbias.data);
  }

  /// x = f(x), derivative = f'(x).
  template <class S>
  void activate(activation kind, strided_matrix<S> x, strided_matrix<S> derivative) {
    detail::activate(pool_, kind, x, derivative);
  }

  /// x = x factor, entry by entry.
  template <class S>
  void multiply(strided_matrix<S> x, strided_matrix<const S> factor) {
    detail::multiply(pool_, x, factor);
  }

  /// y[i] = x[rows[i]].
  template <class S>
  void gather_rows(strided_matrix<const S> x, const index_table& rows, strided_matrix<S> y, update how) {
    detail::gather_rows(pool_, x, rows, y, how);
  }

  /// dx[rows[i]] += dy[i], in the order of i.
  template <class S>
  void scatter_rows(strided_matrix<const S> dy, const row_table& table, strided_matrix<S> dx) {
    detail::scatter_rows(pool_, dy, table.rows, dx);
  }

  /// Attention of several heads over the visible keys; see the concept.
  template <class S>
  void attend(int heads, strided_matrix<const S> q, const index_table& query_rows, strided_matrix<const S> k,
              strided_matrix<const S> v, const visible_keys& visible, vector_argument<S> patterns,
              strided_matrix<S> out) {
    detail::attend(pool_, scratch<S>(), {heads, q, query_rows, k, v, visible}, patterns.data, out);
  }

  /// Derivatives of attend by q, k and v.
  template <class S>
  void attend_backward(int heads, strided_matrix<const S> q, const row_table& query_table, strided_matrix<const S> k,
                       strided_matrix<const S> v, const visible_keys& visible, vector_argument<const S> patterns,
                       strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk, strided_matrix<S> dv) {
    detail::attend_backward(pool_, scratch<S>(), {heads, q, query_table.rows, k, v, visible}, patterns.data, dout, dq,
                            dk, dv);
  }

  /// Loss in double, right answers, and scale (softmax - 1[answer]) times the share of count.
  template <class S>
  void cross_entropy(strided_matrix<const S> logits, const index_table& answers, const index_table& counts,
                     double scale, strided_matrix<S> dlogits, answer_score* scores) {
    *scores = detail::cross_entropy(pool_, logits, answers, counts, scale, dlogits);
  }

  /// The sum of weight x loss over rows, and its derivative.
  template <class S>
  void weighted_loss(answer_loss kind, strided_matrix<const S> logits, const index_table& answers,
                     run_vector<const double> weights, strided_matrix<S> dlogits, double* losses) {
    *losses = detail::weighted_loss(pool_, kind, logits, answers, weights.data, dlogits);
  }

  /// The first `size` entries are multiplied by `factor`.
  template <class S>
  void scale(run_vector<S> x, index size, double factor) {
    std::for_each_n(x.data, size, [factor](S& entry) { entry *= static_cast<S>(factor); });
  }

  /// The largest magnitude of the first `size` entries; NaN or infinite if there is one that is.
  template <class S>
  void largest_magnitude(run_vector<const S> x, index size, std::span<double> result) const {
    S largest = 0;
    for (index i = 0; i < size; ++i) {
      const S magnitude = std::abs(x.data[i]);
      if (!(magnitude <= largest) && !std::isnan(largest)) largest = magnitude;
    }
    result[0] = static_cast<double>(largest);
  }

  /// The sum of squares, in double, of the first `size` entries.
  template <class S>
  void sum_of_squares(run_vector<const S> x, index size, std::span<double> result) const {
    double sum = 0;
    for (index i = 0; i < size; ++i) sum += static_cast<double>(x.data[i]) * static_cast<double>(x.data[i]);
    result[0] = sum;
  }

  /// The first `size` entries become `value`.
  template <class S>
  void fill(run_vector<S> to, index size, S value) {
    std::fill_n(to.data, size, value);
  }

  /// The first `size` entries of `to` become those of `from`.
  template <class S>
  void copy(run_vector<const S> from, vector_argument<S> to, index size) {
    std::copy_n(from.data, size, to.data);
  }

  /// \{
  /// Copies from or to the host's memory, which this is.
  template <class T>
  void from_host(std::span<const T> from, T* to) {
    std::ranges::copy(from, to);
  }
  template <class T>
  void to_host(const T* from, std::span<T> to) {
    std::copy_n(from, to.size(), to.begin());
  }
  /// \}

private:
  // Memory of kernels, which grows to what the largest call needs.
  template <class Memory>
  Memory& memory() {
    return std::get<Memory>(memory_);
  }
  template <class S>
  aligned_vector<S>& scratch() {
    return memory<aligned_vector<S>>();
  }

  worker_pool pool_;
  std::tuple<aligned_vector<float>, aligned_vector<double>, detail::panels<float>, detail::panels<double>> memory_;
};

static_assert(backend<host, float> && backend<host, double>);

}  // namespace lindyn::backend::inline LINDYN_VECTORS
