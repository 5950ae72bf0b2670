// SPDX-License-Identifier: MIT
/// \file
/// What it costs to watch a training (one core).
///
///   observe/order       all order parameters of a step's batch, from the attention that its forward pass has left;
///                       share_of_training: of the time of a training of which every 10th step is watched
///   observe/order_anew  the same with a forward pass of its own, as for other sequences or weights
///   observe/..          the others on a network of the regimes
///
/// Floors are arithmetic: a logarithm, at the price of an exponential, for each distinct attention weight (and the
/// products of the forward pass anew aren't counted); for condensation one sweep over all pairs of columns; for groups
/// the products of all pairs; for frequencies a multiplication by sine and cosine each; for margins reading the logits.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <lindyn/backend/host.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/observe/condensation.hpp>
#include <lindyn/observe/frequencies.hpp>
#include <lindyn/observe/margins.hpp>
#include <lindyn/observe/network_order.hpp>
#include <lindyn/observe/neuron_groups.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/population/finite/batches.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/trainer.hpp>

#include "experiments.hpp"
#include "support.hpp"

namespace {

using benchmarks::experiment;
using lindyn::matrix_view;
namespace model = lindyn::model;
namespace observe = lindyn::observe;
namespace population = lindyn::population;
namespace train = lindyn::train;
using network = model::prenorm_transformer<float>;

constexpr int watched_steps = 10;  // one step of so many is watched

/// \param anew  with a forward pass of its own
void order(benchmark::State& state, experiment (*make)(), bool anew) {
  const experiment of = make();
  const network net(of.shape);
  std::vector<float> weights = model::initial_weights<float>(of.shape, {});
  train::trainer trainer(train::set_objective(net, of.data.training, population::batches{.size = of.batch}),
                         std::span(weights), lindyn::optimizer::adam<float>(net.parameters().size()),
                         {.learning_rate = of.learning_rate});
  network::workspace memory(lindyn::backend::host(1)), other(lindyn::backend::host(1));
  const double step = benchmarks::seconds_of(5, [&] { trainer.step(memory); });
  trainer.evaluate(memory);
  population::batch_sampler draw(of.data.training.count(), {.size = of.batch});
  const std::span<const int> batch = draw(trainer.steps());
  const auto look = [&](auto&& tell) {
    if (anew)
      net.visit_attention(weights, of.data.training, batch, other, tell);
    else
      net.visit_attention(memory, tell);
  };
  const observe::head_statistics none(of.shape.heads);
  for (auto _ : state) {
    std::vector<observe::head_statistics> layers(static_cast<std::size_t>(of.shape.layers), none);
    look([&](const auto& row) { layers[static_cast<std::size_t>(row.layer)].add(row); });
    const observe::network_order result = observe::network_order_of(layers);
    benchmark::DoNotOptimize(result.layers.data());
  }
  double entries = 0;
  look([&](const auto& row) { entries += row.visible * of.shape.heads; });
  benchmarks::set_floor(state, {.exponentials = entries});
  // Its inverse is this over iterations a second.
  using benchmark::Counter;
  state.counters["share_of_training"] =
      Counter(watched_steps * step, static_cast<Counter::Flags>(Counter::kIsIterationInvariantRate | Counter::kInvert));
}

constexpr int inputs = 128, hidden = 512, modulus = 97, batch = 512;

void condensation(benchmark::State& state) {
  const auto matrix = benchmarks::normal_numbers<float>(inputs * inputs, 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(observe::condensation(matrix_view<const float>{matrix.data(), inputs, inputs}));
  benchmarks::set_floor(state, {.operations = 6.0 * inputs * inputs * inputs});
}

void groups(benchmark::State& state) {
  const auto matrix = benchmarks::normal_numbers<float>(hidden * inputs, 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        observe::group_neurons(matrix_view<const float>{matrix.data(), hidden, inputs}).sizes.data());
  benchmarks::set_floor(state, {.operations = 1.0 * hidden * hidden * inputs});
}

void frequencies(benchmark::State& state) {
  const auto matrix = benchmarks::normal_numbers<float>(modulus * inputs, 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        observe::frequencies_of_columns(matrix_view<const float>{matrix.data(), modulus, inputs}, modulus).constant);
  benchmarks::set_floor(state, {.operations = 2.0 * modulus * modulus * inputs});
}

void margins(benchmark::State& state) {
  const auto logits = benchmarks::normal_numbers<float>(batch * modulus, 1);
  const std::vector<int> answers(batch, 3);
  observe::margins all;
  for (auto _ : state) all.add(matrix_view<const float>{logits.data(), batch, modulus}, answers);
  benchmarks::set_floor(state, {.bytes = 4.0 * batch * modulus});
}

const bool registered = [] {
  using named = std::pair<const char*, experiment (*)()>;
  for (const auto& [name, of] : {named{"windows", benchmarks::windows}, named{"regimes", benchmarks::regimes}}) {
    benchmark::RegisterBenchmark((std::string("observe/order/") + name).c_str(), order, of, false);
    benchmark::RegisterBenchmark((std::string("observe/order_anew/") + name).c_str(), order, of, true);
  }
  benchmark::RegisterBenchmark("observe/condensation", condensation);
  benchmark::RegisterBenchmark("observe/groups", groups);
  benchmark::RegisterBenchmark("observe/frequencies", frequencies);
  benchmark::RegisterBenchmark("observe/margins", margins);
  return true;
}();

}  // namespace
