// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Training runs seen from the manifold.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/compare/trajectory.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/train/descent.hpp>

#include "../chosen_rule.hpp"
#include "experiment.hpp"

namespace examples::off_the_manifold {

/// A moment of training.
struct moment {
  index step = 0;
  double loss = 0;           ///< exact for the population gradient, else on sequences of its own
  double norm = 0;           ///< of all weights
  double off_manifold = 0;   ///< norm of what the manifold doesn't contain
  double off_commutant = 0;  ///< norm of what the commutant with its constant blocks doesn't contain
  std::vector<double> coordinates{};

  /// Off-manifold norm over the weights' norm.
  [[nodiscard]] double share() const { return norm > 0 ? off_manifold / norm : 0; }
  /// Off-commutant norm over the weights' norm.
  [[nodiscard]] double off_commutant_share() const { return norm > 0 ? off_commutant / norm : 0; }
};

/// A training run seen from the manifold.
struct trace {
  std::vector<moment> moments{};
  double seconds = 0;  ///< of the steps, without measurements

  [[nodiscard]] const moment& first() const { return moments.front(); }
  [[nodiscard]] const moment& last() const { return moments.back(); }
  /// The step at which the loss met `level`, interpolated between the moments.
  [[nodiscard]] std::optional<double> crossing(double level) const {
    return lindyn::compare::crossing(moments, level, &moment::step, &moment::loss);
  }
  /// The step at which the loss was half of that at the start.
  [[nodiscard]] std::optional<double> emergence() const { return crossing(first().loss / 2); }
};

/// About 12 steps a factor of ten, and 200 evenly spaced ones, from 0 to `last`.
[[nodiscard]] inline std::vector<index> moments_until(index last) {
  std::vector<index> result{0, last};
  for (int i = 0; i <= 200; ++i) result.push_back(last * i / 200);
  for (double step = 1; step < static_cast<double>(last); step *= std::pow(10.0, 1.0 / 12))
    result.push_back(static_cast<index>(std::llround(step)));
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// What confines a run, if anything.
template <class Scalar>
using constraint = std::function<void(std::span<Scalar>)>;

/// Trains the full network from `start` and looks at it from the manifold, at some steps of its way.
template <class Scalar>
[[nodiscard]] trace train(
    const experiment& subject, std::span<const double> start, const lindyn::train::descent_options& options,
    const rule_options& rule, const std::vector<index>& wanted,
    const constraint<Scalar>& confine = [](std::span<Scalar>) {}) {
  using namespace lindyn;
  const model::attention_only<layers<dynamic>, heads<dynamic>, Scalar> net(subject.basis.shape());
  std::vector<Scalar> weights(start.begin(), start.end());
  chosen_rule<Scalar> optimizer(net.parameters().size(), rule);
  population::minibatch evaluation;  // numbered from the middle of the stream, which no batch reaches
  population::sampler(subject.law, options.seed).draw(index{1} << 62, 4096, evaluation);
  model::attention_workspace<Scalar> memory;
  trace result;
  auto due = wanted.begin();
  result.seconds = lindyn::train::descend(
      net, subject.law, std::span(weights), options,
      [&](const auto& point) {
        if (due == wanted.end() || point.step != *due) return;
        ++due;
        const std::vector<double> now(point.weights.begin(), point.weights.end());
        const auto projection = subject.basis.project(now);
        result.moments.push_back(
            {.step = point.step,
             .loss = options.batch == 0 ? point.loss : net.loss(point.weights, evaluation, options.loss, memory),
             .norm = projection.norm(),
             .off_manifold = projection.off_manifold_norm(),
             .off_commutant = off_commutant(subject, now),
             .coordinates = projection.coordinates});
      },
      optimizer, confine);
  return result;
}

/// The same, looking at moments_until(options.steps).
template <class Scalar>
[[nodiscard]] trace train(const experiment& subject, std::span<const double> start,
                          const lindyn::train::descent_options& options, const rule_options& rule) {
  return off_the_manifold::train<Scalar>(subject, start, options, rule, moments_until(options.steps));
}

/// Trains the coordinates alone, on the exact population loss.
[[nodiscard]] inline trace train_coordinates(const experiment& subject, std::span<const double> start,
                                             const lindyn::reduced::descent_options& options,
                                             const rule_options& rule) {
  using namespace lindyn;
  auto model = subject.reduced();
  chosen_rule<double> optimizer(model.dimension(), rule);
  const std::vector<index> wanted = moments_until(options.steps);
  trace result;
  auto due = wanted.begin();
  reduced::descend(
      model, start, options,
      [&](index step, double loss, std::span<const double> coordinates) {
        if (due == wanted.end() || step != *due) return;
        ++due;
        std::vector<double> image(coordinates.size());
        subject.basis.apply_gram(coordinates, image);
        const double square = std::inner_product(image.begin(), image.end(), coordinates.begin(), 0.0);
        result.moments.push_back({.step = step,
                                  .loss = loss,
                                  .norm = std::sqrt(square),
                                  .coordinates = {coordinates.begin(), coordinates.end()}});
      },
      optimizer);
  return result;
}

}  // namespace examples::off_the_manifold
