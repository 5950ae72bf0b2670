// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

#include <lindyn/circuit/induction/induction_flow.hpp>
#include <lindyn/circuit/induction/induction_head.hpp>
#include <lindyn/circuit/induction/induction_integral.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::circuit;
using lindyn::index;  // POSIX has a function of this name
const double emergence_constant = std::sqrt(8 * std::numbers::pi);

induction_head head_of(int pairs, int burstiness = 1, metric lengths = {}) {
  auto options = induction_head_options::of_pairs(pairs);
  options.burstiness = burstiness;
  options.metric = lengths;
  return induction_head(options);
}

bool within(double value, double expected, double share) { return std::abs(value / expected - 1) <= share; }

TEST_CASE("from zero, the three weights emerge at sqrt(8 pi) N^2, and match at 3.4225 N^2") {
  for (const int pairs : {256, 1024, 16384}) {
    const auto head = head_of(pairs);
    const auto when = emergence_time(head);
    const double square = static_cast<double>(pairs) * pairs;
    CAPTURE(pairs);
    MESSAGE("t_ICL / N^2 = " << *when.icl_time / square << ", T_beta / N^2 = " << *when.match_time / square << ", "
                             << when.evaluations << " evaluations");
    CHECK(within(*when.icl_time / square, emergence_constant, 0.005));
    if (pairs == 256) CHECK(within(*when.match_time / square, 3.439, 0.005));
    if (pairs == 16384) CHECK(within(*when.match_time / square, 3.4225, 0.001));
    CHECK(within(*when.icl_time, asymptotic_emergence_time(head.options()), 0.005));
    CHECK(within(*when.match_time, asymptotic_match_time(head.options()), 0.005));
    CHECK(when.evaluations < 20 * pairs + 3000);
    CHECK(head.evaluate(when.end).attention == doctest::Approx(0.5).epsilon(1e-8));
  }
  // Further digits, of the definition's own numerics.
  CHECK(within(*emergence_time(head_of(64)).icl_time / 4096, 5.040, 1e-4));
}

TEST_CASE("burstiness shortens the time by its square") {
  for (const int burstiness : {2, 4}) {
    const auto when = emergence_time(head_of(4096, burstiness));
    CHECK(within(*when.icl_time * burstiness * burstiness / (4096.0 * 4096.0), emergence_constant, 0.01));
  }
}

TEST_CASE("in the Gram metric the time grows by the geometric mean of its lengths") {
  for (const int pairs : {256, 1024})
    for (const int vocabulary : {2 * pairs, 4 * pairs}) {
      const int positions = 2 * pairs + 4;
      const auto when = emergence_time(head_of(pairs, 1, metric::gram(vocabulary, positions)));
      const double lengths = std::sqrt((vocabulary - 1.0) * (positions - 1.0));
      CAPTURE(pairs);
      CAPTURE(vocabulary);
      CHECK(within(*when.icl_time / (lengths * pairs * pairs), emergence_constant, 0.005));
    }
}

TEST_CASE("where one of its conditions fails, the asymptotic law is off, the more the farther") {
  const auto ratio = [](const induction_head& head) {
    return *emergence_time(head).icl_time / asymptotic_emergence_time(head.options());
  };
  // b^2 << n and m:
  const std::array bursts{1, 2, 4, 8, 16, 32};
  const std::array by_burst{0.999, 1.023, 1.126, 1.578, 3.55, 13.5};
  for (std::size_t i = 0; i < bursts.size(); ++i) CHECK(within(ratio(head_of(256, bursts[i])), by_burst[i], 0.01));
  // The condition on m alone: gamma falls behind b, and costs (1 + b^2 / m)^2.
  for (const int burstiness : {4, 8}) {
    const induction_head wide({.visible = 10'000, .distractors = 64, .burstiness = burstiness});
    CHECK(within(ratio(wide), std::pow(1 + burstiness * burstiness / 64.0, 2), 0.005));
  }
  // The condition on n alone: the readout settles late, and so does attention grow at the end.
  CHECK(within(ratio(induction_head({.visible = 64, .distractors = 10'000, .burstiness = 8})), 3.626, 0.01));
  // sqrt(w_t / w_p) << n:
  const std::array vocabularies{256, 4096, 65'536, 1'000'000};
  const std::array by_vocabulary{1.023, 1.12, 1.42, 2.54};
  for (std::size_t i = 0; i < vocabularies.size(); ++i)
    CHECK(within(ratio(head_of(64, 1, metric::gram(vocabularies[i], 132))), by_vocabulary[i], 0.01));
  // sqrt(w_p / w_t) << n: beta grows large, and matters before alpha does.
  const std::array positions{100, 1000, 10'000};
  const std::array by_position{0.718, 0.482, 0.267};
  for (std::size_t i = 0; i < positions.size(); ++i)
    CHECK(within(ratio(head_of(32, 1, {.position = 1.0 * positions[i]})), by_position[i], 0.01));
}

TEST_CASE("Q is conserved to the solver's tolerance, in both metrics") {
  const std::array tolerances{1e-6, 1e-9, 1e-12};
  for (const metric& lengths : {metric::unit(), metric::gram(1024, 516)}) {
    const auto head = head_of(256, 1, lengths);
    const double until = *emergence_time(head).icl_time;
    std::array<double, tolerances.size()> drifts{};
    for (std::size_t i = 0; i < tolerances.size(); ++i) {
      induction_flow_options options{.until = until, .tolerance = tolerances[i]};
      for (int part = 0; part <= 100; ++part) options.times.push_back(until * (part / 100.0));
      const auto flow = induction_flow(head, options);
      const double at_start = head.conserved(options.start);
      for (index place = 0; place < flow.sampled().rows; ++place)
        drifts[i] = std::max(drifts[i], std::abs(head.conserved(flow.sampled().row(place)) - at_start) / lengths.token);
      CAPTURE(tolerances[i]);
      MESSAGE("drift of Q in tolerances: " << drifts[i] / tolerances[i] << ", after " << flow.steps << " steps");
      // The tolerance is a step's, and errors add up over the steps: measured are up to 0.026 tolerances a step.
      CHECK(drifts[i] < 0.05 * static_cast<double>(flow.steps) * tolerances[i]);
    }
    // A step of length h errs as h^6, its estimate, held at the tolerance, as h^5, and there are 1 / h steps: the whole
    // is proportional to the tolerance (measured power: 0.95).
    const double power = std::log(drifts.back() / drifts.front()) / std::log(tolerances.back() / tolerances.front());
    CHECK(power == doctest::Approx(1).epsilon(0.1));
  }
}

TEST_CASE("the integral at a held readout is the two-variable flow's time") {
  struct run {
    induction_head head;
    induction_coordinates start;
  };
  const run runs[] = {{head_of(4), {0, 0, 1}},
                      {head_of(64), {0, 0, 0.7}},
                      {head_of(16384), {0, 0, 1}},
                      {head_of(64, 4), {0, 0, 1.9}},
                      {head_of(32), {0.5, -2, 0.3}},
                      {head_of(32), {-1, 0.5, 1}},
                      {head_of(8), {4, 0.1, 1}},
                      {head_of(1, 8), {-3, -5, 0.2}},
                      {head_of(64, 1, metric::gram(256, 132)), {0, 0, 1}},
                      {head_of(64, 1, metric::gram(20'000, 8)), {0, 0, 1}}};
  double largest = 0;
  for (const auto& [head, start] : runs) {
    const auto when = emergence_time(head, {.start = start, .readout = readout::held, .tolerance = 1e-12});
    const auto integral = emergence_integral_held(head, start[2], start[0], start[1]);
    for (const double difference : {*when.icl_time / integral.icl_time - 1, *when.match_time / integral.match_time - 1})
      largest = std::max(largest, std::abs(difference));
    CHECK(when.end[2] == start[2]);
  }
  MESSAGE("largest relative difference: " << largest);
  CHECK(largest < 1e-8);
}

TEST_CASE("at a held readout the time falls as the burstiness, not as its square") {
  const double once = emergence_integral_held(head_of(16384), 1).icl_time;
  for (const int burstiness : {2, 4}) {
    CHECK(within(emergence_integral_held(head_of(16384, burstiness), 1).icl_time * burstiness, once, 0.001));
    CHECK(within(emergence_integral_held(head_of(16384, burstiness), 0.5).icl_time * burstiness, 2 * once, 0.001));
  }
}

TEST_CASE("the integral with a stationary readout is the flow of alpha and beta alone, and near that of all three") {
  for (const int burstiness : {1, 2}) {
    const auto head = head_of(64, burstiness);
    const double m = head.options().distractors;
    const auto follow = [&](const integrate::state& c, integrate::state& dcdt, double) {
      const double b = head.attention(c[1] * head.previous_attention(c[0]));
      const double gamma = b / (b * b + (1 - b) * (1 - b) / m);
      induction_coordinates velocity{};
      (void)head.velocity(std::array{c[0], c[1], gamma}, velocity);
      CHECK(std::abs(velocity[2]) < 1e-12);  // gamma is at the least loss
      dcdt = {velocity[0], velocity[1]};
      return 0.5 - b;
    };
    const auto flow = integrate::flow(follow, {0.0, 0.0}, 0.0, 1e9, {.tolerance = 1e-12, .stop_at = 0.0});
    const auto integral = emergence_integral_stationary(head);
    CHECK(within(integral.icl_time, flow.t, 1e-8));
    const auto wide = head_of(4096, burstiness);
    CHECK(within(emergence_integral_stationary(wide).icl_time, *emergence_time(wide).icl_time, 0.001));
  }
}

TEST_CASE("events come in either order, at the start, or never") {
  // Many places match: attention is beyond one half from the start, and beta reaches 1 later.
  const auto bursty = emergence_time(head_of(4, 20));
  CHECK(bursty.icl_time == 0.0);
  CHECK(*bursty.match_time > 0);
  const auto integral = emergence_integral_held(head_of(4, 20), 1);
  CHECK(integral.icl_time == 0);
  CHECK(integral.match_time > 0);
  // Few places match almost: one half is passed before beta = 1.
  const auto near = emergence_time(head_of(4, 7));
  CHECK(*near.icl_time > 0);
  CHECK(*near.icl_time < *near.match_time);
  CHECK(near.end[1] == doctest::Approx(1).epsilon(1e-12));
  // The flow to either event is the flow to the first.
  const auto either = induction_flow(head_of(4), {.stop_at = induction_event::either});
  const auto matched = induction_flow(head_of(4), {.stop_at = induction_event::matched});
  CHECK(either.t == matched.t);
  CHECK(either.t == *emergence_time(head_of(4)).match_time);
  // Not yet.
  const auto early = emergence_time(head_of(16), {.until = 1000});
  CHECK(*early.match_time < 1000);
  CHECK_FALSE(early.icl_time);
  const auto earlier = emergence_time(head_of(16), {.until = 10});
  CHECK_FALSE(earlier.match_time);
  // At this readout g vanishes at B = 0.515, behind one half, but before beta = 1.
  const auto stuck = emergence_integral_held(head_of(4, 7), 2.2, 40);
  CHECK(std::isfinite(stuck.icl_time));
  CHECK(std::isinf(stuck.match_time));
  const auto flow = emergence_time(head_of(4, 7), {.start = {40, 0, 2.2}, .readout = readout::held, .until = 1e4});
  CHECK(within(*flow.icl_time, stuck.icl_time, 1e-6));
  CHECK_FALSE(flow.match_time);
}

TEST_CASE("bad options are refused by name, and a flow that can't go on says so") {
  const auto head = head_of(16);
  CHECK_THROWS_WITH_AS((void)emergence_time(head, {.tolerance = 0}), doctest::Contains("tolerance"), argument_error);
  for (const double tolerance : {-1.0, 0.11, 100.0, std::nan("")})
    CHECK_THROWS_WITH_AS((void)emergence_time(head, {.tolerance = tolerance}), doctest::Contains("tolerance"),
                         argument_error);
  CHECK_THROWS_WITH_AS((void)emergence_time(head, {.readout = readout::held}), doctest::Contains("start[2] = 0"),
                       argument_error);
  const auto still = emergence_time(head, {.readout = readout::held, .until = 1e6});
  CHECK_FALSE(still.icl_time);
  CHECK(still.end == induction_coordinates{});
  CHECK_THROWS_WITH_AS((void)emergence_time(head, {.until = -1}), doctest::Contains("until"), argument_error);
  CHECK_THROWS_WITH_AS((void)emergence_time(head, {.start = {0, NAN, 0}}), doctest::Contains("start[1]"),
                       non_finite_error);
  CHECK_THROWS_AS((void)induction_flow(head, {}), argument_error);  // without an event, when would it end?
  CHECK_THROWS_AS((void)emergence_time(head, {.max_steps = 10}), solver_error);
  for (const double gamma : {0.0, -1.0, 2.0646, 3.0, std::nan("")})
    CHECK_THROWS_WITH_AS((void)emergence_integral_held(head, gamma), doctest::Contains("gamma"), argument_error);
  for (const double alpha : {-601.0, 601.0, std::nan("")})
    CHECK_THROWS_WITH_AS((void)emergence_integral_held(head, 1, alpha), doctest::Contains("alpha"), argument_error);
  for (const double beta : {-601.0, -40.0, std::nan("")})
    CHECK_THROWS_WITH_AS((void)emergence_integral_held(head, 1, 0, beta), doctest::Contains("beta"), argument_error);
  for (const double alpha : {-590.0, 590.0}) {
    const auto far = emergence_integral_held(head, 1, alpha, -1);
    CHECK(far.icl_time > 0);
    CHECK(std::isfinite(far.icl_time));
  }
  CHECK_THROWS_WITH_AS((void)emergence_integral_stationary(head, 0, 1e200), doctest::Contains("beta"), argument_error);
}

}  // namespace
