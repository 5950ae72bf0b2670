// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gradient descent of a full network beside the discrete map of its coordinates.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/train/descent.hpp>

#include "../reduced/values.hpp"

namespace lindyn::testing {

struct descent_setting {
  int layers = 2, heads = 1;
  double learning_rate = 1;
  task::loss loss = task::loss::cross_entropy;
  double scale = 0.4;  ///< standard deviation of the coordinates at the start
};

/// 1,000 steps of exact gradient descent from a random point of the manifold, during which the loss at least halves:
/// the coordinates of the full weights follow the map, and the weights stay on the manifold.
template <class Law>
void check_full_against_map(const Law& law, const descent_setting& setting) {
  CAPTURE(setting.layers);
  CAPTURE(setting.heads);
  const index steps = 1000;
  const manifold::basis basis(setting.layers, setting.heads, law.structure());
  const auto start = normal_numbers(basis.dimension(), 3, setting.scale);
  reduced::relational_model model(basis, population::enumerate_types(law).types, setting.loss);
  std::vector<std::vector<double>> map;
  std::vector<double> map_losses;
  reduced::descend(model, start, {.steps = steps, .learning_rate = setting.learning_rate},
                   [&](index, double loss, std::span<const double> coordinates) {
                     map.emplace_back(coordinates.begin(), coordinates.end());
                     map_losses.push_back(loss);
                   });
  CHECK(map_losses.back() < map_losses.front() / 2);

  const model::attention_only<> net(basis.shape());
  std::vector<double> weights = basis.embed(start);
  const bool squared = setting.loss == task::loss::squared_error;
  double coordinate_error = 0, loss_error = 0, off_manifold = 0;
  train::descend(net, law, std::span(weights),
                 {.steps = steps,
                  .learning_rate = setting.learning_rate,
                  .batch = 0,
                  .loss = setting.loss,
                  .embedding = squared ? model::embedding::centred : model::embedding::one_hot},
                 [&](const auto& point) {
                   if (point.step % 20 != 0) return;
                   const auto place = static_cast<std::size_t>(point.step);
                   const manifold::projection projection = basis.project(point.weights);
                   coordinate_error = std::max(coordinate_error, difference(projection.coordinates, map[place]));
                   loss_error = std::max(loss_error, std::abs(point.loss - map_losses[place]));
                   off_manifold = std::max(off_manifold, projection.off_manifold_norm());
                 });
  CHECK(coordinate_error < 1e-8);
  CHECK(loss_error < 1e-10);
  CHECK(off_manifold < 1e-10);
}

}  // namespace lindyn::testing
