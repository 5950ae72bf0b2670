// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How far a network with an additive residual stream leaves the manifold, by the width of its stream.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/core/progress.hpp>
#include <lindyn/manifold/residual_basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/residual_stream.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/whole_population.hpp>

#include "experiment.hpp"

namespace examples::off_the_manifold {

/// Options of `measure_residual_width`. All networks train on the exact population gradient from the same coordinates.
struct residual_width_options {
  std::vector<index> widths{16, 32, 64, 128, 256, 512};
  int seeds = 4;      ///< networks of each width, which differ in their embeddings and maps
  index steps = 500;  ///< of training
  double learning_rate = 0.5;
  double start = 0.1;      ///< all coordinates at the start of training
  double scale = 0.1;      ///< standard deviation of the coordinates at which the gradient is split
  double threshold = 0.5;  ///< share of the first loss below which the circuit counts as formed
  int threads = 2;
  lindyn::progress::callback tell{};
};

/// What one network showed; `width` 0 is the concatenated stream, which all of them approximate.
struct residual_width_row {
  index width = 0;
  std::uint64_t seed = 0;
  double gradient_off_manifold = 0;  ///< norm of the gradient's part off the manifold over its norm, on it
  double weights_off_manifold = 0;   ///< the same of the weights, after training
  double loss = 0;                   ///< after training
  std::optional<index> emergence{};  ///< first step with a loss below the threshold
};

/// Trains the concatenated network, then each residual one, on the law of two pairs of five tokens on three slots.
[[nodiscard]] inline std::vector<residual_width_row> measure_residual_width(const residual_width_options& options) {
  using namespace lindyn;
  const experiment subject = small_task();
  const manifold::basis& basis = subject.basis;
  const auto sequences = population::whole_population(subject.law);
  const model::attention_only<> net(basis.shape());
  model::attention_workspace<double> memory(options.threads);
  lindyn::progress tell(options.tell);

  const std::vector<double> point = subject.coordinates(options.scale, 1);
  const std::vector<double> start(point.size(), options.start);

  // `to` and `back` lead to the concatenated weights, and from their gradient to that of the network's own.
  const auto measure = [&](auto& row, const auto& embed, const auto& project, const auto& to, const auto& back) {
    std::vector<double> concatenated(static_cast<std::size_t>(basis.parameters().size())), slope(concatenated.size());
    std::vector<double> weights = embed(point), gradient(weights.size());
    const auto evaluate = [&] {
      to(weights, concatenated);
      const double loss =
          net.loss_and_gradient(concatenated, sequences.view(), task::loss::cross_entropy, slope, memory);
      back(slope, gradient);
      return loss;
    };
    evaluate();
    row.gradient_off_manifold = project(gradient).relative_residual();
    weights = embed(start);
    optimizer::sgd<double> rule(static_cast<index>(weights.size()));
    double first = 0;
    for (index step = 0; step <= options.steps; ++step) {
      row.loss = evaluate();
      if (step == 0) first = row.loss;
      if (!row.emergence && row.loss < options.threshold * first) row.emergence = step;
      if (step == options.steps) break;
      rule.step(weights, gradient, options.learning_rate);
    }
    row.weights_off_manifold = project(weights).relative_residual();
  };

  std::vector<residual_width_row> rows(1);
  const auto copy = [](std::span<const double> from, std::span<double> into) { std::ranges::copy(from, into.begin()); };
  measure(
      rows.front(), [&](const auto& coordinates) { return basis.embed(coordinates); },
      [&](const auto& weights) { return basis.project(weights); }, copy, copy);
  const auto count = static_cast<double>(options.widths.size()) * options.seeds;
  for (const index width : options.widths)
    for (int seed = 1; seed <= options.seeds; ++seed) {
      auto& row = rows.emplace_back();
      row.width = width;
      row.seed = static_cast<std::uint64_t>(seed);
      const manifold::residual_basis approximate(
          basis, model::residual_stream(basis.shape(), {.width = width, .seed = row.seed}));
      const auto& stream = approximate.stream();
      measure(
          row, [&](const auto& coordinates) { return approximate.embed(coordinates); },
          [&](const auto& weights) { return approximate.project(weights); },
          [&](const auto& weights, auto& into) { stream.concatenate(weights, into); },
          [&](const auto& slope, auto& into) { stream.pull_back(slope, into); });
      tell("residual streams", static_cast<double>(rows.size() - 1), count);
    }
  return rows;
}

}  // namespace examples::off_the_manifold
