// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Losses of logits and their derivatives on a device; losses are in double.

#include <cmath>
#include <cstdint>

#include <lindyn/backend/device/launch.hpp>

namespace lindyn::backend::detail {

/// What is known of a row of logits.
struct row_loss {
  double loss;     ///< -ln softmax at the answer; not finite if a logit isn't
  double largest;  ///< of the logits
  double sum;      ///< of exp(logit - largest)
  bool right;      ///< whether the answer has the largest logit, the first of equals
};

/// Cross-entropy of one row.
template <class S, class Lanes>
[[nodiscard]] LINDYN_HOST_DEVICE row_loss cross_entropy_of(const Lanes& lanes, const S* logits, index columns,
                                                           index answer) {
  const S answered = logits[answer];
  S largest = answered;
  int above = 0;
  for (index v = lanes.first; v < columns; v += Lanes::count) {
    const S z = logits[v];
    largest = z > largest ? z : largest;
    above += (v < answer ? z < answered : z <= answered) ? 0 : 1;
  }
  largest = lanes.largest(largest);
  double sum = 0, nothing = 0;  // nothing: zero, or NaN if a logit isn't finite
  for (index v = lanes.first; v < columns; v += Lanes::count) {
    sum += std::exp(static_cast<double>(logits[v]) - static_cast<double>(largest));
    nothing += 0 * static_cast<double>(logits[v]);
  }
  sum = lanes.sum(sum);
  const double loss =
      std::log(sum) + (static_cast<double>(largest) - static_cast<double>(answered)) + lanes.sum(nothing);
  return {loss, static_cast<double>(largest), sum, lanes.sum(above) == 0 && std::isfinite(loss)};
}

/// derivative = weight (softmax - 1[answer])
template <class S, class Lanes>
LINDYN_HOST_DEVICE void cross_entropy_slopes(const Lanes& lanes, const S* logits, index columns, index answer,
                                             const row_loss& row, double weight, S* derivative) {
  for (index v = lanes.first; v < columns; v += Lanes::count) {
    const double share = std::exp(static_cast<double>(logits[v]) - row.largest) / row.sum;
    derivative[v] = static_cast<S>(weight * (share - (v == answer ? 1 : 0)));
  }
}

/// Cross-entropy, right answers and derivative of one row that counts several times.
template <class S>
struct counted_row {
  strided_matrix<const S> logits;
  index_table answers, counts;
  double scale;
  strided_matrix<S> dlogits;
  answer_score* scores;  // [run][row]

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index row) const {
    const S* const z = row_of(logits, run, row);
    const index answer = begin_of(answers, run)[row];
    const int count = begin_of(counts, run)[row];
    const row_loss found = cross_entropy_of(lanes, z, logits.columns, answer);
    if (lanes.first == 0) scores[run * logits.rows + row] = {count * found.loss, found.right ? count : 0, count};
    if (!dlogits.data) return;
    std::int64_t total = 0;
    for (index other = lanes.first; other < logits.rows; other += Lanes::count) total += begin_of(counts, run)[other];
    total = lanes.sum(total);
    const double weight = total == 0 ? 0 : scale * count / static_cast<double>(total);
    cross_entropy_slopes(lanes, z, logits.columns, answer, found, weight, row_of(dlogits, run, row));
  }
};

/// The sum over a run's rows.
struct sum_scores {
  const answer_score* rows;  // [run][row]
  index count;
  answer_score* scores;

  template <class Lanes>
  LINDYN_HOST_DEVICE void operator()(const Lanes& lanes, index run, index) const {
    double loss = 0;
    std::int64_t correct = 0, total = 0;
    for (index row = lanes.first; row < count; row += Lanes::count) {
      const answer_score& of = rows[run * count + row];
      loss += of.loss, correct += of.correct, total += of.total;
    }
    loss = lanes.sum(loss), correct = lanes.sum(correct), total = lanes.sum(total);
    if (lanes.first == 0) scores[run] = {loss, correct, total};
  }
};

}  // namespace lindyn::backend::detail
