// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <lindyn/circuit/detection/elimination.hpp>

namespace {
using namespace lindyn::circuit;
using lindyn::index;
using places = std::vector<index>;

/// Each coordinate is worth its square.
double worth(std::span<const double> c) {
  double sum = 0;
  for (const double x : c) sum -= x * x;
  return sum;
}

places all(index count) {
  places result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST_CASE("the direction that is missed least goes first, and the loss is that of what is left") {
  const std::vector<double> c{3, -1, 2, 0.5}, norms(4, 1.0);
  const auto path = eliminate(worth, c, norms, all(4));
  REQUIRE(path.size() == 5);
  const index order[] = {-1, 3, 1, 2, 0};
  const double loss[] = {-14.25, -14, -13, -9, 0};
  for (std::size_t step = 0; step < 5; ++step) {
    CHECK(path[step].remaining == 4 - static_cast<index>(step));
    CHECK(path[step].loss == loss[step]);
    CHECK(path[step].removed == (step == 0 ? places{} : places{order[step]}));
    CHECK_FALSE(path[step].accuracy.has_value());
  }
  CHECK(smallest_within(path, -13) == 2);
  CHECK(smallest_within(path, 100) == 4);
  CHECK_THROWS_AS((void)smallest_within(path, -15), lindyn::argument_error);
}

TEST_CASE("ties: the weaker direction first, then the last; rounding makes no difference") {
  const auto noisy = [](std::span<const double> c) { return c[0] == 0 ? 1.0 + 1e-15 : c[2] == 0 ? 1.0 - 1e-15 : 1.0; };
  const std::vector<double> c(4, 1.0), norms{2, 5, 2, 1};
  const auto path = eliminate(noisy, c, norms, all(4));
  CHECK(path[1].removed == places{3});
  CHECK(path[2].removed == places{2});
  CHECK(path[3].removed == places{0});
  CHECK(path[4].removed == places{1});
}

TEST_CASE("of directions that rounding alone tells apart one goes first that doesn't cross the limit") {
  const auto noisy = [](std::span<const double> c) { return c[0] == 0 ? 3e-13 : 0.0; };
  const std::vector<double> c(2, 1.0), norms{1, 2};
  CHECK(eliminate(noisy, c, norms, all(2))[1].removed == places{0});
  const auto path = eliminate(noisy, c, norms, all(2), {.limits = {0.0}});
  CHECK(path[1].removed == places{1});
  CHECK(smallest_within(path, 0) == 1);
}

TEST_CASE("where no loss is a number, the order is that of ties") {
  const auto broken = [](std::span<const double> c) { return c[0] * c[1] * c[2] == 1 ? 0.0 : std::nan(""); };
  const std::vector<double> c(3, 1.0), norms{2, 1, 2};
  const auto path = eliminate(broken, c, norms, all(3), {.limits = {1.0}});
  CHECK(path[1].removed == places{1});
  CHECK(path[2].removed == places{2});
  CHECK(path[3].removed == places{0});
  CHECK(path[3].loss == std::numeric_limits<double>::infinity());
  CHECK(smallest_within(path, 1) == 0);
}

TEST_CASE("only the places named are removed; a loss that is no number is the last resort") {
  const auto broken = [](std::span<const double> c) { return c[0] == 0 && c[2] != 0 ? std::nan("") : worth(c); };
  const std::vector<double> c{0.1, 7, 2}, norms(3, 1.0);
  const auto path = eliminate(broken, c, norms, places{0, 2});
  REQUIRE(path.size() == 3);
  CHECK(path[1].removed == places{2});
  CHECK(path[2].loss == -49);
}

TEST_CASE("groups never cross a limit, and what is then the smallest set is 1-minimal") {
  // 40 directions worth nearly nothing, 24 worth more and more.
  std::vector<double> c;
  for (int k = 0; k < 64; ++k) c.push_back(k < 40 ? 0.01 : 0.05 * (k - 39));
  const std::vector<double> norms(64, 1.0);
  const double whole = worth(c);
  for (const double budget : {0.0, 0.001, 0.05, 1.0}) {
    CAPTURE(budget);
    const double limit = whole + budget;
    const auto path = eliminate(worth, c, norms, all(64), {.limits = {limit, whole + 3}, .one_by_one = 4});
    CHECK(path.size() < 50);  // there are groups
    CHECK(path.back().remaining == 0);
    const auto step = static_cast<std::size_t>(smallest_within(path, limit));
    std::vector<double> left = c;
    index removed = 0;
    for (std::size_t s = 1; s < path.size(); ++s) {
      if (path[s].removed.size() > 1 && path[s - 1].loss <= limit) CHECK(path[s].loss <= limit);
      if (s > step) continue;
      for (const index place : path[s].removed) left[static_cast<std::size_t>(place)] = 0, ++removed;
    }
    CHECK(path[step].remaining == 64 - removed);
    CHECK(worth(left) == doctest::Approx(path[step].loss).epsilon(1e-14));
    for (double& x : left) {
      const double kept = x;
      x = 0;
      if (kept != 0) CHECK(worth(left) > limit);
      x = kept;
    }
  }
}

TEST_CASE("accuracy is recorded after each step, and progress is told") {
  const std::vector<double> c{1, 2}, norms(2, 1.0);
  double last = 0;
  const auto path =
      eliminate(worth, c, norms, all(2),
                {.threads = 2,
                 .accuracy = [](std::span<const double> now) { return now[1] / 2; },
                 .tell = [&](const lindyn::progress_report& report) { last = report.done / report.total; }});
  CHECK(*path[0].accuracy == 1);
  CHECK(*path[1].accuracy == 1);
  CHECK(*path[2].accuracy == 0);
  CHECK(last == 1);
}

TEST_CASE("bad options are refused") {
  const std::vector<double> c{1, 2}, norms(2, 1.0);
  CHECK_THROWS_AS((void)eliminate(worth, c, norms, all(3)), lindyn::argument_error);
  CHECK_THROWS_AS((void)eliminate(worth, c, norms, places{-1}), lindyn::argument_error);
  CHECK_THROWS_AS((void)eliminate(worth, c, std::vector<double>{1}, all(2)), lindyn::shape_error);
  CHECK_THROWS_AS((void)eliminate(worth, c, norms, all(2), {.limits = {std::nan("")}}), lindyn::argument_error);
  CHECK_THROWS_AS((void)eliminate(worth, c, norms, all(2), {.one_by_one = 0}), lindyn::argument_error);
  CHECK_THROWS_AS((void)eliminate(worth, c, norms, all(2), {.threads = 0}), lindyn::argument_error);
}

}  // namespace
