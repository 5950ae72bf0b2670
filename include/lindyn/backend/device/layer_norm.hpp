// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// LayerNorm on a device.

#include <cmath>

#include <lindyn/backend/device/launch.hpp>

namespace lindyn::backend::detail {

/// y = gain (x - mean) / deviation + bias; saved: mean and 1 / deviation.
template <class S>
struct normalise_row {
  strided_matrix<const S> x;
  run_vector<const S> gain, bias;
  strided_matrix<S> y;
  run_vector<S> saved;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const S* const from = row_of(x, run, row);
    S* const to = row_of(y, run, row);
    const S *const gains = begin_of(gain, run), *const biases = begin_of(bias, run);
    const S share = 1 / static_cast<S>(x.columns);
    S sum = 0, squares = 0;
    for (index c = lanes.first; c < x.columns; c += Lanes::count) sum += from[c];
    const S mean = lanes.sum(sum) * share;
    for (index c = lanes.first; c < x.columns; c += Lanes::count) squares += (from[c] - mean) * (from[c] - mean);
    const S inverse = 1 / std::sqrt(lanes.sum(squares) * share + S(1e-5));
    for (index c = lanes.first; c < x.columns; c += Lanes::count)
      to[c] = gains[c] * ((from[c] - mean) * inverse) + biases[c];
    if (lanes.first != 0) return;
    S* const moments = begin_of(saved, run) + 2 * row;
    moments[0] = mean, moments[1] = inverse;
  }
};

/// With n = (x - mean) / deviation and g = gain dy: dx = (g - mean(g) - n mean(g n)) / deviation.
template <class S>
struct normalise_backward_row {
  strided_matrix<const S> x;
  run_vector<const S> saved, gain;
  strided_matrix<const S> dy;
  strided_matrix<S> dx;
  update how;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const S *const from = row_of(x, run, row), *const slopes = row_of(dy, run, row), *const gains = begin_of(gain, run);
    const S *const moments = begin_of(saved, run) + 2 * row, mean = moments[0], inverse = moments[1];
    S* const to = row_of(dx, run, row);
    const S share = 1 / static_cast<S>(x.columns);
    S sum = 0, along = 0;
    for (index c = lanes.first; c < x.columns; c += Lanes::count) {
      const S g = gains[c] * slopes[c];
      sum += g, along += g * ((from[c] - mean) * inverse);
    }
    const S mean_slope = lanes.sum(sum) * share, mean_along = lanes.sum(along) * share;
    for (index c = lanes.first; c < x.columns; c += Lanes::count) {
      const S n = (from[c] - mean) * inverse;
      put(to[c], (gains[c] * slopes[c] - mean_slope - n * mean_along) * inverse, how);
    }
  }
};

/// The terms of the derivatives by gain and bias.
template <class S>
struct normalise_terms {
  static constexpr int count = 2;
  strided_matrix<const S> x;
  run_vector<const S> saved;
  strided_matrix<const S> dy;

  LINDYN_HOST_DEVICE void operator()(index run, index row, index column, S (&sums)[2]) const {
    const S* const moments = begin_of(saved, run) + 2 * row;
    const S slope = row_of(dy, run, row)[column];
    sums[0] += (row_of(x, run, row)[column] - moments[0]) * moments[1] * slope;
    sums[1] += slope;
  }
};

}  // namespace lindyn::backend::detail
