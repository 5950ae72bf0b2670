// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Attention on the host: one head of as many query rows at a time as a register has lanes. Their scores with the j-th key
/// are one register, so that the softmax needs no sums over lanes; averages of values run along the head's columns.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_exponential.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail {

/// What both directions of attention read.
template <class S>
struct attention_input {
  index heads;
  strided_matrix<const S> q;
  std::span<const int> query_rows;
  strided_matrix<const S> k, v;
  const visible_keys& visible;

  /// Columns of one head.
  [[nodiscard]] index width() const noexcept { return q.columns / heads; }
  /// What scores are multiplied by.
  [[nodiscard]] S scale() const noexcept { return S(1) / std::sqrt(static_cast<S>(width())); }
  /// The row of q that query row r is.
  [[nodiscard]] index query(index r) const noexcept {
    return query_rows.empty() ? r : query_rows[static_cast<std::size_t>(r)];
  }
  /// The row of k and v that is the j-th key of query row r.
  [[nodiscard]] index key(index r, index j) const noexcept {
    return visible.keys[static_cast<std::size_t>(r * visible.context + j)];
  }
};

/// `count` query rows from `first` on, which all see `keys` keys, at the columns of one head.
struct attention_block {
  index head, first;
  int count;
  index keys;
};

/// Kernels of one block, with registers of so many bytes along the columns of a head; if `Whole`, they fill it without
/// a rest.
template <class S, int Bytes, bool Whole>
struct attention_kernels {
  using v = vectors<S, Bytes>;
  using value = typename v::value;
  static constexpr index lanes = v::lanes;

  [[gnu::always_inline]] static value load(const S* from, index left) noexcept {
    return Whole || left >= lanes ? v::load(from) : v::load_some(from, left);
  }
  [[gnu::always_inline]] static void store(S* to, value numbers, index left) noexcept {
    if (Whole || left >= lanes)
      v::store(to, numbers);
    else
      v::store_some(to, numbers, left);
  }
  [[gnu::always_inline]] static void add(S* to, value numbers, index left) noexcept {
    store(to, load(to, left) + numbers, left);
  }

  /// Lane r of the result is row(r).other(r), over `width` columns.
  template <class Row, class Other>
  [[gnu::always_inline]] static value products(int count, index width, Row&& row, Other&& other) noexcept {
    value parts[lanes] = {};
    for (int r = 0; r < count; ++r) {
      const S *const a = row(r), *const b = other(r);
      value total = {};
      for (index c = 0; c < width; c += lanes) total += load(a + c, width - c) * load(b + c, width - c);
      parts[r] = total;
    }
    return sum_each<lanes>(parts);
  }

  /// Patterns and averages; `scores` has a register for every key.
  static void attend(const attention_input<S>& in, const attention_block& of, S* scores, S* patterns,
                     strided_matrix<S> out) {
    const index width = in.width(), column = of.head * width, context = in.visible.context;
    const auto query = [&](int r) { return in.q.row(in.query(of.first + r)) + column; };
    const S scale = in.scale();
    value largest = {};
    for (index j = 0; j < of.keys; ++j) {
      const value score =
          products(of.count, width, query, [&](int r) { return in.k.row(in.key(of.first + r, j)) + column; }) * scale;
      v::store(scores + j * lanes, score);
      if (j == 0) largest = score;
      largest = score > largest ? score : largest;
    }
    value total = {};
    for (index j = 0; j < of.keys; ++j) {
      const value share = exponential<S, Bytes>(v::load(scores + j * lanes) - largest);
      v::store(scores + j * lanes, share);
      total += share;
    }
    total = S(1) / total;
    for (index j = 0; j < of.keys; ++j) v::store(scores + j * lanes, v::load(scores + j * lanes) * total);

    for (int r = 0; r < of.count; ++r) {
      const index row = of.first + r;
      S *const pattern = patterns + (row * in.heads + of.head) * context, *const to = out.row(row) + column;
      for (index j = 0; j < of.keys; ++j) pattern[j] = scores[j * lanes + r];
      for (index c = 0; c < width; c += lanes) {
        value average = {};
        for (index j = 0; j < of.keys; ++j)
          average += scores[j * lanes + r] * load(in.v.row(in.key(row, j)) + column + c, width - c);
        store(to + c, average, width - c);
      }
    }
  }

  /// Adds the block's part to dq, dk and dv. With dP_j = dout.v_j, the derivative by the scores is
  /// ds = P (dP - sum_j P_j dP_j). `shares` and `derivatives` have a register for every key.
  static void backward(const attention_input<S>& in, const attention_block& of, S* shares, S* derivatives,
                       const S* patterns, strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk,
                       strided_matrix<S> dv) {
    const index width = in.width(), column = of.head * width, context = in.visible.context;
    const auto from = [&](int r) { return dout.row(of.first + r) + column; };
    for (int r = 0; r < lanes; ++r) {
      const S* const pattern = patterns + ((of.first + r) * in.heads + of.head) * context;
      for (index j = 0; j < of.keys; ++j) shares[j * lanes + r] = r < of.count ? pattern[j] : S(0);
    }
    value mean = {};
    for (index j = 0; j < of.keys; ++j) {
      const value derivative =
          products(of.count, width, from, [&](int r) { return in.v.row(in.key(of.first + r, j)) + column; });
      v::store(derivatives + j * lanes, derivative);
      mean += derivative * v::load(shares + j * lanes);
    }
    const S scale = in.scale();
    for (index j = 0; j < of.keys; ++j)
      v::store(derivatives + j * lanes,
               v::load(shares + j * lanes) * (v::load(derivatives + j * lanes) - mean) * scale);

    for (int r = 0; r < of.count; ++r) {
      const index row = of.first + r, query = in.query(row);
      for (index c = 0; c < width; c += lanes) {
        const index left = width - c, place = column + c;
        const value q = load(in.q.row(query) + place, left), output = load(dout.row(row) + place, left);
        value by_query = {};
        for (index j = 0; j < of.keys; ++j) {
          const index key = in.key(row, j);
          const S derivative = derivatives[j * lanes + r];
          by_query += derivative * load(in.k.row(key) + place, left);
          add(dk.row(key) + place, derivative * q, left);
          add(dv.row(key) + place, shares[j * lanes + r] * output, left);
        }
        add(dq.row(query) + place, by_query, left);
      }
    }
  }
};

/// Calls work(kernels) with those kernels whose registers suit a head's width.
template <class S, class Work>
void with_attention_kernels(index width, Work&& work) {
  if (width % vectors<S>::lanes == 0)
    work(attention_kernels<S, vector_bytes, true>());
  else
    work(attention_kernels<S, 16, false>());
}

/// Memory of `threads` threads, each of `registers` registers for every key that a row can see.
template <class S>
void reserve_for_keys(aligned_vector<S>& scratch, int threads, index registers, index context) {
  const auto size = static_cast<std::size_t>(threads * registers * context * vectors<S>::lanes);
  if (scratch.size() < size) scratch.resize(size);
}

/// Attention; `scratch` grows to a register for every key and thread.
template <class S>
void attend(worker_pool& pool, aligned_vector<S>& scratch, const attention_input<S>& in, S* patterns,
            strided_matrix<S> out) {
  reserve_for_keys(scratch, pool.threads(), 1, in.visible.context);
  with_attention_kernels<S>(in.width(), [&](auto kernels) {
    constexpr index lanes = kernels.lanes;
    for (const row_segment& segment : in.visible.segments)
      pool.chunks(segment.end - segment.begin, 4 * lanes, [&](index, index begin, index end, int worker) {
        S* const scores = scratch.data() + worker * in.visible.context * vectors<S>::lanes;
        for (index first = begin; first < end; first += lanes)
          for (index head = 0; head < in.heads; ++head)
            kernels.attend(
                in, {head, segment.begin + first, static_cast<int>(std::min(lanes, end - first)), segment.visible},
                scores, patterns, out);
      });
  });
}

/// Derivatives of attend. Rows share keys, so that threads share out the heads: whoever has a head adds up its part of dk
/// and dv in the order of the rows. `scratch` grows to two registers for every key and thread.
template <class S>
void attend_backward(worker_pool& pool, aligned_vector<S>& scratch, const attention_input<S>& in, const S* patterns,
                     strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk, strided_matrix<S> dv) {
  const index size = in.visible.context * vectors<S>::lanes, width = in.width();
  reserve_for_keys(scratch, pool.threads(), 2, in.visible.context);
  with_attention_kernels<S>(width, [&](auto kernels) {
    constexpr index lanes = kernels.lanes;
    pool.chunks(
        in.heads, (in.heads + pool.threads() - 1) / pool.threads(), [&](index, index begin, index end, int worker) {
          for (const strided_matrix<S>& gradient : {dq, dk, dv})
            for (index r = 0; r < gradient.rows; ++r)
              std::fill_n(gradient.row(r) + begin * width, (end - begin) * width, S(0));
          S* const shares = scratch.data() + worker * 2 * size;
          for (const row_segment& segment : in.visible.segments)
            for (index first = segment.begin; first < segment.end; first += lanes)
              for (index head = begin; head < end; ++head)
                kernels.backward(in,
                                 {head, first, static_cast<int>(std::min(lanes, segment.end - first)), segment.visible},
                                 shares, shares + size, patterns, dout, dq, dk, dv);
        });
  });
}

}  // namespace lindyn::backend::detail
