// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Losses of rows that count with a weight each, and their derivatives, on a device; losses are in double.

#include <lindyn/backend/device/launch.hpp>
#include <lindyn/backend/device/losses.hpp>

namespace lindyn::backend::detail {

/// Half the squared distance of one row from the unit vector of its answer; `derivative`, which may be null, becomes
/// `weight` times its derivative.
template <class S, class Lanes>
LINDYN_HOST_DEVICE double squared_error_of(const Lanes& lanes, const S* logits, index columns, index answer,
                                           double weight, S* derivative) {
  double sum = 0;
  for (index v = lanes.first; v < columns; v += Lanes::count) {
    const double error = static_cast<double>(logits[v]) - (v == answer ? 1 : 0);
    sum += error * error;
    if (derivative) derivative[v] = static_cast<S>(weight * error);
  }
  return lanes.sum(sum) / 2;
}

/// Loss and derivative of one row.
template <class S>
struct weighted_row {
  answer_loss kind;
  strided_matrix<const S> logits;
  index_table answers;
  run_vector<const double> weights;
  strided_matrix<S> dlogits;
  double* losses;  // [run][row]

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const S* const z = row_of(logits, run, row);
    const index answer = begin_of(answers, run)[row];
    const double weight = begin_of(weights, run)[row];
    S* const derivative = dlogits.data ? row_of(dlogits, run, row) : nullptr;
    double loss = 0;
    if (kind == answer_loss::squared_error) {
      loss = squared_error_of(lanes, z, logits.columns, answer, weight, derivative);
    } else {
      const row_loss found = cross_entropy_of(lanes, z, logits.columns, answer);
      loss = found.loss;
      if (derivative) cross_entropy_slopes(lanes, z, logits.columns, answer, found, weight, derivative);
    }
    if (lanes.first == 0) losses[run * logits.rows + row] = weight * loss;
  }
};

/// The sum over a run's rows.
struct sum_losses {
  const double* rows;  // [run][row]
  index count;
  double* losses;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index) const {
    double loss = 0;
    for (index row = lanes.first; row < count; row += Lanes::count) loss += rows[run * count + row];
    loss = lanes.sum(loss);
    if (lanes.first == 0) losses[run] = loss;
  }
};

/// Losses of all runs, and their derivative.
template <class S>
void weighted_loss(device_state& on, answer_loss kind, strided_matrix<const S> logits, const index_table& answers,
                   run_vector<const double> weights, strided_matrix<S> dlogits, double* losses) {
  double* const rows = on.memory<double>(scratch::rows, on.runs * logits.rows);
  for_each_row(on, logits.rows, weighted_row<S>{kind, logits, answers, weights, dlogits, rows});
  for_each_row(on, 1, sum_losses{rows, logits.rows, losses});
}

/// x = factor x
template <class S>
struct scale_entry {
  run_vector<S> x;
  S factor;

  LINDYN_HOST_DEVICE void operator()(index run, index entry) const { begin_of(x, run)[entry] *= factor; }
};

}  // namespace lindyn::backend::detail
