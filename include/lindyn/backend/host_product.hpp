// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Dense layers on the processor: y = x W' + bias and its derivatives.

#include <algorithm>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/backend/panels.hpp>
#include <lindyn/backend/tile_product.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// Rows of the left factor that one worker takes at once.
inline constexpr index product_chunk = 48;
/// Rows over which a gradient of weights is summed before it is added to what earlier rows gave.
inline constexpr index gradient_chunk = 128;

/// y = a b + bias, or y += a b + bias, by chunks of rows.
template <class S>
void product(worker_pool& pool, strided_matrix<const S> a, const panels<S>& b, const S* bias, strided_matrix<S> y,
             update how) {
  pool.chunks(a.rows, product_chunk, [&](index, index begin, index end, int) {
    for (index first = 0; first < b.columns(); first += panels<S>::width)
      panel_product<S>(end - begin, b.inner(), {a.row(begin), a.stride, 1}, {b.panel(first), panels<S>::width},
                       {y.row(begin) + first, y.stride, std::min(panels<S>::width, b.columns() - first),
                        bias ? bias + first : nullptr, how});
  });
}

/// Sums of the columns of dy, or these sums added to what stands there; some rows at a time.
template <class S>
void column_sums(strided_matrix<const S> dy, S* sums, update how) {
  using registers = vectors<S>;
  constexpr index lanes = registers::lanes, together = 8;
  if (how == update::assign) std::fill_n(sums, dy.columns, S(0));
  for (index row = 0; row < dy.rows; row += together)
    for (index c = 0; c < dy.columns; c += lanes) {
      const index end = std::min(row + together, dy.rows), count = std::min(lanes, dy.columns - c);
      auto sum = registers::load_some(sums + c, count);
      for (index r = row; r < end; ++r) sum += registers::load_some(dy.row(r) + c, count);
      registers::store_some(sums + c, sum, count);
    }
}

/// y = x W' + bias, or y += x W' + bias. Panels of W are made where they are needed, in memory that stays in the cache: kept
/// panels of all layers would drive what they are multiplied with out of it.
template <class S>
void linear(worker_pool& pool, panels<S>& memory, strided_matrix<const S> x, strided_matrix<const S> w, const S* bias,
            strided_matrix<S> y, update how) {
  memory.resize(w.columns, w.rows);
  pool.chunks(w.rows, panels<S>::width, [&](index, index begin, index end, int) {
    pack_columns<S>({w.row(begin), end - begin, w.columns, w.stride}, memory.panel(begin));
  });
  product<S>(pool, x, memory, bias, y, how);
}

/// dx = dy W, or dx += dy W.
template <class S>
void linear_backward_input(worker_pool& pool, panels<S>& memory, strided_matrix<const S> dy, strided_matrix<const S> w,
                           strided_matrix<S> dx, update how) {
  memory.resize(w.rows, w.columns);
  pool.chunks(w.columns, panels<S>::width, [&](index, index begin, index end, int) {
    pack_rows<S>(w.columns_from(begin, end - begin), memory.panel(begin));
  });
  product<S>(pool, dy, memory, nullptr, dx, how);
}

/// dW = dy' x, dbias = column sums of dy, by chunks of rows in their order. Each worker takes rows of dW, as many as there
/// are for it: a chunk of dy and x then comes to its cache once.
template <class S>
void linear_backward_weights(worker_pool& pool, strided_matrix<const S> dy, strided_matrix<const S> x,
                             strided_matrix<S> dw, S* dbias) {
  constexpr index tile = tile_size<S>::rows;
  const index share = (dw.rows + pool.threads() * tile - 1) / (pool.threads() * tile) * tile;
  pool.chunks(dw.rows, share, [&](index, index begin, index end, int) {
    alignas(64) S panel[gradient_chunk * panels<S>::width];
    const index outputs = end - begin;
    for (index row = 0; row == 0 || row < dy.rows; row += gradient_chunk) {
      const index rows = std::min(gradient_chunk, dy.rows - row);
      const update how = row == 0 ? update::assign : update::add;
      if (dbias) column_sums<S>({dy.row(row) + begin, rows, outputs, dy.stride}, dbias + begin, how);
      for (index first = 0; first < x.columns; first += panels<S>::width) {
        const index columns = std::min(panels<S>::width, x.columns - first);
        right_factor<S> right{x.row(row) + first, x.stride};
        if (columns % vectors<S>::lanes != 0) {
          pack_rows<S>({x.row(row) + first, rows, columns, x.stride}, panel);
          right = {panel, panels<S>::width};
        }
        panel_product<S>(outputs, rows, {dy.row(row) + begin, 1, dy.stride}, right,
                         {dw.row(begin) + first, dw.stride, columns, nullptr, how});
      }
    }
  });
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
