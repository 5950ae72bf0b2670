// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lindyn/integrate/flow.hpp>
#include <lindyn/integrate/stiff_flow.hpp>

using lindyn::matrix_view;
using lindyn::integrate::flow;
using lindyn::integrate::flow_options;
using lindyn::integrate::flow_result;
using lindyn::integrate::flow_status;
using lindyn::integrate::state;
using lindyn::integrate::stiff_flow;
using lindyn::integrate::system_ref;

namespace {

/// x'' = (1 - x^2) x' - x on the time scale of its slow parts: eps y' = (1 - x^2) y - x with y = x'.
struct van_der_pol {
  double eps;
  double operator()(const state& x, state& dxdt, double) const {
    dxdt[0] = x[1];
    dxdt[1] = ((1 - x[0] * x[0]) * x[1] - x[0]) / eps;
    return x[0];
  }
  void operator()(const state& x, matrix_view<double> jacobian, double, std::span<double>) const {
    jacobian(0, 1) = 1;
    jacobian(1, 0) = (-2 * x[0] * x[1] - 1) / eps;
    jacobian(1, 1) = (1 - x[0] * x[0]) / eps;
  }
};

/// Robertson's reactions, whose rates lie nine orders of magnitude apart; the sum of the three is conserved.
struct robertson {
  void operator()(const state& x, state& dxdt, double) const {
    dxdt[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    dxdt[2] = 3e7 * x[1] * x[1];
    dxdt[1] = -dxdt[0] - dxdt[2];
  }
  void operator()(const state& x, matrix_view<double> jacobian, double, std::span<double>) const {
    jacobian(0, 0) = -0.04;
    jacobian(0, 1) = 1e4 * x[2];
    jacobian(0, 2) = 1e4 * x[1];
    jacobian(2, 1) = 6e7 * x[1];
    for (const int column : {0, 1, 2}) jacobian(1, column) = -jacobian(0, column) - jacobian(2, column);
  }
};

/// A pair that isn't linear, and depends on time in all its parts.
struct driven_pair {
  double operator()(const state& x, state& dxdt, double t) const {
    dxdt[0] = -x[0] * x[0] * (2 + std::sin(t)) + std::cos(3 * t) * x[1];
    dxdt[1] = x[0] - x[1] * (1 + t * t);
    return x[0];
  }
  void operator()(const state& x, matrix_view<double> jacobian, double t, std::span<double> dfdt) const {
    jacobian(0, 0) = -2 * x[0] * (2 + std::sin(t));
    jacobian(0, 1) = std::cos(3 * t);
    jacobian(1, 0) = 1;
    jacobian(1, 1) = -(1 + t * t);
    dfdt[0] = -x[0] * x[0] * std::cos(t) - 3 * std::sin(3 * t) * x[1];
    dfdt[1] = -2 * t * x[1];
  }
};

/// With the system's own Jacobian, or with differences: one instantiation for all tests.
template <class System>
flow_result solve(const System& system, bool differences, const state& start, double until,
                  const flow_options& options = {}) {
  const auto callable = [&](const state& x, state& dxdt, double t) { return system(x, dxdt, t); };
  const system_ref f(callable);
  return differences ? stiff_flow(f, start, 0, until, options) : stiff_flow(f, system, start, 0, until, options);
}

double distance(const state& a, const state& b) { return std::hypot(a[0] - b[0], a[1] - b[1]); }

}  // namespace

TEST_CASE("steps of constant size have order 4, with the given derivatives and with differences") {
  const state exact = flow(driven_pair{}, {1, 0.5}, 0, 2, {.tolerance = 1e-13}).state;
  for (const bool differences : {false, true}) {
    const auto error = [&](int steps) {
      const double size = 2.0 / steps;  // the tolerance is out of the way
      const auto result = solve(driven_pair{}, differences, {1, 0.5}, 2,
                                {.tolerance = 1e6, .initial_step = size, .largest_step = size});
      CHECK(result.steps == steps);
      return distance(result.state, exact);
    };
    CAPTURE(differences);
    CHECK(std::log2(error(64) / error(128)) == doctest::Approx(4).epsilon(0.07));
  }
}

TEST_CASE("the error falls with the tolerance, and steps grow as its fourth root") {
  const state exact = flow(driven_pair{}, {1, 0.5}, 0, 10, {.tolerance = 1e-13}).state;
  const auto coarse = solve(driven_pair{}, false, {1, 0.5}, 10, {.tolerance = 1e-5});
  const auto fine = solve(driven_pair{}, false, {1, 0.5}, 10, {.tolerance = 1e-9});
  CHECK(distance(coarse.state, exact) < 1e-5);
  CHECK(distance(fine.state, exact) < 1e-9);
  CHECK(static_cast<double>(fine.steps) / static_cast<double>(coarse.steps) == doctest::Approx(10).epsilon(0.3));
}

TEST_CASE("a transient that a step is too long to resolve is gone at its end") {
  const auto transient = [](const state& x, state& dxdt, double) { dxdt[0] = -1e12 * x[0]; };
  const auto result = stiff_flow(system_ref(transient), {1}, 0, 1, {.tolerance = 2, .initial_step = 1});
  CHECK(result.steps == 1);
  CHECK(std::abs(result.state[0]) < 1e-8);
}

TEST_CASE("van der Pol's oscillator, where explicit steps are a thousand times shorter") {
  // Values to all digits: the Test Set for IVP Solvers (Mazzia, Magherini), problem VDPOL.
  const state exact{0.1706167732170483e1, -0.8928097010247975};
  for (const bool differences : {false, true})
    for (const double tolerance : {1e-4, 1e-6}) {
      const auto result = solve(van_der_pol{1e-6}, differences, {2, 0}, 2, {.tolerance = tolerance});
      CHECK(distance(result.state, exact) < tolerance);
      CHECK(result.steps < 40 * std::pow(tolerance, -0.25));
      CHECK(result.rejected < result.steps / 10);
    }
  const auto by_explicit_steps = flow(van_der_pol{1e-6}, {2, 0}, 0, 0.1);
  const auto by_implicit_steps = solve(van_der_pol{1e-6}, false, {2, 0}, 0.1);
  CHECK(distance(by_explicit_steps.state, by_implicit_steps.state) < 1e-5);
  CHECK(by_explicit_steps.steps > 1000 * by_implicit_steps.steps);
}

TEST_CASE("Robertson's reactions are followed over sixteen orders of magnitude in time") {
  // The same test set, problem ROBER.
  for (const bool differences : {false, true}) {
    const auto result =
        solve(robertson{}, differences, {1, 0, 0}, 1e11, {.tolerance = 1e-6, .absolute_tolerance = 1e-12});
    CHECK(result.state[0] == doctest::Approx(0.2083340149701255e-7).epsilon(1e-5).scale(0));
    CHECK(result.state[1] == doctest::Approx(0.8333360770334713e-13).epsilon(1e-5).scale(0));
    CHECK(result.state[2] == doctest::Approx(0.9999999791665050).epsilon(1e-9));
    CHECK(result.steps < 600);
    // Linear invariants are kept to rounding, also by Jacobians that aren't quite right.
    CHECK(std::abs(result.state[0] + result.state[1] + result.state[2] - 1) < 1e-12);
  }
}

TEST_CASE(
    "a step costs six evaluations and one Jacobian, a rejected one five, and differences one a coordinate and one") {
  for (const bool differences : {false, true}) {
    long calls = 0;
    const van_der_pol system{1e-3};
    const auto counted = [&](const state& x, state& dxdt, double t) { return ++calls, system(x, dxdt, t); };
    const system_ref f(counted);
    const flow_options options{.stop_at = -5};
    const auto result =
        differences ? stiff_flow(f, {2, 0}, 0, 2, options) : stiff_flow(f, system, {2, 0}, 0, 2, options);
    CHECK(result.rejected > 0);
    CHECK(result.jacobians == result.steps);
    CHECK(result.evaluations == calls);
    CHECK(calls == 2 + 6 * result.steps + 5 * result.rejected + (differences ? 3 * result.jacobians : 0));
  }
}

TEST_CASE("events and samples are those of the explicit flow") {
  std::vector<double> times;
  for (int i = 0; i <= 40; ++i) times.push_back(0.05 * i);
  for (const double tolerance : {1e-5, 1e-8}) {
    const flow_options options{.tolerance = tolerance, .stop_at = 0.3, .sample_times = times};
    const auto exact = flow(driven_pair{}, {1, 0.5}, 0, 2, {.tolerance = 1e-13, .stop_at = 0.3, .sample_times = times});
    const auto result = solve(driven_pair{}, false, {1, 0.5}, 2, options);
    CHECK(result.status == flow_status::event);
    CHECK(std::abs(result.t - exact.t) < 10 * tolerance);
    CHECK(result.value == 0.3);
    CHECK(std::abs(result.state[0] - 0.3) < 1e-12);
    REQUIRE(result.samples.size() == exact.samples.size());
    for (std::size_t i = 0; i < exact.samples.size(); ++i)
      CHECK(std::abs(result.samples[i] - exact.samples[i]) < 10 * tolerance);
  }
}

TEST_CASE("steps end at jumps, which differences don't look across either") {
  double now = 0;
  const auto window = [&](const state& x, state& dxdt, double t) {
    CHECK((t < 1 || now >= 1));
    CHECK((t < 1.5 || now >= 1.5));
    dxdt[0] = -(t >= 1 && t < 1.5 ? 1e5 : 1) * (x[0] - 2 * t);
  };
  std::vector<double> times;
  const auto result = stiff_flow(system_ref(window), {0}, 0, 2,
                                 {.tolerance = 1e-8,
                                  .absolute_tolerance = 1e-8,
                                  .discontinuities = {1.5, 1, 2},
                                  .observer = [&](const auto& point) { times.push_back(now = point.t); }});
  CHECK(std::ranges::count(times, 1.0) == 1);
  CHECK(std::ranges::count(times, 1.5) == 1);
  // Within the window x lags behind 2 t by 2e-5; after it x - 2 t + 2 decays from there.
  const double lag = 2e-5;
  CHECK(result.state[0] == doctest::Approx(2 * (2 - 1) + (1.5 * 2 - lag - 1) * std::exp(-0.5)).epsilon(1e-7));
}

TEST_CASE("a loop of stiff motion on a short unit of time is the same loop") {
  const auto scaled = [](double rate) {
    return [rate](const state& x, state& dxdt, double t) {
      dxdt[0] = rate * (x[1] - x[0] + std::sin(rate * t));
      dxdt[1] = rate * 1e4 * (std::cos(x[0]) - x[1]);
    };
  };
  const auto plain = stiff_flow(system_ref(scaled(1)), {0, 0}, 0, 3);
  for (const double rate : {0x1p-30, 0x1p30}) {
    const auto other = stiff_flow(system_ref(scaled(rate)), {0, 0}, 0, 3 / rate);
    CHECK(other.state == plain.state);
    CHECK(other.evaluations == plain.evaluations);
  }
}

TEST_CASE("what isn't finite is an error that names the time") {
  const auto failure = [](double first, const auto& jacobian) -> std::string {
    const auto f = [&](const state& x, state& dxdt, double t) { dxdt[0] = t < 0.75 ? -x[0] : first; };
    try {
      (void)stiff_flow(system_ref(f), jacobian, {1}, 0, 1);
    } catch (const lindyn::solver_error& error) {
      return error.what();
    }
    return "no failure";
  };
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const auto fine = [](const state&, matrix_view<double> jacobian, double, std::span<double>) { jacobian(0, 0) = -1; };
  const auto broken = [](const state&, matrix_view<double> jacobian, double t, std::span<double>) {
    jacobian(0, 0) = t < 0.25 ? -1 : not_a_number;
  };
  CHECK(failure(-1, fine) == "no failure");
  CHECK(failure(not_a_number, fine).find("t = 0.7") != std::string::npos);
  CHECK(failure(-1, broken).find("the Jacobian is not finite at t = 0.") != std::string::npos);
  CHECK_THROWS_AS((void)stiff_flow(system_ref(robertson{}), {}, 0, 1), lindyn::argument_error);
}
