// SPDX-License-Identifier: MIT
// The table of compare/README.md: how far the reduced system is from linearised attention, over gamma.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <lindyn/compare/linearised_flow.hpp>
#include <lindyn/compare/rates_along.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/population/finite/vector_composition.hpp>

using namespace lindyn;

namespace {

/// A row of the table: means over 100 starts, in the digits that stand there.
struct row {
  double gamma;
  double late;        ///< by how many % r meets 1/2 later than in the reduced system, of the starts where it does
  double late_tenth;  ///< what a tenth of the starts, with those where it doesn't, exceed
  int never;          ///< starts where r doesn't
  double digit;       ///< of these two, the last one's unit
  double memorising;  ///< m at the end
  double reduced;     ///< m at the end, in the reduced system
  double error;       ///< largest error of r on the way
};

// clang-format off
constexpr row table[] = {
    {0.1,  0.4,  0.5, 0, 0.1, .256, .255, .01},
    {0.2,  1.7,  2.0, 0, 0.1, .233, .230, .04},
    {0.3,  3.8,  4.4, 0, 0.1, .222, .215, .07},
    {0.4,  6.3,  7.6, 0, 0.1, .216, .205, .12},
    {0.5,  9.9, 12.1, 0, 0.1, .213, .197, .17},
    {0.6, 15,   18,   0, 1,   .213, .190, .24},
    {0.7, 21,   25,   0, 1,   .216, .184, .30},
    {0.8, 28,   35,   0, 1,   .221, .180, .37},
    {0.9, 36,   46,   0, 1,   .226, .175, .43},
    {1.0, 45,   61,   1, 1,   .233, .171, .49},
    {1.1, 54,   78,   3, 1,   .248, .168, .55}};
// clang-format on

/// Records of nothing but times, for rate systems that are asked without the network.
std::vector<compare::mass_record> times() {
  std::vector<compare::mass_record> result;
  for (int t = 0; t < 1000; t += 2) result.push_back({.t = static_cast<double>(t)});
  for (int t = 1000; t <= 6000; t += 100) result.push_back({.t = static_cast<double>(t)});
  return result;
}

/// Whether a number is what was printed, to half of the last digit.
bool reads(double value, double printed, double digit) { return std::abs(value - printed) <= 0.51 * digit; }

}  // namespace

TEST_CASE("the eight numbers are the flow of 16 keys, 45 pairs and 64 entries at small, medium and large gamma") {
  const model::linearised_attention<> net(population::vector_composition());
  for (const double gamma : {0.1, 0.5, 1.1}) {
    const auto start = model::initial_weights(net, {.gamma = gamma, .seed = 1});
    const auto flow = compare::linearised_flow(net, start, {.until = 600, .tolerance = 1e-6});
    const auto both = compare::rates_along(net, std::span(start), flow.records, {});
    const auto apart = compare::difference(both.full, both.linearised);
    CAPTURE(gamma);
    CHECK(apart.memorising < 1e-5);  // 1e-6 in each of some hundred steps, which don't all err alike
    CHECK(apart.reasoning < 1e-5);
    CHECK(both.full.reasoning.back() > 0.5);
  }
}

TEST_CASE("the reduced system is right to 5 % in time up to gamma 0.3, to 10 % up to 0.5, as the table says") {
  constexpr int starts = 100;
  const model::linearised_attention<> net(population::vector_composition());
  const auto records = times();
  for (const row& expected : table) {
    std::vector<double> late, found{0, 0, 0};  // sums of m, of m in the reduced system, and of r's error
    for (int seed = 1; seed <= starts; ++seed) {
      const auto start =
          model::initial_weights(net, {.gamma = expected.gamma, .seed = static_cast<std::uint64_t>(seed)});
      const auto both = compare::rates_along(net, std::span(start), records, {}, 1e-8);
      found[0] += both.linearised.memorising.back() / starts;
      found[1] += both.reduced.memorising.back() / starts;
      found[2] += compare::difference(both.linearised, both.reduced).reasoning / starts;
      REQUIRE(both.reduced.half_time);
      if (both.linearised.half_time) late.push_back(100 * (*both.linearised.half_time / *both.reduced.half_time - 1));
    }
    double mean = 0;
    for (const double percent : late) mean += percent / static_cast<double>(late.size());
    CHECK(late.size() + static_cast<std::size_t>(expected.never) == starts);
    std::ranges::sort(late);
    CAPTURE(expected.gamma);
    CAPTURE(mean);
    CHECK(reads(mean, expected.late, expected.digit));
    CHECK(reads(late[89], expected.late_tenth, expected.digit));
    CHECK(reads(found[0], expected.memorising, 1e-3));
    CHECK(reads(found[1], expected.reduced, 1e-3));
    CHECK(reads(found[2], expected.error, 1e-2));
    CHECK((mean <= 5) == (expected.gamma <= 0.3));
    CHECK((mean <= 10) == (expected.gamma <= 0.5));
  }
}
