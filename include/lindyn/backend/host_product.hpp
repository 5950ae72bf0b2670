// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Dense layers on the processor: y = x W' + bias and its derivatives.

#include <algorithm>
#include <cstddef>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/backend/tile_product.hpp>
#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail {

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

/// Rows of the left factor that one worker takes at once, and of the weights whose gradient it does.
inline constexpr index product_chunk = 96;
/// Rows over which a gradient of weights is summed before it is added to what earlier rows gave.
inline constexpr index gradient_chunk = 128;

/// The panel of `rows` rows of b, with its columns [first, first + columns).
template <class S>
void pack_rows(strided_matrix<const S> b, S* panel) {
  for (index k = 0; k < b.rows; ++k, panel += panels<S>::width) {
    std::copy_n(b.row(k), b.columns, panel);
    std::fill(panel + b.columns, panel + panels<S>::width, S(0));
  }
}

/// The panel of the transposed matrix.
template <class S>
void pack_columns(strided_matrix<const S> b, S* panel) {
  for (index k = 0; k < b.columns; ++k, panel += panels<S>::width) {
    for (index c = 0; c < b.rows; ++c) panel[c] = b(c, k);
    std::fill(panel + b.rows, panel + panels<S>::width, S(0));
  }
}

/// y = a b + bias, or y += a b + bias, by chunks of rows.
template <class S>
void product(worker_pool& pool, strided_matrix<const S> a, const panels<S>& b, const S* bias, strided_matrix<S> y,
             update how) {
  pool.chunks(a.rows, product_chunk, [&](index, index begin, index end, int) {
    for (index first = 0; first < b.columns(); first += panels<S>::width)
      panel_product<S>(end - begin, b.inner(), {a.row(begin), a.stride, 1}, b.panel(first),
                       {y.row(begin) + first, y.stride, std::min(panels<S>::width, b.columns() - first),
                        bias ? bias + first : nullptr, how});
  });
}

/// Sums of the columns of dy, or these sums added.
template <class S>
void column_sums(strided_matrix<const S> dy, S* sums, update how) {
  using registers = vectors<S>;
  for (index first = 0; first < dy.columns; first += registers::lanes) {
    const index count = std::min<index>(registers::lanes, dy.columns - first);
    typename registers::value sum{};
    for (index r = 0; r < dy.rows; ++r) sum += registers::load_some(dy.row(r) + first, count);
    registers::store_some(sums + first, how == update::add ? registers::load_some(sums + first, count) + sum : sum,
                          count);
  }
}

}  // namespace lindyn::backend::detail

namespace lindyn::backend {

/// The weights of a dense layer as its products read them: panels of W' for y = x W', of W for dx = dy W.
template <class S>
struct host_weights {
  detail::panels<S> forward;   ///< of W'
  detail::panels<S> backward;  ///< of W
};

namespace detail {

template <class S>
void prepare(worker_pool& pool, strided_matrix<const S> w, host_weights<S>& p) {
  constexpr index width = panels<S>::width;
  p.forward.resize(w.columns, w.rows);
  p.backward.resize(w.rows, w.columns);
  pool.chunks(w.rows, width, [&](index, index begin, index end, int) {
    pack_columns<S>({w.row(begin), end - begin, w.columns, w.stride}, p.forward.panel(begin));
  });
  pool.chunks(w.columns, width, [&](index, index begin, index end, int) {
    pack_rows<S>(w.columns_from(begin, end - begin), p.backward.panel(begin));
  });
}

template <class S>
void linear(worker_pool& pool, strided_matrix<const S> x, const host_weights<S>& p, const S* bias, strided_matrix<S> y,
            update how) {
  product(pool, x, p.forward, bias, y, how);
}

template <class S>
void linear_backward_input(worker_pool& pool, strided_matrix<const S> dy, const host_weights<S>& p,
                           strided_matrix<S> dx, update how) {
  product<S>(pool, dy, p.backward, nullptr, dx, how);
}

/// dW = dy' x, dbias = column sums of dy, by chunks of rows in their order; parallel over rows of dW.
template <class S>
void linear_backward_weights(worker_pool& pool, strided_matrix<const S> dy, strided_matrix<const S> x,
                             strided_matrix<S> dw, S* dbias) {
  pool.chunks(dw.rows, product_chunk, [&](index, index begin, index end, int) {
    alignas(64) S panel[gradient_chunk * panels<S>::width];
    const index outputs = end - begin;
    for (index row = 0; row == 0 || row < dy.rows; row += gradient_chunk) {
      const index rows = std::min(gradient_chunk, dy.rows - row);
      const update how = row == 0 ? update::assign : update::add;
      for (index first = 0; first < x.columns; first += panels<S>::width) {
        const index columns = std::min(panels<S>::width, x.columns - first);
        pack_rows<S>({x.row(row) + first, rows, columns, x.stride}, panel);
        panel_product<S>(outputs, rows, {dy.row(row) + begin, 1, dy.stride}, panel,
                         {dw.row(begin) + first, dw.stride, columns, nullptr, how});
      }
      if (dbias) column_sums<S>({dy.row(row) + begin, rows, outputs, dy.stride}, dbias + begin, how);
    }
  });
}

}  // namespace detail

}  // namespace lindyn::backend
