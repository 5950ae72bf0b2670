// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/rates/extinction_clock.hpp>
#include <lindyn/rates/module_extinction.hpp>
#include <lindyn/rates/module_system.hpp>
#include <lindyn/schedule/shapes.hpp>

#include "../complaint.hpp"

namespace rates = lindyn::rates;
namespace optimizer = lindyn::optimizer;
namespace schedule = lindyn::schedule;
using lindyn::testing::complaint;
using optimizer::decay_mode;

namespace {

/// The system whose figures examples/critical_window/RESULTS.md gives.
rates::module_system two_modules(std::vector<int> powers) {
  return {.modules = {{.powers = powers, .memorises = 1}, {.powers = powers, .memorises = 0}},
          .reasons = 20,
          .scale = 0.18,
          .signal = 2.2e-3,
          .noise = 1e-2,
          .units = 4};
}

/// Root mean square of weights behind some updates of Adam on noise alone, of what root mean square `noise(rms)` says.
template <class Noise>
double under_noise(double rms, lindyn::index updates, double learning_rate, const optimizer::weight_decay& decay,
                   const Noise& noise) {
  constexpr lindyn::index count = 128;
  std::vector<double> weights(count), gradient(count);
  lindyn::counter_generator draw(3);
  for (double& weight : weights) weight = draw() % 2 == 0 ? rms : -rms;
  optimizer::adam<double> rule(count, {.beta2 = 0.98});
  const optimizer::range_decay whole{0, count, optimizer::factors(decay, learning_rate)};
  const auto size = [&] {
    double squares = 0;
    for (const double weight : weights) squares += weight * weight;
    return std::sqrt(squares / count);
  };
  for (lindyn::index step = 0; step < updates; ++step) {
    const double loudness = noise(size());
    for (double& derivative : gradient) derivative = draw() % 2 == 0 ? loudness : -loudness;
    rule.step(weights, gradient, learning_rate, {&whole, 1});
  }
  return size();
}

}  // namespace

TEST_CASE("the modules' gradient is that of their loss") {
  const rates::module_system system{
      .modules = {{.powers = {1, 2}, .memorises = 0.5}, {.powers = {1, 1, 2}, .memorises = 0.3}},
      .reasons = 1.7,
      .scale = 0.2,
      .signal = 0.3,
      .units = 3};
  CHECK(system.modules[1].degree() == 4);
  rates::module_batch batch(system, 2);
  std::vector<float> weights(static_cast<std::size_t>(batch.size())), gradient(weights.size());
  lindyn::counter_generator draw(1), signs(2);
  for (float& weight : weights) weight = static_cast<float>(0.05 + 0.1 * lindyn::uniform_real(draw));
  batch.gradient(weights, gradient, signs);
  CHECK(signs == lindyn::counter_generator(2));  // without noise nothing is drawn
  const auto loss = [&] {                        // of both starts
    const auto masses = batch.masses(weights);
    double sum = 0;
    for (const std::size_t start : {0, 1}) {
      const double e = system.error(std::span(masses).subspan(2 * start, 2));
      REQUIRE(std::abs(e) < 1);
      sum += system.signal * system.scale * 3 * e * e / 2;
    }
    return sum;
  };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float kept = weights[i], step = 0x1p-8F;
    weights[i] = kept + step;
    const double above = loss();
    weights[i] = kept - step;
    const double difference = (above - loss()) / (2 * static_cast<double>(step));
    weights[i] = kept;
    CHECK(static_cast<double>(gradient[i]) ==
          doctest::Approx(difference).epsilon(2e-3).scale(0.02));  // float, curvature
  }
}

TEST_CASE("a product of three factors lives above its survival size and dies below, whatever preconditions it") {
  // A single start of one module without noise. e = 1 - y moves as well, but hardly at this size.
  const rates::module_system system{.modules = {{.powers = {1, 1, 1}}}, .reasons = 0, .scale = 1, .signal = 1};
  const double edge = rates::survival_size(3, 0.02, 1);
  CHECK(edge == doctest::Approx(0.02));
  CHECK(rates::survival_size(4, 0.02, 0.5) == doctest::Approx(0.2));
  const auto grows = [&](double size, auto rule, double learning_rate) {
    rates::module_batch batch(system, 1);
    std::vector<float> weights(3, static_cast<float>(size)), gradient(3);
    const optimizer::range_decay whole{
        0, 3, optimizer::factors({.rate = 0.02, .mode = decay_mode::coupled_l2}, learning_rate)};
    lindyn::counter_generator none(1);
    for (int step = 0; step < 20; ++step) {
      batch.gradient(weights, gradient, none);
      rule.step(weights, gradient, learning_rate, {&whole, 1});
    }
    return static_cast<double>(weights[0]) > size;
  };
  for (const auto& [size, lives] : {std::pair{0.98 * edge, false}, {1.02 * edge, true}}) {
    CHECK(grows(size, optimizer::sgd<float>(3), 0.1) == lives);
    CHECK(grows(size, optimizer::momentum<float>(3), 0.01) == lives);
    CHECK(grows(size, optimizer::adam<float>(3, {.beta2 = 0.98}), 1e-6) == lives);
  }
}

TEST_CASE("the clock of L2 through Adam is that of the library's own steps") {
  // Noise that falls with the weights, as in a product of two factors: linear in time, down to the floor.
  const rates::coupled_noise clock{.learning_rate = 1e-4, .lambda = 1e-3, .gradient_rms = 1.4e-3, .other_factors = 1};
  const auto falls = [](double rms) { return 1.4e-3 * rms / 0.08; };
  const optimizer::weight_decay coupled{.rate = 1e-3,
                                        .mode = decay_mode::coupled_l2};  // lambda w beside the noise: 6 %
  CHECK(clock.unit() == doctest::Approx(1.4e-3 / (1e-4 * 1e-3)));
  const auto half = static_cast<lindyn::index>(clock.updates_to(0.5));
  CHECK(under_noise(0.08, half, 1e-4, coupled, falls) / 0.08 == doctest::Approx(0.5).epsilon(0.03));
  CHECK(clock.kept_after(clock.updates_to(0.3)) == doctest::Approx(0.3));
  CHECK(clock.kept_after(2 * clock.unit()) == 0);
  // Noise that stays: exponential.
  const rates::coupled_noise steady{.learning_rate = 1e-4, .lambda = 1e-3, .gradient_rms = 1.4e-3, .other_factors = 0};
  CHECK(steady.kept_after(steady.updates_to(0.3)) == doctest::Approx(0.3));
  CHECK(under_noise(0.08, half, 1e-4, coupled, [](double) { return 1.4e-3; }) / 0.08 ==
        doctest::Approx(steady.kept_after(static_cast<double>(half))).epsilon(0.03));
  // Floors, of both kinds. Steps spread weights by the learning rate squared up to what beta2 = .98 lets v fluctuate.
  CHECK(under_noise(0.03, 1'500, 3e-3, {.rate = 4e-3, .mode = decay_mode::absolute}, falls) ==
        doctest::Approx(rates::noise_floor(3e-3, 4e-3)).epsilon(0.1).scale(0));
  CHECK(under_noise(0.01, 1'500, 3e-3, {.rate = 4e-3, .mode = decay_mode::coupled_l2}, falls) ==
        doctest::Approx(rates::coupled_noise_floor(3e-3, 4e-3, 1.4e-3 / 0.08)).epsilon(0.25).scale(0));
}

TEST_CASE(
    "coupled decay from the start extinguishes modules of degree three; later, decoupled, or of degree two it "
    "doesn't") {
  const auto after = [](const std::vector<int>& powers, double onset, decay_mode mode) {
    const auto system = two_modules(powers);
    const auto ends =
        rates::train_modules(system, optimizer::adam_options{.beta2 = 0.98},
                             {.starts = 96, .steps = 600, .decay = schedule::window{onset, 1e4, 4e-3}, .mode = mode});
    REQUIRE(ends.size() == 1);
    return rates::outcomes(system, ends.front());
  };
  const auto early = after({1, 1, 1}, 0, decay_mode::coupled_l2);
  CHECK(early.extinct.interval(2).first > 0.4);
  CHECK(early.reasoning.interval(2).second < 0.6);
  for (const auto& spared : {after({1, 1, 1}, 200, decay_mode::coupled_l2), after({1, 1, 1}, 0, decay_mode::absolute),
                             after({1, 1}, 0, decay_mode::coupled_l2)}) {
    CHECK(spared.extinct.interval(2).second < 0.1);
    CHECK(spared.reasoning.interval(2).first > 0.9);
  }
}

TEST_CASE("modules of many starts don't depend on threads, and states are taken when they are asked for") {
  const auto system = two_modules({1, 2});
  rates::module_training training{.starts = 70, .steps = 5, .decay = 1e-3};
  const auto one = rates::train_modules(system, optimizer::adam_options{}, training, {0, 3});
  training.threads = 2;
  const auto two = rates::train_modules(system, optimizer::adam_options{}, training, {0, 3});
  REQUIRE(one.size() == 3);
  for (std::size_t moment = 0; moment < 3; ++moment) {
    REQUIRE(one[moment].size() == 70);
    for (std::size_t start = 0; start < 70; ++start) {
      CHECK(one[moment][start].masses == two[moment][start].masses);
      CHECK(one[moment][start].rms == two[moment][start].rms);
    }
  }
  CHECK(one[0][0].masses != one[1][0].masses);
  CHECK(one[0][0].masses != one[0][1].masses);
  training.steps = 3;
  CHECK(rates::train_modules(system, optimizer::adam_options{}, training).front()[69].masses == one[1][69].masses);
  training.starts = 80;  // those before are as they were
  CHECK(rates::train_modules(system, optimizer::adam_options{}, training).front()[69].masses == one[1][69].masses);
}

TEST_CASE("outcomes are counted, with Wilson's interval") {
  const rates::module_system system{.reasons = 4};
  const std::vector<rates::module_state> states{
      {{0.25, 0.35}, {}}, {{1, 0.001}, {}}, {{0.001, 0.001}, {}}, {{0.01, 0.01}, {}}, {{std::nan(""), 1}, {}}};
  const auto found = rates::outcomes(system, states);
  CHECK(found.extinct.count == 3);
  CHECK(found.all_extinct.count == 2);
  CHECK(found.reasoning.count == 0);
  CHECK(found.memorising.count == 2);
  CHECK(found.memorising.value() == 0.4);
  CHECK(found.diverged.count == 1);
  // Where m + r = 1 / 2 little is learnt, and where r = m it is memorised. Here m = y_1 + y_2, r = 4 y_1 y_2.
  const auto learnt = [&](double first, double second) {
    const auto of = rates::outcomes(system, std::vector<rates::module_state>{{{first, second}, {}}});
    return std::pair(of.reasoning.count, of.memorising.count);
  };
  CHECK(learnt(0.5, 0) == std::pair<lindyn::index, lindyn::index>(0, 0));
  CHECK(learnt(0.5, 0.5) == std::pair<lindyn::index, lindyn::index>(0, 1));
  CHECK(learnt(0.5, 0.625) == std::pair<lindyn::index, lindyn::index>(1, 0));
  const auto [low, high] = rates::observed_share{0, 10}.interval(1.96);
  CHECK(low == doctest::Approx(0).scale(1));
  CHECK(high == doctest::Approx(0.2775).epsilon(1e-3));  // the textbook's example
}

TEST_CASE("module systems, trainings and clocks that make no sense are refused by name") {
  const auto refused = [](const rates::module_system& system) { rates::require_valid(system); };
  CHECK(complaint([&] { refused({.modules = {}}); }).find("modules.size()") != std::string::npos);
  CHECK(complaint([&] {
          refused({.modules = {{}, {.powers = {1, 0}}}});
        }).find("modules[1].powers") != std::string::npos);
  CHECK(complaint([&] { refused({.scale = 0}); }).find("scale") != std::string::npos);
  CHECK(complaint([&] { refused({.units = 0}); }).find("units") != std::string::npos);
  CHECK(complaint([] {
          (void)rates::train_modules({}, optimizer::sgd_options{}, {.steps = 10}, {3, 3});
        }).find("at") != std::string::npos);
  CHECK(complaint([] {
          (void)rates::train_modules({}, optimizer::sgd_options{.decay = {.rate = 1}}, {.steps = 1});
        }).find("options.decay.rate") != std::string::npos);
  CHECK(complaint([] {
          return rates::outcomes({}, std::vector<rates::module_state>{{{1}, {}}}).extinct.count;
        }).starts_with("states[0].masses.size() = 1 "));
  CHECK(complaint([] { return rates::outcomes({}, {}, std::nan("")).extinct.count; }).starts_with("dead = nan "));
  CHECK(complaint([] { return rates::outcomes({}, {}).extinct.value(); }).starts_with("trials = 0 "));
  CHECK(complaint([] { return rates::survival_size(2, 1, 1); }).starts_with("degree = 2 "));
  CHECK(complaint([] { return rates::coupled_noise{.lambda = 0}.unit(); }).starts_with("lambda = 0 "));
  CHECK(complaint([] {
          return rates::coupled_noise{.other_factors = std::nan("")}.updates_to(1);
        }).starts_with("other_factors = nan "));
  CHECK(complaint([] { return rates::coupled_noise{}.kept_after(-3); }).starts_with("updates = -3 "));
  CHECK(complaint([] { return rates::coupled_noise{}.kept_after(std::nan("")); }).starts_with("updates = nan "));
  CHECK(complaint([] { return rates::noise_floor(std::nan(""), 0.1); }).starts_with("learning_rate = nan "));
  CHECK(complaint([] { return rates::coupled_noise_floor(1e-3, 0.1, -1); }).starts_with("gradient_per_weight = -1 "));
  CHECK(complaint([] { (void)rates::coupled_noise{.other_factors = 0}.updates_to(0); }).find("kept") !=
        std::string::npos);
}
