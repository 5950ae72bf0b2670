// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// LayerNorm on the host: as many rows at a time as a register has lanes, so that their sums over columns, roots and
/// quotients are taken together.

#include <algorithm>
#include <cmath>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// Rows of one piece of work, and of one partial sum over rows.
inline constexpr index layer_norm_chunk = 128;

/// Mean and 1 / deviation of up to `lanes` rows, one a lane.
template <class S>
struct row_moments {
  static constexpr int lanes = vectors<S>::lanes;
  S mean[lanes];
  S inverse[lanes];
};

template <class S>
void layer_norm_rows(strided_matrix<const S> x, index first, int count, const S* gain, const S* bias,
                     strided_matrix<S> y, S* saved) {
  using v = vectors<S>;
  using value = typename v::value;
  const index columns = x.columns, whole = columns - columns % v::lanes;
  const S share = S(1) / static_cast<S>(columns);
  row_moments<S> of;

  value parts[v::lanes] = {};
  for (int r = 0; r < count; ++r) {
    const S* const row = x.row(first + r);
    value total = {};
    for (index c = 0; c < whole; c += v::lanes) total += v::load(row + c);
    for (index c = whole; c < columns; ++c) total[0] += row[c];
    parts[r] = total;
  }
  v::store(of.mean, sum_each<v::lanes>(parts) * share);

  for (int r = 0; r < count; ++r) {
    const S* const row = x.row(first + r);
    value total = {};
    for (index c = 0; c < whole; c += v::lanes) {
      const value centred = v::load(row + c) - of.mean[r];
      total += centred * centred;
    }
    for (index c = whole; c < columns; ++c) total[0] += (row[c] - of.mean[r]) * (row[c] - of.mean[r]);
    parts[r] = total;
  }
  v::store(of.inverse, sum_each<v::lanes>(parts) * share);
  for (S& variance : of.inverse) variance = S(1) / std::sqrt(variance + S(1e-5));

  for (int r = 0; r < count; ++r) {
    const S* const row = x.row(first + r);
    S* const to = y.row(first + r);
    const S mean = of.mean[r], inverse = of.inverse[r];
    for (index c = 0; c < whole; c += v::lanes)
      v::store(to + c, (v::load(row + c) - mean) * inverse * v::load(gain + c) + v::load(bias + c));
    for (index c = whole; c < columns; ++c) to[c] = (row[c] - mean) * inverse * gain[c] + bias[c];
    saved[2 * (first + r)] = mean;
    saved[2 * (first + r) + 1] = inverse;
  }
}

/// y = gain (x - mean) / deviation + bias; saved: mean and 1 / deviation.
template <class S>
void layer_norm(worker_pool& pool, strided_matrix<const S> x, const S* gain, const S* bias, strided_matrix<S> y,
                S* saved) {
  constexpr int lanes = vectors<S>::lanes;
  pool.chunks(x.rows, layer_norm_chunk, [&](index, index begin, index end, int) {
    for (index first = begin; first < end; first += lanes)
      layer_norm_rows(x, first, static_cast<int>(std::min<index>(lanes, end - first)), gain, bias, y, saved);
  });
}

/// dx of up to `lanes` rows; what they contribute to dgain and dbias is added to `sums`, columns of the former first.
/// With n = (x - mean) / deviation and g = gain dy: dx = (g - mean(g) - n mean(g n)) / deviation.
template <class S>
void layer_norm_backward_rows(strided_matrix<const S> x, const S* saved, index first, int count, const S* gain,
                              strided_matrix<const S> dy, strided_matrix<S> dx, update how, S* sums) {
  using v = vectors<S>;
  using value = typename v::value;
  const index columns = x.columns, whole = columns - columns % v::lanes;
  const S share = S(1) / static_cast<S>(columns);
  row_moments<S> of;
  for (int r = 0; r < count; ++r) {
    of.mean[r] = saved[2 * (first + r)];
    of.inverse[r] = saved[2 * (first + r) + 1];
  }

  value parts[v::lanes] = {}, parts_along[v::lanes] = {};
  for (int r = 0; r < count; ++r) {
    const S *const row = x.row(first + r), *const from = dy.row(first + r);
    value total = {}, along = {};
    for (index c = 0; c < whole; c += v::lanes) {
      const value g = v::load(gain + c) * v::load(from + c);
      total += g;
      along += g * (v::load(row + c) - of.mean[r]);
    }
    for (index c = whole; c < columns; ++c) {
      total[0] += gain[c] * from[c];
      along[0] += gain[c] * from[c] * (row[c] - of.mean[r]);
    }
    parts[r] = total;
    parts_along[r] = along * of.inverse[r];
  }
  S mean_g[v::lanes], mean_along[v::lanes];
  v::store(mean_g, sum_each<v::lanes>(parts) * share);
  v::store(mean_along, sum_each<v::lanes>(parts_along) * share);

  // Columns outside, rows inside: the sums over rows stay in registers.
  const auto at_columns = [&](index c, auto load, auto store) {
    auto by_gain = load(sums + c), by_bias = load(sums + columns + c);
    const auto scale = load(gain + c);
    for (int r = 0; r < count; ++r) {
      const auto from = load(dy.row(first + r) + c);
      const auto normal = (load(x.row(first + r) + c) - of.mean[r]) * of.inverse[r];
      by_gain += normal * from;
      by_bias += from;
      auto to = (scale * from - mean_g[r] - normal * mean_along[r]) * of.inverse[r];
      S* const place = dx.row(first + r) + c;
      if (how == update::add) to += load(place);
      store(place, to);
    }
    store(sums + c, by_gain);
    store(sums + columns + c, by_bias);
  };
  for (index c = 0; c < whole; c += v::lanes) at_columns(c, &v::load, &v::store);
  for (index c = whole; c < columns; ++c)
    at_columns(
        c, [](const S* from) { return *from; }, [](S* to, S number) { *to = number; });
}

/// Derivatives of layer_norm; `scratch` grows to the sums of 64 chunks, of which there never are more.
template <class S>
void layer_norm_backward(worker_pool& pool, aligned_vector<S>& scratch, strided_matrix<const S> x, const S* saved,
                         const S* gain, strided_matrix<const S> dy, strided_matrix<S> dx, update how, S* dgain,
                         S* dbias) {
  constexpr int lanes = vectors<S>::lanes;
  constexpr index most = 64;
  const index chunk_rows = std::max(layer_norm_chunk, (x.rows / most + lanes) / lanes * lanes);
  const index chunks = (x.rows + chunk_rows - 1) / chunk_rows, size = 2 * x.columns;
  if (scratch.size() < static_cast<std::size_t>(most * size)) scratch.resize(static_cast<std::size_t>(most * size));
  pool.chunks(x.rows, chunk_rows, [&](index chunk, index begin, index end, int) {
    S* const sums = scratch.data() + chunk * size;
    std::fill_n(sums, size, S(0));
    for (index first = begin; first < end; first += lanes)
      layer_norm_backward_rows(x, saved, first, static_cast<int>(std::min<index>(lanes, end - first)), gain, dy, dx,
                               how, sums);
  });
  std::fill_n(dgain, x.columns, S(0));
  std::fill_n(dbias, x.columns, S(0));
  for (index chunk = 0; chunk < chunks; ++chunk) {
    const S* const sums = scratch.data() + chunk * size;
    for (index c = 0; c < x.columns; ++c) {
      dgain[c] += sums[c];
      dbias[c] += sums[x.columns + c];
    }
  }
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
