// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Training of the network whose circuit is to be detected, from small random weights.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/circuit/detection/accuracy.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/train/descent.hpp>

#include "../chosen_rule.hpp"
#include "../progress_line.hpp"
#include "../recall_experiment.hpp"

namespace examples::detect_circuit {

using lindyn::index;

/// Network with sizes chosen at run time.
template <class Scalar>
using network = lindyn::model::attention_only<lindyn::layers<lindyn::dynamic>, lindyn::heads<lindyn::dynamic>, Scalar>;

/// How the network is trained. The defaults suffice for recall with two layers and for two hops with three to five.
struct training_options {
  std::string optimizer = "momentum";  ///< one of `optimizers`
  index steps = 2'000;
  double rate = 0.1;
  index batch = 128;
  double scale = 0.02;  ///< standard deviation of the weights at the start
};

/// Optimisers, by name.
inline const std::vector<std::string> optimizers{"sgd", "momentum", "adam"};

/// Accuracy on fresh sequences from which on the task counts as reached.
inline constexpr double reached_accuracy = 0.95;

/// `count` sequences of the seed's stream that no minibatch reaches.
[[nodiscard]] inline lindyn::population::minibatch fresh_sequences(const chosen_law& law, std::uint64_t seed,
                                                                   index count) {
  lindyn::population::minibatch result;
  lindyn::population::sampler(law, seed).draw(index{1} << 62, count, result);
  return result;
}

/// A moment of training, measured on sequences of its own.
struct moment {
  index step = 0;
  double loss = 0;
  double accuracy = 0;
};

/// A trained network.
struct trained {
  std::vector<double> weights;
  std::vector<moment> moments;          ///< a hundred of them, and the last
  std::optional<index> reached_step{};  ///< of the first of them whose accuracy is reached_accuracy or more
  double seconds = 0;                   ///< that the steps took
};

/// Trains a network of these sizes in single precision, from normal random weights.
[[nodiscard]] inline trained train(const chosen_law& law, const lindyn::model::attention_shape& shape,
                                   const training_options& options, lindyn::task::loss loss,
                                   lindyn::model::embedding embedding, std::uint64_t seed, int threads) {
  const network<float> net(shape);
  std::vector<float> weights(static_cast<std::size_t>(net.parameters().size()));
  lindyn::counter_generator generator(seed, ~std::uint64_t{0});
  for (float& weight : weights) weight = static_cast<float>(options.scale * lindyn::standard_normal(generator));
  const rule_options rule = options.optimizer == "sgd"    ? rule_options(lindyn::optimizer::sgd_options{})
                            : options.optimizer == "adam" ? rule_options(lindyn::optimizer::adam_options{})
                                                          : rule_options(lindyn::optimizer::momentum_options{});
  chosen_rule<float> optimizer(net.parameters().size(), rule);

  const auto evaluation = fresh_sequences(law, seed, 1'024);
  const index every = std::max<index>(1, options.steps / 100);
  trained result;
  result.seconds = lindyn::train::descend(
      net, law, std::span(weights),
      {.steps = options.steps,
       .learning_rate = options.rate,
       .batch = options.batch,
       .seed = seed,
       .loss = loss,
       .embedding = embedding,
       .threads = threads,
       .tell = progress_line()},
      [&](const auto& point) {
        if (point.step % every != 0 && point.step != options.steps) return;
        result.moments.push_back({point.step, net.loss(point.weights, evaluation.view(), loss),
                                  lindyn::circuit::accuracy(net, point.weights, evaluation.view())});
        if (!result.reached_step && result.moments.back().accuracy >= reached_accuracy)
          result.reached_step = point.step;
      },
      optimizer);
  result.weights.assign(weights.begin(), weights.end());
  return result;
}

/// training.csv.
inline void write_training(const std::filesystem::path& path, const trained& of) {
  lindyn::io::csv_writer csv(path, {"step", "loss", "accuracy"});
  for (const moment& at : of.moments) csv.row(at.step, at.loss, at.accuracy);
  csv.commit();
}

}  // namespace examples::detect_circuit
