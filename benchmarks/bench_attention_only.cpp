// SPDX-License-Identifier: MIT
/// \file
/// Loss and gradient of the attention-only network. The floor is what the dense products with W cost at peak speed if
/// the last layer's query rows and the readout alone are dense (three products each, without the one-hot copy), at
/// `peak_gflops` of one core; everything else is gathers, scatters and small products.

#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/attention_only_plain.hpp>

namespace {

using lindyn::index;
using lindyn::model::attention_only;
using lindyn::model::attention_shape;

/// Distinct tokens in pairs at random slots, the last one a repeated item: as in associative recall.
struct recall_batch {
  recall_batch(index sequences, int pairs, int vocabulary, int slots) : count(sequences), length(2 * pairs + 1) {
    lindyn::counter_generator generator(1);
    std::vector<int> token_pool(static_cast<std::size_t>(vocabulary)), slot_pool(static_cast<std::size_t>(slots));
    std::iota(token_pool.begin(), token_pool.end(), 0);
    std::iota(slot_pool.begin(), slot_pool.end(), 0);
    std::vector<int> drawn(static_cast<std::size_t>(2 * pairs)), places(static_cast<std::size_t>(pairs + 1));
    for (index sequence = 0; sequence < count; ++sequence) {
      lindyn::draw_distinct(generator, token_pool, drawn);
      lindyn::draw_distinct(generator, slot_pool, places);
      const auto asked = static_cast<std::size_t>(lindyn::uniform_index(generator, pairs));
      tokens.insert(tokens.end(), drawn.begin(), drawn.end());
      tokens.push_back(drawn[2 * asked]);
      answers.push_back(drawn[2 * asked + 1]);
      for (int pair = 0; pair < pairs; ++pair)
        for (int phase = 0; phase < 2; ++phase) positions.push_back(2 * places[static_cast<std::size_t>(pair)] + phase);
      positions.push_back(2 * places.back());
    }
  }
  [[nodiscard]] lindyn::task::batch_view view() const {
    return {{tokens.data(), count, length}, {positions.data(), count, length}, answers};
  }
  index count, length;
  std::vector<int> tokens, positions, answers;
};

template <class Scalar>
std::vector<Scalar> weights_for(index count) {
  lindyn::counter_generator generator(2);
  std::vector<Scalar> weights(static_cast<std::size_t>(count));
  for (auto& weight : weights) weight = static_cast<Scalar>(0.1 * lindyn::standard_normal(generator));
  return weights;
}

/// Multiplications and additions of the dense products of a loss and gradient.
double dense_operations(const attention_shape& shape, double sequences) {
  const auto width = static_cast<double>(shape.width(shape.layers - 1));
  const auto input = static_cast<double>(shape.input_width());
  const auto readout = static_cast<double>(shape.width(shape.layers));
  return 6 * sequences * (shape.heads * (width - input) * width + (readout - input) * shape.vocabulary);
}

constexpr double peak_gflops = 200;  // float, one core with two 512-bit multiply-add units at 3.1 GHz; half in double

template <class Scalar, bool Gradient>
void step(benchmark::State& state, attention_shape shape, index sequences, int pairs) {
  const recall_batch batch(sequences, pairs, shape.vocabulary, shape.positions / 2);
  const attention_only<lindyn::layers<lindyn::dynamic>, lindyn::heads<lindyn::dynamic>, Scalar> net(shape);
  const auto weights = weights_for<Scalar>(net.parameters().size());
  std::vector<Scalar> gradient(weights.size());
  lindyn::model::attention_workspace<Scalar> memory;
  double loss = 0;
  for (auto _ : state) {
    if constexpr (Gradient)
      loss += net.loss_and_gradient(weights, batch.view(), lindyn::task::loss::cross_entropy, gradient, memory);
    else
      loss += net.loss(weights, batch.view(), lindyn::task::loss::cross_entropy, memory);
    benchmark::DoNotOptimize(gradient.data());
  }
  benchmark::DoNotOptimize(&loss);
  state.SetItemsProcessed(state.iterations() * sequences);
  const double peak = peak_gflops * 1e9 * sizeof(float) / sizeof(Scalar);
  state.counters["floor_ms"] =
      1e3 * dense_operations(shape, static_cast<double>(sequences)) / (Gradient ? 1 : 3) / peak;
}

void plain(benchmark::State& state, attention_shape shape, index sequences, int pairs) {
  const recall_batch batch(sequences, pairs, shape.vocabulary, shape.positions / 2);
  const lindyn::model::attention_only_plain net(shape);
  const auto weights = weights_for<double>(net.parameters().size());
  std::vector<double> gradient(weights.size());
  for (auto _ : state) {
    double loss = net.loss_and_gradient(weights, batch.view(), lindyn::task::loss::cross_entropy, gradient);
    benchmark::DoNotOptimize(&loss);
  }
  state.SetItemsProcessed(state.iterations() * sequences);
}

constexpr attention_shape minibatch(int layers, int heads = 1) { return {64, 36, layers, heads}; }
constexpr attention_shape small(int layers) { return {8, 8, layers, 1}; }

const bool registered = [] {
  const auto add = [](const char* name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name, function, arguments...)->Unit(benchmark::kMillisecond);
  };
  // The minibatch step: V = 64, N = 16 pairs (n = 33), 18 slots (P = 36), batch 512.
  add("attention_only/step/L2", step<float, true>, minibatch(2), 512, 16);
  add("attention_only/loss/L2", step<float, false>, minibatch(2), 512, 16);
  add("attention_only/step/L2/double", step<double, true>, minibatch(2), 512, 16);
  add("attention_only/step/L2/H2", step<float, true>, minibatch(2, 2), 512, 16);
  add("attention_only/step/L3", step<float, true>, minibatch(3), 512, 16);
  add("attention_only/loss/L3", step<float, false>, minibatch(3), 512, 16);
  add("attention_only/step/L3/double", step<double, true>, minibatch(3), 512, 16);
  // Exact population gradients: many short sequences (n = 5, V = 8, P = 8).
  add("attention_only/population/L2", step<double, true>, small(2), 10000, 2);
  add("attention_only/population/L3", step<double, true>, small(3), 10000, 2);
  add("attention_only/population_loss/L2", step<double, false>, small(2), 10000, 2);
  // The network as it is defined.
  add("attention_only/plain/L2", plain, minibatch(2), 16, 16);
  add("attention_only/plain/L3", plain, minibatch(3), 16, 16);
  add("attention_only/plain/population/L2", plain, small(2), 100, 2);
  return true;
}();

}  // namespace
