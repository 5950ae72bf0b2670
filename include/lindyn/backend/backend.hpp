// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a backend is: where arrays live, and the few kernels of which the evaluation of a network consists.

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <lindyn/core/views.hpp>

namespace lindyn::backend {

/// A row-major matrix whose rows begin `stride` >= columns entries apart, in the memory of a backend. Backends that compute
/// several runs at once have one of each run; all are of one shape.
template <class T>
struct strided_matrix {
  T* data = nullptr;     ///< entry (r, c) is data[r * stride + c]
  index rows = 0;        ///< number of rows
  index columns = 0;     ///< number of columns
  index stride = 0;      ///< entries from one row to the next
  index run_stride = 0;  ///< entries from one run's matrix to the next one's; 0: all runs share it

  /// The entry of that row and column, which aren't checked.
  [[nodiscard]] constexpr T& operator()(index row, index column) const noexcept { return data[row * stride + column]; }
  /// The first entry of that row.
  [[nodiscard]] constexpr T* row(index row) const noexcept { return data + row * stride; }
  /// `count` columns from `first` on.
  [[nodiscard]] constexpr strided_matrix columns_from(index first, index count) const noexcept {
    return {data + first, rows, count, stride, run_stride};
  }
  /// The first `count` rows.
  [[nodiscard]] constexpr strided_matrix first_rows(index count) const noexcept {
    return {data, count, columns, stride, run_stride};
  }
  /// A view of const elements of the same matrix.
  template <std::same_as<const T> Const>
  constexpr operator strided_matrix<Const>() const noexcept {
    return {data, rows, columns, stride, run_stride};
  }
};

/// Numbers one behind the other in the memory of a backend, and those of further runs behind them.
template <class T>
struct run_vector {
  T* data = nullptr;     ///< those of the first run; may be null
  index run_stride = 0;  ///< entries from one run's to the next one's; 0: all runs share them

  constexpr run_vector() noexcept = default;
  /// \param first  the first run's
  /// \param stride entries from one run's to the next one's
  constexpr run_vector(T* first, index stride = 0) noexcept : data(first), run_stride(stride) {}
  /// A view of const elements of the same numbers.
  template <std::same_as<const T> Const>
  constexpr operator run_vector<Const>() const noexcept {
    return {data, run_stride};
  }
};

/// A parameter of kernels that takes plain pointers, too: its type follows from the matrices beside it.
template <class T>
using vector_argument = std::type_identity_t<run_vector<T>>;

/// Row numbers in the memory of a backend, and those of further runs behind them.
struct index_table {
  const int* data = nullptr;  ///< those of the first run
  index size = 0;             ///< how many
  index run_stride = 0;       ///< entries from one run's to the next one's; 0: all runs share them

  constexpr index_table() noexcept = default;
  /// \param numbers  of all runs
  constexpr index_table(std::span<const int> numbers) noexcept
      : data(numbers.data()), size(static_cast<index>(numbers.size())) {}
  /// \param numbers  of all runs; they live as long as the table
  index_table(const std::vector<int>& numbers) noexcept : index_table(std::span<const int>(numbers)) {}
  /// \param first   of the first run
  /// \param count   how many
  /// \param stride  entries from one run's to the next one's
  constexpr index_table(const int* first, index count, index stride) noexcept
      : data(first), size(count), run_stride(stride) {}
  /// Whether there are none.
  [[nodiscard]] constexpr bool empty() const noexcept { return size == 0; }
  /// The first run's, which aren't checked.
  [[nodiscard]] constexpr int operator[](index i) const noexcept { return data[i]; }
};

/// Which rows of a matrix are fetched, or added to. Backends that add up rows in parallel go by the inverse lists: the
/// entries that name the row d are order[first[d]], .., order[first[d + 1] - 1], ascending. Others don't read them.
struct row_table {
  index_table rows;   ///< of each entry: the row that it names
  index_table first;  ///< rows of the matrix + 1; empty where the backend doesn't need it
  index_table order;  ///< as many as entries at most

  constexpr row_table() noexcept = default;
  /// \param numbers  a table without inverse lists
  constexpr row_table(const index_table& numbers) noexcept : rows(numbers) {}
  /// \param numbers  a table without inverse lists
  constexpr row_table(std::span<const int> numbers) noexcept : rows(numbers) {}
  /// \param numbers  a table without inverse lists
  row_table(const std::vector<int>& numbers) noexcept : rows(numbers) {}
  /// \param numbers  the rows
  /// \param begin    of each row's entries in `entries`
  /// \param entries  the entries by rows
  constexpr row_table(const index_table& numbers, const index_table& begin, const index_table& entries) noexcept
      : rows(numbers), first(begin), order(entries) {}
  /// Whether there are no rows.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows.empty(); }
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
  index_table keys = {};                  ///< rows x context; entries behind the visible ones are never read
  int context = 0;                        ///< the most keys that a row can see
  std::span<const row_segment> segments;  ///< consecutive segments of all query rows; in the host's memory
  index_table counts = {};                ///< of each row: its visible keys; backends that can't read the host's memory
  index_table first = {};                 ///< as in row_table: the entries r context + j that name a key row; the same
  index_table order = {};                 ///< the same
};

/// How one row of logits z over the outputs is scored against its answer y.
enum class answer_loss {
  cross_entropy,  ///< ln sum_v exp z_v - z_y, in nats
  squared_error,  ///< half the sum over v of (z_v - 1[v = y])^2
};

/// What the cross-entropy kernel returns: sums over all rows.
struct answer_score {
  double loss = 0;           ///< sum of count x (ln sum_v exp z_v - z_answer), in nats
  std::int64_t correct = 0;  ///< sum of the counts of rows whose largest logit (the first of equals) is the answer's
  std::int64_t total = 0;    ///< sum of all counts
};

/// Where arrays live and kernels run. Matrices, vectors and tables that a kernel gets lie in memory of the backend, and
/// outputs never overlap other arguments; `host_memory` says that the host can read and write it. `runs()` runs are
/// computed at once, each on its own part of every argument whose run_stride isn't 0. Results are the same bits for any
/// number of threads.
///
/// | kernel | what it computes |
/// |---|---|
/// | `linear(x, w, bias, y, how)` | y = x W' + bias, W outputs x inputs; `bias` may be null; with update::add, y += x W' + bias |
/// | `linear_backward_input(dy, w, dx, how)` | dx = dy W, or dx += dy W |
/// | `linear_backward_weights(dy, x, dw, dbias)` | dW = dy' x, dbias = column sums of dy; `dbias` may be null |
/// | `layer_norm(x, gain, bias, y, saved)` | y = gain (x - mean) / sqrt(variance + 1e-5) + bias by rows, biased variance; `saved` gets rows x 2: mean, 1 / deviation |
/// | `layer_norm_backward(x, saved, gain, dy, dx, how, dgain, dbias)` | dx (assigned or added to), dgain and dbias (assigned) |
/// | `activate(kind, x, derivative)` | x = f(x) in place; `derivative` gets f'(x) |
/// | `multiply(x, factor)` | x = x factor, entry by entry |
/// | `gather_rows(x, rows, y, how)` | y[i] = x[rows[i]], or y[i] += x[rows[i]] |
/// | `scatter_rows(dy, table, dx)` | dx[rows[i]] += dy[i], in the order of i; `table` is a row_table |
/// | `attend(heads, q, query_rows, k, v, visible, patterns, out)` | see below |
/// | `attend_backward(heads, q, query_table, k, v, visible, patterns, dout, dq, dk, dv)` | dq, dk, dv (assigned, all rows); `query_table` is a row_table |
/// | `cross_entropy(logits, answers, counts, scale, dlogits, scores)` | scores: an answer_score of each run; dlogits = scale (softmax - 1[answer]) times the share of count in all counts; `dlogits.data` may be null |
/// | `weighted_loss(kind, logits, answers, weights, dlogits, losses)` | losses: of each run the sum of weight x answer_loss over rows, in double; dlogits its derivative; `dlogits.data` may be null |
/// | `scale(vector, size, factor)` | flat memory times a number, the same for all runs |
/// | `largest_magnitude(vector, size, result)` | of each run, on the host: the largest magnitude; NaN or infinite if an entry is |
/// | `sum_of_squares(vector, size, result)` | of each run, on the host: in double |
/// | `fill(vector, size, value)`, `copy(from, to, size)` | flat memory |
/// | `from_host(from, to)`, `to_host(from, to)` | copies between the host's span and the backend's pointer, done when they return |
///
/// Attention: heads are consecutive column blocks of width columns / heads. Query row r is row query_rows[r] of q, or r
/// where `query_rows` is empty. Scores are q.k / sqrt(columns / heads), their softmax over the visible keys goes to
/// patterns[(r heads + h) context + j], the average of the values to row r of `out`. `patterns` behind the visible keys are not
/// written.
template <class B, class S>
concept backend = std::floating_point<S> &&
    requires(B& on, typename B::template array<S>& memory, index size, strided_matrix<const S> in,
             strided_matrix<S> out, run_vector<const S> vector, run_vector<S> vector_out, const index_table& rows,
             const row_table& table, std::span<S> host, std::span<const S> const_host, const S* there, S* there_out,
             update how, const visible_keys& visible, answer_score* scores, run_vector<const double> shares,
             double* losses, std::span<double> numbers) {
  { B::host_memory } -> std::convertible_to<bool>;
  { on.runs() } -> std::same_as<int>;
  memory.resize(static_cast<std::size_t>(size));
  { memory.data() } -> std::same_as<S*>;
  on.linear(in, in, vector, out, how);
  on.linear_backward_input(in, in, out, how);
  on.linear_backward_weights(in, in, out, vector_out);
  on.layer_norm(in, vector, vector, out, vector_out);
  on.layer_norm_backward(in, vector, vector, in, out, how, vector_out, vector_out);
  on.activate(activation::gelu, out, out);
  on.multiply(out, in);
  on.gather_rows(in, rows, out, how);
  on.scatter_rows(in, table, out);
  on.attend(1, in, rows, in, in, visible, vector_out, out);
  on.attend_backward(1, in, table, in, in, visible, vector, in, out, out, out);
  on.cross_entropy(in, rows, rows, 1.0, out, scores);
  on.weighted_loss(answer_loss::squared_error, in, rows, shares, out, losses);
  on.scale(vector_out, size, 1.0);
  on.largest_magnitude(vector, size, numbers);
  on.sum_of_squares(vector, size, numbers);
  on.fill(vector_out, size, S(0));
  on.copy(vector, vector_out, size);
  on.from_host(const_host, there_out);
  on.to_host(there, host);
};

}  // namespace lindyn::backend
