// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/integrate/predictive_step_adjuster.hpp>
#include <lindyn/integrate/step_adjuster.hpp>

using lindyn::integrate::predictive_step_adjuster;
using lindyn::integrate::step_adjuster;

TEST_CASE("a rejected step is retried smaller, but no smaller than a fifth") {
  step_adjuster adjuster;
  CHECK(adjuster.decrease_step(2, 1, 4) == doctest::Approx(2 * 0.9));
  CHECK(adjuster.decrease_step(2, 32, 4) == doctest::Approx(2 * 0.9 / 2));
  CHECK(adjuster.decrease_step(2, 1e30, 4) == doctest::Approx(2 * 0.2));
}

TEST_CASE("a step after an accurate one is larger, but no larger than tenfold") {
  step_adjuster adjuster;
  CHECK(adjuster.increase_step(2, 1e-4, 5) > 2 * 2);
  CHECK(adjuster.increase_step(2, 1e-12, 5) == 20);
  CHECK(adjuster.increase_step(2, 0, 5) == 20);
}

TEST_CASE("constant errors settle the step where they are the allowed ones but for the safety factor") {
  // For a method whose error is h^5: h' = h implies 0.9 error^-(0.17 - 0.04) = 1.
  step_adjuster adjuster;
  double h = 0.1;
  for (int step = 0; step < 200; ++step) h = adjuster.increase_step(h, h * h * h * h * h, 5);
  CHECK(h * h * h * h * h == doctest::Approx(0.4446).epsilon(1e-3));
}

TEST_CASE("a step is not enlarged at once after a rejection") {
  step_adjuster adjuster;
  (void)adjuster.decrease_step(2, 8, 4);
  CHECK(adjuster.increase_step(1, 1e-3, 5) == 1);
  CHECK(adjuster.increase_step(1, 1e-3, 5) > 1);
}

TEST_CASE("rising errors are met with smaller steps than falling ones") {
  step_adjuster rising, falling;
  (void)rising.increase_step(1, 0.01, 5);
  (void)falling.increase_step(1, 0.9, 5);
  CHECK(rising.increase_step(1, 0.2, 5) < falling.increase_step(1, 0.2, 5));
}

TEST_CASE("predictive control follows the trend of the error, within the same bounds") {
  predictive_step_adjuster adjuster(4);
  CHECK(adjuster.decrease_step(2, 16) == doctest::Approx(2 * 0.9 / 2));
  CHECK(adjuster.decrease_step(2, 1e30) == doctest::Approx(2 * 0.2));
  CHECK(adjuster.increase_step(1, 0.0625) == 1);  // after a rejection
  // The error rose sixteenfold though the step didn't grow: it is expected to do so again.
  CHECK(adjuster.increase_step(1, 1) == doctest::Approx(0.9 / 2));
  CHECK(adjuster.increase_step(1, 0.0625) == doctest::Approx(0.9 * 2));  // falling errors are no reason for haste
  adjuster.restart();
  CHECK(adjuster.increase_step(1, 1) == doctest::Approx(0.9));
  CHECK(adjuster.increase_step(1, 0) == 10);
}
