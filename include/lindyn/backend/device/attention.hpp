// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Attention over visible keys on a device, and its derivatives. A group of lanes has one row and one head; derivatives by
/// queries, keys and values are sums over the entries that name their row, in order.

#include <cmath>
#include <type_traits>

#include <lindyn/backend/device/launch.hpp>

namespace lindyn::backend::detail {

/// A row and a head.
struct row_and_head {
  index row, head;
};

/// What all kernels of attention read.
template <class S>
struct attention_inputs {
  int heads;
  strided_matrix<const S> q;
  index_table query_rows;
  strided_matrix<const S> k, v;
  index_table keys, counts;
  int context;

  /// Of entry row heads + head. Short integers, as others take a GPU many instructions to divide; there are fewer than
  /// 2^32 entries.
  [[nodiscard]] LINDYN_HOST_DEVICE row_and_head place_of(index entry) const {
    const auto number = static_cast<unsigned>(entry), of = static_cast<unsigned>(heads);
    return {index{number / of}, index{number % of}};
  }
  /// Columns of a head.
  [[nodiscard]] LINDYN_HOST_DEVICE index width() const {
    return index{static_cast<unsigned>(q.columns) / static_cast<unsigned>(heads)};
  }
  /// What scores are multiplied by.
  [[nodiscard]] LINDYN_HOST_DEVICE S scale() const { return 1 / std::sqrt(static_cast<S>(width())); }
  /// Which row of q a row's query is.
  [[nodiscard]] LINDYN_HOST_DEVICE index query_of(index run, index row) const {
    return query_rows.data ? index{begin_of(query_rows, run)[row]} : row;
  }
  /// The first key of a row.
  [[nodiscard]] LINDYN_HOST_DEVICE const int* keys_of(index run, index row) const {
    return begin_of(keys, run) + row * context;
  }
  /// How many keys a row sees.
  [[nodiscard]] LINDYN_HOST_DEVICE int count_of(index run, index row) const { return begin_of(counts, run)[row]; }
};

/// The product of two vectors of a head.
template <class S, class Lanes>
[[nodiscard]] LINDYN_HOST_DEVICE S dot(const Lanes& lanes, const S* a, const S* b, index width) {
  S sum = 0;
  for (index c = lanes.first; c < width; c += Lanes::count) sum += a[c] * b[c];
  return lanes.sum(sum);
}

/// Patterns and averages of a row and head.
template <class S>
struct attend_row {
  attention_inputs<S> in;
  run_vector<S> patterns;
  strided_matrix<S> out;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index entry) const {
    const auto [row, head] = in.place_of(entry);
    const index width = in.width(), first = head * width;
    const int* const keys = in.keys_of(run, row);
    const int count = in.count_of(run, row);
    const S* const query = row_of(in.q, run, in.query_of(run, row)) + first;
    S* const pattern = begin_of(patterns, run) + entry * in.context;
    const S scale = in.scale();
    S largest = 0;
    for (int j = 0; j < count; ++j) {
      const S score = dot(lanes, query, row_of(in.k, run, index{keys[j]}) + first, width) * scale;
      if (lanes.first == 0) pattern[j] = score;
      largest = j == 0 || score > largest ? score : largest;
    }
    lanes.meet();
    S sum = 0;
    for (int j = lanes.first; j < count; j += Lanes::count) sum += pattern[j] = std::exp(pattern[j] - largest);
    const S share = 1 / lanes.sum(sum);
    for (int j = lanes.first; j < count; j += Lanes::count) pattern[j] *= share;
    lanes.meet();
    S* const to = row_of(out, run, row) + first;
    for (index c = lanes.first; c < width; c += Lanes::count) {
      S average = 0;
      for (int j = 0; j < count; ++j) average += pattern[j] * (row_of(in.v, run, index{keys[j]}) + first)[c];
      to[c] = average;
    }
  }
};

/// The derivatives by the scores of a row and head, times what scores were multiplied by.
template <class S>
struct score_slopes {
  attention_inputs<S> in;
  run_vector<const S> patterns;
  strided_matrix<const S> dout;
  run_vector<S> slopes;  // laid out as patterns

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index entry) const {
    const auto [row, head] = in.place_of(entry);
    const index width = in.width(), first = head * width;
    const int* const keys = in.keys_of(run, row);
    const int count = in.count_of(run, row);
    const S* const pattern = begin_of(patterns, run) + entry * in.context;
    const S* const above = row_of(dout, run, row) + first;
    S* const to = begin_of(slopes, run) + entry * in.context;
    S mean = 0;
    for (int j = 0; j < count; ++j) {
      const S slope = dot(lanes, above, row_of(in.v, run, index{keys[j]}) + first, width);
      if (lanes.first == 0) to[j] = slope;
      mean += pattern[j] * slope;
    }
    lanes.meet();
    const S scale = in.scale();
    for (int j = lanes.first; j < count; j += Lanes::count) to[j] = pattern[j] * (to[j] - mean) * scale;
  }
};

/// The derivative by a row of q and head: over all rows that use it.
template <class S>
struct query_slopes {
  attention_inputs<S> in;
  index_table first, order;  // of query_rows
  run_vector<const S> slopes;
  strided_matrix<S> dq;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index entry) const {
    const auto [query, head] = in.place_of(entry);
    const index width = in.width(), from = head * width;
    const int* const named = begin_of(order, run);
    const int begin = named ? begin_of(first, run)[query] : 0, end = named ? begin_of(first, run)[query + 1] : 1;
    const S* const all = begin_of(slopes, run);
    S* const to = row_of(dq, run, query) + from;
    for (index c = lanes.first; c < width; c += Lanes::count) {
      S sum = 0;
      for (int i = begin; i < end; ++i) {
        const index row = named ? index{named[i]} : query;
        const int* const keys = in.keys_of(run, row);
        const S* const slope = all + (row * in.heads + head) * in.context;
        const int count = in.count_of(run, row);
        for (int j = 0; j < count; ++j) sum += slope[j] * (row_of(in.k, run, index{keys[j]}) + from)[c];
      }
      to[c] = sum;
    }
  }
};

/// The derivatives by a row of keys and values and head: over all entries that see it.
template <class S>
struct key_slopes {
  attention_inputs<S> in;
  index_table first, order;  // of keys
  run_vector<const S> patterns, slopes;
  strided_matrix<const S> dout;
  strided_matrix<S> dk, dv;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index entry) const {
    const auto [key, head] = in.place_of(entry);
    const index width = in.width(), from = head * width;
    const int* const seen = begin_of(order, run);
    const int begin = begin_of(first, run)[key], end = begin_of(first, run)[key + 1];
    const S *const all_slopes = begin_of(slopes, run), *const all_patterns = begin_of(patterns, run);
    S *const by_key = row_of(dk, run, key) + from, *const by_value = row_of(dv, run, key) + from;
    for (index c = lanes.first; c < width; c += Lanes::count) {
      S key_sum = 0, value_sum = 0;
      for (int i = begin; i < end; ++i) {
        const int row = seen[i] / in.context, j = seen[i] % in.context;
        const index place = (index{row} * in.heads + head) * in.context + j;
        key_sum += all_slopes[place] * (row_of(in.q, run, in.query_of(run, row)) + from)[c];
        value_sum += all_patterns[place] * (row_of(dout, run, index{row}) + from)[c];
      }
      by_key[c] = key_sum;
      by_value[c] = value_sum;
    }
  }
};

/// Calls work(number), where `number.value` lanes suit rows of that width.
template <class Work>
void with_lanes(index width, Work&& work) {
  if (width <= 8)
    work(std::integral_constant<int, 8>());
  else if (width <= 16)
    work(std::integral_constant<int, 16>());
  else
    work(std::integral_constant<int, 32>());
}

}  // namespace lindyn::backend::detail
