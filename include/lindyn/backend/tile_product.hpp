// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The product of matrices by tiles that fit into registers: the one loop of which all dense layers consist.

#include <algorithm>
#include <array>
#include <utility>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

using lindyn::detail::unroll;

/// How much of a product is in registers at once: with 32 registers (AVX-512) 6 x 4 vectors, with 16 as many as leave room
/// for a row of the right factor and an entry of the left one.
template <class S>
struct tile_size {
  static constexpr int rows = vector_bytes == 16 ? 4 : 6;
  static constexpr int vectors = vector_bytes == 64 ? 4 : 2;
  static constexpr int columns = vectors * detail::vectors<S>::lanes;
};

/// The left factor of a product, entry (r, k) = data[r row_step + k inner_step].
template <class S>
struct left_factor {
  const S* data;
  index row_step, inner_step;

  [[nodiscard]] left_factor rows_from(index row) const noexcept {
    return {data + row * row_step, row_step, inner_step};
  }
};

/// A panel of the right factor, tile_size::columns wide or less; entry (k, c) = data[k stride + c].
template <class S>
struct right_factor {
  const S* data;
  index stride;
};

/// What a product's sums become: y = sum + bias, or y += sum + bias; `bias` may be null.
template <class S>
struct product_output {
  S* data;        ///< entry (r, c) of y is data[r stride + c]
  index stride;   ///< entries from one row to the next
  index columns;  ///< of the panel that y has
  const S* bias;  ///< for each of these columns
  update how;     ///< what becomes of the former content

  [[nodiscard]] product_output rows_from(index row) const noexcept {
    return {data + row * stride, stride, columns, bias, how};
  }
};

/// Puts a tile's sums where they belong; the last vector of each row may be needed in part.
template <class S>
[[gnu::noinline]] void put_some(const typename vectors<S>::value* sums, int rows, int breadth,
                                const product_output<S>& y) {
  using registers = vectors<S>;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < breadth; ++v) {
      const index first = v * registers::lanes, count = std::min<index>(registers::lanes, y.columns - first);
      S* const to = y.data + r * y.stride + first;
      auto total = sums[r * breadth + v];
      if (y.bias) total += registers::load_some(y.bias + first, count);
      if (y.how == update::add) total += registers::load_some(to, count);
      registers::store_some(to, total, count);
    }
}

/// The product of `Rows` rows of a with a panel, `inner` rows of tile_size::columns entries without gaps, of which
/// `Vectors` vectors are wanted. Every entry is one sum in the order of k, so that it doesn't depend on the tile it falls
/// into.
template <int Rows, int Vectors, class S>
void product_tile(index inner, const left_factor<S>& a, const right_factor<S>& b, const product_output<S>& y) {
  using registers = vectors<S>;
  using vector = typename registers::value;
  constexpr index lanes = registers::lanes;
  vector sum[Rows][Vectors] = {};
  const S* left = a.data;
  const S* panel = b.data;
  const index row_step = a.row_step, inner_step = a.inner_step, panel_step = b.stride;
  // What the sums are written to comes to the cache meanwhile: 2 to 4 % of a training step.
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      if (v * lanes < y.columns) __builtin_prefetch(y.data + r * y.stride + v * lanes, 1);
    });
  });
#ifndef __CUDACC__    // which doesn't know the pragma
#pragma GCC unroll 4  // a few percent, most for gradients of weights
#endif
  for (index k = 0; k < inner; ++k, left += inner_step, panel += panel_step) {
    vector right[Vectors];
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) { right[v] = registers::load(panel + v * lanes); });
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      const S factor = left[r * row_step];
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) { sum[r][v] += factor * right[v]; });
    });
  }
  if (y.columns < Vectors * lanes) {
    vector part[Rows][Vectors];
    unroll<Rows * Vectors>([&](auto i) __attribute__((always_inline)) {
      part[i / Vectors][i % Vectors] = sum[i / Vectors][i % Vectors];
    });
    return put_some(part[0], Rows, Vectors, y);
  }
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    const vector bias = y.bias ? registers::load(y.bias + v * lanes) : vector{};
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      S* const to = y.data + r * y.stride + v * lanes;
      const vector total = sum[r][v] + bias;
      registers::store(to, y.how == update::add ? registers::load(to) + total : total);
    });
  });
}

/// The product of `rows` rows of a with a panel.
template <class S>
void panel_product(index rows, index inner, left_factor<S> a, right_factor<S> b, product_output<S> y) {
  using size = tile_size<S>;
  using tile = void (*)(index, const left_factor<S>&, const right_factor<S>&, const product_output<S>&);
  static constexpr auto tiles = []<int... number>(std::integer_sequence<int, number...>) {
    return std::array<tile, sizeof...(number)>{
        product_tile<number / size::vectors + 1, number % size::vectors + 1, S>...};
  }
  (std::make_integer_sequence<int, size::rows * size::vectors>{});
  const index breadth = (y.columns + vectors<S>::lanes - 1) / vectors<S>::lanes;
  for (index row = 0; row < rows; row += size::rows) {
    const index height = std::min<index>(size::rows, rows - row);
    tiles[static_cast<std::size_t>((height - 1) * size::vectors + breadth - 1)](inner, a.rows_from(row), b,
                                                                                y.rows_from(row));
  }
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
