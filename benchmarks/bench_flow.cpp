// SPDX-License-Identifier: MIT
/// \file
/// Flows by explicit and by linearly implicit steps (double, one core), from where nothing is stiff to where all is.
///
/// The floor counts, for n coordinates, what a step of either method can't do without: an explicit one of seven slopes
/// 2 x 27 n operations for its stages, solution and error; an implicit one 2 n^3 / 3 for the factors, 6 x 2 n^2 to
/// solve with them, and 2 x 24 n for the sums; and f and its Jacobian, with 5 and 7 operations. Calls and overhead
/// aren't counted: with two coordinates they are most of it.

#include <cmath>
#include <span>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include <lindyn/integrate/flow.hpp>
#include <lindyn/integrate/stiff_flow.hpp>

#include "support.hpp"

namespace {

using lindyn::integrate::flow_result;
using lindyn::integrate::state;

/// Van der Pol's oscillator, the stiffer the smaller eps.
struct oscillator {
  double eps;
  void operator()(const state& x, state& dxdt, double) const {
    dxdt[0] = x[1];
    dxdt[1] = ((1 - x[0] * x[0]) * x[1] - x[0]) / eps;
  }
  void operator()(const state& x, lindyn::matrix_view<double> jacobian, double, std::span<double>) const {
    jacobian(0, 1) = 1;
    jacobian(1, 0) = (-2 * x[0] * x[1] - 1) / eps;
    jacobian(1, 1) = (1 - x[0] * x[0]) / eps;
  }
};

enum class method { explicit_steps, stiff, stiff_differences };

void flow(benchmark::State& benchmark_state, double eps, method which) {
  const oscillator system{eps};
  const lindyn::integrate::flow_options options{.tolerance = 1e-6, .max_steps = 100'000'000};
  flow_result end;
  for (auto _ : benchmark_state) {
    if (which == method::explicit_steps)
      end = lindyn::integrate::flow(system, {2, 0}, 0, 2, options);
    else if (which == method::stiff)
      end = lindyn::integrate::stiff_flow(system, system, {2, 0}, 0, 2, options);
    else
      end = lindyn::integrate::stiff_flow(system, {2, 0}, 0, 2, options);
    benchmark::DoNotOptimize(end.state.data());
  }
  const auto steps = static_cast<double>(end.steps + end.rejected);
  const double n = 2, linear = which == method::explicit_steps ? 54 * n : 2 * n * n * n / 3 + 12 * n * n + 48 * n;
  benchmark_state.counters["steps"] = steps;
  benchmark_state.SetLabel(std::to_string(end.steps + end.rejected) + " steps");
  benchmarks::set_floor(benchmark_state,
                        {.operations = linear * steps + 5.0 * static_cast<double>(end.evaluations) +
                                       (which == method::stiff ? 7.0 * static_cast<double>(end.jacobians) : 0)});
}

const bool registered = [] {
  for (const auto& [name, eps] : {std::pair{"1e-1", 1e-1}, {"1e-3", 1e-3}, {"1e-5", 1e-5}}) {
    const std::string suffix = std::string("/eps") + name;
    benchmark::RegisterBenchmark(("flow/explicit" + suffix).c_str(), flow, eps, method::explicit_steps);
    benchmark::RegisterBenchmark(("flow/stiff" + suffix).c_str(), flow, eps, method::stiff);
    benchmark::RegisterBenchmark(("flow/stiff_differences" + suffix).c_str(), flow, eps, method::stiff_differences);
  }
  return true;
}();

}  // namespace
