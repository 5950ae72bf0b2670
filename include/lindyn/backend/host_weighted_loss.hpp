// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Losses of rows that count with a weight each, and their derivatives, on the host.

#include <algorithm>
#include <array>
#include <cstddef>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_cross_entropy.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// Half the squared distance of one row from the unit vector of its answer; `derivative`, which may be null, becomes
/// `weight` times its derivative.
template <class S>
double squared_error_row(const S* logits, index columns, index answer, double weight, S* derivative) {
  double sum = 0;
  for (index c = 0; c < columns; ++c) {
    const double error = static_cast<double>(logits[c]) - (c == answer ? 1 : 0);
    sum += error * error;
    if (derivative) derivative[c] = static_cast<S>(weight * error);
  }
  return sum / 2;
}

/// The sum of weight x loss over rows, and its derivative. Chunks have sums of their own, which are added in their order:
/// there are never more than `most` of them.
template <class S>
double weighted_loss(worker_pool& pool, answer_loss kind, strided_matrix<const S> logits, index_table answers,
                     const double* weights, strided_matrix<S> dlogits) {
  constexpr index most = 64;
  const index chunk_rows = std::max<index>(64, (logits.rows + most - 1) / most);
  std::array<double, most> sums{};
  pool.chunks(logits.rows, chunk_rows, [&](index chunk, index begin, index end, int) {
    for (index r = begin; r < end; ++r) {
      S* const derivative = dlogits.data ? dlogits.row(r) : nullptr;
      const double loss =
          kind == answer_loss::squared_error
              ? squared_error_row(logits.row(r), logits.columns, answers.data[r], weights[r], derivative)
              : cross_entropy_row(logits.row(r), logits.columns, answers.data[r], 1, weights[r], derivative).loss;
      sums[static_cast<std::size_t>(chunk)] += weights[r] * loss;
    }
  });
  double result = 0;
  for (const double sum : sums) result += sum;
  return result;
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
