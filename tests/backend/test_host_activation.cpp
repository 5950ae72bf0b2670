// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <lindyn/backend/host_activation.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace {

using lindyn::backend::activation;
using lindyn::backend::strided_matrix;
namespace kernels = lindyn::backend::detail;

/// Values and derivatives at the given points, as one row.
template <class S>
struct curve {
  std::vector<S> value, derivative;

  curve(activation kind, const std::vector<S>& points) : value(points), derivative(points.size()) {
    lindyn::worker_pool pool;
    const auto count = static_cast<lindyn::index>(points.size());
    kernels::activate<S>(pool, kind, {value.data(), 1, count, count}, {derivative.data(), 1, count, count});
  }
};

template <class S>
std::vector<S> grid(double first, double last, int count) {
  std::vector<S> points;
  for (int i = 0; i < count; ++i) points.push_back(static_cast<S>(first + (last - first) * i / (count - 1)));
  return points;
}

}  // namespace

TEST_CASE_TEMPLATE("gelu and its derivative are exact to the errors that are stated", S, float, double) {
  constexpr bool single = sizeof(S) == sizeof(float);
  for (const auto& points :
       {grid<S>(-45, 45, 9001), grid<S>(-1.5, 1.5, 3001), grid<S>(-1e-4, 1e-4, 101), grid<S>(-1e30, 1e30, 10)}) {
    const curve<S> found(activation::gelu, points);
    long double worst_value = 0, worst_derivative = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const long double x = points[i], unit = std::max(1.0L, std::abs(x));
      const long double below = std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2;
      const long double density =
          std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<long double> / std::numbers::sqrt2_v<long double>;
      REQUIRE(std::isfinite(found.value[i]));
      REQUIRE(std::isfinite(found.derivative[i]));
      worst_value = std::max(worst_value, std::abs(found.value[i] - x * below) / unit);
      worst_derivative = std::max(worst_derivative, std::abs(found.derivative[i] - (below + x * density)) / unit);
    }
    CHECK(worst_value <= (single ? 1.3e-7L : 3e-16L));
    CHECK(worst_derivative <= (single ? 2.5e-7L : 5e-16L));
  }
}

TEST_CASE_TEMPLATE("relu is exact, and has no slope at 0", S, float, double) {
  const std::vector<S> points{-3, -0.0, 0, S(0.5), 7, -std::numeric_limits<S>::min(), std::numeric_limits<S>::min()};
  const curve<S> found(activation::relu, points);
  CHECK(found.value == std::vector<S>{0, 0, 0, S(0.5), 7, 0, std::numeric_limits<S>::min()});
  CHECK(found.derivative == std::vector<S>{0, 0, 0, 1, 1, 0, 1});
}

TEST_CASE_TEMPLATE("what isn't finite is not hidden by an activation", S, float, double) {
  constexpr S infinity = std::numeric_limits<S>::infinity(), nan = std::numeric_limits<S>::quiet_NaN();
  const std::vector<S> points{1, nan, infinity, -infinity, 2};
  const curve<S> smooth(activation::gelu, points), kinked(activation::relu, points);
  for (const std::size_t i : {1, 2, 3}) {
    CHECK(!std::isfinite(smooth.value[i]));
    CHECK(!std::isfinite(smooth.derivative[i]));
  }
  for (const std::size_t i : {0, 4}) CHECK(std::isfinite(smooth.value[i]));
  CHECK(std::isnan(kinked.value[1]));
  CHECK(kinked.value[2] == infinity);
}

TEST_CASE_TEMPLATE("rows with gaps: only the columns change, to the same bits for 1, 2 and 4 threads", S, float,
                   double) {
  constexpr lindyn::index rows = 70, columns = 37, stride = 41;
  std::vector<S> start(rows * stride - (stride - columns)), flat;
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<S>(std::sin(0.1 * static_cast<double>(i)) * 4);
  for (lindyn::index r = 0; r < rows; ++r) flat.insert(flat.end(), &start[r * stride], &start[r * stride] + columns);
  const curve<S> expected(activation::gelu, flat);
  for (const int threads : {1, 2, 4}) {
    lindyn::worker_pool pool(threads);
    std::vector<S> x = start, derivative(start.size(), S(-7));
    const strided_matrix<S> x_rows{x.data(), rows, columns, stride}, slopes{derivative.data(), rows, columns, stride};
    kernels::activate(pool, activation::gelu, x_rows, slopes);
    bool same = true, untouched = true;
    for (lindyn::index r = 0; r < rows; ++r)
      for (lindyn::index c = 0; c < stride && r * stride + c < static_cast<lindyn::index>(x.size()); ++c) {
        const auto place = static_cast<std::size_t>(r * columns + c);
        if (c < columns)
          same = same && x_rows(r, c) == expected.value[place] && slopes(r, c) == expected.derivative[place];
        else
          untouched = untouched && x_rows(r, c) == start[r * stride + c] && slopes(r, c) == S(-7);
      }
    CHECK(same);
    CHECK(untouched);
    kernels::multiply<S>(pool, x_rows, slopes);
    for (lindyn::index r = 0; r < rows; ++r)
      for (lindyn::index c = 0; c < columns; ++c) {
        const auto place = static_cast<std::size_t>(r * columns + c);
        same = same && x_rows(r, c) == expected.value[place] * expected.derivative[place];
      }
    CHECK(same);
  }
}
