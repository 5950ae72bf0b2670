// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Small matrices of several sequences in lock step: every entry is a SIMD vector with one lane a sequence, so that
/// products of causal n x n patterns run at full width whatever n is.

#include <algorithm>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::model::detail::inline LINDYN_VECTORS {

/// Vectors of the processor's register width, by the vector extensions that g++ and clang share.
template <class Scalar>
struct lanes {
  static constexpr int count = vector_bytes / static_cast<int>(sizeof(Scalar));
  /// One entry of `count` sequences. A pointer to it may point into an array of scalars.
  typedef Scalar entry __attribute__((vector_size(vector_bytes), may_alias));
  /// An entry as an element of std::vector, which keeps its alignment.
  struct cell {
    entry value;
  };
};

template <class Scalar>
using lane_entry = typename lanes<Scalar>::entry;

/// Memory for entries that only ever grows.
template <class Scalar>
class lane_memory {
public:
  void reserve(index count) {
    if (static_cast<std::size_t>(count) > cells_.size()) cells_.resize(static_cast<std::size_t>(count));
  }
  [[nodiscard]] lane_entry<Scalar>* data() noexcept { return reinterpret_cast<lane_entry<Scalar>*>(cells_.data()); }

private:
  std::vector<typename lanes<Scalar>::cell> cells_;
};

/// A factor of a product; its entry (outer, inner) is data[outer outer_stride + inner inner_stride].
template <class Entry>
struct lane_factor {
  const Entry* data;
  index outer_stride;
  index inner_stride;
};

/// Rows of a causal matrix are computed in tiles of this many; entries above the diagonal but within a diagonal tile
/// are read and must be zero in patterns and their derivatives. All others above the diagonal are never touched.
inline constexpr index lane_tile = 4;

/// The end of the diagonal tile that holds place i of n.
[[nodiscard]] constexpr index tile_end(index i, index n) noexcept {
  const index end = i / lane_tile * lane_tile + lane_tile;
  return end <= n ? end : i + 1;
}

/// Where the terms of a product vanish, so that they can be left out.
struct product_range {
  bool lower = false;        ///< only entries row >= column are wanted
  bool from_row = false;     ///< inner < row contributes nothing
  bool from_column = false;  ///< inner < column contributes nothing
  bool to_row = false;       ///< inner > row contributes nothing
  bool to_column = false;    ///< inner > column contributes nothing
};

using lindyn::detail::unroll;

template <int Rows, int Columns, bool Add, class Entry>
void product_tile(Entry* out, index out_stride, const lane_factor<Entry>& a, const lane_factor<Entry>& b, index first,
                  index last) {
  Entry sum[Rows][Columns] = {};
  if constexpr (Add)
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      unroll<Columns>([&](auto c) __attribute__((always_inline)) { sum[r][c] = out[r * out_stride + c]; });
    });
  const Entry* left = a.data + first * a.inner_stride;
  const Entry* right = b.data + first * b.inner_stride;
  for (index k = first; k < last; ++k, left += a.inner_stride, right += b.inner_stride)
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      const Entry factor = left[r * a.outer_stride];
      unroll<Columns>([&](auto c) __attribute__((always_inline)) { sum[r][c] += factor * right[c * b.outer_stride]; });
    });
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<Columns>([&](auto c) __attribute__((always_inline)) { out[r * out_stride + c] = sum[r][c]; });
  });
}

/// out[r, c] = sum_k a(r, k) b(c, k), lane by lane, over the k that `range` leaves; added to out if `Add`.
template <bool Add, class Entry>
void lane_product(index rows, index columns, index inner, Entry* out, index out_stride, lane_factor<Entry> a,
                  lane_factor<Entry> b, product_range range) {
  constexpr int tile = lane_tile;
  for (index row = 0; row < rows;) {
    const index height = rows - row >= tile ? tile : 1;
    for (index column = 0; column < columns && !(range.lower && column >= row + height);) {
      const index breadth = columns - column >= tile ? tile : 1;
      const index first = std::max(range.from_row ? row : 0, range.from_column ? column : 0);
      const index last = std::min(range.to_row ? row + height : inner, range.to_column ? column + breadth : inner);
      Entry* const to = out + row * out_stride + column;
      const lane_factor<Entry> left{a.data + row * a.outer_stride, a.outer_stride, a.inner_stride};
      const lane_factor<Entry> right{b.data + column * b.outer_stride, b.outer_stride, b.inner_stride};
      if (height == tile && breadth == tile)
        product_tile<tile, tile, Add>(to, out_stride, left, right, first, last);
      else if (height == tile)
        product_tile<tile, 1, Add>(to, out_stride, left, right, first, last);
      else if (breadth == tile)
        product_tile<1, tile, Add>(to, out_stride, left, right, first, last);
      else
        product_tile<1, 1, Add>(to, out_stride, left, right, first, last);
      column += breadth;
    }
    row += height;
  }
}

/// What a softmax of scores s divides by: exp(top) sum.
template <class Scalar>
struct softmax_scale {
  lane_entry<Scalar> top;  ///< max s
  lane_entry<Scalar> sum;  ///< sum exp(s - top)
};

/// Replaces `visible` scores by their softmax.
template <class Scalar>
softmax_scale<Scalar> lane_softmax(lane_entry<Scalar>* scores, index visible) {
  using entry = lane_entry<Scalar>;
  entry top = scores[0];
  for (index j = 1; j < visible; ++j) top = scores[j] > top ? scores[j] : top;
  for (index j = 0; j < visible; ++j) scores[j] -= top;
  Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>> all(reinterpret_cast<Scalar*>(scores),
                                                          visible * lanes<Scalar>::count);
  all = all.exp();
  entry sum = scores[0];
  for (index j = 1; j < visible; ++j) sum += scores[j];
  const entry factor = Scalar(1) / sum;
  for (index j = 0; j < visible; ++j) scores[j] *= factor;
  return {top, sum};
}

/// Replaces the derivative by the `visible` entries of a softmax by that by its scores: p * (d - <p, d>).
template <class Scalar>
void lane_softmax_backward(const lane_entry<Scalar>* pattern, lane_entry<Scalar>* derivative, index visible) {
  lane_entry<Scalar> mean = pattern[0] * derivative[0];
  for (index j = 1; j < visible; ++j) mean += pattern[j] * derivative[j];
  for (index j = 0; j < visible; ++j) derivative[j] = pattern[j] * (derivative[j] - mean);
}

}  // namespace lindyn::model::detail::inline LINDYN_VECTORS
