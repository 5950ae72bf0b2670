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
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// What both directions of attention read.
template <class S>
struct attention_input {
  index heads;
  strided_matrix<const S> q;
  const index_table& query_rows;
  strided_matrix<const S> k, v;
  const visible_keys& visible;

  /// Columns of one head.
  [[nodiscard]] index width() const noexcept { return q.columns / heads; }
};

/// `count` query rows from `first` on, which all see `keys` keys, and the heads [begin, end).
struct attention_block {
  index first;
  int count;
  index keys, begin, end;
};

/// One block with registers of so many bytes along the columns of a head: `Registers` of them, or, if that is 0, as many
/// as it takes, the last of which may be filled in part. All heads take one step before any takes the next, so that the
/// processor needn't wait for the end of a softmax. Everything is copied into it, since the compiler has to suppose that
/// a store through a register changes what stands elsewhere.
template <class S, int Bytes, int Registers>
class attention_kernels {
public:
  static constexpr index lanes = vectors<S, Bytes>::lanes;

  attention_kernels(const attention_input<S>& in, const attention_block& of)
      : width_(Registers ? Registers * lanes : in.width()),
        heads_(in.heads),
        context_(in.visible.context),
        of_(of),
        scale_(S(1) / std::sqrt(static_cast<S>(width_))),
        query_rows_(in.query_rows.empty() ? nullptr : in.query_rows.data + of.first),
        keys_(in.visible.keys.data + of.first * in.visible.context),
        q_(in.q),
        k_(in.k),
        v_(in.v) {}

  /// Patterns and averages; `scores` has a register for every head and key.
  void attend(S* scores, S* patterns, strided_matrix<S> out) const {
    each_product([this](int r) { return q_.row(query(r)); }, k_, scores);
    for (index head = of_.begin; head < of_.end; ++head) softmax(scores + (head - of_.begin) * of_.keys * lanes);
    for (int r = 0; r < of_.count; ++r)
      for (index head = of_.begin; head < of_.end; ++head) {
        const S* const shares = scores + (head - of_.begin) * of_.keys * lanes + r;
        S* const pattern = patterns + pattern_place(r, head);
        for (index j = 0; j < of_.keys; ++j) pattern[j] = shares[j * lanes];
        S* const to = out.row(of_.first + r) + head * width_;
        const int* const keys = keys_ + r * context_;
        for (index c = 0; c < width_; c += together * lanes) {
          value average[together] = {};
          for (index j = 0; j < of_.keys; ++j) {
            const S* const from = v_.row(keys[j]) + head * width_;
            const S share = shares[j * lanes];
            each_together([&](int i) { average[i] += share * load(from, c + i * lanes); });
          }
          each_together([&](int i) { store(to, c + i * lanes, average[i]); });
        }
      }
  }

  /// The block's part of dq, dk and dv, which is added to the latter two, and to dq if queries are chosen by rows. With
  /// dP_j = dout.v_j, the derivative by the scores is ds = P (dP - sum_j P_j dP_j). `shares` and `derivatives` have a
  /// register for every head and key.
  void backward(S* shares, S* derivatives, const S* patterns, strided_matrix<const S> dout, strided_matrix<S> dq,
                strided_matrix<S> dk, strided_matrix<S> dv) const {
    for (index head = of_.begin; head < of_.end; ++head)
      for (int r = 0; r < lanes; ++r)
        for (index j = 0; j < of_.keys; ++j)
          shares[((head - of_.begin) * of_.keys + j) * lanes + r] =
              r < of_.count ? patterns[pattern_place(r, head) + j] : S(0);
    each_product([&](int r) { return dout.row(of_.first + r); }, v_, derivatives);
    for (index head = of_.begin; head < of_.end; ++head) {
      const index place = (head - of_.begin) * of_.keys * lanes;
      softmax_backward(shares + place, derivatives + place);
    }
    for (int r = 0; r < of_.count; ++r)
      for (index head = of_.begin; head < of_.end; ++head) {
        const index column = head * width_, place = (head - of_.begin) * of_.keys * lanes + r;
        const S *const q = q_.row(query(r)) + column, *const output = dout.row(of_.first + r) + column;
        S* const by_query = dq.row(query(r)) + column;
        const int* const keys = keys_ + r * context_;
        for (index c = 0; c < width_; c += together * lanes) {
          value query_part[together], output_part[together], sum[together];
          each_together([&](int i) {
            query_part[i] = load(q, c + i * lanes);
            output_part[i] = load(output, c + i * lanes);
            sum[i] = query_rows_ ? load(by_query, c + i * lanes) : value{};
          });
          for (index j = 0; j < of_.keys; ++j) {
            const S* const key = k_.row(keys[j]) + column;
            S *const by_key = dk.row(keys[j]) + column, *const by_value = dv.row(keys[j]) + column;
            const S derivative = derivatives[place + j * lanes], share = shares[place + j * lanes];
            each_together([&](int i) {
              const index at = c + i * lanes;
              sum[i] += derivative * load(key, at);
              store(by_key, at, load(by_key, at) + derivative * query_part[i]);
              store(by_value, at, load(by_value, at) + share * output_part[i]);
            });
          }
          each_together([&](int i) { store(by_query, c + i * lanes, sum[i]); });
        }
      }
  }

private:
  using v = vectors<S, Bytes>;
  using value = typename v::value;
  static constexpr int group = 4;  // keys whose products with all rows are kept before they are summed over lanes
  static constexpr int together = std::max(1, Registers);  // of one row
  template <class Use>
  [[gnu::always_inline]] static void each_together(Use&& use) {
    lindyn::detail::unroll<together>(use);
  }

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
  [[nodiscard]] index pattern_place(int r, index head) const noexcept {
    return ((of_.first + r) * heads_ + head) * context_;
  }

  // For every head and key one register, whose lane r is row(r).(row of `by_key` that is r's key) at the head's columns.
  template <class Row>
  [[gnu::always_inline]] void each_product(Row&& row, strided_matrix<const S> by_key, S* products) const {
    value parts[group][lanes];
    for (int r = of_.count; r < lanes; ++r)
      for (int g = 0; g < group; ++g) parts[g][r] = value{};
    for (index head = of_.begin; head < of_.end; ++head)
      for (index first = 0; first < of_.keys; first += group) {
        const int seen = static_cast<int>(std::min<index>(group, of_.keys - first));
        for (int r = 0; r < of_.count; ++r) {
          const S* const a = row(r) + head * width_;
          const int* const keys = keys_ + r * context_ + first;
          for (int g = 0; g < seen; ++g) {
            const S* const b = by_key.row(keys[g]) + head * width_;
            value total = {};
            for (index c = 0; c < width_; c += together * lanes)
              each_together([&](int i) { total += load(a, c + i * lanes) * load(b, c + i * lanes); });
            parts[g][r] = total;
          }
        }
        for (int g = 0; g < seen; ++g, products += lanes) v::store(products, sum_each<lanes>(parts[g]));
      }
  }

  // Products q.k of one head become its pattern.
  [[gnu::always_inline]] void softmax(S* scores) const {
    value largest = v::load(scores);
    for (index j = 1; j < of_.keys; ++j) {
      const value score = v::load(scores + j * lanes);
      largest = score > largest ? score : largest;
    }
    value total = {};
    for (index j = 0; j < of_.keys; ++j) {
      const value share = exponential<S, Bytes>((v::load(scores + j * lanes) - largest) * scale_);
      v::store(scores + j * lanes, share);
      total += share;
    }
    total = S(1) / total;
    for (index j = 0; j < of_.keys; ++j) v::store(scores + j * lanes, v::load(scores + j * lanes) * total);
  }

  // Derivatives of one head by its pattern become those by the products q.k.
  [[gnu::always_inline]] void softmax_backward(const S* shares, S* derivatives) const {
    value mean = {};
    for (index j = 0; j < of_.keys; ++j) mean += v::load(shares + j * lanes) * v::load(derivatives + j * lanes);
    for (index j = 0; j < of_.keys; ++j)
      v::store(derivatives + j * lanes,
               v::load(shares + j * lanes) * (v::load(derivatives + j * lanes) - mean) * scale_);
  }

  index width_, heads_, context_;
  attention_block of_;
  S scale_;
  const int *query_rows_, *keys_;  // of the block's first row
  strided_matrix<const S> q_, k_, v_;
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

/// Memory of `threads` threads, each of `count` registers for every head and key that a row can see.
template <class S>
index reserve_for_keys(aligned_vector<S>& scratch, int threads, index count, const attention_input<S>& in) {
  const index size = count * in.heads * in.visible.context * vectors<S>::lanes;
  if (static_cast<index>(scratch.size()) < threads * size) scratch.resize(static_cast<std::size_t>(threads * size));
  return size;
}

/// Attention; `scratch` grows to a register for every head, key and thread.
template <class S>
void attend(worker_pool& pool, aligned_vector<S>& scratch, const attention_input<S>& in, S* patterns,
            strided_matrix<S> out) {
  const index size = reserve_for_keys(scratch, pool.threads(), 1, in);
  with_attention_kernels<S>(in.width(), [&](auto chosen) {
    using kernels = typename decltype(chosen)::type;
    constexpr index lanes = kernels::lanes;
    for (const row_segment& segment : in.visible.segments)
      pool.chunks(segment.end - segment.begin, 4 * lanes, [&](index, index begin, index end, int worker) {
        for (index first = begin; first < end; first += lanes)
          kernels(in,
                  {segment.begin + first, static_cast<int>(std::min(lanes, end - first)), segment.visible, 0, in.heads})
              .attend(scratch.data() + worker * size, patterns, out);
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
/// and dv in the order of the rows. `scratch` grows to two registers for every head, key and thread.
template <class S>
void attend_backward(worker_pool& pool, aligned_vector<S>& scratch, const attention_input<S>& in, const S* patterns,
                     strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk, strided_matrix<S> dv) {
  const index size = reserve_for_keys(scratch, pool.threads(), 2, in), width = in.width();
  with_attention_kernels<S>(width, [&](auto chosen) {
    using kernels = typename decltype(chosen)::type;
    constexpr index lanes = kernels::lanes;
    const index share = (in.heads + pool.threads() - 1) / pool.threads();
    const index queries = in.visible.segments.empty() ? 0 : in.visible.segments.back().end;
    pool.chunks(in.heads, share, [&](index, index begin, index end, int worker) {
      clear_columns(dk, begin * width, (end - begin) * width);
      clear_columns(dv, begin * width, (end - begin) * width);
      if (!in.query_rows.empty() || queries < dq.rows) clear_columns(dq, begin * width, (end - begin) * width);
      S* const shares = scratch.data() + worker * size;
      for (const row_segment& segment : in.visible.segments)
        for (index first = segment.begin; first < segment.end; first += lanes)
          kernels(in, {first, static_cast<int>(std::min(lanes, segment.end - first)), segment.visible, begin, end})
              .backward(shares, shares + size / 2, patterns, dout, dq, dk, dv);
    });
  });
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
