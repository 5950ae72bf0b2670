// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include <lindyn/integrate/flow_options.hpp>

using lindyn::argument_error;
using lindyn::non_finite_error;
using lindyn::integrate::flow_options;
using lindyn::integrate::require_valid;
using lindyn::integrate::state;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The argument that is blamed for options over [0, 1], or "none".
std::string blamed(const flow_options& options, double from = 0, double until = 1, const state& start = {1}) {
  try {
    require_valid(start, from, until, options);
  } catch (const argument_error& refused) {
    return refused.argument();
  }
  return "none";
}

}  // namespace

TEST_CASE("the default options are valid, and so are the edges of what is allowed") {
  CHECK(blamed({}) == "none");
  CHECK(blamed({}, 1, 1) == "none");
  CHECK(blamed({.initial_step = 0.1, .largest_step = infinity, .max_steps = 1}) == "none");
  CHECK(blamed({.discontinuities = {3, -1, 0.5}, .sample_times = {0, 0.5, 0.5, 1}}) == "none");
  CHECK(blamed({.stop_at = -1}, 0, infinity) == "none");
}

TEST_CASE("tolerances have to be positive and finite") {
  for (const double bad : {0.0, -1e-6, not_a_number, infinity}) {
    CHECK(blamed({.tolerance = bad}) == "tolerance");
    CHECK(blamed({.absolute_tolerance = bad}) == "absolute_tolerance");
  }
}

TEST_CASE("step sizes and their number are checked") {
  for (const double bad : {-1.0, not_a_number, infinity}) CHECK(blamed({.initial_step = bad}) == "initial_step");
  for (const double bad : {0.0, -1.0, not_a_number}) CHECK(blamed({.largest_step = bad}) == "largest_step");
  CHECK(blamed({.max_steps = 0}) == "max_steps");
}

TEST_CASE("time runs forwards and ends, unless a level ends it") {
  CHECK(blamed({}, 0, -1) == "until");
  CHECK(blamed({}, 0, not_a_number) == "until");
  CHECK(blamed({}, 0, infinity) == "until");
  CHECK(blamed({}, not_a_number, 1) == "from");
  CHECK(blamed({}, -infinity, 1) == "from");
  CHECK(blamed({.stop_at = not_a_number}) == "stop_at");
}

TEST_CASE("the start has to have entries, all of them finite") {
  CHECK(blamed({}, 0, 1, {}) == "start.size()");
  CHECK(blamed({}, 0, 1, {0, not_a_number}) == "start[1]");
}

TEST_CASE("times of jumps and samples are checked") {
  CHECK(blamed({.discontinuities = {0, infinity}}) == "discontinuities[1]");
  CHECK(blamed({.sample_times = {not_a_number}}) == "sample_times[0]");
  CHECK(blamed({.sample_times = {0.5, 0.2}}) == "sample_times");
  CHECK(blamed({.sample_times = {-0.5, 0.2}}) == "sample_times.front()");
  CHECK(blamed({.sample_times = {0.5, 1.2}}) == "sample_times.back()");
}
