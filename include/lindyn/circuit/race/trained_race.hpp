// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The race of circuits in the training of a full network.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/circuit/race/cut_composition.hpp>
#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/circuit/race/standings.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/train/descent.hpp>

namespace lindyn::circuit {

/// Options of trained_race.
struct trained_race_options {
  train::descent_options training = {};  ///< `steps` is when the race is given up
  double loss = 0.05;                    ///< the task counts as solved at this loss
  index evaluation = 1024;               ///< sequences, drawn once, on which losses are measured
  index every = 10;                      ///< steps between measurements
};

/// How a race in training ended.
struct trained_race_result {
  std::optional<std::size_t> winner = {};  ///< place of the winner in head_pairs; none if the loss wasn't reached
  double lead = 0;                         ///< see ranking::lead
  index step = 0;                          ///< at which the race ended
  double loss = 0;                         ///< then, on the evaluation sequences
  std::vector<standing> standings = {};    ///< of all pairs then, in the order of head_pairs; `needed` alone
};

/// Trains a full network, in place, until its loss says that the task is solved; then the winner is the pair whose
/// composition is needed most (measure::needed), by the loss of the network itself without it: nothing is projected.
/// \param net      model::attention_only, float or double, with two layers or more
/// \param law      where the sequences come from
/// \param weights  at the start, on the manifold or not
/// \param options  see trained_race_options
/// Throws as train::descend, and argument_error for bad options.
template <class Net, population::data_law Law>
[[nodiscard]] trained_race_result trained_race(const Net& net, const Law& law, std::span<typename Net::scalar> weights,
                                               const trained_race_options& options) {
  require(net.shape().layers >= 2, "layers", net.shape().layers, "at least 2");
  require(options.evaluation >= 1, "evaluation", options.evaluation, "at least 1");
  require(options.every >= 1, "every", options.every, "at least 1");
  // Evaluation sequences are numbered from the middle of the stream, which no batch reaches.
  population::minibatch evaluation;
  population::sampler(law, options.training.seed).draw(index{1} << 62, options.evaluation, evaluation);
  typename Net::workspace memory(options.training.threads);
  const auto loss_of = [&](std::span<const typename Net::scalar> at) {
    return net.loss(at, evaluation, options.training.loss, memory);
  };

  trained_race_result result;
  (void)train::descend(net, law, weights, options.training, [&](const auto& point) {
    if (point.step % options.every != 0 && point.step != options.training.steps) return true;
    result.step = point.step;
    result.loss = loss_of(point.weights);
    return result.loss > options.loss;
  });
  std::vector<typename Net::scalar> changed(weights.size());
  for (const head_pair& pair : head_pairs(manifold::layout(net.shape().layers, net.shape().heads, 1, 0))) {
    std::ranges::copy(weights, changed.begin());
    cut_composition(net.shape(), pair, std::span(changed));
    result.standings.push_back({.pair = pair, .needed = loss_of(changed) - result.loss});
  }
  const ranking order = rank(result.standings);
  result.lead = order.lead;
  if (result.loss <= options.loss) result.winner = order.first;
  return result;
}

}  // namespace lindyn::circuit
