// SPDX-License-Identifier: MIT
/// \file
/// The reduced model (double, one core): loss with gradient, and the flow of the three-layer reference.
///
/// Floors, `floor_us`: the exponentials and the dense products that no way of computing this can do without, each at
/// the speed measured here when the program starts. With N queries behind a trunk of T = N k places, H = 1,
///   exponentials = L N (T + 1) + (L - 2) T (T + 1) / 2 + N T        (queries, trunk rows, logits)
///   operations   = 9 N T^2 for L = 3 (the queries' fold and two pushes by layer 2's attention, lower triangular, each
///                  with two products in the backward pass), 0 for L = 2, whose first layer is sparse
/// Everything else - relations, sums by prefix, the adjoint of the softmax - is a few operations an entry of N x T.

#include <benchmark/benchmark.h>

#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace {

using lindyn::reduced::lanes;
using lindyn::reduced::relational_model;
using recall = lindyn::task::associative_recall<lindyn::block<2>>;
using stored = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;

/// Seconds of processor time for each of `count` calls of `work`.
template <class Work>
double seconds_of(int count, Work&& work) {
  const std::clock_t begin = std::clock();
  for (int i = 0; i < count; ++i) work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / count;
}

/// Multiplications and additions a second, in products and sums that don't wait for each other.
double measured_peak() {
  constexpr int chains = 16 / lanes::parts, rounds = 100;
  const lanes factor = lanes::all(0.999);
  lanes sums[chains]{};
  const double seconds = seconds_of(20'000, [&] {
    for (int round = 0; round < rounds; ++round)
      for (lanes& sum : sums) sum = sum * factor + factor;
    benchmark::DoNotOptimize(sums);
  });
  return 2.0 * lanes::count * chains * rounds / seconds;
}

/// Seconds for one exponential.
double measured_exponential() {
  std::vector<lanes> values(64), results(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = lanes::all(-0.1 * static_cast<double>(i));
  const double seconds = seconds_of(20'000, [&] {
    for (std::size_t i = 0; i < values.size(); ++i) results[i] = exponential(values[i]);
    benchmark::DoNotOptimize(results.data());
  });
  return seconds / static_cast<double>(lanes::count * values.size());
}

double floor_seconds(int layers, int pairs) {
  static const double peak = measured_peak(), exponential = measured_exponential();
  const double n = pairs, t = 2 * n;
  const double exponentials = layers * n * (t + 1) + (layers - 2) * t * (t + 1) / 2 + n * t;
  const double operations = layers == 3 ? 9 * n * t * t : 0;
  return exponentials * exponential + operations / peak;
}

template <class Task>
relational_model model_of(int layers, int pairs, int vocabulary) {
  const lindyn::population::recall_law<Task> law({.pairs = pairs, .vocabulary = vocabulary, .within_class = 0.0});
  return {lindyn::manifold::basis(layers, 1, law.structure()), lindyn::population::enumerate_types(law).types};
}

std::vector<double> coordinates_for(const relational_model& model) {
  lindyn::counter_generator generator(1);
  std::vector<double> coordinates;
  for (lindyn::index i = 0; i < model.dimension(); ++i) coordinates.push_back(0.3 * lindyn::standard_normal(generator));
  return coordinates;
}

void loss_and_gradient(benchmark::State& state, relational_model model, int layers, int pairs) {
  const auto coordinates = coordinates_for(model);
  std::vector<double> gradient(coordinates.size());
  double sum = 0;
  for (auto _ : state) {
    sum += model.loss_and_gradient(coordinates, gradient);
    benchmark::DoNotOptimize(gradient.data());
  }
  benchmark::DoNotOptimize(&sum);
  state.counters["floor_us"] = 1e6 * floor_seconds(layers, pairs);
}

void velocity(benchmark::State& state, relational_model model) {
  const auto coordinates = coordinates_for(model);
  std::vector<double> result(coordinates.size());
  for (auto _ : state) {
    model.velocity(coordinates, result);
    benchmark::DoNotOptimize(result.data());
  }
}

void loss(benchmark::State& state, relational_model model) {
  const auto coordinates = coordinates_for(model);
  for (auto _ : state) {
    double value = model.loss(coordinates);
    benchmark::DoNotOptimize(&value);
  }
}

void flow(benchmark::State& state, std::vector<double> start, double tolerance) {
  relational_model model = model_of<recall>(3, 4, 16);
  double evaluations = 0;
  for (auto _ : state)
    evaluations = static_cast<double>(
        lindyn::reduced::flow(model, start, {.until = 1e6, .stop_at_loss = 0.05, .tolerance = tolerance}).evaluations);
  state.counters["evaluations"] = evaluations;
  state.counters["floor_us"] = 1e6 * evaluations * floor_seconds(3, 4);
}

const bool registered = [] {
  const auto named = [](const std::string& name, auto function, auto... arguments) {
    return benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  };
  for (const int layers : {2, 3})
    for (const int pairs : {4, 16, 64}) {
      const std::string sizes = "/L" + std::to_string(layers) + "/N" + std::to_string(pairs);
      const auto add = [&](const std::string& name, const relational_model& model) {
        named("reduced/loss_and_gradient" + name, loss_and_gradient, model, layers, pairs)
            ->Unit(benchmark::kMicrosecond);
        named("reduced/loss" + name, loss, model)->Unit(benchmark::kMicrosecond);
      };
      // {I} with all tokens distinct, {I, C} with every label the partner of its item: N types each.
      const int vocabulary = pairs == 4 ? 16 : pairs == 16 ? 64 : 256;
      add(sizes, model_of<recall>(layers, pairs, vocabulary));
      add(sizes + "/association", model_of<stored>(layers, pairs, vocabulary));
      if (pairs == 16) add(sizes + "/V4096", model_of<recall>(layers, pairs, 4096));
    }

  named("reduced/velocity/L3/N4", velocity, model_of<recall>(3, 4, 16))->Unit(benchmark::kMicrosecond);

  const auto file = lindyn::io::read_json(std::filesystem::path(__FILE__).parent_path().parent_path() /
                                          "tests/data/reference/reduced_flow_3layer.json");
  for (const auto& run : file.at("runs")) {
    const std::string which = "/start" + run.at("seed").dump();
    named("reduced/flow/L3/N4/tolerance_1e-6" + which, flow, run.at("start").get<std::vector<double>>(), 1e-6)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
