// SPDX-License-Identifier: MIT
/// \file
/// A step of training the full network (float, one core): drawing the minibatch, loss and gradient, and the update.
///
/// The floor, `floor_ms`: the dense products with W at `peak_gflops`, if only the last layer's query rows and the
/// readout are dense (three products each, without the one-hot copy of the stream); the layers below cost gathers.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>

namespace {

using recall = lindyn::task::associative_recall<lindyn::block<2>>;

constexpr double peak_gflops = 200;  // float, one core with two 512-bit multiply-add units at 3.1 GHz

template <int L>
void step(benchmark::State& state) {
  using net_type = lindyn::model::attention_only<lindyn::layers<L>, lindyn::heads<1>, float>;
  const lindyn::population::recall_law<recall> law({.pairs = 16, .vocabulary = 64});
  const lindyn::index batch_size = 512;
  const net_type net({.vocabulary = law.sizes().vocabulary, .positions = law.sizes().positions});
  lindyn::counter_generator generator(2);
  std::vector<float> weights(static_cast<std::size_t>(net.parameters().size())), gradient(weights.size());
  for (float& weight : weights) weight = static_cast<float>(0.1 * lindyn::standard_normal(generator));
  lindyn::population::sampler sampler(law, 1);
  lindyn::population::minibatch batch;
  typename net_type::workspace memory;
  lindyn::index number = 0;
  double loss = 0;
  for (auto _ : state) {
    sampler.draw(number++ * batch_size, batch_size, batch);
    loss += net.loss_and_gradient(weights, batch, lindyn::task::loss::cross_entropy, gradient, memory);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.1f * gradient[i];
    benchmark::DoNotOptimize(weights.data());
  }
  benchmark::DoNotOptimize(&loss);
  const auto& shape = net.shape();
  const auto input = static_cast<double>(shape.input_width()), width = static_cast<double>(shape.width(L - 1)),
             readout = static_cast<double>(shape.width(L));
  const double operations =
      6.0 * static_cast<double>(batch_size) * ((width - input) * width + (readout - input) * shape.vocabulary);
  state.counters["floor_ms"] = 1e3 * operations / (peak_gflops * 1e9);
}

BENCHMARK(step<2>)->Name("full/step/L2/V64/N16/batch512")->Unit(benchmark::kMillisecond);
BENCHMARK(step<3>)->Name("full/step/L3/V64/N16/batch512")->Unit(benchmark::kMillisecond);

}  // namespace
