// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include <lindyn/integrate/system.hpp>

using lindyn::integrate::right_hand_side;
using lindyn::integrate::state;
using lindyn::integrate::system_ref;

TEST_CASE("a right-hand side may return nothing or a number, and has to take state, derivative and time") {
  const auto silent = [](const state&, state&, double) {};
  const auto monitored = [](const state&, state&, double) { return 1; };
  const auto textual = [](const state&, state&, double) { return "loss"; };
  const auto timeless = [](const state&, state&) {};
  static_assert(right_hand_side<decltype(silent)>);
  static_assert(right_hand_side<decltype(monitored)>);
  static_assert(!right_hand_side<decltype(textual)>);
  static_assert(!right_hand_side<decltype(timeless)>);
}

TEST_CASE("a system reference forwards arguments and the monitored value") {
  const auto monitored = [](const state& x, state& dxdt, double t) {
    dxdt[0] = x[0] + t;
    return 10 * t;
  };
  const system_ref f(monitored);
  state dxdt{0};
  CHECK(f({2}, dxdt, 3) == 30);
  CHECK(dxdt[0] == 5);
}

TEST_CASE("a system that returns nothing has NaN as its monitored value") {
  const auto silent = [](const state& x, state& dxdt, double) { dxdt[0] = -x[0]; };
  state dxdt{0};
  CHECK(std::isnan(system_ref(silent)({2}, dxdt, 0)));
  CHECK(dxdt[0] == -2);
}

TEST_CASE("a system reference refers to the callable and does not copy it") {
  struct counting {
    int calls = 0;
    void operator()(const state&, state&, double) { ++calls; }
  } system;
  const system_ref f(system);
  const system_ref copy(f);
  state dxdt;
  f({}, dxdt, 0);
  copy({}, dxdt, 0);
  CHECK(system.calls == 2);
}
