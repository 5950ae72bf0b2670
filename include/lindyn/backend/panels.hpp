// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Matrices as panels of a few columns, as tiles of products read them.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/backend/tile_product.hpp>
#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// The right factor of a product as panels of tile_size::columns columns, each contiguous, the last one filled up with
/// zeros.
template <class S>
class panels {
public:
  void resize(index inner, index columns) {
    inner_ = inner, columns_ = columns;
    entries_.resize(static_cast<std::size_t>((columns + width - 1) / width * width * inner));
  }
  [[nodiscard]] index inner() const noexcept { return inner_; }
  [[nodiscard]] index columns() const noexcept { return columns_; }
  [[nodiscard]] const S* panel(index first) const noexcept { return entries_.data() + first * inner_; }
  [[nodiscard]] S* panel(index first) noexcept { return entries_.data() + first * inner_; }

  static constexpr index width = tile_size<S>::columns;

private:
  index inner_ = 0, columns_ = 0;
  aligned_vector<S> entries_;
};

/// The transposed matrix of as many rows and columns as a register has lanes. Rows and those half of the matrix behind them
/// are shuffled together, as cards are, so often that every bit of an entry's number moves from column to row.
template <class S>
void transpose(const S* from, index from_stride, S* to, index to_stride) {
  using registers = vectors<S>;
  constexpr int lanes = registers::lanes, half = lanes / 2;
  typename registers::value rows[lanes], shuffled[lanes];
  unroll<lanes>([&](auto r) __attribute__((always_inline)) { rows[r] = registers::load(from + r * from_stride); });
  [&]<int... lane>(std::integer_sequence<int, lane...>) __attribute__((always_inline)) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      unroll<half>([&](auto r) __attribute__((always_inline)) {
        shuffled[2 * r] = __builtin_shufflevector(rows[r], rows[r + half], (lane / 2 + lane % 2 * lanes)...);
        shuffled[2 * r + 1] = __builtin_shufflevector(rows[r], rows[r + half], (half + lane / 2 + lane % 2 * lanes)...);
      });
      unroll<lanes>([&](auto r) __attribute__((always_inline)) { rows[r] = shuffled[r]; });
    }
  }
  (std::make_integer_sequence<int, lanes>{});
  unroll<lanes>([&](auto r) __attribute__((always_inline)) { registers::store(to + r * to_stride, rows[r]); });
}

/// The panel of so many columns of b.
template <class S>
void pack_rows(strided_matrix<const S> b, S* panel) {
  using registers = vectors<S>;
  for (index k = 0; k < b.rows; ++k, panel += panels<S>::width)
    unroll<tile_size<S>::vectors>([&](auto v) __attribute__((always_inline)) {
      const index first = v * registers::lanes, count = std::clamp<index>(b.columns - first, 0, registers::lanes);
      registers::store(panel + first, registers::load_some(b.row(k) + first, count));
    });
}

/// The panel of the transposed matrix.
template <class S>
void pack_columns(strided_matrix<const S> b, S* panel) {
  constexpr index lanes = vectors<S>::lanes, width = panels<S>::width;
  for (index k = 0; k < b.columns; k += lanes)
    for (index c = 0; c < width; c += lanes) {
      S* const to = panel + k * width + c;
      const index rows = std::clamp<index>(b.rows - c, 0, lanes), columns = std::min(lanes, b.columns - k);
      if (rows == lanes && columns == lanes) {
        transpose(b.row(c) + k, b.stride, to, width);
        continue;
      }
      S part[lanes * lanes] = {}, turned[lanes * lanes];
      for (index r = 0; r < rows; ++r) std::copy_n(b.row(c + r) + k, columns, part + r * lanes);
      transpose(part, lanes, turned, lanes);
      for (index r = 0; r < columns; ++r) std::copy_n(turned + r * lanes, lanes, to + r * width);
    }
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
