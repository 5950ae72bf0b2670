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
#include <lindyn/core/random.hpp>
#include <lindyn/manifold/residual_basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/residual_stream.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sequence_table.hpp>

namespace examples {

/// Options of `measure_residual_width`. All networks train on the exact population gradient from the same coordinates.
struct residual_width_options {
  std::vector<lindyn::index> widths{16, 32, 64, 128, 256, 512};
  int seeds = 4;              ///< networks of each width, which differ in their embeddings and maps
  lindyn::index steps = 500;  ///< of training
  double learning_rate = 0.5;
  double start = 0.1;      ///< all coordinates at the start of training
  double scale = 0.1;      ///< standard deviation of the coordinates at which the gradient is split
  double threshold = 0.5;  ///< share of the first loss below which the circuit counts as formed
  int threads = 2;
  lindyn::progress::callback tell{};
};

/// What one network showed; `width` 0 is the concatenated stream, which all of them approximate.
struct residual_width_row {
  lindyn::index width = 0;
  std::uint64_t seed = 0;
  double gradient_off_manifold = 0;          ///< norm of the gradient's part off the manifold over its norm, on it
  double weights_off_manifold = 0;           ///< the same of the weights, after training
  double loss = 0;                           ///< after training
  std::optional<lindyn::index> emergence{};  ///< first step with a loss below the threshold
};

/// Trains the concatenated network, then each residual one, on the law of two pairs of five tokens on three slots.
[[nodiscard]] inline std::vector<residual_width_row> measure_residual_width(const residual_width_options& options) {
  using namespace lindyn;
  const population::recall_law<task::associative_recall<block<2>>> law({.pairs = 2, .vocabulary = 5, .slots = 3});
  const manifold::basis basis(2, 1, law.structure());
  population::sequence_table sequences(law.sizes().length);
  population::enumerate(law, [&](const task::sequence& sequence) { sequences.append(sequence); });
  const model::attention_only<> net(basis.shape());
  model::attention_workspace<double> memory(options.threads);
  lindyn::progress tell(options.tell);

  counter_generator generator(1);
  std::vector<double> point(static_cast<std::size_t>(basis.dimension()));
  for (double& coordinate : point) coordinate = options.scale * standard_normal(generator);
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
    double first = 0;
    for (lindyn::index step = 0; step <= options.steps; ++step) {
      row.loss = evaluate();
      if (step == 0) first = row.loss;
      if (!row.emergence && row.loss < options.threshold * first) row.emergence = step;
      if (step == options.steps) break;
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= options.learning_rate * gradient[i];
    }
    row.weights_off_manifold = project(weights).relative_residual();
  };

  std::vector<residual_width_row> rows(1);
  const auto copy = [](std::span<const double> from, std::span<double> into) { std::ranges::copy(from, into.begin()); };
  measure(
      rows.front(), [&](const auto& coordinates) { return basis.embed(coordinates); },
      [&](const auto& weights) { return basis.project(weights); }, copy, copy);
  const auto count = static_cast<double>(options.widths.size()) * options.seeds;
  for (const lindyn::index width : options.widths)
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

}  // namespace examples
