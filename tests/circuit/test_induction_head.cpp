// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <lindyn/circuit/induction/induction_head.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::circuit;
constexpr double pi = std::numbers::pi;

/// Small heads of several sizes, in both metrics.
const std::array<induction_head_options, 4> heads{{{},
                                                   {.visible = 5, .distractors = 3, .burstiness = 2},
                                                   {.visible = 2, .distractors = 1, .metric = metric::gram(7, 12)},
                                                   {.visible = 64, .distractors = 31, .metric = metric::gram(40, 9)}}};
const std::array<induction_coordinates, 5> points{
    {{0, 0, 0}, {1, 2, 0.5}, {-0.7, -1.5, 2}, {3, 6, 1.2}, {0.2, 0.1, -0.4}}};

TEST_CASE("loss and attention are what the formulas say, and the gradient is that of the loss") {
  for (const auto& options : heads) {
    const induction_head head(options);
    const double n = options.visible, m = options.distractors, copies = options.burstiness;
    for (const auto& point : points) {
      const auto [alpha, beta, gamma] = point;
      const double a = std::exp(alpha) / (std::exp(alpha) + n - 1);
      const double b = copies * std::exp(beta * a) / (copies * std::exp(beta * a) + m);
      const double loss = ((1 - gamma * b) * (1 - gamma * b) + gamma * gamma * (1 - b) * (1 - b) / m) / 2;
      const double g = gamma * (1 - gamma * b) + gamma * gamma * (1 - b) / m;
      const induction_values values = head.evaluate(point);
      CHECK(values.loss == doctest::Approx(loss).epsilon(1e-14));
      CHECK(values.attention == doctest::Approx(b).epsilon(1e-14));
      CHECK(head.attention_gain(b, gamma) == doctest::Approx(g).epsilon(1e-14));
      CHECK(head.attention_slope(beta * a) == doctest::Approx(b * (1 - b)).epsilon(1e-14));
      const induction_coordinates velocity{g * beta * a * (1 - a) * b * (1 - b), g * a * b * (1 - b),
                                           b * (1 - gamma * b) - gamma * (1 - b) * (1 - b) / m};
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(-values.gradient[i] == doctest::Approx(velocity[i]).epsilon(1e-13));
        auto above = point, below = point;
        above[i] += 1e-5, below[i] -= 1e-5;
        const double difference = (head.evaluate(above).loss - head.evaluate(below).loss) / 2e-5;
        CHECK(std::abs(values.gradient[i] - difference) < 1e-9);
      }
      induction_coordinates moved{};
      CHECK(head.velocity(point, moved) == values.loss);
      CHECK(moved[0] == -values.gradient[0] / options.metric.position);
      CHECK(moved[1] == -values.gradient[1] / options.metric.token);
      CHECK(moved[2] == -values.gradient[2] / options.metric.token);
    }
  }
}

TEST_CASE("Q doesn't change along the velocity, whatever the point and the metric") {
  for (const auto& options : heads)
    for (const auto& point : points) {
      const induction_head head(options);
      induction_coordinates velocity{};
      (void)head.velocity(point, velocity);
      const auto [alpha, beta, gamma] = point;
      const double first = options.metric.position * (1 + std::exp(alpha) / (options.visible - 1)) * velocity[0];
      const double second = options.metric.token * beta * velocity[1];
      CHECK(std::abs(first - second) <= 1e-14 * std::abs(second));
      CHECK(head.conserved(point) ==
            doctest::Approx(options.metric.position * (alpha + std::exp(alpha) / (options.visible - 1)) -
                            options.metric.token * beta * beta / 2));
    }
}

TEST_CASE("no finite alpha or beta, and no gamma up to 1e150, makes loss, attention or gradient overflow") {
  const induction_head head({.visible = 64, .distractors = 64});
  for (const double alpha : {-1e308, -800.0, 0.0, 800.0, 1e308})
    for (const double beta : {-1e308, -1e4, 0.0, 1e4, 1e308})
      for (const double gamma : {-1e150, 1.5, 1e150}) {
        const auto values = head.evaluate(std::array{alpha, beta, gamma});
        CHECK(std::isfinite(values.loss));
        CHECK(values.attention >= 0);
        CHECK(values.attention <= 1);
        for (const double entry : values.gradient) CHECK(std::isfinite(entry));
      }
}

TEST_CASE("the asymptotic times are those of the derivation") {
  const auto pairs = [](int count) { return induction_head_options::of_pairs(count); };
  CHECK(asymptotic_emergence_time(pairs(100)) == doctest::Approx(std::sqrt(8 * pi) * 1e4).epsilon(1e-14));
  CHECK(asymptotic_match_time(pairs(100)) == doctest::Approx(3.4225e4).epsilon(1e-5));
  auto options = pairs(100);
  options.burstiness = 4;
  CHECK(asymptotic_emergence_time(options) == doctest::Approx(std::sqrt(8 * pi) * 1e4 / 16).epsilon(1e-14));
  options.metric = metric::gram(50, 90);
  CHECK(asymptotic_emergence_time(options) == doctest::Approx(std::sqrt(8 * pi * 49 * 89) * 1e4 / 16).epsilon(1e-14));
  // N - 1 distractors, the places of the other labels alone, halve the time.
  CHECK(asymptotic_emergence_time({.visible = 200'000, .distractors = 100'000}) ==
        doctest::Approx(std::sqrt(2 * pi) * 1e10).epsilon(1e-14));
  // Neither the lengths' product overflows, nor does their ratio underflow: with w_t << w_p, erf x = 2 x / sqrt(pi).
  CHECK(asymptotic_emergence_time(induction_head_options{.metric = {1e300, 1e300}}) ==
        doctest::Approx(std::sqrt(pi / 2) * 64e300));
  CHECK(asymptotic_match_time({.metric = {1e300, 1e-300}}) == doctest::Approx(64e-300).epsilon(1e-14).scale(0));
}

/// What the error says, empty if there is none.
template <class Call>
std::string complaint(Call&& call) {
  try {
    call();
  } catch (const argument_error& error) {
    return error.argument();
  }
  return {};
}

TEST_CASE("bad sizes and points are refused by name") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(complaint([] { (void)induction_head({.visible = 1}); }) == "visible");
  CHECK(complaint([] { (void)induction_head({.distractors = 0}); }) == "distractors");
  CHECK(complaint([] { (void)induction_head({.burstiness = 0}); }) == "burstiness");
  CHECK(complaint([] { (void)induction_head({.metric = {.position = 0}}); }) == "metric.position");
  CHECK(complaint([&] { (void)induction_head({.metric = {.token = infinity}}); }) == "metric.token");
  CHECK(complaint([] { (void)induction_head({.metric = {.token = std::nan("")}}); }) == "metric.token");
  for (const auto time : {asymptotic_emergence_time, asymptotic_match_time}) {
    CHECK(complaint([&] { (void)time({.visible = -3}); }) == "visible");
    CHECK(complaint([&] { (void)time({.burstiness = 0}); }) == "burstiness");
    CHECK(complaint([&] { (void)time({.metric = {-1, 1}}); }) == "metric.position");
    CHECK(complaint([&] { (void)time({.metric = {1, std::nan("")}}); }) == "metric.token");
  }
  CHECK(complaint([] { (void)metric::gram(2, 9); }) == "vocabulary");
  CHECK(complaint([] { (void)metric::gram(9, 2); }) == "positions");
  CHECK(complaint([] { (void)induction_head_options::of_pairs(0); }) == "pairs");
  CHECK(complaint([] { (void)induction_head_options::of_pairs(2'000'000'000); }) == "pairs");
  const induction_head head({});
  induction_coordinates velocity{};
  CHECK_THROWS_AS((void)head.evaluate(std::array{0.0, 1.0}), shape_error);
  CHECK_THROWS_AS((void)head.velocity(std::array{0.0, 1.0, 2.0}, std::span(velocity).first(2)), shape_error);
  CHECK_THROWS_AS(metric::unit().descend({1, 2, 3}, std::span(velocity).first(2)), shape_error);
  CHECK_THROWS_AS((void)head.evaluate(std::array{0.0, infinity, 1.0}), non_finite_error);
  CHECK_THROWS_AS((void)head.conserved(std::array{0.0, 1.0, std::nan("")}), non_finite_error);
}

}  // namespace
