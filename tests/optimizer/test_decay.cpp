// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>

namespace {
using namespace lindyn;
using optimizer::factors;
using enum optimizer::decay_mode;

/// The weights after steps without gradient.
template <class Options>
std::vector<double> idle(const Options& options, double learning_rate, int steps = 1) {
  std::vector<double> weights{3, -2};
  const std::vector<double> gradient(2, 0.0);
  typename Options::template rule<double> rule(2, options);
  for (int step = 0; step < steps; ++step) rule.step(weights, gradient, learning_rate);
  return weights;
}

template <class Work>
bool names(Work&& work, const char* argument) {
  try {
    work();
  } catch (const argument_error& fault) {
    return fault.argument() == argument;
  }
  return false;
}

TEST_CASE("each mode shrinks the weights by what it says") {
  const auto keep = [](const optimizer::weight_decay& decay, double rate) { return factors(decay, rate).keep; };
  CHECK(keep({.rate = 0.5, .mode = lr_scaled}, 0.1) == 1 - 0.1 * 0.5);
  CHECK(keep({.rate = 0.5, .mode = absolute}, 0.1) == 0.5);
  CHECK(keep({.rate = 0.5, .mode = ratio, .base_learning_rate = 0.4}, 0.1) == 1 - 0.25 * 0.5);
  CHECK(keep({.rate = 0.5, .mode = ratio, .base_learning_rate = 0.1}, 0.1) == keep({.rate = 0.5, .mode = absolute}, 1));
  CHECK(keep({.rate = 0.5, .mode = coupled_l2}, 0.1) == 1);
  CHECK(factors({.rate = 0.5, .mode = coupled_l2}, 0.1).coupled == 0.5);
  for (const auto mode : {lr_scaled, absolute, coupled_l2}) {
    CHECK(factors({.rate = 0, .mode = mode}, 0.1).keep == 1);
    CHECK(factors({.rate = 0, .mode = mode}, 0.1).coupled == 0);
  }
}

TEST_CASE("without gradient, decoupled decay is geometric for every optimiser") {
  const auto check = [](auto options) {
    options.decay = {.rate = 0.2, .mode = lr_scaled};
    const auto weights = idle(options, 0.5, 10);
    CHECK(weights[0] == doctest::Approx(3 * std::pow(0.9, 10)).epsilon(1e-14));
    CHECK(weights[1] == doctest::Approx(-2 * std::pow(0.9, 10)).epsilon(1e-14));
  };
  check(optimizer::sgd_options{});
  check(optimizer::momentum_options{});
  check(optimizer::momentum_options{.nesterov = true});
  check(optimizer::adam_options{});
}

TEST_CASE("at learning rate zero lr_scaled leaves the weights as they are, and absolute still shrinks them") {
  const std::vector<double> start{3, -2};
  CHECK(idle(optimizer::adam_options{.decay = {.rate = 0.2, .mode = lr_scaled}}, 0) == start);
  CHECK(idle(optimizer::adam_options{.decay = {.rate = 0.2, .mode = coupled_l2}}, 0) == start);
  CHECK(idle(optimizer::adam_options{.decay = {.rate = 0.25, .mode = absolute}}, 0) == std::vector{2.25, -1.5});
}

TEST_CASE("coupled decay is lr_scaled decay under gradient descent, and a step of full size under Adam") {
  const std::vector<double> gradient{0.3, -2};
  const auto step = [&](auto options, optimizer::decay_mode mode, auto& weights) {
    options.decay = {.rate = 0.2, .mode = mode};
    typename decltype(options)::template rule<double>(2, options).step(weights, gradient, 0.5);
  };
  std::vector<double> coupled{3, -0.7}, scaled = coupled;
  step(optimizer::sgd_options{}, coupled_l2, coupled);
  step(optimizer::sgd_options{}, lr_scaled, scaled);
  for (std::size_t i = 0; i < 2; ++i) CHECK(coupled[i] == doctest::Approx(scaled[i]).epsilon(1e-15));
  CHECK(scaled[0] == doctest::Approx(3 - 0.5 * (0.3 + 0.2 * 3)).epsilon(1e-15));
  // However small the rate: Adam divides the decay by its own size.
  const auto weights =
      idle(optimizer::adam_options{.epsilon = 1e-30, .decay = {.rate = 1e-6, .mode = coupled_l2}}, 0.5);
  CHECK(weights[0] == doctest::Approx(2.5).epsilon(1e-14));
  CHECK(weights[1] == doctest::Approx(-1.5).epsilon(1e-14));
}

TEST_CASE("decay that makes no sense is refused by name") {
  const auto refused = [](const optimizer::weight_decay& decay, const char* argument) {
    return names([&] { require_valid(decay); }, argument);
  };
  CHECK(refused({.rate = -1}, "decay.rate"));
  CHECK(refused({.rate = std::nan("")}, "decay.rate"));
  CHECK(refused({.rate = 1.5, .mode = absolute}, "decay.rate"));
  CHECK(refused({.rate = 0.5, .mode = ratio}, "decay.base_learning_rate"));
  CHECK(refused({.mode = static_cast<optimizer::decay_mode>(4)}, "decay.mode"));
  CHECK(refused({.mode = static_cast<optimizer::decay_mode>(-1)}, "decay.mode"));
  CHECK(names([] { (void)factors({.mode = static_cast<optimizer::decay_mode>(4)}, 0.5); }, "decay.mode"));
  CHECK(names([] { (void)factors({.rate = 3, .mode = lr_scaled}, 0.5); }, "decay.rate"));
  CHECK(refused({.rate = 2e6, .mode = coupled_l2}, "decay.rate"));  // its square would be infinite in Adam's moments
  CHECK(refused({.rate = 0.5, .mode = ratio, .base_learning_rate = 2e6}, "decay.base_learning_rate"));
  CHECK(names([] { optimizer::sgd<double>(1, {.decay = {.rate = -1}}); }, "decay.rate"));
  CHECK(names([] { optimizer::momentum<double>(1, {.decay = {.rate = -1}}); }, "decay.rate"));
  CHECK(names([] { optimizer::adam<double>(1, {.decay = {.rate = -1}}); }, "decay.rate"));
}

TEST_CASE("coupled decay is what it is by either way of stepping, and the options are those that were given") {
  const optimizer::sgd_options options{.decay = {.rate = 3, .mode = coupled_l2}};
  optimizer::sgd<double> rule(1, options);
  CHECK(rule.options() == options);
  std::vector<double> weights{1}, by_range{1};
  rule.step(weights, std::vector<double>{0}, 1);
  const optimizer::range_decay range{0, 1, factors(options.decay, 1)};
  rule.step(by_range, std::vector<double>{0}, 1, {&range, 1});
  CHECK(weights == std::vector<double>{-2});  // turned, as no decoupled decay may
  CHECK(by_range == weights);
}

TEST_CASE("the mode ratio refers to the configured rate, not to the warm-up's first") {
  const optimizer::weight_decay decay{.rate = 0.5, .mode = ratio, .base_learning_rate = 0.4};
  for (const double warming : {0.004, 0.1, 0.4}) CHECK(factors(decay, warming).keep == 1 - warming / 0.4 * 0.5);
  CHECK(factors(decay, 0.4) == factors({.rate = 0.5, .mode = absolute}, 0.4));  // at the rate itself
  CHECK(optimizer::shrinkage(decay, 0.1) == 0.125);
  CHECK(optimizer::shrinkage({.rate = 0.5, .mode = coupled_l2}, 0.1) == 0);
}

TEST_CASE("a learning rate that makes no sense is refused by name") {
  for (const double rate : {-0.1, 2e6, std::nan("")})
    for (const auto mode : {lr_scaled, absolute, coupled_l2})
      CHECK(names([&] { (void)factors({.rate = 0.5, .mode = mode}, rate); }, "learning_rate"));
}

TEST_CASE("modes have names") {
  for (const auto mode : {lr_scaled, absolute, ratio, coupled_l2})
    CHECK(parse<optimizer::decay_mode>(name(mode), "mode") == mode);
  CHECK_THROWS_WITH_AS((void)parse<optimizer::decay_mode>("l2", "decay-mode"),
                       "decay-mode = l2 is not allowed: it must be lr_scaled, absolute, ratio or coupled_l2",
                       argument_error);
  CHECK(name(lr_scaled) == "lr_scaled");
  CHECK(name(absolute) == "absolute");
  CHECK(name(ratio) == "ratio");
  CHECK(name(coupled_l2) == "coupled_l2");
}

}  // namespace
