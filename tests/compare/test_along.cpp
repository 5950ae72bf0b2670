// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <lindyn/compare/along.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>

#include "../reduced/values.hpp"
#include "confinement_laws.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using compare::along_options;
using compare::comparison;
using lindyn::index;  // POSIX has a function of this name

const auto law = on_ring({.pairs = 2, .vocabulary = 4, .block = 2}, 5);

/// From a random point of the manifold, or with `scale_off` from somewhere near it.
template <class Scalar = double>
comparison compared(const along_options& options, double scale_off = 0) {
  const manifold::basis basis(2, 1, law.structure());
  reduced::relational_model model(basis, population::enumerate_types(law).types, options.training.loss);
  const model::attention_only<layers<2>, heads<1>, Scalar> net(basis.shape());
  const auto start = basis.embed(normal_numbers(basis.dimension(), 3, 0.4));
  const auto noise = normal_numbers(basis.parameters().size(), 4, scale_off);
  std::vector<Scalar> weights;
  for (std::size_t i = 0; i < start.size(); ++i) weights.push_back(static_cast<Scalar>(start[i] + noise[i]));
  return compare::along(model, net, law, std::span<Scalar>(weights), options);
}

TEST_CASE("with the exact gradient the full network is the map, and nearly the flow") {
  const auto result = compared({.training = {.steps = 600, .learning_rate = 0.5, .batch = 0}, .records = 30});
  REQUIRE(result.records.size() == 31);
  double map_error = 0, flow_error = 0, off = 0, loss_error = 0;
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    const auto& point = result.records[i];
    CHECK(point.step == static_cast<index>(20 * i));
    CHECK(point.t == static_cast<double>(point.step) * 0.5);
    REQUIRE(point.full.size() == 29);
    map_error = std::max(map_error, difference(point.full, point.descent));
    flow_error = std::max(flow_error, difference(point.full, point.flow));
    loss_error = std::max(loss_error, std::abs(point.loss_full - point.loss_reduced));
    off = std::max(off, point.off_manifold);
  }
  CHECK(result.coordinate_error_map_max == map_error);
  CHECK(result.coordinate_error_flow_max == flow_error);
  CHECK(result.off_manifold_max == off);
  CHECK(map_error < 1e-12);
  CHECK(off < 1e-14);
  CHECK(flow_error > 1e-6);
  CHECK(flow_error < 0.1);
  CHECK(loss_error < 0.02);
  CHECK(difference(result.records[0].full, result.records[0].flow) < 1e-14);
  CHECK(result.loss_start == doctest::Approx(result.records.front().loss_full).epsilon(1e-12));
  CHECK(result.loss_end == result.records.back().loss_full);
  CHECK(result.emergence_loss == result.loss_start / 2);
  CHECK(result.loss_end < result.emergence_loss);
  REQUIRE(result.emergence_step_full);
  REQUIRE(result.emergence_step_reduced);
  CHECK(*result.emergence_step_full == std::floor(*result.emergence_step_full));  // a step, not between two
  CHECK(std::abs(*result.emergence_step_full - *result.emergence_step_reduced) < 10);
  CHECK(result.seconds_full > 0);
  CHECK(result.seconds_reduced > 0);
}

TEST_CASE("minibatches stay near, in float too; their emergence lies between two records") {
  for (const bool in_float : {false, true}) {
    const along_options options{
        .training = {.steps = 600, .learning_rate = 0.5, .batch = 256}, .records = 60, .evaluation = 1000};
    const auto result = in_float ? compared<float>(options) : compared(options);
    CHECK(result.coordinate_error_map_max > 1e-4);
    CHECK(result.coordinate_error_map_max < 0.5);
    CHECK(result.off_manifold_max > 1e-4);
    CHECK(result.off_manifold_max < 0.5);
    REQUIRE(result.emergence_step_full);
    REQUIRE(result.emergence_step_reduced);
    CHECK(std::abs(*result.emergence_step_full - *result.emergence_step_reduced) < 60);
    const auto after = static_cast<std::size_t>(*result.emergence_step_full / 10) + 1;
    CHECK(result.records[after].loss_full <= result.emergence_loss);
    CHECK(result.records[after - 1].loss_full > result.emergence_loss);
  }
}

TEST_CASE("a start off the manifold is compared from its projection") {
  const auto result = compared({.training = {.steps = 10, .learning_rate = 0.1, .batch = 0}, .records = 5}, 0.01);
  CHECK(result.records.front().off_manifold > 1e-3);
  CHECK(difference(result.records.front().full, result.records.front().descent) == 0);
  CHECK(result.coordinate_error_map_max > 0);
  CHECK(result.coordinate_error_map_max < 0.1);
}

TEST_CASE("what has emerged at the start, and what never does") {
  along_options options{.training = {.steps = 20, .learning_rate = 0.1, .batch = 0}, .records = 4};
  options.emergence_loss = 100;
  const auto at_once = compared(options);
  CHECK(at_once.emergence_step_full == 0.0);
  CHECK(at_once.emergence_step_reduced == 0.0);
  options.emergence_loss = 1e-6;
  for (const index batch : {0, 16}) {
    options.training.batch = batch;
    const auto never = compared(options);
    CHECK(!never.emergence_step_full);
    CHECK(!never.emergence_step_reduced);
    CHECK(never.emergence_loss == 1e-6);
  }
  options.emergence_loss = 100;
  CHECK(compared(options).emergence_step_full == 0.0);
}

TEST_CASE("more records than steps are one at each step") {
  const auto result = compared({.training = {.steps = 3, .batch = 0}, .records = 200});
  REQUIRE(result.records.size() == 4);
  for (index step = 0; step <= 3; ++step) CHECK(result.records[static_cast<std::size_t>(step)].step == step);
  CHECK(compared({.training = {.steps = 7, .batch = 0}, .records = 1}).records.back().step == 7);
}

TEST_CASE("the result doesn't depend on threads") {
  along_options options{.training = {.steps = 10, .batch = 300}, .records = 10, .evaluation = 300};
  const auto one = compared(options);
  options.training.threads = 3;
  const auto three = compared(options);
  for (std::size_t i = 0; i < one.records.size(); ++i) {
    CHECK(one.records[i].loss_full == three.records[i].loss_full);
    CHECK(difference(one.records[i].full, three.records[i].full) == 0);
  }
}

TEST_CASE("progress is told of the full network and of the map") {
  std::vector<std::string> tasks;
  along_options options{.training = {.steps = 5, .batch = 0}};
  options.training.tell = [&](const progress_report& report) {
    if (report.done == report.total) tasks.emplace_back(report.task);
  };
  (void)compared(options);
  CHECK(tasks == std::vector<std::string>{"full network", "discrete map", "reduced flow"});
}

TEST_CASE("bad options, and a network that doesn't fit, are refused") {
  const auto with = [](auto&& change) {
    along_options options{.training = {.steps = 5, .batch = 0}};
    change(options);
    return options;
  };
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.training.steps = 0; })), argument_error);
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.records = 0; })), argument_error);
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.evaluation = 0; })), argument_error);
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.emergence_loss = 0; })), argument_error);
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.emergence_loss = std::nan(""); })), argument_error);
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.tolerance = 0; })), argument_error);
  CHECK_THROWS_AS((void)compared(with([](auto& options) { options.training.learning_rate = -1; })), argument_error);

  const manifold::basis basis(2, 1, law.structure());
  reduced::relational_model model(basis, population::enumerate_types(law).types);
  const model::attention_only<> other({.vocabulary = 4, .positions = 5, .layers = 1, .heads = 1});
  std::vector<double> weights(static_cast<std::size_t>(other.parameters().size()));
  CHECK_THROWS_AS((void)compare::along(model, other, law, std::span(weights), {}), shape_error);
}

}  // namespace
