// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Weights with a known circuit in them, and noise.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <lindyn/circuit/detection/detect.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace lindyn::testing {

/// Strength of the planted directions. With it the heads of four pairs attend to the right places and little else: the
/// planted circuits alone have a loss of at most 0.22, against 2.4 and more without any of their directions.
inline constexpr double planted_strength = 8;

/// Noise on the manifold of 5 % of the planted strength moves the loss of all directions by up to 0.35 nats either way,
/// so that the planted set alone can be dearer by 0.21 at most than all directions are; the least important planted
/// direction is worth 2. A budget of half a nat lies between with room on both sides.
inline constexpr double planted_budget = 0.5;

/// A manifold, its exact loss, and the directions planted in it.
struct planted_circuit {
  manifold::basis basis;
  reduced::relational_model model;
  std::vector<index> places;

  template <class Law>
  planted_circuit(const Law& law, int layers, const std::vector<manifold::coordinate>& directions)
      : basis(layers, 1, law.structure()), model(basis, population::enumerate_types(law).types) {
    for (const auto& which : directions) places.push_back(basis.layout().place(which));
  }

  /// Coordinates of the planted directions alone.
  [[nodiscard]] std::vector<double> clean() const {
    std::vector<double> result(static_cast<std::size_t>(basis.dimension()));
    for (const index place : places) result[static_cast<std::size_t>(place)] = planted_strength;
    return result;
  }

  /// Weights with noise of 5 % of the planted strength on all coordinates, and off the manifold noise of the norm of the
  /// planted weights.
  [[nodiscard]] std::vector<double> weights(std::uint64_t seed) const {
    counter_generator generator(seed, 1);
    std::vector<double> coordinates = clean();
    const auto norm = [](const std::vector<double>& of) {
      double sum = 0;
      for (const double entry : of) sum += entry * entry;
      return std::sqrt(sum);
    };
    const double planted_norm = norm(basis.embed(coordinates));
    for (double& entry : coordinates) entry += 0.05 * planted_strength * standard_normal(generator);
    std::vector<double> result = basis.embed(coordinates), noise(result.size());
    for (double& entry : noise) entry = standard_normal(generator);
    noise = basis.project(noise).off_manifold;
    const double scale = planted_norm / norm(noise);
    for (std::size_t k = 0; k < result.size(); ++k) result[k] += scale * noise[k];
    return result;
  }

  /// Whether the survivors are the planted directions, no more and no less.
  [[nodiscard]] bool is_found(const circuit::detection& found) const {
    std::vector<index> survivors, planted = places;
    for (const auto& unit : found.survivors) survivors.push_back(unit.place);
    std::ranges::sort(survivors);
    std::ranges::sort(planted);
    return survivors == planted;
  }

  /// Of 100 seeds, how many return exactly the planted set.
  [[nodiscard]] int found_of_100() const {
    int right = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
      right += is_found(circuit::detect(basis, weights(seed), model, {.budget = planted_budget}));
    return right;
  }
};

/// The induction head of the pair (first, second) among `layers`: attention of `first` to the previous token, match by
/// `second` of the query with what `first` copied, answer by what `second` copied.
[[nodiscard]] inline std::vector<manifold::coordinate> induction_head_of(int layers, int first, int second) {
  const auto copy = [](int layer) { return 1 << (layer - 1); };
  return {{.layer = first, .selection = 2},
          {.layer = second, .key_copy = copy(first)},
          {.layer = layers + 1, .key_copy = copy(second)}};
}

/// Four pairs of 16 tokens.
using plain_recall = task::associative_recall<block<2>>;
[[nodiscard]] inline population::recall_law<plain_recall> four_pairs() {
  return population::recall_law<plain_recall>{{.pairs = 4, .vocabulary = 16}};
}

/// Pairs that are all stored in the weights.
using stored_recall = task::associative_recall<block<2>, stored_association>;
[[nodiscard]] inline population::recall_law<stored_recall> three_stored_pairs() {
  return population::recall_law<stored_recall>{{.pairs = 3, .vocabulary = 16, .within_class = 0}};
}

}  // namespace lindyn::testing
