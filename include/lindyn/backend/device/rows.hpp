// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Kernels that treat rows one by one: bias, nonlinearities, products entry by entry, rows fetched and summed by tables.

#include <cmath>
#include <numbers>

#include <lindyn/backend/device/launch.hpp>

namespace lindyn::backend::detail {

/// y = bias, or y += bias; zero where there is no bias.
template <class S>
struct add_bias {
  run_vector<const S> bias;
  strided_matrix<S> y;
  update how;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const S* const from = begin_of(bias, run);
    S* const to = row_of(y, run, row);
    for (index c = lanes.first; c < y.columns; c += Lanes::count) put(to[c], from ? from[c] : S(0), how);
  }
};

/// x = f(x), derivative = f'(x).
template <class S>
struct activate_row {
  activation kind;
  strided_matrix<S> x, derivative;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    S* const values = row_of(x, run, row);
    S* const slopes = row_of(derivative, run, row);
    for (index c = lanes.first; c < x.columns; c += Lanes::count) {
      const S z = values[c];
      if (kind == activation::relu) {
        values[c] = z < 0 ? S(0) : z;
        slopes[c] = z > 0 ? S(1) : S(0);
      } else {
        constexpr S root = std::numbers::sqrt2_v<S>, density = std::numbers::inv_sqrtpi_v<S> / std::numbers::sqrt2_v<S>;
        const S below = std::erfc(-z / root) / 2;
        values[c] = z * below;
        slopes[c] = below + z * density * std::exp(-z * z / 2);
      }
    }
  }
};

/// x = x factor, entry by entry.
template <class S>
struct multiply_row {
  strided_matrix<S> x;
  strided_matrix<const S> factor;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    S* const to = row_of(x, run, row);
    const S* const by = row_of(factor, run, row);
    for (index c = lanes.first; c < x.columns; c += Lanes::count) to[c] *= by[c];
  }
};

/// y[i] = x[rows[i]], or y[i] += x[rows[i]].
template <class S>
struct gather_row {
  strided_matrix<const S> x;
  index_table rows;
  strided_matrix<S> y;
  update how;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const S* const from = row_of(x, run, index{begin_of(rows, run)[row]});
    S* const to = row_of(y, run, row);
    for (index c = lanes.first; c < y.columns; c += Lanes::count) put(to[c], from[c], how);
  }
};

/// dx[row] += the sum of dy[i] over those i that name the row, in their order.
template <class S>
struct scatter_row {
  strided_matrix<const S> dy;
  index_table first, order;
  strided_matrix<S> dx;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const int* const which = begin_of(order, run);
    const int begin = begin_of(first, run)[row], end = begin_of(first, run)[row + 1];
    if (begin == end) return;
    S* const to = row_of(dx, run, row);
    for (index c = lanes.first; c < dx.columns; c += Lanes::count) {
      S sum = 0;
      for (int i = begin; i < end; ++i) sum += row_of(dy, run, index{which[i]})[c];
      to[c] += sum;
    }
  }
};

/// Flat memory becomes one value.
template <class S>
struct fill_entry {
  run_vector<S> to;
  S value;

  LINDYN_HOST_DEVICE void operator()(index run, index entry) const { begin_of(to, run)[entry] = value; }
};

/// Flat memory becomes that of another place.
template <class S>
struct copy_entry {
  run_vector<const S> from;
  run_vector<S> to;

  LINDYN_HOST_DEVICE void operator()(index run, index entry) const {
    begin_of(to, run)[entry] = begin_of(from, run)[entry];
  }
};

}  // namespace lindyn::backend::detail
