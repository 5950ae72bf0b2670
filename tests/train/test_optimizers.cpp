// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <vector>

#include <lindyn/compare/manifold_constraint.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/train/descent.hpp>

#include "../compare/confinement_laws.hpp"
#include "../reduced/values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using train::descent_options;

const auto law = on_ring({.pairs = 2, .vocabulary = 4, .block = 2}, 5);
const manifold::basis basis(2, 1, law.structure());
const model::attention_only<> net(basis.shape());
const auto coordinates = normal_numbers(basis.dimension(), 3, 0.4);
const auto ignore = [](const auto&) {};
const descent_options exact{.steps = 60, .learning_rate = 0.2, .batch = 0};

/// The weights after training from a point of the manifold.
template <class Rule, class Constraint = train::unconstrained>
std::vector<double> trained(const descent_options& options, const Rule& rule, Constraint&& constrain = {}) {
  auto weights = basis.embed(coordinates);
  typename Rule::template rule<double> optimizer(net.parameters().size(), rule);
  train::descend(net, law, std::span(weights), options, ignore, optimizer, constrain);
  return weights;
}

/// The full weights of the coordinates after training those alone.
template <class Rule>
std::vector<double> trained_coordinates(const descent_options& options, const Rule& rule) {
  reduced::relational_model model(basis, population::enumerate_types(law).types);
  typename Rule::template rule<double> optimizer(model.dimension(), rule);
  return basis.embed(reduced::descend(model, coordinates, {options.steps, options.learning_rate}, {}, optimizer));
}

TEST_CASE("without an optimiser it is gradient descent") {
  auto weights = basis.embed(coordinates);
  train::descend(net, law, std::span(weights), exact, ignore);
  CHECK(weights == trained(exact, optimizer::sgd_options{}));
}

TEST_CASE("linear optimisers do to the full weights what they do to the coordinates") {
  for (const auto mode : {optimizer::decay_mode::lr_scaled, optimizer::decay_mode::coupled_l2}) {
    const optimizer::momentum_options rule{.momentum = 0.8, .decay = {.rate = 0.05, .mode = mode}};
    CHECK(difference(trained(exact, rule), trained_coordinates(exact, rule)) < 1e-12);
  }
}

TEST_CASE("Adam leaves the manifold, and is another optimiser on its coordinates") {
  const optimizer::adam_options rule{.beta2 = 0.98};
  const auto options = descent_options{.steps = 60, .learning_rate = 0.02, .batch = 0};
  const auto full = trained(options, rule);
  CHECK(basis.project(full).relative_residual() > 1e-2);
  CHECK(difference(full, trained_coordinates(options, rule)) > 1e-2);
}

TEST_CASE("an optimiser that is handed over again goes on") {
  const auto in_parts = [](auto rule) {
    auto weights = basis.embed(coordinates);
    auto half = exact;
    half.steps /= 2;
    for (int part = 0; part < 2; ++part) train::descend(net, law, std::span(weights), half, ignore, rule);
    return weights;
  };
  CHECK(in_parts(optimizer::momentum<double>(net.parameters().size())) ==
        trained(exact, optimizer::momentum_options{}));
  CHECK(in_parts(optimizer::adam<double>(net.parameters().size())) == trained(exact, optimizer::adam_options{}));
}

TEST_CASE("a constraint sees the start, every gradient and every step's weights") {
  std::vector<const double*> seen;
  auto weights = basis.embed(coordinates);
  optimizer::sgd<double> rule(net.parameters().size());
  train::descend(net, law, std::span(weights), {.steps = 2, .batch = 4}, ignore, rule, [&](std::span<double> values) {
    CHECK(values.size() == weights.size());
    seen.push_back(values.data());
  });
  REQUIRE(seen.size() == 5);
  for (const std::size_t place : {0, 2, 4}) CHECK(seen[place] == weights.data());
  CHECK(seen[1] != weights.data());
  CHECK(seen[1] == seen[3]);
}

TEST_CASE("on the manifold, the population gradient needs no constraint") {
  compare::manifold_constraint constrain(basis);
  const optimizer::momentum_options rule{.momentum = 0.8};
  CHECK(difference(trained(exact, rule, constrain), trained(exact, rule)) < 1e-12);
}

TEST_CASE("constrained training stays on the manifold, with minibatches and with Adam") {
  const descent_options options{.steps = 20, .learning_rate = 0.02, .batch = 8};
  compare::manifold_constraint constrain(basis);
  const auto check = [&](const auto& rule) {
    CHECK(basis.project(trained(options, rule)).relative_residual() > 1e-3);
    const auto weights = trained(options, rule, constrain);
    CHECK(basis.project(weights).relative_residual() < 1e-14);
    CHECK(difference(basis.embed(constrain.coordinates()), weights) == 0);
  };
  check(optimizer::sgd_options{});
  check(optimizer::adam_options{});
}

TEST_CASE("the constraint projects orthogonally, in either precision") {
  compare::manifold_constraint constrain(basis);
  auto weights = normal_numbers(net.parameters().size(), 7, 1.0);
  std::vector<float> in_float(weights.begin(), weights.end());
  const auto expected = basis.embed(basis.project(weights).coordinates);
  constrain(std::span(weights));
  constrain(std::span(in_float));
  CHECK(difference(weights, expected) < 1e-14);
  CHECK(difference(std::vector<double>(in_float.begin(), in_float.end()), expected) < 1e-6);
  std::vector<double> shorter(3);
  CHECK_THROWS_AS(constrain(std::span(shorter)), shape_error);
}

TEST_CASE("with centred embeddings, weights stay centred under Adam") {
  auto options = exact;
  options.embedding = model::embedding::centred;
  auto weights = trained(options, optimizer::adam_options{}), again = weights;
  model::centred_stream centre(law.structure());
  centre(net.parameters(), std::span(again));
  CHECK(difference(weights, again) < 1e-14);
}

TEST_CASE("run takes the options of any optimiser") {
  const auto weights_of = [](const auto&... rule) {
    return train::run<model::attention_only<layers<2>, heads<1>>>(law, {.steps = 3, .batch = 8}, rule...).weights;
  };
  CHECK(weights_of() == weights_of(optimizer::sgd_options{}));
  CHECK(weights_of() != weights_of(optimizer::adam_options{}));
}

}  // namespace
