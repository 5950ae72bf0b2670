// SPDX-License-Identifier: MIT
/// \file
/// A training step of the pre-norm transformer at the two published sizes (float, one thread): a fresh batch is drawn,
/// then forward pass, loss, backward pass, AdamW. Benchmarks that go by the clock alone get "/real_time" at the end of
/// their names; these report the clock beside processor time.
///
/// The floor is the arithmetic of the products that are left to do once the savings are made, at the machine's peak: the
/// mean over the batches that were drawn. Whatever isn't a product counts as nothing.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <lindyn/backend/host.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/prenorm_cost.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/population/finite/batches.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/trainer.hpp>

#include "experiments.hpp"
#include "support.hpp"

namespace {

using benchmarks::experiment;
namespace model = lindyn::model;
namespace optimizer = lindyn::optimizer;
namespace population = lindyn::population;
namespace train = lindyn::train;

template <class Scalar>
void step(benchmark::State& state, experiment (*make)(), const model::savings& use) {
  const experiment of = make();
  using network = model::prenorm_transformer<Scalar>;
  const network net(of.shape);
  const population::batches batches{.size = of.batch};
  std::vector<Scalar> weights = model::initial_weights<Scalar>(of.shape, {});
  train::trainer trainer(train::set_objective(net, of.data.training, batches), std::span(weights),
                         optimizer::adam<Scalar>(net.parameters().size(), {.beta2 = 0.98, .decay = {.rate = 0.1}}),
                         {.learning_rate = of.learning_rate});
  typename network::workspace memory(lindyn::backend::host(1), use);
  for (auto _ : state) {
    double loss = trainer.step(memory).loss;
    benchmark::DoNotOptimize(&loss);
    benchmark::DoNotOptimize(weights.data());
  }

  population::batch_sampler draw(of.data.training.count(), batches);
  model::evaluation_plan plan;
  double operations = 0;
  constexpr int sample = 32;
  for (int batch = 0; batch < sample; ++batch) {
    plan.build(of.data.training, draw(batch), of.shape.layers, of.shape.causal, use);
    operations += model::step_operations(of.shape, plan) / sample;
  }
  const bool single = sizeof(Scalar) == sizeof(float);
  benchmarks::set_floor(state, {.operations = single ? 0 : operations, .float_operations = single ? operations : 0});
  // Iterations a second times the floor's seconds.
  state.counters["share_of_floor"] =
      benchmark::Counter(state.counters["floor_arithmetic_s"].value, benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function, const auto&... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  };
  const auto add_all = [&](const std::string& name, experiment (*of)()) {
    add("trainer_step/" + name, step<float>, of, model::savings{});
    const auto without = [&](const char* what, const model::savings& use) {
      add("trainer_savings/" + name + "/" + what, step<float>, of, use);
    };
    without("without_last_place", {.last_place = false});
    without("without_distinct_first_layer", {.distinct_first_layer = false});
    without("without_shared_prefixes", {.shared_prefixes = false});
    without("dense", model::no_savings);
    add("trainer_double/" + name, step<double>, of, model::savings{});
  };
  add_all("windows", benchmarks::windows);
  add_all("regimes", benchmarks::regimes);
  return true;
}();

}  // namespace
