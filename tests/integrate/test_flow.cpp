// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/integrate/flow.hpp>

using lindyn::solver_error;
using lindyn::integrate::flow;
using lindyn::integrate::flow_options;
using lindyn::integrate::flow_point;
using lindyn::integrate::flow_status;
using lindyn::integrate::state;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// x' = -x, monitoring x.
const auto decay = [](const state& x, state& dxdt, double) {
  dxdt[0] = -x[0];
  return x[0];
};

/// x'' = -x as a first-order pair, monitoring x.
const auto oscillator = [](const state& x, state& dxdt, double) {
  dxdt[0] = x[1];
  dxdt[1] = -x[0];
  return x[0];
};

template <class System>
std::string failure(const System& f, double until, const flow_options& options = {}, const state& start = {1}) {
  try {
    (void)flow(f, start, 0, until, options);
  } catch (const solver_error& error) {
    return error.what();
  }
  return "no failure";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("exponential decay is followed to its tolerance") {
  for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
    const auto result = flow(decay, {1}, 0, 2, {.tolerance = tolerance});
    CHECK(result.status == flow_status::reached_end);
    CHECK(result.t == 2);
    CHECK(result.value == result.state[0]);
    CHECK(std::abs(result.state[0] - std::exp(-2.0)) < tolerance);
  }
}

TEST_CASE("the harmonic oscillator returns after ten periods, and times may start anywhere") {
  const double period = 2 * std::numbers::pi;
  const auto result = flow(oscillator, {1, 0}, -3, -3 + 10 * period, {.tolerance = 1e-10});
  // The phase error of each of some thousand steps is below the tolerance.
  CHECK(std::abs(result.state[0] - 1) < 1e-8);
  CHECK(std::abs(result.state[1]) < 1e-8);
}

TEST_CASE("a flow ends exactly at its end, whatever rounding does to the steps") {
  const auto rest = [](const state&, state& dxdt, double) { dxdt[0] = 0; };
  for (int i = 1; i <= 100; ++i) CHECK(flow(rest, {1}, -0.7 * i, 0.1 * i, {.initial_step = 1000}).t == 0.1 * i);
}

TEST_CASE("a right-hand side that depends on time is evaluated at the stages' times") {
  const auto power = [](const state&, state& dxdt, double t) { dxdt[0] = 4 * t * t * t; };
  // A Runge-Kutta method of order 5 integrates a cubic without error.
  CHECK(flow(power, {0}, 1, 3).state[0] == doctest::Approx(80).epsilon(1e-14));
}

TEST_CASE("error falls with the tolerance, and steps grow as its fifth root") {
  const auto coarse = flow(oscillator, {1, 0}, 0, 30, {.tolerance = 1e-5});
  const auto fine = flow(oscillator, {1, 0}, 0, 30, {.tolerance = 1e-10});
  const auto error = [](const auto& result) {
    return std::hypot(result.state[0] - std::cos(30), result.state[1] + std::sin(30));
  };
  CHECK(error(fine) / error(coarse) == doctest::Approx(1e-5).epsilon(0.9).scale(0));
  CHECK(static_cast<double>(fine.steps) / static_cast<double>(coarse.steps) == doctest::Approx(10).epsilon(0.15));
}

TEST_CASE("a small absolute tolerance keeps small coordinates accurate") {
  const auto growth = [](const state& x, state& dxdt, double) { dxdt[0] = 10 * x[0]; };
  const double exact = 1e-9 * std::exp(20.0);
  const auto error = [&](const flow_options& options) {
    return std::abs(flow(growth, {1e-9}, 0, 2, options).state[0] / exact - 1);
  };
  CHECK(error({.tolerance = 1e-6, .absolute_tolerance = 1e-18}) < 1e-5);
  CHECK(error({.tolerance = 1e-6}) > 1e-4);
}

TEST_CASE("an accepted step's last evaluation is the next one's first, and gives the monitored value for nothing") {
  long calls = 0;
  const auto counted = [&](const state& x, state& dxdt, double t) {
    ++calls;
    return oscillator(x, dxdt, t);
  };
  std::vector<double> observed;
  const auto observer = [&](const flow_point& point) {
    CHECK(point.value == point.state[0]);
    observed.push_back(point.t);
  };
  const auto result = flow(counted, {1, 0}, 0, 20, {.tolerance = 1e-8, .stop_at = -2, .observer = observer});
  CHECK(result.status == flow_status::reached_end);
  CHECK(result.evaluations == calls);
  // One at the start, one to choose the first step's size, six a step: watching for the event costs none.
  CHECK(calls == 2 + 6 * (result.steps + result.rejected));
  CHECK(static_cast<long>(observed.size()) == result.steps + 1);
  CHECK(observed.front() == 0);
  CHECK(observed.back() == 20);
}

TEST_CASE("an event is found to the tolerance of the steps") {
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const auto result = flow(decay, {1}, 0, infinity, {.tolerance = tolerance, .stop_at = 0.05});
    CHECK(result.status == flow_status::event);
    CHECK(std::abs(result.t - std::log(20.0)) < 20 * tolerance);  // dt = dx / |x'|, and |x'| = 1/20 there
    CHECK(result.value == 0.05);
    CHECK(std::abs(result.state[0] - 0.05) < 1e-12);
  }
  const auto quarter = flow(oscillator, {1, 0}, 0, 10, {.tolerance = 1e-10, .stop_at = 0});
  CHECK(std::abs(quarter.t - std::numbers::pi / 2) < 1e-9);
  CHECK(std::abs(quarter.state[0]) < 1e-14);
}

TEST_CASE("an event's state is that of a flow that ends at its time, though the tolerance is coarse") {
  for (const double level : {0.9, 0.31, -0.2, -0.77}) {
    const auto event = flow(oscillator, {1, 0}, 0, 10, {.tolerance = 1e-3, .stop_at = level});
    const auto plain = flow(oscillator, {1, 0}, 0, event.t, {.tolerance = 1e-3});
    REQUIRE(plain.steps == event.steps);
    // The interpolant, on which the search begins, is off by some 1e-4.
    CHECK(std::abs(event.state[0] - level) < 1e-10);
    CHECK(std::abs(event.state[0] - plain.state[0]) < 1e-10);
    CHECK(std::abs(event.state[1] - plain.state[1]) < 1e-10);
  }
}

TEST_CASE("locating an event costs less than three steps on average and leaves nothing to correct") {
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    long extra = 0;
    for (int percent = -99; percent < 100; ++percent) {
      const double level = 0.01 * percent;
      const auto event = flow(oscillator, {1, 0}, 0, 10, {.tolerance = tolerance, .stop_at = level});
      extra += event.evaluations - (2 + 6 * (event.steps + event.rejected));
      CHECK(std::abs(event.state[0] - level) < 1e-11);
    }
    CHECK(extra < 199 * 3 * 6);
  }
}

TEST_CASE("an event at the start ends the flow there") {
  for (const double level : {1.0, 2.0}) {
    const auto result = flow(decay, {1}, 5, 10, {.stop_at = level});
    CHECK(result.status == flow_status::event);
    CHECK(result.t == 5);
    CHECK(result.steps == 0);
    CHECK(result.value == 1);
    CHECK(result.state == state{1});
  }
}

TEST_CASE("a level reached exactly where a step ends is an event") {
  const auto clock = [](const state& x, state& dxdt, double) {
    dxdt[0] = -1;
    return x[0];
  };
  const auto result = flow(clock, {1}, 0, 1, {.initial_step = 0.25, .largest_step = 0.25, .stop_at = 0.5});
  CHECK(result.status == flow_status::event);
  CHECK(result.t == 0.5);
}

TEST_CASE("a monitored value that jumps within a step is located as well") {
  const auto jumping = [](const state&, state& dxdt, double t) {
    dxdt[0] = 1;
    return t < 0.7 ? 1.0 : -1.0;
  };
  const auto result = flow(jumping, {0}, 0, 10, {.stop_at = 0});
  CHECK(result.status == flow_status::event);
  CHECK(std::abs(result.t - 0.7) < 1e-6);
  CHECK(std::abs(result.state[0] - result.t) < 1e-12);
}

TEST_CASE("a monitored value that falls below the level at a discontinuity is an event there") {
  const auto jumping = [](const state& x, state& dxdt, double t) {
    dxdt[0] = -x[0];
    return t < 0.7 ? x[0] : x[0] - 1;
  };
  const auto result = flow(jumping, {1}, 0, 10, {.discontinuities = {0.7}, .stop_at = 0});
  CHECK(result.status == flow_status::event);
  CHECK(result.t == 0.7);
}

TEST_CASE("splitting at the jumps of a weight decay is more accurate and costs fewer evaluations") {
  std::vector<double> times;
  const auto windowed = [&](const state& x, state& dxdt, double t) {
    times.push_back(t);
    dxdt[0] = 1 - (t >= 2 && t < 4 ? 10.0 : 0.0) * x[0];
  };
  const double at_4 = 0.1 + (2 - 0.1) * std::exp(-20.0);
  const auto unsplit = flow(windowed, {0}, 0, 5, {.tolerance = 1e-8});
  times.clear();
  const auto split = flow(windowed, {0}, 0, 5, {.tolerance = 1e-8, .discontinuities = {4, 2, -1, 7}});
  CHECK(std::abs(split.state[0] - (at_4 + 1)) < 1e-8);
  CHECK(split.evaluations < unsplit.evaluations);
  CHECK(split.rejected < unsplit.rejected);
  const auto first_beyond = [&](double jump) {
    return *std::ranges::find_if(times, [&](double t) { return t >= jump; });
  };
  CHECK(first_beyond(2) == 2);
  CHECK(first_beyond(4) == 4);
}

TEST_CASE("a discontinuity at the end is not looked across") {
  const auto broken_after = [](const state&, state& dxdt, double t) { dxdt[0] = t < 1 ? 1 : not_a_number; };
  CHECK(flow(broken_after, {0}, 0, 1, {.discontinuities = {1}}).state[0] == doctest::Approx(1).epsilon(1e-14));
  CHECK(failure(broken_after, 1) != "no failure");
}

TEST_CASE("a moderately stiff system is followed in small steps") {
  const auto stiff = [](const state& x, state& dxdt, double t) { dxdt[0] = -1000 * (x[0] - std::cos(t)); };
  const auto result = flow(stiff, {0}, 0, 2);
  const double exact = (1e6 * std::cos(2.0) + 1000 * std::sin(2.0)) / (1e6 + 1);
  CHECK(std::abs(result.state[0] - exact) < 1e-5);
  // The stability interval of the method is 3.3 wide.
  CHECK(result.steps > 2 * 1000 / 3.4);
}

TEST_CASE("samples lie on the solution, at the start, within steps and at the end") {
  for (const double tolerance : {1e-5, 1e-8}) {
    std::vector<double> times;
    for (int i = 0; i <= 200; ++i) times.push_back(i * 0.05);
    const auto result = flow(oscillator, {1, 0}, 0, 10, {.tolerance = tolerance, .sample_times = times});
    const auto samples = result.sampled();
    REQUIRE(samples.rows == 201);
    REQUIRE(samples.columns == 2);
    for (lindyn::index row = 0; row < samples.rows; ++row) {
      // The interpolant has order 4 where the steps have order 5, so that its error may exceed theirs.
      CHECK(std::abs(samples(row, 0) - std::cos(times[static_cast<std::size_t>(row)])) < 20 * tolerance);
      CHECK(std::abs(samples(row, 1) + std::sin(times[static_cast<std::size_t>(row)])) < 20 * tolerance);
    }
    CHECK(samples(0, 0) == 1);
    CHECK(samples(200, 0) == result.state[0]);
    CHECK(result.evaluations == flow(oscillator, {1, 0}, 0, 10, {.tolerance = tolerance}).evaluations);
  }
}

TEST_CASE("samples end with an event") {
  const auto result = flow(decay, {1}, 0, 10, {.tolerance = 1e-8, .stop_at = 0.5, .sample_times = {0.2, 0.69, 0.7, 3}});
  const auto samples = result.sampled();
  REQUIRE(samples.rows == 2);
  CHECK(std::abs(samples(0, 0) - std::exp(-0.2)) < 1e-7);
  CHECK(std::abs(samples(1, 0) - std::exp(-0.69)) < 1e-7);
}

TEST_CASE("an empty interval evaluates once and returns the start") {
  const auto result = flow(decay, {3}, 1, 1, {.sample_times = {1}});
  CHECK(result.status == flow_status::reached_end);
  CHECK(result.t == 1);
  CHECK(result.state == state{3});
  CHECK(result.value == 3);
  CHECK(result.evaluations == 1);
  CHECK(result.sampled().rows == 1);
}

TEST_CASE("a resting system goes on resting, in few steps") {
  const auto rest = [](const state&, state& dxdt, double) { dxdt[0] = 0; };
  const auto result = flow(rest, {3}, 0, 1e9);
  CHECK(result.state == state{3});
  CHECK(result.steps < 40);
}

TEST_CASE("the unit of time does not matter") {
  const auto saturation = [](double rate) {
    return [rate](const state& x, state& dxdt, double) { dxdt[0] = rate * (1 - x[0] - x[0] * x[0]); };
  };
  const auto plain = flow(saturation(1), {0}, 0, 3, {.tolerance = 1e-12});
  for (const double rate : {0x1p-30, 0x1p30}) {
    const auto scaled = flow(saturation(rate), {0}, 0, 3 / rate, {.tolerance = 1e-12});
    CHECK(scaled.state == plain.state);
    CHECK(scaled.evaluations == plain.evaluations);
  }
}

TEST_CASE("the first step fits how fast the solution changes and bends") {
  const auto first_step = [](const auto& f, const state& start) {
    std::vector<double> times;
    (void)flow(f, start, 0, 20, {.observer = [&](const flow_point& point) { times.push_back(point.t); }});
    return times.at(1);
  };
  const auto growth = [](const state& x, state& dxdt, double) { dxdt[0] = x[0]; };
  const auto clock = [](const state&, state& dxdt, double) { dxdt[0] = 2; };
  // Near a saddle, one time of growth; else what changes the solution by a hundredth, or of 1 if it is smaller than
  // that.
  CHECK(first_step(growth, {1e-9}) == doctest::Approx(1).epsilon(0.01));
  CHECK(first_step(growth, {100}) == doctest::Approx(0.01).epsilon(0.1));
  CHECK(first_step(clock, {0}) == doctest::Approx(0.005));
}

TEST_CASE("steps are no larger than the largest allowed one") {
  double before = 0, largest = 0;
  const auto observer = [&](const flow_point& point) {
    largest = std::max(largest, point.t - std::exchange(before, point.t));
  };
  (void)flow(decay, {1}, 0, 10, {.tolerance = 1e-2, .largest_step = 0.125, .observer = observer});
  CHECK(largest <= 0.125 * 1.01);
  CHECK(largest >= 0.125);
}

TEST_CASE("no sliver is left before the end by steps that don't add up to it exactly") {
  const auto clock = [](const state&, state& dxdt, double) { dxdt[0] = 1; };
  const auto result = flow(clock, {0}, 0, 1, {.initial_step = 0.1, .largest_step = 0.1});
  CHECK(result.steps == 10);
  CHECK(result.t == 1);
}

TEST_CASE("a dip within one step is seen once steps are bounded") {
  const auto dip = [](const state&, state& dxdt, double t) {
    dxdt[0] = 0;
    return std::abs(t - 5) - 0.25;
  };
  CHECK(flow(dip, {1}, 0, 20, {.initial_step = 20, .stop_at = 0}).status == flow_status::reached_end);
  const auto seen = flow(dip, {1}, 0, 20, {.initial_step = 20, .largest_step = 0.4, .stop_at = 0});
  CHECK(seen.status == flow_status::event);
  CHECK(std::abs(seen.t - 4.75) < 1e-12);
}

TEST_CASE("a right-hand side that is not finite at the start fails there") {
  const auto broken = [](const state&, state& dxdt, double) { dxdt[0] = not_a_number; };
  const auto message = failure(broken, 1);
  CHECK(contains(message, "not finite"));
  CHECK(contains(message, "t = 0 "));
}

TEST_CASE("a right-hand side that is not finite from some time on fails near that time") {
  for (const double bad : {not_a_number, infinity}) {
    const auto broken = [&](const state& x, state& dxdt, double t) { dxdt[0] = t < 0.75 ? -x[0] : bad; };
    const auto message = failure(broken, 1);
    CHECK(contains(message, "resolution of t"));
    CHECK((contains(message, "t = 0.7499999") || contains(message, "t = 0.75 ")));
  }
}

TEST_CASE("a step that leaves where the right-hand side is defined is shortened") {
  // x' = -sqrt(x) - 0.1 reaches its boundary, x = 0, only after t = 1.4.
  const auto root = [](const state& x, state& dxdt, double) { dxdt[0] = -std::sqrt(x[0]) - 0.1; };
  CHECK(flow(root, {1}, 0, 1.4, {.initial_step = 100}).state[0] > 0);
  CHECK(contains(failure(root, 3), "resolution of t"));
}

TEST_CASE("a solution that blows up fails near its singularity") {
  const auto blow_up = [](const state& x, state& dxdt, double) { dxdt[0] = x[0] * x[0]; };
  const auto message = failure(blow_up, 2);
  CHECK((contains(message, "t = 0.99999") || contains(message, "t = 1.0000")));
}

TEST_CASE("too few steps are a failure that names the time reached") {
  const auto message = failure(oscillator, 1e6, {.max_steps = 100}, {1, 0});
  CHECK(contains(message, "max_steps"));
  CHECK(contains(message, "after 100 steps"));
}

TEST_CASE("a level that is never met is a failure if nothing else ends the flow") {
  const auto rest = [](const state&, state& dxdt, double) {
    dxdt[0] = 0;
    return 1.0;
  };
  CHECK(contains(failure(rest, infinity, {.stop_at = 0}), "not met"));
}

TEST_CASE("a level needs a monitored value") {
  const auto silent = [](const state& x, state& dxdt, double) { dxdt[0] = -x[0]; };
  CHECK(contains(failure(silent, 1, {.stop_at = 0}), "returned no value"));
  CHECK(std::isnan(flow(silent, {1}, 0, 1).value));
}

TEST_CASE("bad arguments are refused before the system is called") {
  const auto untouched = [](const state&, state&, double) { FAIL("called"); };
  CHECK_THROWS_AS((void)flow(untouched, {1}, 1, 0), lindyn::argument_error);
  CHECK_THROWS_AS((void)flow(untouched, {not_a_number}, 0, 1), lindyn::non_finite_error);
  CHECK_THROWS_AS((void)flow(untouched, {1}, 0, 1, {.tolerance = not_a_number}), lindyn::argument_error);
}

TEST_CASE("a derivative of another size is a shape error") {
  const auto resizing = [](const state&, state& dxdt, double) { dxdt.assign(3, 0.0); };
  CHECK_THROWS_AS((void)flow(resizing, {1}, 0, 1), lindyn::shape_error);
}

TEST_CASE("what the system throws passes through") {
  const auto throwing = [](const state&, state& dxdt, double t) {
    if (t > 0.5) throw std::runtime_error("mine");
    dxdt[0] = 1;
  };
  CHECK_THROWS_WITH((void)flow(throwing, {1}, 0, 1), "mine");
}
