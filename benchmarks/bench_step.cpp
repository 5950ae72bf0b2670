// SPDX-License-Identifier: MIT
/// \file
/// The full network (one core): a step of training - drawing a minibatch of 512, loss and gradient, the update - and
/// parts of it; many short sequences, as exact population gradients have them; and the network as it is defined.
///
/// The floor, for n = 2 N + 1 tokens, D = V + P, c = (H + 1)^(L - 1) copies entering the last layer, a batch of B:
///   operations     6 B [H (c - 1) D c D + (c (H + 1) - 1) D V], the dense products with W that remain if in the last
///                  layer only the query's row is wanted and its one-hot copy is gathered: forward and two adjoint
///                  ones; a third of it for the loss alone
///   exponentials   B [H ((L - 1) n (n + 1) / 2 + n) + V]
///   bytes          weights read and written, gradient written and read by the update
/// The layers below cost gathers, scatters and small products, four of each a score, which aren't counted.

#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <lindyn/core/sizes.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/attention_only_plain.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>

#include "support.hpp"

namespace {

using benchmarks::lines_of_sizes;
using benchmarks::sizes;
using lindyn::index;
using recall = lindyn::task::associative_recall<lindyn::block<2>>;
constexpr auto cross_entropy = lindyn::task::loss::cross_entropy;

lindyn::population::recall_law<recall> law_of(const sizes& size) {
  return lindyn::population::recall_law<recall>({.pairs = size.pairs, .vocabulary = size.vocabulary});
}
lindyn::model::attention_shape shape_of(const sizes& size) {
  const auto law = law_of(size).sizes();
  return {law.vocabulary, law.positions, size.layers, size.heads};
}

template <class Scalar>
benchmarks::needs needs_of(const sizes& size, index batch, bool gradient, index updated = 0) {
  const lindyn::model::attention_shape shape = shape_of(size);
  const auto input = static_cast<double>(shape.input_width()),
             width = static_cast<double>(shape.width(size.layers - 1)),
             readout = static_cast<double>(shape.width(size.layers));
  const double operations = (gradient ? 6 : 2) * static_cast<double>(batch) *
                            (size.heads * (width - input) * width + (readout - input) * size.vocabulary);
  const double bytes = static_cast<double>(updated) * sizeof(Scalar);
  const double n = 2.0 * size.pairs + 1;
  const double exponentials =
      static_cast<double>(batch) * (size.heads * ((size.layers - 1) * n * (n + 1) / 2 + n) + size.vocabulary);
  constexpr bool single = sizeof(Scalar) == sizeof(float);
  return {.operations = single ? 0 : operations,
          .float_operations = single ? operations : 0,
          .exponentials = single ? 0 : exponentials,
          .float_exponentials = single ? exponentials : 0,
          .bytes = 4 * bytes,
          .working_set = 2 * bytes};
}

void step(benchmark::State& state, const sizes& size) {
  constexpr index batch_size = 512;
  const lindyn::model::attention_only<lindyn::layers<lindyn::dynamic>, lindyn::heads<lindyn::dynamic>, float> net(
      shape_of(size));
  auto weights = benchmarks::normal_numbers<float>(net.parameters().size(), 0.1);
  std::vector<float> gradient(weights.size());
  lindyn::optimizer::sgd<float> rule(net.parameters().size());
  lindyn::population::sampler sampler(law_of(size), 1);
  lindyn::population::minibatch batch;
  lindyn::model::attention_workspace<float> memory;
  index number = 0;
  for (auto _ : state) {
    sampler.draw(number++ * batch_size, batch_size, batch);
    double loss = net.loss_and_gradient(weights, batch, cross_entropy, gradient, memory);
    rule.step(weights, gradient, 0.1);
    benchmark::DoNotOptimize(weights.data());
    benchmark::DoNotOptimize(&loss);
  }
  benchmarks::set_floor(state, needs_of<float>(size, batch_size, true, net.parameters().size()));
}

template <class Scalar, bool Gradient>
void evaluation(benchmark::State& state, const sizes& size, index batch_size) {
  const lindyn::model::attention_only<lindyn::layers<lindyn::dynamic>, lindyn::heads<lindyn::dynamic>, Scalar> net(
      shape_of(size));
  const auto weights = benchmarks::normal_numbers<Scalar>(net.parameters().size(), 0.1);
  std::vector<Scalar> gradient(weights.size());
  lindyn::population::sampler sampler(law_of(size), 1);
  lindyn::population::minibatch batch;
  sampler.draw(0, batch_size, batch);
  lindyn::model::attention_workspace<Scalar> memory;
  for (auto _ : state) {
    double loss = 0;
    if constexpr (Gradient)
      loss = net.loss_and_gradient(weights, batch, cross_entropy, gradient, memory);
    else
      loss = net.loss(weights, batch, cross_entropy, memory);
    benchmark::DoNotOptimize(gradient.data());
    benchmark::DoNotOptimize(&loss);
  }
  benchmarks::set_floor(state, needs_of<Scalar>(size, batch_size, Gradient));
}

void plain(benchmark::State& state, const sizes& size, index batch_size) {
  const lindyn::model::attention_only_plain net(shape_of(size));
  const auto weights = benchmarks::normal_numbers(net.parameters().size(), 0.1);
  std::vector<double> gradient(weights.size());
  lindyn::population::sampler sampler(law_of(size), 1);
  lindyn::population::minibatch batch;
  sampler.draw(0, batch_size, batch);
  for (auto _ : state) {
    double loss = net.loss_and_gradient(weights, batch.view(), cross_entropy, gradient);
    benchmark::DoNotOptimize(&loss);
  }
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function, const auto&... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  };
  // The main job's sizes, then lines through V = 128.
  for (const int layers : {2, 3})
    add("full/step/float" + sizes{layers, 1, 16, 64}.name(), step, sizes{layers, 1, 16, 64});
  for (const auto& size :
       lines_of_sizes{{.vocabulary = 128}, {1, 2, 3, 4}, {1, 2, 3, 4}, {4, 8, 16, 32, 64}, {128, 256, 512, 1024}}
           .points())
    add("full/step/float" + size.name(), step, size);
  for (const int layers : {2, 3}) {
    const sizes size{layers, 1, 16, 64};
    add("full/loss/float" + size.name(), evaluation<float, false>, size, 512);
    add("full/loss_and_gradient/float" + size.name(), evaluation<float, true>, size, 512);
    add("full/loss_and_gradient/double" + size.name(), evaluation<double, true>, size, 512);
    const sizes tiny{layers, 1, 2, 8};
    add("full/loss_and_gradient/double/10000_sequences" + tiny.name(), evaluation<double, true>, tiny, 10'000);
    add("full/as_defined/double/16_sequences" + size.name(), plain, size, 16);
  }
  return true;
}();

}  // namespace
