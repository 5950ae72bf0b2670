// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/observe/frequencies.hpp>
#include <lindyn/observe/margins.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::observe;
using lindyn::index;  // POSIX has a function of this name

const double pi = std::acos(-1);
TEST_CASE("a cosine is one frequency, whatever its phase, and power is the sum of squares") {
  for (const int p : {97, 12}) {
    frequency_sum sum(p);
    double squares = 0;
    for (const double phase : {0.0, 1.0, 2.5}) {
      std::vector<double> wave;
      for (int x = 0; x < p; ++x) wave.push_back(2 + std::cos(2 * pi * 5 * x / p + phase));
      squares += std::inner_product(wave.begin(), wave.end(), wave.begin(), 0.0);
      sum.add(wave.data());
    }
    const frequency_power& power = sum.power();
    CHECK(power.power.size() == static_cast<std::size_t>(p / 2));
    CHECK(power.constant == doctest::Approx(3 * 4 * p).epsilon(1e-13));
    CHECK(power.constant + power.varying() == doctest::Approx(squares).epsilon(1e-13));
    CHECK(power.strongest(1) == std::vector<int>{5});
    CHECK(power.concentration(1) == doctest::Approx(1).epsilon(1e-13));
  }
}

TEST_CASE("noise has all frequencies, one value all alike, a constant none") {
  std::vector<double> one(98);
  one[3] = 2;
  frequency_sum impulse(98);
  impulse.add(one.data());
  for (int k = 1; k <= 49; ++k)  // 49 is its own twin
    CHECK(impulse.power().power[static_cast<std::size_t>(k - 1)] ==
          doctest::Approx((k < 49 ? 8 : 4) / 98.).epsilon(1e-12));
  CHECK(impulse.power().constant + impulse.power().varying() == doctest::Approx(4).epsilon(1e-13));
  CHECK(impulse.power().concentration(49) == doctest::Approx(1).epsilon(1e-13));
  CHECK(impulse.power().concentration(0) == 0);

  frequency_sum constant(5);
  constant.add(std::vector<double>(5).data());
  CHECK(constant.power().concentration(1) == 0);
  CHECK(constant.power().strongest(2) == std::vector<int>{1, 2});
}

TEST_CASE("embeddings are functions of their rows, logits of their columns, further ones aren't read") {
  counter_generator generator(1);
  std::vector<float> embedding(8 * 3), transposed(3 * 8);
  for (index row = 0; row < 8; ++row)
    for (index column = 0; column < 3; ++column)
      transposed[static_cast<std::size_t>(column * 8 + row)] = embedding[static_cast<std::size_t>(row * 3 + column)] =
          row < 7 ? static_cast<float>(standard_normal(generator)) : std::numeric_limits<float>::quiet_NaN();
  const auto columns = frequencies_of_columns(matrix_view<const float>{embedding.data(), 8, 3}, 7);
  const auto rows = frequencies_of_rows(matrix_view<const float>{transposed.data(), 3, 8}, 7);
  CHECK(columns.power == rows.power);
  for (int k = 1; k <= 3; ++k) {  // by the definition
    double expected = 0;
    for (index column = 0; column < 3; ++column) {
      double real = 0, imaginary = 0;
      for (index x = 0; x < 7; ++x) {
        const double value = embedding[static_cast<std::size_t>(x * 3 + column)],
                     angle = 2 * pi * k * static_cast<double>(x) / 7;
        real += value * std::cos(angle);
        imaginary -= value * std::sin(angle);
      }
      expected += 2 * (real * real + imaginary * imaginary) / 7;
    }
    CHECK(columns.power[static_cast<std::size_t>(k - 1)] == doctest::Approx(expected).epsilon(1e-13));
  }
  CHECK_THROWS_AS((void)frequencies_of_columns(matrix_view<const float>{embedding.data(), 8, 3}, 8), non_finite_error);
  CHECK_THROWS_AS((void)frequencies_of_columns(matrix_view<const float>{embedding.data(), 8, 3}, 9), argument_error);
  CHECK_THROWS_AS((void)frequencies_of_rows(matrix_view<const float>{embedding.data(), 8, 3}, 4), argument_error);
  CHECK_THROWS_AS(frequency_sum(1), argument_error);
  CHECK_THROWS_AS((void)columns.strongest(4), argument_error);
  CHECK_THROWS_AS((void)columns.concentration(-1), argument_error);
}

TEST_CASE("quantiles are right to a hundredth, in any order and in parts") {
  counter_generator generator(9);
  std::vector<double> values;
  for (int i = 0; i < 2001; ++i) values.push_back(std::exp(3 * standard_normal(generator)) - 0.5);
  values.insert(values.end(), 50, 0.0);
  quantile_sketch sketch, first, second;
  for (const double value : values) sketch.add(value);
  for (std::size_t i = values.size(); i-- > 0;) (i % 3 == 0 ? first : second).add(values[i]);
  first.add(second);
  std::ranges::sort(values);
  for (const double q : {0.0, 0.01, 0.1, 0.2, 0.25, 0.3, 0.5, 0.9, 0.999, 1.0}) {
    CAPTURE(q);
    const double expected = values[static_cast<std::size_t>(q * 2050)];
    CHECK(std::abs(sketch.quantile(q) - expected) <= 0.01 * std::abs(expected) + 1e-9);
    CHECK(first.quantile(q) == sketch.quantile(q));
  }
  CHECK(sketch.quantile(0) == values.front());
  CHECK(sketch.quantile(1) == values.back());
  CHECK(sketch.count() == 2051);
}

TEST_CASE("values beyond the buckets' range stay between the others' extremes") {
  quantile_sketch sketch;
  for (const double value : {-1e300, -1e-300, 1e-12, 1e12, 1e300}) sketch.add(value);
  CHECK(sketch.quantile(0) == -1e300);
  CHECK(std::abs(sketch.quantile(0.25)) <= quantile_sketch::resolution);
  CHECK(std::abs(sketch.quantile(0.5)) <= quantile_sketch::resolution);
  CHECK(sketch.quantile(0.75) >= 0.99 * quantile_sketch::range);
  CHECK(sketch.quantile(1) == 1e300);
  quantile_sketch same;
  same.add(-2.5, 10);
  CHECK(same.quantile(0.5) == -2.5);
  CHECK_THROWS_AS((void)same.quantile(1.5), argument_error);
  CHECK_THROWS_AS((void)quantile_sketch().quantile(0.5), argument_error);
  CHECK_THROWS_AS(same.add(std::numeric_limits<double>::infinity()), non_finite_error);
  CHECK_THROWS_AS(same.add(1, -1), argument_error);
}

TEST_CASE("margins are answers less their best rivals") {
  const std::vector<float> logits{1, 3,  2,   //
                                  5, 4,  -1,  //
                                  2, 2,  0,   //
                                  0, -7, 3};
  margins of;
  of.add(matrix_view<const float>{logits.data(), 4, 3}, std::vector<int>{1, 1, 0, 2});
  CHECK(of.count() == 4);
  CHECK(of.mean() == doctest::Approx((1 - 1 + 0 + 3) / 4.));
  CHECK(of.min() == -1);
  CHECK(of.negative_share() == 0.25);
  CHECK(of.quantile(1) == 3);
  CHECK(of.quantile(0.5) == 0);
  of.add(std::span(logits).first(2), 0, 4);
  CHECK(of.count() == 8);
  CHECK(of.negative_share() == doctest::Approx(5 / 8.));
  CHECK(of.mean() == doctest::Approx(-5 / 8.));

  CHECK_THROWS_AS((void)margins().mean(), argument_error);
  CHECK_THROWS_AS((void)margins().negative_share(), argument_error);
  CHECK_THROWS_AS(of.add(std::span(logits).first(1), 0), argument_error);
  CHECK_THROWS_AS(of.add(std::span(logits), 12), argument_error);
  CHECK_THROWS_AS(of.add(matrix_view<const float>{logits.data(), 4, 3}, std::vector<int>{1}), shape_error);
  const std::vector<double> bad{0, std::numeric_limits<double>::quiet_NaN(), 1};
  CHECK_THROWS_AS(of.add(std::span(bad), 0), non_finite_error);
  CHECK_THROWS_AS(of.add(std::span(bad), 1), non_finite_error);
}

}  // namespace
