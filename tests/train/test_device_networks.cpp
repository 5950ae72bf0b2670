// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/thrust_device.hpp>
#include <lindyn/model/dense_attention_only.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/train/law_objective.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/trainer.hpp>

namespace {
using namespace lindyn;
using backend::thrust_device;
using optimizer::decay_mode;

/// The largest difference, over the largest entry.
template <class Scalar>
double difference(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
    largest = std::max(largest, static_cast<double>(std::abs(b[i])));
  }
  return most / largest;
}

train::trainer_options decayed(decay_mode mode) {
  return {.learning_rate = 3e-3, .decay_schedule = schedule::window{50, 150, 4e-3}, .decay_mode = mode, .clip_norm = 1};
}

/// What a small transformer's training comes to, on any backend.
template <class Scalar>
struct composed {
  std::vector<Scalar> weights;
  std::vector<double> held_out;  // losses, every 50 steps
};

template <class Scalar, class Backend>
composed<Scalar> compose(int steps) {
  using net_type = model::prenorm_transformer<Scalar, Backend>;
  // Keys without bias: its derivative is rounding alone, which Adam makes steps of where coupled decay has shrunk it.
  const net_type net({.vocabulary = 24,
                      .outputs = 24,
                      .context = 3,
                      .width = 16,
                      .heads = 2,
                      .layers = 2,
                      .hidden = 32,
                      .key_bias = false});
  const auto data = population::anchor_composition();
  composed<Scalar> result;
  const auto start = model::initial_weights<Scalar>(net.shape(), {.gamma = 0.8, .embedding_scale = 0.1});
  result.weights.assign(start.begin(), start.end());
  typename net_type::workspace memory;
  train::trainer training(train::set_objective(net, data.training, {.size = 32, .seed = 1}), std::span(result.weights),
                          optimizer::adam<Scalar>(net.parameters().size(), {.beta2 = 0.98}),
                          decayed(decay_mode::coupled_l2));
  training.run(steps, memory, train::every(50, [&](const auto& here, auto& its_memory) {
                 result.held_out.push_back(net.loss(here.placed_weights, data.test, its_memory).loss);
               }));
  return result;
}

TEST_CASE("200 steps of a transformer on the device are those of the host, and so are losses in its memory") {
  const auto device = compose<double, thrust_device>(200), host = compose<double, backend::host>(200);
  CHECK(difference(device.weights, host.weights) < 1e-10);
  CHECK(difference(device.held_out, host.held_out) < 1e-10);
  CHECK(host.held_out.size() == 5);
  CHECK(difference(compose<float, thrust_device>(200).weights, compose<float, backend::host>(200).weights) < 1e-4);
}

/// Weights of an attention-only network on a law, which are kept centred.
template <class Backend>
std::vector<double> recalled() {
  const population::recall_law<task::associative_recall<block<2>>> law({.pairs = 2, .vocabulary = 6});
  const auto sizes = law.sizes();
  const model::dense_attention_only<layers<dynamic>, heads<dynamic>, double, Backend> net(
      {.vocabulary = sizes.vocabulary, .positions = sizes.positions, .layers = 2, .heads = 1});
  std::vector<double> weights(static_cast<std::size_t>(net.parameters().size()));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.3 * std::sin(static_cast<double>(i));
  typename decltype(net)::workspace memory;
  train::trainer training(
      train::law_objective(net, law, {.size = 4, .seed = 5, .embedding = model::embedding::centred}),
      std::span(weights), optimizer::adam<double>(net.parameters().size()), decayed(decay_mode::absolute));
  training.run(200, memory);
  return weights;
}

TEST_CASE("200 steps of an attention-only network with centred weights on the device are those of the host") {
  CHECK(difference(recalled<thrust_device>(), recalled<backend::host>()) < 1e-10);
}

}  // namespace
