// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/train/descent.hpp>

#include "../compare/confinement_laws.hpp"
#include "full_against_map.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using task::loss;
using train::descent_options;

template <class Work>
std::string message(Work&& work) {
  try {
    work();
  } catch (const error& fault) {
    return fault.what();
  }
  return "nothing was thrown";
}

const auto ring_law = on_ring({.pairs = 2, .vocabulary = 4, .block = 2}, 5);
const auto slot_law = stored_on_slots({.pairs = 3, .vocabulary = 10, .block = 2}, 0.3);

/// The weights after some steps on minibatches, from a random start.
template <class Scalar = double>
std::vector<Scalar> trained(const descent_options& options) {
  const auto sizes = slot_law.sizes();
  const model::attention_only<layers<2>, heads<1>, Scalar> net(
      {.vocabulary = sizes.vocabulary, .positions = sizes.positions});
  const auto start = normal_numbers(net.parameters().size(), 5, 0.3);
  std::vector<Scalar> weights(start.begin(), start.end());
  train::descend(net, slot_law, std::span(weights), options, [](const auto&) {});
  return weights;
}

// Learning rates of the squared error are lower, as its best point on the manifold is a saddle of the full network (it
// is symmetric, and asymmetric ones are better): rounding errors off the manifold then grow exponentially in time.

TEST_CASE("exact gradient descent on a ring is the map on the manifold") {
  check_full_against_map(ring_law, {.layers = 2});
  check_full_against_map(ring_law, {.layers = 2, .learning_rate = 0.3, .loss = loss::squared_error});
}

TEST_CASE("with unit vectors the squared error leaves the manifold, and so does one sequence alone") {
  const manifold::basis basis(2, 1, ring_law.structure());
  const model::attention_only<> net(basis.shape());
  const auto start = basis.embed(normal_numbers(basis.dimension(), 3, 0.4));
  const auto leak = [&](descent_options options) {
    auto weights = start;
    options.steps = 50;
    train::descend(net, ring_law, std::span(weights), options, [](const auto&) {});
    return basis.project(weights).relative_residual();
  };
  CHECK(leak({.batch = 0, .loss = loss::squared_error}) > 1e-3);
  CHECK(leak({.batch = 0, .loss = loss::squared_error, .embedding = model::embedding::centred}) < 1e-14);
  CHECK(leak({.batch = 0}) < 1e-14);
  CHECK(leak({.batch = 0, .embedding = model::embedding::centred}) < 1e-14);
  CHECK(leak({.batch = 1}) > 1e-2);
}

TEST_CASE("what minibatches carry off the manifold falls as the root of their size") {
  const manifold::basis basis(2, 1, ring_law.structure());
  const model::attention_only<> net(basis.shape());
  const auto start = basis.embed(normal_numbers(basis.dimension(), 3, 0.4));
  const auto mean_square = [&](index batch) {
    double result = 0;
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
      auto weights = start;
      train::descend(net, ring_law, std::span(weights),
                     {.steps = 20, .learning_rate = 0.1, .batch = batch, .seed = seed}, [](const auto&) {});
      result += std::pow(basis.project(weights).off_manifold_norm(), 2) / 16;
    }
    return result;
  };
  const double few = mean_square(16), many = mean_square(256);
  const double exponent = std::log(many / few) / std::log(16.0);  // of the mean square; -1 is the root
  CHECK(exponent > -1.1);
  CHECK(exponent < -0.9);
}

TEST_CASE("steps are those of the sampler's batches, one after the other") {
  const auto sizes = slot_law.sizes();
  const model::attention_only<layers<2>, heads<1>> net({.vocabulary = sizes.vocabulary, .positions = sizes.positions});
  std::vector<double> weights = normal_numbers(net.parameters().size(), 5, 0.3), gradient(weights.size());
  population::sampler sampler(slot_law, 9);
  population::minibatch batch;
  for (index step = 0; step < 3; ++step) {
    sampler.draw(step * 32, 32, batch);
    net.loss_and_gradient(weights, batch, loss::cross_entropy, gradient);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.5 * gradient[i];
  }
  CHECK(trained({.steps = 3, .learning_rate = 0.5, .batch = 32, .seed = 9}) == weights);
}

TEST_CASE("results don't depend on threads, but on the seed, in double and in float") {
  const descent_options options{.steps = 5, .batch = 300, .seed = 4};
  const auto in_double = trained(options);
  const auto in_float = trained<float>(options);
  for (const int threads : {2, 3}) {
    auto same = options;
    same.threads = threads;
    CHECK(trained(same) == in_double);
    CHECK(trained<float>(same) == in_float);
  }
  auto other = options;
  other.seed = 5;
  CHECK(trained(other) != in_double);
  double distance = 0;
  for (std::size_t i = 0; i < in_double.size(); ++i)
    distance = std::max(distance, std::abs(in_double[i] - static_cast<double>(in_float[i])));
  CHECK(distance > 0);
  CHECK(distance < 1e-5);
}

TEST_CASE("the observer hears of the state before each step and of the last one") {
  const manifold::basis basis(1, 1, ring_law.structure());
  const model::attention_only<> net(basis.shape());
  const auto run = [&](index batch) {
    std::vector<double> weights = normal_numbers(net.parameters().size(), 5, 0.3), losses, first = weights;
    std::vector<index> steps;
    const double seconds =
        train::descend(net, ring_law, std::span(weights), {.steps = 4, .batch = batch}, [&](const auto& point) {
          if (point.step == 0) CHECK(difference(point.weights, first) == 0);
          if (point.step == 4) CHECK(point.weights.data() == weights.data());
          steps.push_back(point.step);
          losses.push_back(point.loss);
        });
    CHECK(seconds > 0);
    CHECK(steps == std::vector<index>{0, 1, 2, 3, 4});
    return losses;
  };
  const auto drawn = run(8), exact = run(0);
  CHECK(drawn[4] == drawn[3]);  // no batch is drawn for the last state
  for (std::size_t step = 0; step < 4; ++step) CHECK(exact[step + 1] < exact[step]);
}

TEST_CASE("an observer that returns false ends the training there") {
  const auto sizes = slot_law.sizes();
  const model::attention_only<layers<2>, heads<1>> net({.vocabulary = sizes.vocabulary, .positions = sizes.positions});
  auto weights = normal_numbers(net.parameters().size(), 5, 0.3);
  index told = 0;
  train::descend(net, slot_law, std::span(weights), {.steps = 20, .batch = 8}, [&](const auto& point) {
    ++told;
    return point.step < 7;
  });
  CHECK(told == 8);
  CHECK(weights == trained({.steps = 7, .batch = 8}));
}

TEST_CASE("progress is told up to the last step") {
  double done = 0;
  descent_options options{.steps = 3, .batch = 4};
  options.tell = [&](const progress_report& report) {
    CHECK(report.total == 3);
    done = report.done;
  };
  (void)trained(options);
  CHECK(done == 3);
}

TEST_CASE("run draws a network and trains it") {
  using net = model::attention_only<layers<2>, heads<1>, float>;
  const auto start = train::run<net>(slot_law, {.steps = 0, .seed = 3, .scale = 0.2});
  CHECK(start.losses.empty());
  CHECK(start.shape.vocabulary == 10);
  CHECK(start.shape.positions == slot_law.sizes().positions);
  CHECK(start.shape.layers == 2);
  double square = 0;
  for (const float weight : start.weights) square += weight * weight / static_cast<double>(start.weights.size());
  CHECK(std::sqrt(square) == doctest::Approx(0.2).epsilon(0.05));

  const auto ended = train::run<net>(slot_law, {.steps = 40, .learning_rate = 0.5, .batch = 64, .seed = 3});
  CHECK(ended.losses.size() == 40);
  CHECK(ended.losses.back() < ended.losses.front());
  CHECK(ended.seconds > 0);
  CHECK(train::run<net>(slot_law, {.steps = 40, .learning_rate = 0.5, .batch = 64, .seed = 3}).weights ==
        ended.weights);
}

TEST_CASE("a population that is too large to visit is refused with advice") {
  const std::string text = message([&] { (void)trained({.batch = 0, .bound = 1000}); });
  INFO(text);
  CHECK(text.find("1000") != std::string::npos);
  CHECK(text.find("minibatches") != std::string::npos);
}

TEST_CASE("a step that is too large ends in an error that names it") {
  const std::string text =
      message([] { (void)trained({.steps = 100, .learning_rate = 100, .batch = 8, .loss = loss::squared_error}); });
  INFO(text);
  CHECK(text.find(" at step ") != std::string::npos);
  CHECK(text.find("take a smaller learning_rate") != std::string::npos);
}

TEST_CASE("bad options are refused by name") {
  const auto complaint = [](const descent_options& options) { return message([&] { (void)trained(options); }); };
  CHECK(complaint({.steps = -1}).find("steps = -1") == 0);
  CHECK(complaint({.learning_rate = 0}).find("learning_rate = 0") == 0);
  CHECK(complaint({.learning_rate = 1e200}).find("learning_rate = 1e+200") == 0);
  CHECK(complaint({.learning_rate = std::nan("")}).find("learning_rate = nan") == 0);
  CHECK(complaint({.learning_rate = std::numeric_limits<double>::infinity()}).find("learning_rate = inf") == 0);
  CHECK(complaint({.batch = -2}).find("batch = -2") == 0);
  CHECK(complaint({.threads = 0}).find("threads = 0") == 0);

  const model::attention_only<> net({.vocabulary = 4, .positions = 5, .layers = 1, .heads = 1});
  std::vector<double> weights(static_cast<std::size_t>(net.parameters().size()), 0.1), shorter(3);
  const auto ignore = [](const auto&) {};
  CHECK_THROWS_AS(train::descend(net, slot_law, std::span(weights), {}, ignore), shape_error);
  CHECK_THROWS_AS(train::descend(net, ring_law, std::span(shorter), {}, ignore), shape_error);
  weights[7] = std::nan("");
  CHECK_THROWS_AS(train::descend(net, ring_law, std::span(weights), {}, ignore), non_finite_error);
}

}  // namespace
