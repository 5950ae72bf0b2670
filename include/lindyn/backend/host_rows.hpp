// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Rows fetched and scattered by index tables, on the host.

#include <algorithm>
#include <cstddef>
#include <span>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// y[i] = x[rows[i]], or added to it.
template <class S>
void gather_rows(worker_pool& pool, strided_matrix<const S> x, const index_table& rows, strided_matrix<S> y,
                 update how) {
  constexpr index chunk = 128;
  pool.chunks(y.rows, chunk, [&](index, index begin, index end, int) {
    for (index i = begin; i < end; ++i) {
      const S* const from = x.row(rows[i]);
      S* const to = y.row(i);
      if (how == update::assign)
        std::copy_n(from, y.columns, to);
      else
        for (index c = 0; c < y.columns; ++c) to[c] += from[c];
    }
  });
}

/// dx[rows[i]] += dy[i]. Rows may repeat, so that pieces of work are blocks of columns, a cache line wide and more.
template <class S>
void scatter_rows(worker_pool& pool, strided_matrix<const S> dy, const index_table& rows, strided_matrix<S> dx) {
  constexpr index line = 64 / sizeof(S);
  const index columns = (dy.columns + pool.threads() - 1) / pool.threads();
  pool.chunks(dy.columns, (columns + line - 1) / line * line, [&](index, index begin, index end, int) {
    for (index i = 0; i < dy.rows; ++i) {
      const S* const from = dy.row(i);
      S* const to = dx.row(rows[i]);
      for (index c = begin; c < end; ++c) to[c] += from[c];
    }
  });
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
