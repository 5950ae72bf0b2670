// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sums over rows and over vectors, cut where the sizes say and added in order: the same bits on every run.

#include <cmath>

#include <lindyn/backend/device/launch.hpp>

namespace lindyn::backend::detail {

/// Rows of a chunk, whose sum over a column one thread makes.
inline constexpr index chunk_rows = 32;
/// Entries of a vector's chunk.
inline constexpr index chunk_entries = 4096;

/// Chunks of that size.
[[nodiscard]] inline index chunks_of(index size, index of) { return (size + of - 1) / of; }

/// The sums of one chunk of rows over one column; `Terms` adds the terms of a row and column.
template <class S, class Terms>
struct chunk_columns {
  Terms terms;
  index rows, columns, chunks;
  S* partial;  // [run][which sum][chunk][column]

  LINDYN_HOST_DEVICE void operator()(index run, index entry) const {
    const auto chunk = index{static_cast<unsigned>(entry) / static_cast<unsigned>(columns)};
    const index column = entry - chunk * columns, begin = chunk * chunk_rows;
    const index end = begin + chunk_rows < rows ? begin + chunk_rows : rows;
    S sums[Terms::count] = {};
    for (index row = begin; row < end; ++row) terms(run, row, column, sums);
    for (int which = 0; which < Terms::count; ++which)
      partial[((run * Terms::count + which) * chunks + chunk) * columns + column] = sums[which];
  }
};

/// What all chunks sum up to.
template <class S, int Count>
struct sum_chunks {
  const S* partial;
  index columns, chunks;
  run_vector<S> results[Count];

  LINDYN_HOST_DEVICE void operator()(index run, index column) const {
    for (int which = 0; which < Count; ++which) {
      const S* const from = partial + (run * Count + which) * chunks * columns + column;
      S sum = 0;
      for (index chunk = 0; chunk < chunks; ++chunk) sum += from[chunk * columns];
      begin_of(results[which], run)[column] = sum;
    }
  }
};

/// Sums over the rows of each column. `terms(run, row, column, sums)` adds to `Terms::count` sums at once.
template <class S, class Terms>
void sum_columns(device_state& on, const Terms& terms, index rows, index columns,
                 const run_vector<S> (&results)[Terms::count]) {
  const index chunks = chunks_of(rows, chunk_rows);
  S* const partial = on.memory<S>(scratch::columns, on.runs * Terms::count * chunks * columns);
  for_each_entry(on, on.runs, chunks * columns, chunk_columns<S, Terms>{terms, rows, columns, chunks, partial});
  sum_chunks<S, Terms::count> last{partial, columns, chunks, {}};
  for (int which = 0; which < Terms::count; ++which) last.results[which] = results[which];
  for_each_entry(on, on.runs, columns, last);
}

/// The sum of a column.
template <class S>
struct column_terms {
  static constexpr int count = 1;
  strided_matrix<const S> x;

  LINDYN_HOST_DEVICE void operator()(index run, index row, index column, S (&sums)[1]) const {
    sums[0] += row_of(x, run, row)[column];
  }
};

/// The largest magnitude: NaN, or infinite, if there is one.
struct magnitude {
  template <class S>
  LINDYN_HOST_DEVICE static double of(S value) {
    return std::abs(static_cast<double>(value));
  }
  LINDYN_HOST_DEVICE static double joined(double one, double other) {
    return one > other || one != one ? one : other;  // NaN stays, as other > NaN is false
  }
  template <class Lanes>
  LINDYN_HOST_DEVICE static double over(const Lanes& lanes, double value) {
    const bool number = lanes.sum(value == value ? 0 : 1) == 0;
    const double largest = lanes.largest(value == value ? value : 0.0);
    return number ? largest : NAN;
  }
};

/// The sum.
struct plain_sum {
  LINDYN_HOST_DEVICE static double joined(double one, double other) { return one + other; }
  template <class Lanes>
  LINDYN_HOST_DEVICE static double over(const Lanes& lanes, double value) {
    return lanes.sum(value);
  }
};

/// The sum of squares.
struct square : plain_sum {
  template <class S>
  LINDYN_HOST_DEVICE static double of(S value) {
    return static_cast<double>(value) * static_cast<double>(value);
  }
};

/// What a chunk of a vector contributes.
template <class S, class Kind>
struct chunk_vector {
  run_vector<const S> values;
  index size, chunks;
  double* partial;  // [run][chunk]

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index chunk) const {
    const S* const from = begin_of(values, run);
    const index begin = chunk * chunk_entries, end = begin + chunk_entries < size ? begin + chunk_entries : size;
    double result = 0;
    for (index i = begin + lanes.first; i < end; i += Lanes::count) result = Kind::joined(result, Kind::of(from[i]));
    result = Kind::over(lanes, result);
    if (lanes.first == 0) partial[run * chunks + chunk] = result;
  }
};

/// What all chunks of a run come to.
template <class Kind>
struct join_vector {
  const double* partial;
  index chunks;
  double* results;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index) const {
    double result = 0;
    for (index i = lanes.first; i < chunks; i += Lanes::count) result = Kind::joined(result, partial[run * chunks + i]);
    result = Kind::over(lanes, result);
    if (lanes.first == 0) results[run] = result;
  }
};

/// One number of each run's vector, in the device's memory.
template <class Kind, class S>
[[nodiscard]] const double* reduce_vector(device_state& on, run_vector<const S> values, index size) {
  const index chunks = chunks_of(size, chunk_entries);
  double* const partial = on.memory<double>(scratch::rows, on.runs * chunks);
  double* const results = on.memory<double>(scratch::results, on.runs);
  for_each_row(on, chunks, chunk_vector<S, Kind>{values, size, chunks, partial});
  for_each_row(on, 1, join_vector<Kind>{partial, chunks, results});
  return results;
}

}  // namespace lindyn::backend::detail
