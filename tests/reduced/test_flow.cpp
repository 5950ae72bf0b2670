// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/io/json.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/flow.hpp>

#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using integrate::flow_status;
using lindyn::index;  // POSIX has a function of this name
using recall = task::associative_recall<block<2>>;
template <int L>
using imir = manifold::imir<recall, model::attention_only<layers<L>, heads<1>>>;

/// The runs of the three-layer reference, whose law, coordinates and their order are those of imir<3>.
io::json reference_runs() {
  const auto file = io::read_json(LINDYN_TEST_DATA "/reference/reduced_flow_3layer.json");
  const io::json& config = io::member(file, "config");
  REQUIRE(io::member_as<int>(config, "pairs") == 4);
  REQUIRE(io::member_as<int>(config, "vocab") == 16);
  REQUIRE(io::member_as<int>(config, "slots") == 6);
  return io::member(file, "runs");
}

const population::recall_law<recall> reference_law{{.pairs = 4, .vocabulary = 16, .slots = 6}};

reduced::relational_model reference_model() {
  return {imir<3>::basis(reference_law), population::enumerate_types(reference_law).types};
}

TEST_CASE("the three-layer reference: loss and velocity at the start, time to a loss of 0.05, coordinates then") {
  reduced::relational_model model = reference_model();
  for (const io::json& run : reference_runs()) {
    const auto start = run["start"].get<std::vector<double>>();
    std::vector<double> velocity(start.size());
    const double loss = model.velocity(start, velocity), expected_loss = run["loss_at_start"];
    CHECK(std::abs(loss / expected_loss - 1) < 1e-9);
    CHECK(relative_difference(velocity, run["velocity_at_start"].get<std::vector<double>>()) < 1e-9);

    const double expected_time = run["time_to_loss_0.05"];
    const auto expected_end = run["coordinates_then"].get<std::vector<double>>();
    const auto flow = reduced::flow(model, start, {.until = 1e5, .stop_at_loss = 0.05, .tolerance = 1e-10});
    CHECK(flow.status == flow_status::event);
    CHECK(flow.value == 0.05);
    CHECK(model.loss(flow.state) == doctest::Approx(0.05).epsilon(1e-10));
    CHECK(std::abs(flow.t / expected_time - 1) < 1e-6);
    CHECK(relative_difference(flow.state, expected_end) < 1e-5);

    // The tolerance of a step is about that of the result: errors hardly grow where gradient flow contracts.
    double before = 1;
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
      const auto rough = reduced::flow(model, start, {.until = 1e5, .stop_at_loss = 0.05, .tolerance = tolerance});
      const double error = std::abs(rough.t / flow.t - 1);
      CAPTURE(tolerance);
      CHECK(error < 100 * tolerance);
      CHECK(error < before);
      CHECK(rough.evaluations < 700);
      before = error;
    }
  }
}

TEST_CASE("the flow to the time of an event is the flow that stopped there; samples are states on the way") {
  reduced::relational_model model = reference_model();
  const auto start = reference_runs()[0]["start"].get<std::vector<double>>();
  const auto event = reduced::flow(
      model, start, {.until = std::numeric_limits<double>::infinity(), .stop_at_loss = 0.5, .tolerance = 1e-11});
  CHECK(event.status == flow_status::event);
  const auto whole = reduced::flow(
      model, start, {.until = event.t, .tolerance = 1e-11, .times = {0, event.t / 3, event.t / 2, event.t}});
  CHECK(whole.status == flow_status::reached_end);
  CHECK(whole.t == event.t);
  CHECK(difference(whole.state, event.state) < 1e-8);
  CHECK(whole.value == model.loss(whole.state));
  REQUIRE(whole.sampled().rows == 4);
  CHECK(difference(whole.sampled().row(0), start) == 0);
  CHECK(difference(whole.sampled().row(3), whole.state) == 0);
  const auto third = reduced::flow(model, start, {.until = event.t / 3, .tolerance = 1e-11});
  CHECK(difference(whole.sampled().row(1), third.state) < 1e-7);  // dense output is of order 4, a step of order 5
}

TEST_CASE("the loss falls along the flow") {
  reduced::relational_model model = reference_model();
  for (const io::json& run : reference_runs()) {
    const auto start = run["start"].get<std::vector<double>>();
    reduced::flow_options options{.until = 3000};
    for (double t = 0; t <= options.until; t += 20) options.times.push_back(t);
    const auto flow = reduced::flow(model, start, options);
    double before = model.loss(start) + 1e-12;
    bool falls = true;
    for (index place = 0; place < flow.sampled().rows; ++place) {
      const double loss = model.loss(flow.sampled().row(place));
      falls = falls && loss < before;
      before = loss;
    }
    CHECK(falls);
    CHECK(before < 0.05);
  }
}

TEST_CASE("an error of the tolerance, at a millionth and far below") {
  reduced::relational_model model = reference_model();
  const auto start = reference_runs()[1]["start"].get<std::vector<double>>();
  const auto at = [&](double tolerance) {
    return reduced::flow(model, start, {.until = 800, .tolerance = tolerance}).state;
  };
  const auto exact = at(1e-13);
  const double rough = difference(at(1e-6), exact), fine = difference(at(1e-12), exact);
  MESSAGE("error at tolerance 1e-6: " << rough << ", at 1e-12: " << fine);
  CHECK(rough < 1e-4);
  CHECK(fine < 1e-10);
  CHECK(fine < 1e-4 * rough);
}

TEST_CASE("the form for compile-time manifolds is the same flow, from the origin too") {
  const population::recall_law<recall> law{{.pairs = 2, .vocabulary = 6}};
  const auto short_form = reduced::flow<imir<2>>(law, imir<2>::origin(), {.until = 500});
  reduced::relational_model model(imir<2>::basis(law), population::enumerate_types(law).types);
  const std::vector<double> zero(static_cast<std::size_t>(imir<2>::dimension));
  const auto long_form = reduced::flow(model, zero, {.until = 500});
  CHECK(difference(short_form.state, long_form.state) == 0);
  CHECK(short_form.value < model.loss(zero));
}

TEST_CASE("a level met at the start is an event there, and one never met is none") {
  const population::recall_law<recall> law{{.pairs = 2, .vocabulary = 6}};
  reduced::relational_model model(imir<2>::basis(law), population::enumerate_types(law).types);
  const std::vector<double> zero(static_cast<std::size_t>(imir<2>::dimension));
  const auto met = reduced::flow(model, zero, {.until = 10, .stop_at_loss = 2.0});
  CHECK(met.status == flow_status::event);
  CHECK(met.t == 0);
  CHECK(difference(met.state, zero) == 0);
  const auto never = reduced::flow(model, zero, {.until = 10, .stop_at_loss = 0.0});
  CHECK(never.status == flow_status::reached_end);
  CHECK(never.t == 10);
  CHECK(never.value > 0);
}

TEST_CASE("bad options and starts are refused, and a flow that can't go on says so") {
  const population::recall_law<recall> law{{.pairs = 2, .vocabulary = 6}};
  reduced::relational_model model(imir<2>::basis(law), population::enumerate_types(law).types);
  std::vector<double> start(static_cast<std::size_t>(imir<2>::dimension), 0.1), shorter(3);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS((void)reduced::flow(model, shorter, {}), shape_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.until = -1}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.until = nan}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.until = infinity}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.tolerance = 0}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.tolerance = nan}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.stop_at_loss = nan}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.until = 1, .times = {0.5, 0.2}}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.until = 1, .times = {2}}), argument_error);
  CHECK_THROWS_AS((void)reduced::flow(model, start, {.until = 1e6, .max_steps = 3}), solver_error);
  start[2] = nan;
  CHECK_THROWS_AS((void)reduced::flow(model, start, {}), non_finite_error);
}

}  // namespace
