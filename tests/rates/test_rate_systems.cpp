// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/rates/closed_forms.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/frozen_system.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/rates/rest_states.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/shapes.hpp>
#include <lindyn/task/vector_composition.hpp>

#include "../complaint.hpp"

namespace rates = lindyn::rates;
namespace schedule = lindyn::schedule;
using lindyn::matrix_view;
using lindyn::optimizer::decay_mode;
using lindyn::testing::complaint;

namespace {

const rates::slopes slopes{.memorising = 1, .reasoning = 5};
const rates::decay_course no_decay;

/// The largest difference between a Jacobian and central differences of the velocity.
template <rates::rate_system System>
double jacobian_error(const System& system, const std::array<double, System::dimension>& at, double lambda) {
  constexpr std::size_t n = System::dimension;
  std::array<double, n * n> jacobian{};
  system.jacobian(at, lambda, matrix_view<double>{jacobian.data(), n, n});
  double largest = 0;
  for (std::size_t j = 0; j < n; ++j) {
    auto shifted = at;
    std::array<double, n> after{}, before{};
    shifted[j] = at[j] + 1e-5;
    system.velocity(shifted, lambda, after);
    shifted[j] = at[j] - 1e-5;
    system.velocity(shifted, lambda, before);
    for (std::size_t i = 0; i < n; ++i)
      largest = std::max(largest, std::abs(jacobian[i * n + j] - (after[i] - before[i]) / 2e-5));
  }
  return largest;
}

/// The largest entry of the velocity.
template <rates::rate_system System>
double speed(const System& system, const std::vector<double>& at, double lambda) {
  std::vector<double> velocity(System::dimension);
  system.velocity(at, lambda, velocity);
  return std::abs(std::ranges::max(velocity, {}, [](double entry) { return std::abs(entry); }));
}

/// The largest difference of two states.
double difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("Jacobians are the derivatives of the velocities") {  // differences err by their step squared, 1e-10
  CHECK(jacobian_error(rates::printed_system({.growth = {2, 0.3}, .exponent = 2}), {0.4, 0.2}, 0.1) < 1e-8);
  CHECK(jacobian_error(rates::frozen_system(slopes, 0.7), {0.4, 0.2}, 0.1) < 1e-8);
  CHECK(jacobian_error(rates::reduced_system<1>(slopes), {0.4, 0.2}, 0.1) < 1e-8);
  CHECK(jacobian_error(rates::reduced_system<2>(slopes), {0.4, 0.2, -0.3}, 0.1) < 1e-8);
  CHECK(jacobian_error(rates::reduced_system<4>(slopes), {0.4, 0.2, -0.3, 0.8, 1.1}, 0.1) < 1e-8);
  CHECK(jacobian_error(rates::equal_factor_system<2>(slopes), {0.4, 0.6}, 0.1) < 1e-8);
  CHECK(jacobian_error(rates::equal_factor_system<5>(slopes), {0.4, 0.6}, 0.1) < 1e-8);
}

TEST_CASE("equal factors move as one") {
  const std::vector<double> all{0.2, 0.7, 0.7, 0.7}, one{0.2, 0.7};
  std::vector<double> all_velocity(4), one_velocity(2);
  rates::reduced_system<3>(slopes).velocity(all, 0.3, all_velocity);
  rates::equal_factor_system<3>(slopes).velocity(one, 0.3, one_velocity);
  for (std::size_t i = 1; i < 4; ++i) CHECK(all_velocity[i] == doctest::Approx(one_velocity[1]).epsilon(1e-14));
  CHECK(all_velocity[0] == doctest::Approx(one_velocity[0]).epsilon(1e-14));
  CHECK(rates::reasoning_share(rates::reduced_system<3>(slopes), all) ==
        doctest::Approx(rates::reasoning_share(rates::equal_factor_system<3>(slopes), one)).epsilon(1e-14));
}

TEST_CASE("differences of squared factors are conserved without decay and damped by exp(-2 integral) with it") {
  const rates::decay_course damped(schedule::window{100, 700, 0.4} + schedule::cosine{0, 1000, 0.2, 0.05},
                                   {.learning_rate = 3e-3});
  const std::vector<double> times{0.5, 1, 1.7, 2.2, 3};
  const auto check = [&](const auto& system, const std::vector<double>& start, const rates::decay_course& decay,
                         bool stiff) {
    const auto found =
        rates::flow(system, start, decay, {.until = 3, .tolerance = 1e-11, .times = times, .stiff = stiff});
    const auto states = found.sampled();
    REQUIRE(states.rows == 5);
    for (lindyn::index i = 0; i < states.rows; ++i) {
      const double accumulated = decay.accumulated(0, times[static_cast<std::size_t>(i)]);
      for (lindyn::index j = 2; j < states.columns; ++j) {
        const double a = states(i, j - 1), b = states(i, j);
        const auto at = static_cast<std::size_t>(j);
        CHECK(std::abs((a - b) * (a + b) - rates::factor_imbalance(start[at - 1], start[at], accumulated)) < 1e-9);
      }
    }
  };
  for (const bool stiff : {false, true})
    for (const rates::decay_course& decay : {no_decay, damped}) {
      check(rates::reduced_system<2>(slopes), {0, 0.3, -0.1}, decay, stiff);
      check(rates::reduced_system<3>(slopes), {0, 0.9, 0.5, 0.7}, decay, stiff);
    }
}

TEST_CASE("reasoning and factors without decay are those of the closed forms") {
  const std::vector<double> times{0.05, 0.2, 1, 4};
  const auto states = [&](const auto& system, const std::vector<double>& start) {
    return rates::flow(system, start, no_decay, {.until = 4, .tolerance = 1e-10, .times = times});
  };
  for (const auto& [a, b] : {std::pair(0.3, 0.3), std::pair(0.5, 0.1), std::pair(0.2, -0.05)}) {
    const auto found = states(rates::reduced_system<2>(slopes), {0, a, b});
    for (lindyn::index i = 0; i < 4; ++i) {
      const auto x = found.sampled().row(i);
      CHECK(std::abs(x[1] * x[2] - rates::reasoning_without_decay(slopes, a, b, x[0])) < 1e-6);
    }
  }
  CHECK(rates::reasoning_without_decay(slopes, 0.3, 0.3, 0.2) == doctest::Approx(0.09 * std::exp(2.0)).epsilon(1e-14));
  const auto check = [&](const auto& system) {
    const auto found = states(system, {0, 0.35});
    for (lindyn::index i = 0; i < 4; ++i) {
      const auto x = found.sampled().row(i);
      CHECK(std::abs(x[1] - rates::factor_without_decay(slopes, system.factors, 0.35, x[0])) < 1e-6);
    }
  };
  check(rates::equal_factor_system<2>(slopes));
  check(rates::equal_factor_system<3>(slopes));
  check(rates::equal_factor_system<4>(slopes));
  const auto single = states(rates::reduced_system<1>(slopes), {0, 0.35});
  CHECK(std::abs(single.state[1] - rates::factor_without_decay(slopes, 1, 0.35, single.state[0])) < 1e-6);
  CHECK(rates::factor_without_decay(slopes, 3, 0.5, 0.4) == std::numeric_limits<double>::infinity());
}

TEST_CASE("states of rest rest, and flows end there") {
  const double lambda = 0.3;
  const auto check = [&](const auto& system) {
    const int p = system.factors;
    const auto alone = rates::memorising_at_rest(slopes, lambda);
    CHECK(speed(system, {alone.memorising, 0}, lambda) < 1e-14);
    const auto rest = rates::reasoning_at_rest(slopes, p, lambda);
    REQUIRE(rest);
    for (const auto& state : {rest->stable, *rest->edge}) {
      CHECK(speed(system, {state.memorising, state.factor}, lambda) < 1e-13);
      CHECK(state.reasoning == doctest::Approx(std::pow(state.factor, p)).epsilon(1e-12));
    }
    const auto end =
        rates::flow(system, {0.1, 0.8}, rates::decay_course(lambda), {.until = 60, .tolerance = 1e-9, .stiff = true});
    CHECK(std::abs(end.state[0] - rest->stable.memorising) < 1e-6);
    CHECK(std::abs(end.state[1] - rest->stable.factor) < 1e-6);
  };
  check(rates::equal_factor_system<2>(slopes));
  check(rates::equal_factor_system<3>(slopes));
  check(rates::equal_factor_system<4>(slopes));

  const auto two = rates::reasoning_at_rest(slopes, 2, lambda);
  CHECK(two->stable.memorising == doctest::Approx(0.2).epsilon(1e-14));
  CHECK(two->stable.reasoning == doctest::Approx(1 - 1.3 / 5).epsilon(1e-14));
  const auto one = rates::reasoning_at_rest(slopes, 1, lambda);
  CHECK(speed(rates::reduced_system<1>(slopes), {one->stable.memorising, one->stable.factor}, lambda) < 1e-14);
  CHECK_FALSE(one->edge);

  // They vanish where (s_m + lambda) / s_r is the maximum of x^(p-2) (1 - x^p).
  for (const int p : {2, 3, 4, 7}) {
    double largest = 0;
    for (int i = 1; i < 10'000; ++i) {
      const double x = 1e-4 * i;
      largest = std::max(largest, std::pow(x, p - 2) * (1 - std::pow(x, p)));
    }
    CHECK(rates::largest_load(p) == doctest::Approx(largest).epsilon(1e-6));
    const double fold = 5 * rates::largest_load(p) - 1;
    CHECK(rates::reasoning_at_rest(slopes, p, fold - 1e-9));
    CHECK_FALSE(rates::reasoning_at_rest(slopes, p, fold + 1e-9));
  }
}

TEST_CASE("two factors grow from the memorising state iff s_r > s_m + lambda, at the rate of the closed form") {
  const double x = 1e-5;
  for (const double lambda : {0.01, 0.3, 2.0, 3.9, 4.1, 6.0}) {
    const double rate = rates::reasoning_growth(slopes, 2, lambda, x);
    CHECK(rate == doctest::Approx(2 * lambda * (5 / (1 + lambda) - 1)).epsilon(1e-14));
    CHECK((rate > 0) == (5 > 1 + lambda));
    const double time = 1 / std::abs(rate);
    const auto end =
        rates::flow(rates::reduced_system<2>(slopes), {rates::memorising_at_rest(slopes, lambda).memorising, x, x},
                    rates::decay_course(lambda), {.until = time, .tolerance = 1e-13});
    CHECK(std::abs(std::log(end.state[1] * end.state[2] / (x * x)) / time - rate) < 1e-6);
  }
  // The memorising state is stable: for two factors where reasoning doesn't grow, for more factors always.
  const auto returns = [](const auto& system, double lambda, double start) {
    const double m = rates::memorising_at_rest(slopes, lambda).memorising;
    const auto end = rates::flow(system, {m + 0.01, start}, rates::decay_course(lambda), {.until = 100 / lambda});
    return std::abs(end.state[0] - m) < 1e-6 && end.state[1] < 1e-6;
  };
  CHECK(returns(rates::equal_factor_system<2>(slopes), 6, 0.01));
  CHECK_FALSE(returns(rates::equal_factor_system<2>(slopes), 2, 0.01));
  CHECK(returns(rates::equal_factor_system<3>(slopes), 2, 0.01));
  CHECK(returns(rates::equal_factor_system<4>(slopes), 2, 0.01));
  // With more factors small ones shrink, and the threshold depends on their size.
  CHECK(rates::reasoning_growth(slopes, 3, 0.01, 0.2) < 0);
  CHECK(rates::reasoning_growth(slopes, 3, 0.01, 1.01 / 5) == doctest::Approx(0));
  CHECK(rates::reasoning_growth(slopes, 4, 0.01, 0.45) > 0);
}

TEST_CASE("the basin's edge parts reasoning from extinction") {
  const double lambda = 0.01, alone = rates::memorising_at_rest(slopes, lambda).memorising;
  CHECK(std::abs(rates::reasoning_at_rest(slopes, 3, lambda)->edge->factor - 0.20372) < 5e-6);
  CHECK(std::abs(*rates::basin_edge<3>(slopes, lambda, alone) - 0.20544) < 5e-6);
  const auto check = [&]<int P>(const rates::equal_factor_system<P>& system, double decay, double m) {
    const double edge = *rates::basin_edge<P>(slopes, decay, m);
    for (const double sign : {-1.0, 1.0}) {
      const auto end = rates::flow(system, {m, edge + 1e-6 * sign}, rates::decay_course(decay),
                                   {.until = 60 / decay, .tolerance = 1e-10, .stiff = true});
      CHECK(end.state[1] == doctest::Approx(sign > 0 ? rates::reasoning_at_rest(slopes, P, decay)->stable.factor : 0));
    }
  };
  check(rates::equal_factor_system<3>(slopes), lambda, alone);
  check(rates::equal_factor_system<3>(slopes), 0.3, 0);
  for (const double m : {0.0, 0.5, 1.0}) check(rates::equal_factor_system<4>(slopes), 0.3, m);
  const double saddle = rates::reasoning_at_rest(slopes, 4, 0.3)->edge->memorising;
  CHECK(*rates::basin_edge<4>(slopes, 0.3, saddle) == rates::reasoning_at_rest(slopes, 4, 0.3)->edge->factor);
  CHECK(*rates::basin_edge<3>(slopes, 4.0 / 3, 1) == std::numeric_limits<double>::infinity());
  CHECK(*rates::basin_edge<2>(slopes, 0.3, 0.5) == 0);
  CHECK_FALSE(rates::basin_edge<3>(slopes, 4, 0.5));
  CHECK(complaint([] { return rates::basin_edge<3>(slopes, 0, 0.5); }).starts_with("lambda = 0 "));
}

TEST_CASE("where one factor begins at zero, reasoning grows as gamma squared") {
  // Slope of log r over log gamma, by least squares, of two factors that both move.
  const std::vector<double> gammas{0.01, 0.02, 0.04, 0.08};
  double xx = 0, xy = 0, x_mean = 0, y_mean = 0;
  std::vector<std::pair<double, double>> points;
  for (const double gamma : gammas) {
    const rates::reduced_system<2> system(slopes);
    const auto end =
        rates::flow(system, {0, rates::initial_factor(gamma, 64), 0}, no_decay, {.until = 0.5, .tolerance = 1e-12});
    points.emplace_back(std::log(gamma), std::log(system.reasoning(end.state)));
    x_mean += points.back().first / 4;
    y_mean += points.back().second / 4;
  }
  for (const auto& [x, y] : points) {
    xx += (x - x_mean) * (x - x_mean);
    xy += (x - x_mean) * (y - y_mean);
  }
  CHECK(std::abs(xy / xx - 2) < 0.01);
}

TEST_CASE("linear systems end where their exact solutions say") {
  const schedule::window window{200, 600, 0.5};
  const rates::decay_course decay(window, {.learning_rate = 0.01});
  const auto check = [&](const auto& system, const std::array<double, 2>& start) {
    const auto exact = system.after(system.after(system.after(start, 0, 2), 0.5, 4), 0, 1);
    for (const bool stiff : {false, true}) {
      const auto end =
          rates::flow(system, {start[0], start[1]}, decay, {.until = 7, .tolerance = 1e-10, .stiff = stiff});
      CHECK(difference(end.state, exact) < 1e-8);
    }
  };
  check(rates::printed_system({.growth = {1.5, 0.2}, .capacities = {0.9, 0.8}, .exponent = 2}), {0, 0.1});
  check(rates::frozen_system(slopes, 0.4), {0.05, 0.2});
  check(rates::frozen_system(slopes, 0), {0.05, 0.2});
  const rates::printed_system printed({.growth = {1.5, 0.2}, .exponent = 2});
  const auto rest = printed.capacities(0.5);
  CHECK(speed(printed, {rest.memorising, rest.reasoning}, 0.5) < 1e-15);
}

TEST_CASE("printed and corrected rates differ by the number of pairs") {
  const rates::linearised_statistics of{
      .key_eigenvalue = 1.0 / 16, .coupling = rates::mean_coupling(1.0 / 64, 0.8), .pairs = 45};
  const auto printed = rates::printed_growth(of), corrected = rates::corrected_growth(of);
  CHECK(printed.memorising == 1.0 / 16);
  CHECK(printed.reasoning == doctest::Approx(0.01 / 16).epsilon(1e-14).scale(0));
  CHECK(corrected.memorising == doctest::Approx(1.0 / 720).epsilon(1e-14));
  CHECK(corrected.reasoning / corrected.memorising ==
        doctest::Approx(45 * printed.reasoning / printed.memorising).epsilon(1e-14));
  const auto summed = rates::corrected_growth(of, lindyn::task::pair_reduction::sum);
  CHECK(summed.memorising == printed.memorising);
  CHECK(summed.reasoning == doctest::Approx(45 * printed.reasoning).epsilon(1e-14));
}

TEST_CASE("what makes no sense is refused by name") {
  const std::vector<double> masses{0.1, 0.2};
  CHECK(complaint([] { return rates::reasoning_without_decay(slopes, std::nan(""), 1, 1); }).starts_with("a0 = nan "));
  CHECK(complaint([] { return rates::factor_imbalance(1, 1, -1); }).starts_with("accumulated = -1 "));
  CHECK(complaint([&] { return rates::frozen_system(slopes, 1).after(masses, -6, 1); }).starts_with("lambda = -6 "));
  CHECK(complaint([&] { return rates::printed_system({}).after(masses, 1, -1); }).starts_with("duration = -1 "));
  CHECK(complaint([] { return rates::reduced_system<2>({.memorising = 0}); }).starts_with("slopes.memorising = 0 "));
  CHECK(complaint([] { return rates::printed_system({.growth = {1, -1}}); }).starts_with("growth.reasoning = -1 "));
  CHECK(complaint([] { return rates::printed_growth({.pairs = 0}); }).starts_with("pairs = 0 "));
  CHECK(complaint([] { return rates::initial_factor(1, 0); }).starts_with("width = 0 "));
  CHECK_THROWS_AS((void)rates::flow(rates::reduced_system<2>(slopes), {0, 0.1}, no_decay), lindyn::shape_error);
}

TEST_CASE("flows over the edges of a schedule err by at most ten tolerances from split integration") {
  // Short windows, which steps as long as the tolerance allows would pass over, and levels that last.
  const double rate = 3e-3;
  const auto check = [&](const auto& system, const std::vector<double>& start, const schedule::steps& levels) {
    const rates::decay_course decay(levels, {.learning_rate = rate});
    auto pieces = levels.changes;
    pieces.push_back({pieces.back().t + 1'000, 0});
    std::vector<double> exact = start;  // piece by piece, each with a constant rate
    double t = 0, level = levels.level;
    for (const auto& [until, next] : pieces) {
      exact =
          rates::flow(system, exact, rates::decay_course(level), {.until = rate * until - t, .tolerance = 1e-12}).state;
      t = rate * until;
      level = next;
    }
    for (const bool stiff : {false, true})
      for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
        std::vector<double> ends;  // of steps
        const auto found =
            rates::flow(system, start, decay,
                        {.until = t,
                         .tolerance = tolerance,
                         .stiff = stiff,
                         .observer = [&](const lindyn::integrate::flow_point& here) { ends.push_back(here.t); }});
        CHECK(difference(found.state, exact) <= 10 * tolerance);
        for (const double edge : decay.edges()) CHECK(std::ranges::count(ends, edge) == 1);
      }
  };
  for (const double width : {1.0, 5.0, 50.0})
    check(rates::equal_factor_system<3>(slopes), {0, 0.3},
          {0, {{300, 2 / (rate * width)}, {300 + width, 0}}});  // a budget of 2
  check(rates::reduced_system<2>(slopes), {0, 0.2, 0.1}, {0, {{333, 0.9}, {777, 0.2}, {1500, 0}}});
}

TEST_CASE("what a window of full budget leaves is known to the relative tolerance, and what grows back from it") {
  // e^-20 is left of two factors of 0.0125 and more, far below the tolerance.
  const rates::reduced_system<2> system({.memorising = 1.0 / 720, .reasoning = 1 / std::sqrt(720.0)});
  const rates::decay_course decay(schedule::window{300, 350, 0.4});
  const std::vector<double> start{0, 0.0125, 0.0125};
  const auto end = [&](double until, double tolerance, bool stiff) {
    return rates::flow(system, start, decay, {.until = until, .tolerance = tolerance, .stiff = stiff}).state;
  };
  const auto before = end(300, 1e-11, false), after = end(350, 1e-6, false);
  // The error, at most 1, pulls at a factor by s_r times the other, and both are equal: by e^(s_r 50) at the most.
  CHECK(after[1] > before[1] * std::exp(-20));
  CHECK(after[1] < before[1] * std::exp(-20 + 50 / std::sqrt(720.0)));
  const double exact = rates::reasoning_share(system, end(20'000, 1e-10, false));
  CHECK(exact == doctest::Approx(0.335429).epsilon(1e-6));
  // Relative errors of all steps together, which the growth from there on keeps: some ten tolerances.
  for (const bool stiff : {false, true})
    CHECK(rates::reasoning_share(system, end(20'000, 1e-6, stiff)) == doctest::Approx(exact).epsilon(1e-5));
}

TEST_CASE("a flow stops where the share of reasoning is met, and its value is the mass of reasoning") {
  const rates::reduced_system<2> system(slopes);
  std::vector<double> told;
  const auto found = rates::flow(system, {0.5, 0.2, 0.2}, no_decay,
                                 {.stop_at_share = 0.25, .observer = [&](const lindyn::integrate::flow_point& here) {
                                    told.push_back(here.value - system.reasoning(here.state));
                                  }});
  CHECK(found.status == lindyn::integrate::flow_status::event);
  CHECK(rates::reasoning_share(system, found.state) == doctest::Approx(0.25).epsilon(1e-8));
  CHECK(found.value == system.reasoning(found.state));
  CHECK(std::ranges::all_of(told, [](double error) { return error == 0; }));
  CHECK(rates::flow(system, {0, 0.1, 0.1}, no_decay, {.stop_at_share = 0.7}).t == 0);  // m = 0 is a share of 1
  const auto refused = [&](double m, const rates::flow_options& options) {
    return complaint([&] { return rates::flow(system, {m, 0, 0}, no_decay, options); });
  };
  CHECK(refused(0, {.stop_at_share = 0.5}).starts_with("m + r of start = 0 "));
  CHECK(refused(-0.5, {.stop_at_share = 0.5}).starts_with("m + r of start = -0.5 "));
  CHECK(refused(1, {.stop_at_share = 7}).starts_with("stop_at_share = 7 "));
  CHECK(refused(1, {.stop_at_share = std::nan("")}).starts_with("stop_at_share = nan "));
  CHECK(refused(1, {.tolerance = 1}).starts_with("tolerance = 1 "));
  CHECK(refused(1, {.absolute_tolerance = 0}).starts_with("absolute_tolerance = 0 "));
}
