// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Clipping of gradients by their global norm.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/elementwise.hpp>

namespace lindyn::optimizer {

namespace detail {

/// The sum of squares, in double and in an order that depends on the number of values alone.
template <class Scalar>
[[nodiscard]] double sum_of_squares(const Scalar* values, index count) {
  constexpr index lanes = 16;
  double sums[lanes] = {};
  index i = 0;
  for (; i + lanes <= count; i += lanes)
    for (index lane = 0; lane < lanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      sums[lane] += value * value;
    }
  double result = 0;
  for (const double sum : sums) result += sum;
  for (; i < count; ++i) result += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return result;
}

}  // namespace detail

/// The Euclidean norm of all values together. Summed in double, in at most 64 chunks that depend on the number of values
/// alone, so that threads don't change it. Allocates nothing.
/// \param workers  whose threads work at once, as those of a worker_pool
/// Throws non_finite_error, naming the first entry, for values that aren't finite, and where the squares overflow.
template <class Scalar, class Workers = one_thread>
[[nodiscard]] double global_norm(std::span<const Scalar> values, Workers&& workers = {}) {
  std::array<double, 64> sums{};
  const auto count = static_cast<index>(values.size());
  const index size = std::max(detail::chunk_entries, (count + 63) / 64);
  workers.chunks(count, size, [&](index chunk, index begin, index end, int) {
    sums[static_cast<std::size_t>(chunk)] = detail::sum_of_squares(values.data() + begin, end - begin);
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  if (!std::isfinite(sum)) {
    require_finite("gradient", values);
    throw non_finite_error("norm of the gradient", "inf", "finite");
  }
  return std::sqrt(sum);
}

/// Shortens a gradient whose global norm is larger than `limit` to that norm; leaves it as it is otherwise.
/// \return the norm before
/// Throws argument_error unless limit is positive (it may be infinite), and as global_norm does.
template <class Scalar, class Workers = one_thread>
double clip_by_global_norm(std::span<Scalar> gradient, double limit, Workers&& workers = {}) {
  require(limit > 0, "limit", limit, "positive");
  const double norm = global_norm(std::span<const Scalar>(gradient), workers);
  if (norm > limit) {
    const auto scale = static_cast<Scalar>(limit / norm);
    workers.chunks(static_cast<index>(gradient.size()), detail::chunk_entries, [&](index, index begin, index end, int) {
      for (index i = begin; i < end; ++i) gradient[static_cast<std::size_t>(i)] *= scale;
    });
  }
  return norm;
}

}  // namespace lindyn::optimizer
