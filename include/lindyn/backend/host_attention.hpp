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
};

/// `count` query rows from `first` on, which all see `keys` keys, at the columns of one head.
struct attention_block {
  index head, first;
  int count;
  index keys;
};

/// One block with registers of so many bytes along the columns of a head: `Registers` of them, or, if that is 0, as many
/// as it takes, the last of which may be filled in part. Everything is copied into it, since the compiler has to suppose
/// that a store through a register changes what stands elsewhere.
template <class S, int Bytes, int Registers>
class attention_kernels {
public:
  static constexpr index lanes = vectors<S, Bytes>::lanes;

  attention_kernels(const attention_input<S>& in, const attention_block& of)
      : width_(Registers ? Registers * lanes : in.width()),
        heads_(in.heads),
        context_(in.visible.context),
        first_column_(of.head * width_),
        of_(of),
        scale_(S(1) / std::sqrt(static_cast<S>(width_))),
        query_rows_(in.query_rows.empty() ? nullptr : in.query_rows.data() + of.first),
        keys_(in.visible.keys.data() + of.first * in.visible.context),
        q_(in.q.columns_from(first_column_, width_)),
        k_(in.k.columns_from(first_column_, width_)),
        v_(in.v.columns_from(first_column_, width_)) {}

  /// Patterns and averages; `scores` has a register for every key.
  void attend(S* scores, S* patterns, strided_matrix<S> out) const {
    value largest = {};
    each_products([this](int r) { return q_.row(query(r)); }, k_,
                  [&](index j, value sums) {
                    const value score = sums * scale_;
                    v::store(scores + j * lanes, score);
                    if (j == 0) largest = score;
                    largest = score > largest ? score : largest;
                  });
    value total = {};
    for (index j = 0; j < of_.keys; ++j) {
      const value share = exponential<S, Bytes>(v::load(scores + j * lanes) - largest);
      v::store(scores + j * lanes, share);
      total += share;
    }
    total = S(1) / total;
    for (index j = 0; j < of_.keys; ++j) v::store(scores + j * lanes, v::load(scores + j * lanes) * total);

    for (int r = 0; r < of_.count; ++r) {
      S* const pattern = patterns + pattern_place(r);
      for (index j = 0; j < of_.keys; ++j) pattern[j] = scores[j * lanes + r];
      S* const to = out.row(of_.first + r) + first_column_;
      const int* const keys = keys_ + r * context_;
      for (index c = 0; c < width_; c += lanes) {
        value average = {};
        for (index j = 0; j < of_.keys; ++j) average += scores[j * lanes + r] * load(v_.row(keys[j]), c);
        store(to, c, average);
      }
    }
  }

  /// The block's part of dq, dk and dv, which is added to the latter two, and to dq if queries are chosen by rows. With
  /// dP_j = dout.v_j, the derivative by the scores is ds = P (dP - sum_j P_j dP_j). `shares` and `derivatives` have a
  /// register for every key.
  void backward(S* shares, S* derivatives, const S* patterns, strided_matrix<const S> dout, strided_matrix<S> dq,
                strided_matrix<S> dk, strided_matrix<S> dv) const {
    for (int r = 0; r < lanes; ++r)
      for (index j = 0; j < of_.keys; ++j)
        shares[j * lanes + r] = r < of_.count ? patterns[pattern_place(r) + j] : S(0);
    const auto from = [&](int r) { return dout.row(of_.first + r) + first_column_; };
    value mean = {};
    each_products(from, v_, [&](index j, value sums) {
      v::store(derivatives + j * lanes, sums);
      mean += sums * v::load(shares + j * lanes);
    });
    for (index j = 0; j < of_.keys; ++j)
      v::store(derivatives + j * lanes,
               v::load(shares + j * lanes) * (v::load(derivatives + j * lanes) - mean) * scale_);

    for (int r = 0; r < of_.count; ++r) {
      const S *const q = q_.row(query(r)), *const output = from(r);
      S* const by_query = dq.row(query(r)) + first_column_;
      const int* const keys = keys_ + r * context_;
      for (index c = 0; c < width_; c += lanes) {
        const value query_part = load(q, c), output_part = load(output, c);
        value sum = query_rows_ ? load(by_query, c) : value{};
        for (index j = 0; j < of_.keys; ++j) {
          S *const by_key = dk.row(keys[j]) + first_column_, *const by_value = dv.row(keys[j]) + first_column_;
          const S derivative = derivatives[j * lanes + r];
          sum += derivative * load(k_.row(keys[j]), c);
          store(by_key, c, load(by_key, c) + derivative * query_part);
          store(by_value, c, load(by_value, c) + shares[j * lanes + r] * output_part);
        }
        store(by_query, c, sum);
      }
    }
  }

private:
  using v = vectors<S, Bytes>;
  using value = typename v::value;
  static constexpr int group = 4;  // keys whose products with all rows are kept before they are summed over lanes

  // Columns from c on, of a row that begins with the head's.
  [[gnu::always_inline]] value load(const S* row, index c) const noexcept {
    return Registers || c + lanes <= width_ ? v::load(row + c) : v::load_some(row + c, width_ - c);
  }
  [[gnu::always_inline]] void store(S* row, index c, value numbers) const noexcept {
    if (Registers || c + lanes <= width_)
      v::store(row + c, numbers);
    else
      v::store_some(row + c, numbers, width_ - c);
  }
  [[nodiscard]] index query(int r) const noexcept { return query_rows_ ? query_rows_[r] : of_.first + r; }
  [[nodiscard]] index pattern_place(int r) const noexcept { return ((of_.first + r) * heads_ + of_.head) * context_; }

  // Calls use(j, products) for every key, where lane r of the products is row(r).(row of `by_key` that is r's j-th key).
  template <class Row, class Use>
  [[gnu::always_inline]] void each_products(Row&& row, strided_matrix<const S> by_key, Use&& use) const {
    value parts[group][lanes];
    for (int r = of_.count; r < lanes; ++r)
      for (int g = 0; g < group; ++g) parts[g][r] = value{};
    for (index first = 0; first < of_.keys; first += group) {
      const int seen = static_cast<int>(std::min<index>(group, of_.keys - first));
      for (int r = 0; r < of_.count; ++r) {
        const S* const a = row(r);
        const int* const keys = keys_ + r * context_ + first;
        for (int g = 0; g < seen; ++g) {
          const S* const b = by_key.row(keys[g]);
          value total = {};
          for (index c = 0; c < width_; c += lanes) total += load(a, c) * load(b, c);
          parts[g][r] = total;
        }
      }
      for (int g = 0; g < seen; ++g) use(first + g, sum_each<lanes>(parts[g]));
    }
  }

  index width_, heads_, context_, first_column_;
  attention_block of_;
  S scale_;
  const int *query_rows_, *keys_;      // of the block's first row
  strided_matrix<const S> q_, k_, v_;  // columns of the head
};

/// Those kernels as a type.
template <class S, int Bytes, int Registers>
struct attention_kernels_type {
  using type = attention_kernels<S, Bytes, Registers>;
};

/// Calls work(type) with the type of those kernels whose registers suit a head's width.
template <class S, class Work>
void with_attention_kernels(index width, Work&& work) {
  constexpr index lanes = vectors<S>::lanes;
  if (width == lanes)
    work(attention_kernels_type<S, vector_bytes, 1>());
  else if (width == 2 * lanes)
    work(attention_kernels_type<S, vector_bytes, 2>());
  else if (width > 2 * lanes)
    work(attention_kernels_type<S, vector_bytes, 0>());
  else
    work(attention_kernels_type<S, 16, 0>());
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
  with_attention_kernels<S>(in.width(), [&](auto chosen) {
    using kernels = typename decltype(chosen)::type;
    constexpr index lanes = kernels::lanes;
    for (const row_segment& segment : in.visible.segments)
      pool.chunks(segment.end - segment.begin, 4 * lanes, [&](index, index begin, index end, int worker) {
        S* const scores = scratch.data() + worker * in.visible.context * vectors<S>::lanes;
        for (index first = begin; first < end; first += lanes)
          for (index head = 0; head < in.heads; ++head) {
            const int count = static_cast<int>(std::min(lanes, end - first));
            kernels(in, {head, segment.begin + first, count, segment.visible}).attend(scores, patterns, out);
          }
      });
  });
}

/// Columns [first, first + count) of all rows become zero.
template <class S>
void clear_columns(strided_matrix<S> x, index first, index count) {
  if (count == x.stride)
    std::fill_n(x.data, x.rows * count, S(0));
  else
    for (index r = 0; r < x.rows; ++r) std::fill_n(x.row(r) + first, count, S(0));
}

/// Derivatives of attend. Rows share keys, so that threads share out the heads: whoever has a head adds up its part of dk
/// and dv in the order of the rows. `scratch` grows to two registers for every key and thread.
template <class S>
void attend_backward(worker_pool& pool, aligned_vector<S>& scratch, const attention_input<S>& in, const S* patterns,
                     strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk, strided_matrix<S> dv) {
  const index size = in.visible.context * vectors<S>::lanes, width = in.width();
  reserve_for_keys(scratch, pool.threads(), 2, in.visible.context);
  with_attention_kernels<S>(width, [&](auto chosen) {
    using kernels = typename decltype(chosen)::type;
    constexpr index lanes = kernels::lanes;
    const index share = (in.heads + pool.threads() - 1) / pool.threads();
    pool.chunks(in.heads, share, [&](index, index begin, index end, int worker) {
      clear_columns(dk, begin * width, (end - begin) * width);
      clear_columns(dv, begin * width, (end - begin) * width);
      if (!in.query_rows.empty()) clear_columns(dq, begin * width, (end - begin) * width);
      S* const shares = scratch.data() + worker * 2 * size;
      for (const row_segment& segment : in.visible.segments)
        for (index first = segment.begin; first < segment.end; first += lanes)
          for (index head = begin; head < end; ++head) {
            const int count = static_cast<int>(std::min(lanes, segment.end - first));
            kernels(in, {head, first, count, segment.visible})
                .backward(shares, shares + size, patterns, dout, dq, dk, dv);
          }
    });
  });
}

}  // namespace lindyn::backend::detail
