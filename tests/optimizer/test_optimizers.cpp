// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>

namespace {
using namespace lindyn;
using optimizer::adam_options;
using optimizer::momentum_options;
using optimizer::sgd_options;
using enum optimizer::decay_mode;

static_assert(optimizer::optimizer<optimizer::sgd<float>, float>);
static_assert(optimizer::optimizer<optimizer::momentum<double>, double>);
static_assert(optimizer::optimizer<optimizer::adam<double>, double>);
static_assert(!optimizer::optimizer<optimizer::adam<double>, float>);
static_assert(optimizer::optimizer_options<adam_options, float> && !optimizer::optimizer_options<int, float>);
static_assert(optimizer::sgd<float>::linear && optimizer::momentum<float>::linear && !optimizer::adam<float>::linear);

/// The weights (1, -2) after steps on the loss (w0^2 + 10 w1^2) / 2.
template <class Scalar = double, class Options>
std::vector<Scalar> on_quadratic(const Options& options, double learning_rate, int steps) {
  std::vector<Scalar> weights{1, -2}, gradient(2);
  typename Options::template rule<Scalar> rule(2, options);
  for (int step = 0; step < steps; ++step) {
    gradient = {weights[0], 10 * weights[1]};
    rule.step(weights, gradient, learning_rate);
  }
  return weights;
}

/// The same from zero under a constant gradient.
template <class Options>
std::vector<double> on_slope(const Options& options, const std::vector<double>& gradient, double learning_rate,
                             int steps) {
  std::vector<double> weights(gradient.size());
  typename Options::template rule<double> rule(static_cast<lindyn::index>(gradient.size()), options);
  for (int step = 0; step < steps; ++step) rule.step(weights, gradient, learning_rate);
  return weights;
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(expected[i]).epsilon(tolerance));
}

TEST_CASE("gradient descent on a quadratic contracts every direction by one less learning rate times curvature") {
  check_close(on_quadratic(sgd_options{}, 0.05, 12), {std::pow(0.95, 12), -2 * std::pow(0.5, 12)}, 1e-14);
}

TEST_CASE("a step of gradient descent is the plain update, bit for bit") {
  std::vector<float> weights{0.1f, -3.7f, 5e8f}, expected = weights;
  const std::vector<float> gradient{0.3f, 1e-9f, -2e7f};
  for (std::size_t i = 0; i < 3; ++i) expected[i] -= static_cast<float>(0.1) * gradient[i];
  optimizer::sgd<float>(3).step(weights, gradient, 0.1);
  CHECK(weights == expected);
}

TEST_CASE("momentum sums a constant gradient geometrically") {
  // m_t = g (1 - mu^t) / (1 - mu), and w_T = -learning_rate sum_t m_t.
  const double mu = 0.75, rate = 0.3;
  const int steps = 20;
  const double sum = (steps - mu * (1 - std::pow(mu, steps)) / (1 - mu)) / (1 - mu);
  check_close(on_slope(momentum_options{.momentum = mu}, {2, -0.5}, rate, steps), {-rate * 2 * sum, rate * 0.5 * sum},
              1e-14);
}

TEST_CASE("momentum on a quadratic is a linear recurrence of second order") {
  // w_(t+1) = (1 + mu - learning_rate h) w_t - mu w_(t-1), Polyak's heavy ball, with w_(-1) = w_0.
  const double mu = 0.9, rate = 0.1;
  std::vector<double> expected;
  for (const auto& [start, curvature] : {std::array{1.0, 1.0}, std::array{-2.0, 10.0}}) {
    double before = start, now = start;
    for (int step = 0; step < 30; ++step) {
      const double next = (1 + mu - rate * curvature) * now - mu * before;
      before = now;
      now = next;
    }
    expected.push_back(now);
  }
  check_close(on_quadratic(momentum_options{.momentum = mu}, rate, 30), expected, 1e-12);
}

TEST_CASE("momentum zero is gradient descent") {
  CHECK(on_quadratic(momentum_options{.momentum = 0}, 0.05, 12) == on_quadratic(sgd_options{}, 0.05, 12));
  CHECK(on_quadratic(momentum_options{.momentum = 0, .nesterov = true}, 0.05, 12) ==
        on_quadratic(sgd_options{}, 0.05, 12));
}

TEST_CASE("Nesterov's momentum is his accelerated gradient, seen from the points where gradients are taken") {
  const double mu = 0.9, rate = 0.05;
  std::vector<double> expected;
  for (const auto& [start, curvature] : {std::array{1.0, 1.0}, std::array{-2.0, 10.0}}) {
    double x = start, v = 0;
    for (int step = 0; step < 30; ++step) {
      v = mu * v - rate * curvature * (x + mu * v);
      x += v;
    }
    expected.push_back(x + mu * v);
  }
  check_close(on_quadratic(momentum_options{.momentum = mu, .nesterov = true}, rate, 30), expected, 1e-12);
  // Its first step under a constant gradient is 1 + mu times as long as gradient descent's.
  check_close(on_slope(momentum_options{.momentum = mu, .nesterov = true}, {2, -0.5}, 1, 1), {-3.8, 0.95}, 1e-15);
}

TEST_CASE("Adam's first step is the learning rate in the direction of the sign, whatever the gradient's size") {
  for (const double size : {1e-6, 1.0, 1e6})
    check_close(on_slope(adam_options{.epsilon = 1e-30}, {2 * size, -0.5 * size}, 0.3, 1), {-0.3, 0.3}, 1e-13);
}

TEST_CASE("the bias corrections make every step under a constant gradient equal") {
  // m / (1 - beta1^t) = g and v / (1 - beta2^t) = g^2.
  check_close(on_slope(adam_options{.epsilon = 0.5}, {2, -0.5}, 0.01, 50), {-0.5 * 2 / 2.5, 0.5 * 0.5 / 1.0}, 1e-13);
}

TEST_CASE("Adam follows its algorithm on a quadratic, with either decay") {
  // 25 steps of algorithm 1 of Kingma and Ba, in 40 decimal digits.
  const adam_options options{.beta2 = 0.98, .epsilon = 1e-3};
  const auto decaying = [&](optimizer::decay_mode mode) {
    auto result = options;
    result.decay = {.rate = 0.5, .mode = mode};
    return result;
  };
  check_close(on_quadratic(options, 0.1, 25), {-0.17433014440384431, 0.079614723937133591}, 1e-12);
  check_close(on_quadratic(decaying(coupled_l2), 0.1, 25), {-0.17410625664444829, 0.079619258612622201}, 1e-12);
  check_close(on_quadratic(decaying(lr_scaled), 0.1, 25), {-0.023951259996426409, 0.23214234579526585}, 1e-12);
  const auto in_float = on_quadratic<float>(options, 0.1, 25);
  check_close({in_float.begin(), in_float.end()}, {-0.17433014440384431, 0.079614723937133591}, 1e-5);
}

TEST_CASE("linear optimisers commute with a rotation of the weights, and Adam doesn't") {
  // Gradients of L(R w) are R' L'(R w): from R' w0, a linear optimiser ends at R' of where it ended.
  const auto distance = [](const auto& options) {
    const double c = std::cos(0.7), s = std::sin(0.7);
    typename std::decay_t<decltype(options)>::template rule<double> rule(2, options);
    std::vector<double> weights{c * 1 + s * -2, -s * 1 + c * -2}, gradient(2);
    for (int step = 0; step < 20; ++step) {
      const double x = c * weights[0] - s * weights[1], y = 10 * (s * weights[0] + c * weights[1]);
      gradient = {c * x + s * y, -s * x + c * y};
      rule.step(weights, gradient, 0.02);
    }
    const auto straight = on_quadratic(options, 0.02, 20);
    return std::hypot(c * weights[0] - s * weights[1] - straight[0], s * weights[0] + c * weights[1] - straight[1]);
  };
  CHECK(distance(sgd_options{.decay = {.rate = 0.3}}) < 1e-14);
  CHECK(distance(momentum_options{.decay = {.rate = 0.3, .mode = coupled_l2}}) < 1e-14);
  CHECK(distance(adam_options{}) > 1e-2);
}

TEST_CASE("what an optimiser remembers can be read") {
  optimizer::adam<double> adam(1);
  optimizer::momentum<double> momentum(1);
  std::vector<double> weights(1);
  for (int step = 0; step < 2; ++step) {
    adam.step(weights, std::vector{2.0}, 0.1);
    momentum.step(weights, std::vector{2.0}, 0.1);
  }
  CHECK(adam.steps() == 2);
  CHECK(adam.first_moment()[0] == doctest::Approx(2 * (1 - 0.9 * 0.9)).epsilon(1e-14));
  CHECK(adam.second_moment()[0] == doctest::Approx(4 * (1 - 0.999 * 0.999)).epsilon(1e-12));
  CHECK(momentum.buffer()[0] == doctest::Approx(2 * 1.9).epsilon(1e-14));
}

TEST_CASE("bad options and arguments are refused by name") {
  const auto message = [](auto&& work) -> std::string {
    try {
      work();
    } catch (const argument_error& fault) {
      return fault.what();
    }
    return "nothing was thrown";
  };
  const auto refused = [&](const auto& options, const std::string& start) {
    using rule = typename std::decay_t<decltype(options)>::template rule<float>;
    return message([&] { rule(3, options); }).starts_with(start);
  };
  CHECK(refused(momentum_options{.momentum = 1}, "momentum = 1"));
  CHECK(refused(momentum_options{.momentum = -0.1}, "momentum = -0.1"));
  CHECK(refused(adam_options{.beta1 = 1}, "beta1 = 1"));
  CHECK(refused(adam_options{.beta2 = std::nan("")}, "beta2 = nan"));
  CHECK(refused(adam_options{.epsilon = 0}, "epsilon = 0"));
  CHECK(refused(adam_options{.epsilon = 1e-60}, "epsilon = 1e-60"));  // zero in float
  for (const lindyn::index size : {lindyn::index(-1), lindyn::index(1) << 62}) {
    CHECK(message([&] { optimizer::sgd<double>{size}; }).starts_with("size = "));
    CHECK(message([&] { optimizer::momentum<double>{size}; }).starts_with("size = "));
    CHECK(message([&] { optimizer::adam<double>{size}; }).starts_with("size = "));
  }

  std::vector<double> two(2), three(3);
  optimizer::adam<double> rule(2);
  CHECK_THROWS_AS(rule.step(three, two, 0.1), shape_error);
  CHECK_THROWS_AS(rule.step(two, three, 0.1), shape_error);
  CHECK(message([&] { rule.step(two, two, -0.1); }).starts_with("learning_rate = -0.1"));
  CHECK(message([&] { rule.step(two, two, std::nan("")); }).starts_with("learning_rate = nan"));
  CHECK(rule.steps() == 0);
}

}  // namespace
