// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The task of off_the_manifold's parts, in three sizes, and its manifold.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/symmetry/reynolds.hpp>

namespace examples::off_the_manifold {

using lindyn::index;

/// Recall with pairs of distinct tokens on slots, two layers of one head, and its manifold.
struct experiment {
  using task = lindyn::task::associative_recall<lindyn::block<2>>;

  lindyn::population::recall_options options;
  lindyn::population::recall_law<task> law{options};
  lindyn::manifold::basis basis{2, 1, law.structure()};
  lindyn::population::sequence_table types = lindyn::population::enumerate_types(law).types;

  /// The population loss on the manifold.
  [[nodiscard]] lindyn::reduced::relational_model reduced() const { return {basis, types}; }
  /// Random coordinates of standard deviation `scale`.
  [[nodiscard]] std::vector<double> coordinates(double scale, std::uint64_t seed) const {
    return normal(basis.dimension(), scale, seed);
  }
  /// The full weights that have them.
  [[nodiscard]] std::vector<double> on_manifold(double scale, std::uint64_t seed) const {
    return basis.embed(coordinates(scale, seed));
  }
  /// Random full weights of standard deviation `scale`.
  [[nodiscard]] std::vector<double> random(double scale, std::uint64_t seed) const {
    return normal(basis.parameters().size(), scale, seed);
  }

private:
  static std::vector<double> normal(index count, double scale, std::uint64_t seed) {
    lindyn::counter_generator generator(seed, ~std::uint64_t{1});
    std::vector<double> result;
    for (index i = 0; i < count; ++i) result.push_back(scale * lindyn::standard_normal(generator));
    return result;
  }
};

/// Norm of what the whole commutant doesn't contain, constant blocks included: the distance of the weights from the
/// group's average of every block (the readout's blocks have tokens for rows).
[[nodiscard]] inline double off_commutant(const experiment& subject, std::span<const double> weights) {
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto structure = subject.law.structure();
  const index tokens = structure.tokens.size(), width = tokens + structure.positions.size();
  double off = 0;
  for (const auto& which : subject.basis.parameters()) {
    const auto view = subject.basis.parameters().view(which, weights);
    const Eigen::Map<const matrix> whole(view.data, view.rows, view.columns);
    const bool readout = view.rows != view.columns;
    for (index row = 0; row < view.rows; row += readout ? tokens : width)
      for (index column = 0; column < view.columns; column += width) {
        const auto difference = [&](const auto& block, const auto&... groups) {
          off += (block - lindyn::symmetry::reynolds(block, groups...)).squaredNorm();
        };
        if (readout) {
          difference(whole.block(row, column, tokens, tokens), structure.tokens);
          difference(whole.block(row, column + tokens, tokens, width - tokens), structure.tokens, structure.positions);
        } else {
          difference(whole.block(row, column, width, width), structure);
        }
      }
  }
  return std::sqrt(off);
}

/// Few enough sequences (11,520) for the exact population gradient.
[[nodiscard]] inline experiment small_task() { return {{.pairs = 2, .vocabulary = 5, .slots = 3}}; }
/// The main job's; trained on minibatches.
[[nodiscard]] inline experiment middle_task() { return {{.pairs = 4, .vocabulary = 16}}; }
/// Longer sequences, wider stream.
[[nodiscard]] inline experiment large_task() { return {{.pairs = 16, .vocabulary = 64}}; }

}  // namespace examples::off_the_manifold
