// SPDX-License-Identifier: MIT

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <lindyn/compare/linearised_flow.hpp>
#include <lindyn/compare/linearised_rates.hpp>
#include <lindyn/compare/rates_along.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_hessian.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/finite/vector_composition.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/linearised_system.hpp>
#include <lindyn/train/linearised_objective.hpp>
#include <lindyn/train/trainer.hpp>

#include "../complaint.hpp"
#include "../difference.hpp"

using namespace lindyn;
using lindyn::testing::complaint;
using lindyn::testing::difference;

namespace {

using network = model::linearised_attention<>;

/// 6 keys, 4 anchors, 15 pairs, 10 entries.
network small_network(task::pair_reduction reduction = task::pair_reduction::mean) {
  return network(population::vector_composition({.keys = 6, .anchors = 4, .training_pairs = 15, .width = 10}),
                 reduction);
}

std::vector<double> start_of(const network& net, double gamma, std::uint64_t seed = 1) {
  return model::initial_weights(net, {.gamma = gamma, .seed = seed});
}

compare::rates_comparison along(const network& net, const std::vector<double>& start, double until,
                                const rates::decay_course& decay = {}) {
  // Nothing here shrinks by orders of magnitude, so that half of the steps do.
  const auto flow = compare::linearised_flow(
      net, start, {.until = until, .decay = decay, .tolerance = 1e-8, .absolute_tolerance = 1e-8});
  return compare::rates_along(net, std::span(start), flow.records, decay, 1e-10);
}

}  // namespace

TEST_CASE("the rate system of eight numbers is the gradient flow of all weights, with decay and either reduction") {
  const rates::decay_course decay(schedule::window{20, 60, 0.02});
  for (const auto reduction : {task::pair_reduction::mean, task::pair_reduction::sum}) {
    const network net = small_network(reduction);
    const auto both = along(net, start_of(net, 1.1), reduction == task::pair_reduction::mean ? 200 : 30, decay);
    const auto apart = compare::difference(both.full, both.linearised);
    CHECK(apart.memorising < 1e-6);  // 1e-8 in each of some hundred steps
    CHECK(apart.reasoning < 1e-6);
    CHECK(both.full.reasoning.back() > 0.4);
    // .. where the system without what is random at the start is far off.
    CHECK(compare::difference(both.full, both.reduced).reasoning > 0.05);
  }
}

TEST_CASE("the reduced system is what a start without anything random does, and its error falls nearly as gamma^2") {
  const network net = small_network();
  std::vector<double> start(static_cast<std::size_t>(net.parameters().size()));
  const auto& data = net.data();  // one-hot keys: W1 = a rho e'; W2 = b over the pairs' anchors
  const auto rule = net.parameters().view("W1", start), coupling = net.parameters().view("W2", start);
  for (int row = 0; row < 10; ++row)
    for (int key = 0; key < 6; ++key) rule(row, key) = 0.03 * data.rule[static_cast<std::size_t>(row * 6 + key)];
  for (const auto& [first, second] : data.pairs) coupling(6 + second, 6 + first) = 0.01;
  const auto exact = along(net, start, 150);
  CHECK(compare::difference(exact.full, exact.reduced).memorising < 1e-6);
  CHECK(compare::difference(exact.full, exact.reduced).reasoning < 1e-6);
  CHECK(exact.full.reasoning.back() > 0.5);

  std::vector<double> errors;
  for (const double gamma : {0.05, 0.1, 0.2}) {
    const auto both = along(net, start_of(net, gamma), 150);
    errors.push_back(compare::difference(both.full, both.reduced).reasoning);
    if (gamma == 0.05) continue;  // which memory is too quick for
    REQUIRE(both.full.half_time);
    REQUIRE(both.reduced.half_time);
    CHECK(*both.full.half_time > *both.reduced.half_time);  // what is random delays reasoning
  }
  // 4 is the limit. The ratio is less at finite gamma: terms of gamma^4, and from a smaller start what is random acts longer
  // before reasoning takes over.
  const double smaller = errors[1] / errors[0], larger = errors[2] / errors[1];
  CHECK(larger > 3.4);
  CHECK(smaller > larger);
  CHECK(smaller < 4);
}

TEST_CASE(
    "under a window that makes weights e^20 times smaller, the flow of all weights stays that of the eight numbers") {
  const network net = small_network();
  const auto start = start_of(net, 0.1);
  const rates::decay_course decay(schedule::window{30, 80, 0.4});
  const auto flow = compare::linearised_flow(net, start, {.until = 100, .decay = decay, .tolerance = 1e-6});

  network::workspace memory;
  const auto reduction = compare::reduction_of(net);
  const rates::linearised_system system(reduction.slopes);
  const auto exact = integrate::flow(
      [&](const integrate::state& x, integrate::state& dxdt, double t) { system.velocity(x, decay(t), dxdt); },
      reduction.linearised_state(model::masses(net, std::span(start), memory),
                                 model::curvature(net, std::span(start), memory)),
      0, 100, {.tolerance = 1e-11, .absolute_tolerance = 1e-22, .discontinuities = decay.edges()});
  const auto& end = flow.records.back().masses;
  CHECK(system.reasoning(exact.state) < 1e-12);
  CHECK(std::abs(end.reasoning / system.reasoning(exact.state) - 1) < 1e-4);  // 1e-6 in each of 100 steps
  CHECK(std::abs(end.memorising / system.memorising(exact.state) - 1) < 1e-4);
}

TEST_CASE("with W2 held, what the network reasons grows as gamma squared while memory grows beside it") {
  // Slope of log r over log gamma by least squares. By its end memory has learnt most: r is no power of gamma by construction.
  const network net = small_network();
  const auto& table = net.parameters();
  network::workspace memory;
  const std::vector<double> gammas{0.01, 0.02, 0.04, 0.08};
  double squares = 0, products = 0, middle = 0, memorised = 0;
  for (const double gamma : gammas) middle += std::log(gamma) / 4;
  for (const double gamma : gammas) {
    std::vector<double> start = start_of(net, gamma);
    for (double& entry : table.view("W1", start)) entry = 0;
    const auto velocity = [&](const integrate::state& x, integrate::state& dxdt, double) {
      net.loss_and_gradient(x, dxdt, memory);
      for (double& entry : dxdt) entry = -entry;
      for (double& entry : table.view("W2", dxdt)) entry = 0;
    };
    const auto end = integrate::flow(velocity, start, 0, 100, {.tolerance = 1e-8});
    const auto masses = model::masses(net, std::span(end.state), memory);
    memorised = masses.memorising;
    squares += std::pow(std::log(gamma) - middle, 2);
    products += (std::log(gamma) - middle) * std::log(masses.reasoning);
  }
  CHECK(memorised > 0.5);
  CHECK(std::abs(products / squares - 2) < 0.01);
}

TEST_CASE("gradient descent on all weights is Euler's method on the eight numbers, in every decay mode") {
  constexpr double rate = 0.5;
  const network net = small_network();
  const auto start = start_of(net, 0.9);
  network::workspace memory;
  const auto reduction = compare::reduction_of(net);
  const rates::linearised_system system(reduction.slopes);
  for (const auto mode : enumerators<optimizer::decay_mode>()) {
    const schedule::schedule lambda = schedule::window{50, 120, 0.004};
    const rates::decay_course decay(lambda, {.learning_rate = rate, .mode = mode});
    std::vector<double> weights = start, found, expected;
    train::trainer trainer(train::linearised_objective{net}, weights, optimizer::sgd<double>(net.parameters().size()),
                           {.learning_rate = rate, .decay_schedule = lambda, .decay_mode = mode});
    std::vector<double> state = reduction.linearised_state(model::masses(net, std::span(start), memory),
                                                           model::curvature(net, std::span(start), memory));
    std::vector<double> slope(state.size());
    trainer.run(140, memory, [&](const auto& here) {
      network::workspace own;
      const auto masses = model::masses(net, here.weights, own);
      found.insert(found.end(), {masses.memorising, masses.reasoning});
      expected.insert(expected.end(), {system.memorising(state), system.reasoning(state)});
      system.velocity(state, decay(decay.step().time(static_cast<double>(here.step))), slope);
      for (std::size_t i = 0; i < state.size(); ++i) state[i] += rate * slope[i];
    });
    CHECK(difference(found, expected) < 1e-12);
  }
}

TEST_CASE("a training is described by its sizes, its reduction, and the digest of its vectors") {
  const auto described = [](double answer, task::pair_reduction reduction) {
    auto data = population::vector_composition(
        {.keys = 2, .anchors = 2, .training_pairs = 2, .width = 4, .rule = population::composition_rule::composed});
    data.answers[0] = answer;
    const network net(data, reduction);
    train::settings result;
    train::linearised_objective{net}.describe(result);
    return result;
  };
  const auto first = described(0.5, task::pair_reduction::mean);
  CHECK(first.front() == std::pair<std::string, std::string>{"shape.width", "4"});
  CHECK(first.back() == std::pair<std::string, std::string>{"loss.pair_reduction", "mean"});
  CHECK(first == described(0.5, task::pair_reduction::mean));
  CHECK(first != described(0.25, task::pair_reduction::mean));
  CHECK(first != described(0.5, task::pair_reduction::sum));
}

TEST_CASE("derivatives of the rate system's velocity") {
  const rates::linearised_system system({.memorising = 0.3, .rule = 0.7, .coupling = 1.9});
  counter_generator generator(5);
  std::vector<double> x(8), above(8), below(8), found(64), expected(64);
  for (double& entry : x) entry = standard_normal(generator);
  system.jacobian(x, 0.2, {found.data(), 8, 8});
  for (std::size_t by = 0; by < 8; ++by) {
    auto moved = x;
    moved[by] = x[by] + 1e-4;
    system.velocity(moved, 0.2, above);
    moved[by] = x[by] - 1e-4;
    system.velocity(moved, 0.2, below);
    for (std::size_t of = 0; of < 8; ++of) expected[8 * of + by] = (above[of] - below[of]) / 2e-4;
  }
  CHECK(difference(found, expected) < 1e-7);  // the difference quotient's error: third derivatives x h^2
}

TEST_CASE("small factors grow as fast as the closed form says, less than without what is random") {
  const rates::linearised_system system({.memorising = 1e-9, .rule = 0.7, .coupling = 1.9});
  const auto flow =
      rates::flow(system, {0, 0, 0, 0, 1e-6, 0.8, 1e-6, 0}, {}, {.until = 10, .tolerance = 1e-12, .times = {8, 10}});
  const auto log_of = [&](int row) { return std::log(system.reasoning(flow.sampled().row(row))); };
  CHECK((log_of(1) - log_of(0)) / 4 == doctest::Approx(system.early_growth(0.8)).epsilon(1e-5));  // r is 1e-6
  CHECK(system.early_growth(0.8) < 0.8 * system.early_growth(0));
  CHECK(system.early_growth(0) == doctest::Approx(std::sqrt(0.7 * 1.9)));
}

TEST_CASE("rates are those of the blocks of the Hessian, with the weights' own norms") {
  const network net = small_network();
  const auto weights = start_of(net, 0.8);
  network::workspace memory;
  const auto rates = compare::rates_of(net, std::span(weights), memory);
  CHECK(rates.statistics.key_eigenvalue == doctest::Approx(1.0 / 6).epsilon(1e-14));  // one-hot keys: 1/K
  CHECK(rates.printed.memorising == doctest::Approx(1.0 / 6));
  CHECK(rates.corrected.memorising == doctest::Approx(1.0 / 90));
  CHECK(rates.corrected.reasoning == doctest::Approx(rates.printed.reasoning));  // mean: mu_m is what is 15 times less
  CHECK(rates.rule_over_memory() == doctest::Approx(15 * rates.printed.reasoning / rates.printed.memorising));
  CHECK(rates.expected_coupling == doctest::Approx(1.0 / 10));

  // Rayleigh's quotient, by power iteration on the block itself.
  const auto top = [&](const std::string& name) {
    const auto block = model::hessian_block(net, std::span(weights), name, memory);
    std::vector<double> x(100), y(100);
    counter_generator generator(1);
    for (double& entry : x) entry = standard_normal(generator);
    double norm = 0;
    for (int step = 0; step < 40; ++step) {
      norm = 0;
      for (std::size_t i = 0; i < 100; ++i) {
        y[i] = 0;
        for (std::size_t j = 0; j < 100; ++j) y[i] += block[100 * i + j] * x[j];
        norm += y[i] * y[i];
      }
      for (std::size_t i = 0; i < 100; ++i) x[i] = y[i] / std::sqrt(norm);
    }
    return std::sqrt(norm);
  };
  CHECK(top("M.0.1") == doctest::Approx(rates.corrected.memorising).epsilon(1e-12));
  CHECK(top("W1") == doctest::Approx(rates.corrected.reasoning).epsilon(1e-12));
  CHECK(top("W2") == doctest::Approx(rates.coupling_growth).epsilon(1e-12));
  double rule_square = 0;  // Q = mean |W1 e_k|^2
  for (const double entry : net.ruled(std::span(weights), memory)) rule_square += entry * entry / 6;
  CHECK(rates.coupling_over_memory() == doctest::Approx(6 * rule_square).epsilon(1e-12));

  const network summed = small_network(task::pair_reduction::sum);
  const auto sums = compare::rates_of(summed, std::span(weights), memory);
  CHECK(sums.corrected.memorising == doctest::Approx(sums.printed.memorising));  // sum: mu_r is what is 15 times more
  CHECK(sums.corrected.reasoning == doctest::Approx(15 * sums.printed.reasoning));
  CHECK(sums.coupling_over_memory() == doctest::Approx(rates.coupling_over_memory()));
}

TEST_CASE(
    "W2 learns K gamma^2 times as fast as memory on average over the draws: 4, 10, 19 times at gamma 0.5, 0.8, 1.1") {
  constexpr int draws = 12;
  const network net(population::vector_composition());  // 16 keys, 64 entries
  network::workspace memory;
  for (const double gamma : {0.5, 0.8, 1.1}) {
    const double expected = 16 * gamma * gamma;
    double sum = 0, squares = 0;
    for (int draw = 0; draw < draws; ++draw) {
      const auto weights = start_of(net, gamma, static_cast<std::uint64_t>(draw));
      const double ratio = compare::rates_of(net, std::span(weights), memory).coupling_over_memory();
      // gamma^2 times a mean of 16 x 64 squares of normal numbers, whose deviation is sqrt(2 / 1024) = 4.4 %.
      CHECK(std::abs(ratio / expected - 1) < 4 * 0.044);
      sum += ratio;
      squares += ratio * ratio;
    }
    const double mean = sum / draws, deviation = std::sqrt((squares / draws - mean * mean) / (draws - 1));
    CHECK(std::abs(mean - expected) < 3 * deviation);  // of seeds that are fixed
    CHECK(deviation < 0.03 * expected);
  }
}

TEST_CASE("what makes no sense is refused by name") {
  const network composed(population::vector_composition(
      {.keys = 4, .anchors = 3, .training_pairs = 6, .width = 7, .rule = population::composition_rule::composed}));
  CHECK(complaint([&] { return compare::reduction_of(composed); }).find("separable") != std::string::npos);
  const network net = small_network();
  const auto start = start_of(net, 1);
  CHECK(complaint([&] { return compare::rates_along(net, std::span(start), {}, {}); }).starts_with("records.size() "));
  CHECK(complaint([&] { return compare::linearised_flow(net, {1, 2}, {}); }).starts_with("weights.size() = 2 "));
  const auto memorised = model::initial_weights(net, {.gamma = 1, .memorising_gamma = 0.5});
  CHECK(complaint([&] {
          return compare::rates_along(net, std::span(memorised), {compare::mass_record{}}, {});
        }).starts_with("memorising_norm = "));
  network::workspace memory;
  const std::vector<double> none(start.size());
  CHECK(complaint([&] { return compare::rates_of(net, std::span(none), memory); }).starts_with("W2 = 0 for all pairs"));
  CHECK(complaint([] { return rates::linearised_system({.memorising = 0}); }).starts_with("slopes.memorising = 0 "));
  CHECK(complaint([] { return rates::linearised_system({.rule = 0}); }).starts_with("slopes.rule = 0 "));
  CHECK(complaint([] { return rates::linearised_system({.coupling = 0}); }).starts_with("slopes.coupling = 0 "));
}
