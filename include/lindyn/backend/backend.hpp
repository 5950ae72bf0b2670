// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a backend is: where arrays live, and the few kernels of which the evaluation of a network consists.

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include <lindyn/core/views.hpp>

namespace lindyn::backend {

/// A row-major matrix whose rows begin `stride` >= columns entries apart, in the memory of a backend.
template <class T>
struct strided_matrix {
  T* data = nullptr;  ///< entry (r, c) is data[r * stride + c]
  index rows = 0;     ///< number of rows
  index columns = 0;  ///< number of columns
  index stride = 0;   ///< entries from one row to the next

  /// The entry of that row and column, which aren't checked.
  [[nodiscard]] constexpr T& operator()(index row, index column) const noexcept { return data[row * stride + column]; }
  /// The first entry of that row.
  [[nodiscard]] constexpr T* row(index row) const noexcept { return data + row * stride; }
  /// `count` columns from `first` on.
  [[nodiscard]] constexpr strided_matrix columns_from(index first, index count) const noexcept {
    return {data + first, rows, count, stride};
  }
  /// The first `count` rows.
  [[nodiscard]] constexpr strided_matrix first_rows(index count) const noexcept {
    return {data, count, columns, stride};
  }
  /// A view of const elements of the same matrix.
  template <std::same_as<const T> Const>
  constexpr operator strided_matrix<Const>() const noexcept {
    return {data, rows, columns, stride};
  }
};

/// A matrix without gaps as a strided one.
template <class T>
[[nodiscard]] constexpr strided_matrix<T> strided(const matrix_view<T>& matrix) noexcept {
  return {matrix.data, matrix.rows, matrix.columns, matrix.columns};
}

/// What becomes of an output's former content.
enum class update {
  assign,  ///< it is overwritten
  add,     ///< the result is added to it
};

/// Nonlinearities of a multilayer perceptron.
enum class activation {
  gelu,  ///< x Phi(x) with the exact normal distribution function Phi (Hendrycks and Gimpel, arXiv 1606.08415)
  relu,  ///< max(x, 0); its derivative at 0 is 0
};

/// The nonlinearity's name.
[[nodiscard]] constexpr std::string_view name(activation which) noexcept {
  switch (which) {
    case activation::gelu:
      return "gelu";
    case activation::relu:
      return "relu";
  }
  return {};
}

/// Query rows [begin, end) see the same number of keys.
struct row_segment {
  index begin = 0;  ///< first row
  index end = 0;    ///< behind the last row
  int visible = 0;  ///< keys that each of the rows sees, at least 1
};

/// Which keys every query row sees. The j-th key of row r is row keys[r * context + j] of the keys' and values' matrix.
struct visible_keys {
  std::span<const int> keys;              ///< rows x context; entries behind the visible ones are never read
  int context = 0;                        ///< the most keys that a row can see
  std::span<const row_segment> segments;  ///< consecutive segments of all query rows
};

/// What the cross-entropy kernel returns: sums over all rows.
struct answer_score {
  double loss = 0;           ///< sum of count x (ln sum_v exp z_v - z_answer), in nats
  std::int64_t correct = 0;  ///< sum of the counts of rows whose largest logit (the first of equals) is the answer's
  std::int64_t total = 0;    ///< sum of all counts
};

/// Where arrays live and kernels run. Matrices and vectors of S that a kernel gets lie in memory of the backend, and never
/// overlap. Index tables (`rows`, `answers`, `visible`, ..) lie in the host's memory today, where networks list them
/// for every batch; and networks look at logits, and the trainer at weights and gradients, as at any array of the host, so
/// that a backend's memory must be readable there. Results are the same bits for any number of threads.
///
/// | kernel | what it computes |
/// |---|---|
/// | `prepare(w, p)` | p, of type `prepared<S>`, stands for W (outputs x inputs) in the products below, until which W stays where and as it is |
/// | `linear(x, p, bias, y, how)` | y = x W' + bias; `bias` may be null; with update::add, y += x W' + bias |
/// | `linear_backward_input(dy, p, dx, how)` | dx = dy W, or dx += dy W |
/// | `linear_backward_weights(dy, x, dw, dbias)` | dW = dy' x, dbias = column sums of dy; `dbias` may be null |
/// | `layer_norm(x, gain, bias, y, saved)` | y = gain (x - mean) / sqrt(variance + 1e-5) + bias by rows, biased variance; `saved` gets rows x 2: mean, 1 / deviation |
/// | `layer_norm_backward(x, saved, gain, dy, dx, how, dgain, dbias)` | dx (assigned or added to), dgain and dbias (assigned) |
/// | `activate(kind, x, derivative)` | x = f(x) in place; `derivative` gets f'(x) |
/// | `multiply(x, factor)` | x = x factor, entry by entry |
/// | `gather_rows(x, rows, y, how)` | y[i] = x[rows[i]], or y[i] += x[rows[i]] |
/// | `scatter_rows(dy, rows, dx)` | dx[rows[i]] += dy[i], in the order of i |
/// | `attend(heads, q, query_rows, k, v, visible, patterns, out)` | see below |
/// | `attend_backward(heads, q, query_rows, k, v, visible, patterns, dout, dq, dk, dv)` | dq, dk, dv (assigned, all rows) |
/// | `cross_entropy(logits, answers, counts, scale, dlogits)` | answer_score; dlogits = scale count (softmax - 1[answer]); `dlogits.data` may be null |
/// | `fill(span, value)`, `copy(from, to)` | flat memory |
///
/// Attention: heads are consecutive column blocks of width columns / heads. Query row r is row query_rows[r] of q, or r
/// where `query_rows` is empty. Scores are q.k / sqrt(columns / heads), their softmax over the visible keys goes to
/// patterns[(r heads + h) context + j], the average of the values to row r of `out`. `patterns` behind the visible keys are not
/// written.
template <class B, class S>
concept backend = std::floating_point<S> &&
    requires(B& on, typename B::template array<S>& memory, typename B::template prepared<S>& weights, index size,
             strided_matrix<const S> in, strided_matrix<S> out, const S* vector, S* vector_out,
             std::span<const int> rows, std::span<S> flat, std::span<const S> const_flat, update how,
             const visible_keys& visible) {
  memory.resize(static_cast<std::size_t>(size));
  { memory.data() } -> std::same_as<S*>;
  on.prepare(in, weights);
  on.linear(in, weights, vector, out, how);
  on.linear_backward_input(in, weights, out, how);
  on.linear_backward_weights(in, in, out, vector_out);
  on.layer_norm(in, vector, vector, out, vector_out);
  on.layer_norm_backward(in, vector, vector, in, out, how, vector_out, vector_out);
  on.activate(activation::gelu, out, out);
  on.multiply(out, in);
  on.gather_rows(in, rows, out, how);
  on.scatter_rows(in, rows, out);
  on.attend(1, in, rows, in, in, visible, vector_out, out);
  on.attend_backward(1, in, rows, in, in, visible, vector, in, out, out, out);
  { on.cross_entropy(in, rows, rows, 1.0, out) } -> std::same_as<answer_score>;
  on.fill(flat, S(0));
  on.copy(const_flat, flat);
};

}  // namespace lindyn::backend
