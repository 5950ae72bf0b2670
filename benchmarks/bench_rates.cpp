// SPDX-License-Identifier: MIT
/// \file
/// Rate systems (double, one core): a trajectory of a map of critical windows, from the first update to the last.
///
///   rates/map/..   the mean over a map of 32 x 32 onsets and widths, with what maps cost beside; 65536_on_two_cores_s is what
///                  a map of 256 x 256 takes on two cores
///   rates/flow/..  one trajectory, with Dormand and Prince's (explicit) or linearly implicit (stiff) steps, where
///                  memorising is so many times faster than decay (explicitly, 100,000 times as fast costs 32 million evaluations)
///
/// Floors are arithmetic: for each evaluation a multiplication and an addition for each term of the velocity and of the
/// stage (Dormand and Prince: six coefficients). They are far off: a state of two or three numbers leaves no room for
/// vectors, and the time goes to calls, allocations and the control of steps.

#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <lindyn/optimizer/decay.hpp>
#include <lindyn/rates/critical_window_map.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/rates/window_protocol.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>

#include "support.hpp"

namespace {

namespace rates = lindyn::rates;
namespace sweep = lindyn::sweep;

/// 20,000 updates, a budget of 20 in weights' own units: decay is 4/3 per unit of time in a window of 5,000.
const rates::window_protocol protocol{.step = {.learning_rate = 3e-3, .mode = lindyn::optimizer::decay_mode::absolute}};

benchmarks::needs needs_of(double evaluations, double dimension) {
  return {.operations = evaluations * dimension * 2 * 10};
}

template <rates::rate_system System>
void map(benchmark::State& state, const System& system, const std::vector<double>& start) {
  constexpr int side = 32;
  const sweep::grid grid(
      {sweep::axis::linear("width", 500, 8'000, side), sweep::axis::linear("onset", 0, 12'000, side)});
  const auto make = [&](double) { return rates::trial<System>{system, start}; };
  const rates::window_map_options options{.protocol = protocol};
  for (auto _ : state) {
    const auto found = rates::critical_window_map(make, grid, options);
    benchmark::DoNotOptimize(found.values().data);
  }
  const auto one = rates::train_under(system, start, protocol, {.tolerance = options.tolerance});
  benchmarks::set_floor(
      state, needs_of(side * side * static_cast<double>(one.evaluations), static_cast<double>(System::dimension)));
  state.counters["evaluations"] = static_cast<double>(one.evaluations);
  using benchmark::Counter;
  constexpr double maps_a_core = 256.0 * 256 / (side * side) / 2;
  state.counters["65536_on_two_cores_s"] =
      Counter(1 / maps_a_core, static_cast<Counter::Flags>(Counter::kIsIterationInvariantRate | Counter::kInvert));
}

/// \param faster  how much faster memorising is than decay
void flow(benchmark::State& state, double faster, bool stiff) {
  const rates::reduced_system<2> system({.memorising = faster, .reasoning = 5 * faster});
  const rates::decay_course decay(1.0);
  double evaluations = 0;
  for (auto _ : state) {
    const auto end = rates::flow(system, {0, 0.1, 0.1}, decay, {.until = 20, .tolerance = 1e-6, .stiff = stiff});
    benchmark::DoNotOptimize(end.state.data());
    evaluations = static_cast<double>(end.evaluations);
  }
  benchmarks::set_floor(state, needs_of(evaluations, 3));
  state.counters["evaluations"] = evaluations;
}

const bool registered = [] {
  const rates::slopes slopes{.memorising = 1, .reasoning = 10};
  const auto add = [](const char* name, const auto& system, const std::vector<double>& start) {
    benchmark::RegisterBenchmark((std::string("rates/map/") + name).c_str(),
                                 [=](benchmark::State& state) { map(state, system, start); });
  };
  add("printed", rates::printed_system({.growth = {1, 0.1}}), {0, 0});
  add("two_factors", rates::reduced_system<2>(slopes), {0, 0.1, 0.05});
  add("three_equal_factors", rates::equal_factor_system<3>(slopes), {0, 0.15});
  add("four_factors", rates::reduced_system<4>(slopes), {0, 0.3, 0.25, 0.25, 0.2});
  for (const auto& [faster, stiff] : {std::pair(10, false), std::pair(1'000, false), std::pair(10, true),
                                      std::pair(1'000, true), std::pair(100'000, true)}) {
    const std::string name = "rates/flow/" + std::string(stiff ? "stiff/" : "explicit/") + std::to_string(faster);
    benchmark::RegisterBenchmark(name.c_str(), flow, faster, stiff);
  }
  return true;
}();

}  // namespace
