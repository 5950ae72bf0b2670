// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/shapes.hpp>

#include "../complaint.hpp"

namespace rates = lindyn::rates;
namespace schedule = lindyn::schedule;
using lindyn::optimizer::decay_mode;
using lindyn::testing::complaint;

TEST_CASE("an edge belongs to what comes after it, whatever rounding does to its time") {
  int rounded_before = 0;
  for (const double rate : {1e-3, 3e-3, 7e-4, 1.0 / 3, 0.1})
    for (int edge = 1; edge < 300; ++edge) {
      const double begin = edge, end = edge + 50, time = rate * begin;
      if (time / rate < begin) ++rounded_before;
      // A constant piece, and one that isn't, which takes the schedule's own value.
      for (const schedule::schedule& lambda :
           {schedule::schedule(schedule::window{begin, end, 0.25}),
            schedule::window{begin, end, 0.25} * schedule::linear{{{0, 1}, {1000, 1}}}}) {
        const rates::decay_course decay(lambda, {.learning_rate = rate});
        CHECK(decay(time) == 0.25);
        CHECK(decay(std::nextafter(time, 0.0)) == 0);
        CHECK(decay(rate * end) == 0);
        CHECK(decay(std::nextafter(rate * end, 0.0)) == 0.25);
      }
    }
  CHECK(rounded_before > 0);  // the case is there
}

TEST_CASE("per unit of time a rate is as its mode says") {
  const schedule::window window{100, 200, 0.004};
  const auto at = [&](decay_mode mode) {
    return rates::decay_course(window, {.learning_rate = 0.002, .mode = mode})(0.3);
  };
  CHECK(at(decay_mode::lr_scaled) == 0.004);
  CHECK(at(decay_mode::coupled_l2) == 0.004);
  CHECK(at(decay_mode::absolute) == doctest::Approx(2).epsilon(1e-15));
  CHECK(at(decay_mode::ratio) == doctest::Approx(2).epsilon(1e-15));
  const rates::decay_course decay(window, {.learning_rate = 0.002, .mode = decay_mode::absolute});
  CHECK(decay.edges() == std::vector{0.002 * 100, 0.002 * 200});
  CHECK(decay.accumulated(0, 1) == doctest::Approx(0.4).epsilon(1e-15));  // the window's values add up to this
  CHECK(decay.accumulated(0.25, 0.3) == doctest::Approx(0.1).epsilon(1e-14));
  CHECK(decay.step().updates(decay.step().time(123)) == doctest::Approx(123).epsilon(1e-15));
}

TEST_CASE("integrals and slopes of courses that aren't constant") {
  const rates::decay_course decay(schedule::cosine{100, 300, 0.4, 0.1} + schedule::linear{{{50, 0}, {150, 0.2}}},
                                  {.learning_rate = 0.01});
  // 1: 0.4 to t = 1, from there a mean of 0.25 to t = 3, then 0.1. 2: 0 to 0.5, a triangle to 1.5, then 0.2.
  CHECK(decay.accumulated(0, 4) == doctest::Approx(0.4 + 0.5 + 0.1 + 0.1 + 0.5).epsilon(1e-13));
  CHECK(decay.slope(0.2) == 0);
  CHECK(decay.slope(0.5) == doctest::Approx(0.2).epsilon(1e-9));  // the edge is part of what comes after
  CHECK(decay.slope(2) == doctest::Approx(-0.15 * std::acos(-1.0) / 2).epsilon(1e-8));
  CHECK(decay.slope(3) == 0);
  CHECK(decay.slope(100) == 0);
  // Near an edge, and at it, as elsewhere: to 1e-9 of the largest slope.
  const rates::decay_course cosine(schedule::cosine{0, 1000, 0.4, 0.1});
  const double largest = 0.15 * std::numbers::pi / 1000;
  for (const double t : {0.0, 0.005, 0.02, 500.0, 999.99, std::nextafter(1000.0, 0.0)})
    CHECK(std::abs(cosine.slope(t) + largest * std::sin(std::numbers::pi * t / 1000)) < 1e-9 * largest);
  CHECK(complaint([] { return rates::decay_course(0.1, {.learning_rate = 0}); }).starts_with("learning_rate = 0 "));
  CHECK(complaint([] { return rates::decay_course(0.1, {.learning_rate = 1e-320}); }).starts_with("learning_rate = "));
}
