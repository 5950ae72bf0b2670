// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/flow.hpp>

#include "../compare/confinement_laws.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name

const auto law = stored_on_slots({.pairs = 2, .vocabulary = 8, .block = 2}, 0.4);

reduced::relational_model model_of(int layers, task::loss loss = task::loss::cross_entropy) {
  return {manifold::basis(layers, 1, law.structure()), population::enumerate_types(law).types, loss};
}

TEST_CASE("a step moves by the learning rate times the velocity") {
  auto model = model_of(2);
  const auto start = normal_numbers(model.dimension(), 1, 0.4);
  std::vector<double> velocity(start.size()), expected = start;
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    losses.push_back(model.velocity(expected, velocity));
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += 0.3 * velocity[i];
  }
  losses.push_back(model.loss(expected));
  std::vector<index> steps;
  std::vector<double> told;
  const auto end = reduced::descend(model, start, {.steps = 3, .learning_rate = 0.3},
                                    [&](index step, double loss, std::span<const double> coordinates) {
                                      steps.push_back(step);
                                      told.push_back(loss);
                                      if (step == 0) CHECK(difference(coordinates, start) == 0);
                                      if (step == 3) CHECK(difference(coordinates, expected) == 0);
                                    });
  CHECK(end == expected);
  CHECK(steps == std::vector<index>{0, 1, 2, 3});
  CHECK(told == losses);
  CHECK(reduced::descend(model, start, {.steps = 0}) == start);
}

TEST_CASE("the map's distance from the flow falls with the learning rate, linearly") {
  for (const auto loss : {task::loss::cross_entropy, task::loss::squared_error})
    for (const int layers : {2, 3}) {
      CAPTURE(layers);
      auto model = model_of(layers, loss);
      const auto start = normal_numbers(model.dimension(), 1, 0.4);
      const double until = 100;
      const auto flow = reduced::flow(model, start, {.until = until, .tolerance = 1e-12});
      CHECK(flow.value < 0.9 * model.loss(start));
      std::vector<double> errors;
      for (const index steps : {125, 250, 500})
        errors.push_back(difference(
            reduced::descend(model, start, {.steps = steps, .learning_rate = until / static_cast<double>(steps)}),
            flow.state));
      for (int i = 0; i < 2; ++i) {
        const double order = std::log2(errors[static_cast<std::size_t>(i)] / errors[static_cast<std::size_t>(i) + 1]);
        CHECK(order > 0.9);
        CHECK(order < 1.1);
      }
    }
}

TEST_CASE("an iteration that diverges names the step, and bad options are refused") {
  auto model = model_of(2, task::loss::squared_error);
  const auto start = normal_numbers(model.dimension(), 1, 0.4);
  std::string text;
  try {
    reduced::descend(model, start, {.steps = 100, .learning_rate = 1e6});
  } catch (const non_finite_error& fault) {
    text = fault.what();
  }
  INFO(text);
  CHECK(text.find("loss at step ") != std::string::npos);
  CHECK(text.find("learning_rate") != std::string::npos);
  CHECK_THROWS_AS(reduced::descend(model, start, {.steps = -1}), argument_error);
  CHECK_THROWS_AS(reduced::descend(model, start, {.learning_rate = 0}), argument_error);
  CHECK_THROWS_AS(reduced::descend(model, start, {.learning_rate = std::nan("")}), argument_error);
  CHECK_THROWS_AS(reduced::descend(model, start, {.learning_rate = std::numeric_limits<double>::infinity()}),
                  argument_error);
  CHECK_THROWS_AS(reduced::descend(model, std::vector<double>(3), {}), shape_error);
  auto spoilt = start;
  spoilt[1] = std::nan("");
  CHECK_THROWS_AS(reduced::descend(model, spoilt, {}), non_finite_error);
}

}  // namespace
