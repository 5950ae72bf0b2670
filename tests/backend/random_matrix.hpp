// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Matrices with gaps for tests of kernels.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>

namespace backend_test {

using lindyn::index;
using lindyn::backend::strided_matrix;

/// Stands between the columns of one row and the next, where nothing may be written.
constexpr double gap = -77;

/// Normal numbers. The memory ends with the last row's last column, so that the address sanitizer sees what is read
/// behind it.
template <class S>
struct matrix {
  index rows, columns, stride;
  std::vector<S> entries;

  matrix(index rows_of, index columns_of, index gaps, std::uint64_t seed)
      : rows(rows_of), columns(columns_of), stride(columns_of + gaps) {
    lindyn::counter_generator generator(seed);
    entries.assign(static_cast<std::size_t>(std::max<index>(0, (rows - 1) * stride + columns)), static_cast<S>(gap));
    for (index r = 0; r < rows; ++r)
      for (index c = 0; c < columns; ++c) view()(r, c) = static_cast<S>(lindyn::standard_normal(generator));
  }
  [[nodiscard]] strided_matrix<S> view() { return {entries.data(), rows, columns, stride}; }
  [[nodiscard]] strided_matrix<const S> input() const { return {entries.data(), rows, columns, stride}; }
};

/// The largest difference of two arrays of the same size, over the largest entry of `expected` besides gaps; infinite if
/// anything isn't a number.
template <class Array, class Other>
double difference(const Array& found, const Other& expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (found.size() != expected.size()) return infinity;
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto a = static_cast<double>(found[i]), b = static_cast<double>(expected[i]);
    if (b == gap && a != gap) return infinity;
    if (b == gap) continue;
    largest = std::max(largest, std::abs(b));
    worst = std::isnan(a - b) ? infinity : std::max(worst, std::abs(a - b));
  }
  return worst == 0 ? 0 : worst / largest;
}

/// What the cross-entropy kernel of a backend of one run finds.
template <class S, class Backend>
lindyn::backend::answer_score cross_entropy(Backend& on, strided_matrix<const S> logits,
                                            const std::vector<int>& answers, const std::vector<int>& counts,
                                            double scale, strided_matrix<S> derivative = {}) {
  lindyn::backend::answer_score result;
  on.cross_entropy(logits, answers, counts, scale, derivative, &result);
  return result;
}

}  // namespace backend_test
