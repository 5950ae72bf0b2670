// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../../benchmarks/growth.hpp"

namespace {
using benchmarks::figure;
using benchmarks::growth;
using benchmarks::growth_of;

/// Figures at N = 4 .. 64 and V = 64 .. 512, others fixed.
template <class Seconds>
std::vector<figure> figures(Seconds&& seconds) {
  std::vector<figure> result;
  for (const int n : {4, 8, 16, 32, 64})
    result.push_back({"what/L2/H1/N" + std::to_string(n) + "/V256", seconds(n, 256), 1e-9 * n});
  for (const int v : {64, 128, 512}) result.push_back({"what/L2/H1/N16/V" + std::to_string(v), seconds(16, v), 2e-8});
  return result;
}

TEST_CASE("benchmarks that differ in one size are a family, whose power is found") {
  const auto found = growth_of(figures([](double n, double v) { return 3e-6 * n * std::sqrt(n) / v; }));
  REQUIRE(found.size() == 2);
  CHECK(found[0].family == "what/L2/H1/N*/V256");
  CHECK(found[0].points == 5);
  CHECK(found[0].smallest == 4);
  CHECK(found[0].largest == 64);
  CHECK(found[0].rate == doctest::Approx(1.5).epsilon(1e-9));
  CHECK(found[0].last_rate == doctest::Approx(1.5).epsilon(1e-9));
  CHECK(found[0].floor_rate == doctest::Approx(1).epsilon(1e-9));
  CHECK(found[0].fixed == 0);
  CHECK(found[0].rms < 1e-9);
  CHECK(found[1].family == "what/L2/H1/N16/V*");
  CHECK(found[1].points == 4);
  CHECK(found[1].rate == doctest::Approx(-1).epsilon(1e-9));
  CHECK(found[1].holds());
}

TEST_CASE("a power behind a fixed part is told from a power alone") {
  const auto found = growth_of(figures([](double n, double) { return 1e-6 + 1e-8 * n * n; }));
  CHECK(found[0].rate == doctest::Approx(2).epsilon(1e-9));
  CHECK(found[0].fixed == doctest::Approx(1e-6).epsilon(1e-6).scale(0));
  CHECK(found[0].rms < 1e-6);
  CHECK(found[0].first_rate < 0.6);
  CHECK(found[0].last_rate > 1.9);
  CHECK(std::abs(found[1].rate) < 1e-9);  // flat in V
}

TEST_CASE("a factor is quoted for layers") {
  const auto found = growth_of({{"what/L1/N4", 2e-6, 0}, {"what/L2/N4", 6e-6, 0}, {"what/L3/N4", 18e-6, 0}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].quoted(found[0].rate) == doctest::Approx(3).epsilon(2e-3));  // rates are searched in steps of 0.002
  CHECK(std::isnan(found[0].floor_rate));
}

TEST_CASE("what follows no power is no good fit") {
  const auto found = growth_of(figures([](double n, double) { return n == 16 ? 1e-3 : 1e-6 * n; }));
  CHECK(!found[0].holds());
}

}  // namespace
