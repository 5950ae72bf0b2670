// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <lindyn/reduced/lanes.hpp>

namespace {
using lindyn::reduced::lanes;

lanes of(auto&& value) {
  lanes result;
  for (int lane = 0; lane < lanes::count; ++lane) result[lane] = value(lane);
  return result;
}
bool same(const lanes& a, const lanes& b) {
  bool result = true;
  for (int lane = 0; lane < lanes::count; ++lane) result = result && a[lane] == b[lane];
  return result;
}

TEST_CASE("arithmetic is that of eight numbers side by side") {
  const lanes a = of([](int lane) { return 0.3 * lane - 1; }), b = of([](int lane) { return 1.7 - 0.1 * lane * lane; });
  CHECK(same(a + b, of([&](int lane) { return a[lane] + b[lane]; })));
  CHECK(same(a - b, of([&](int lane) { return a[lane] - b[lane]; })));
  CHECK(same(a * b, of([&](int lane) { return a[lane] * b[lane]; })));
  CHECK(same(a / b, of([&](int lane) { return a[lane] / b[lane]; })));
  CHECK(same(a * 0.7, of([&](int lane) { return a[lane] * 0.7; })));
  CHECK(same(-a, of([&](int lane) { return -a[lane]; })));
  CHECK(same(larger(a, b), of([&](int lane) { return std::fmax(a[lane], b[lane]); })));
  CHECK(same(lanes::all(3.5), of([](int) { return 3.5; })));
  lanes c = a;
  c += b;
  c -= a * 2;
  c *= b;
  CHECK(same(c, (a + b - a * 2) * b));
  CHECK(of([](int lane) { return lane + 0.5; }).sum() == 32);
  CHECK(lanes{}.sum() == 0);
}

TEST_CASE("the exponential is that of the standard library to rounding, and 0 where it would be subnormal") {
  for (double first = -699; first < 700; first += 0.37) {
    const lanes x = of([&](int lane) { return first + 0.013 * lane; });
    const lanes y = exponential(x);
    for (int lane = 0; lane < lanes::count; ++lane)
      if (std::abs(y[lane] / std::exp(x[lane]) - 1) > 4 * std::numeric_limits<double>::epsilon()) FAIL(x[lane]);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {0, -0.0, -700, -745, -1e9, -infinity, infinity, std::nan("")};
  const lanes y = exponential(of([&](int lane) { return values[lane]; }));
  CHECK(y[0] == 1);
  CHECK(y[1] == 1);
  for (int lane = 2; lane < 6; ++lane) CHECK(y[lane] == 0);
  CHECK(y[6] == infinity);
  CHECK(std::isnan(y[7]));
}

}  // namespace
