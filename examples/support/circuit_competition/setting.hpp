// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What every cell of the phase diagrams has in common, and the law of each.

#include <cstdint>
#include <string>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>

namespace examples::circuit_competition {

/// Recall whose labels may be stored in the weights, with rare tokens, whose labels may not.
using task = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association, lindyn::rare_tokens>;
using recall_law = lindyn::population::recall_law<task>;

/// What is varied: how often the context alone has the answer, and how often it is shown.
struct point {
  double rare = 0;          ///< f_r
  double within_class = 0;  ///< f_v
  int burstiness = 1;       ///< b
};

/// What isn't.
struct setting {
  int pairs = 4;                ///< N
  int common = 16;              ///< V_c, tokens with partners
  int rare = 8;                 ///< V_r, tokens without
  std::string start = "equal";  ///< one of `starts`
  double scale = 0.1;           ///< of the start
  lindyn::index steps = 1500;   ///< of the full network
  double learning_rate = 1;     ///< of the full network
  lindyn::index batch = 512;    ///< sequences a step
  double tolerance = 1e-6;      ///< of the flow
  lindyn::index probes = 4096;  ///< conflicts that the full network is asked for
  std::uint64_t seed = 1;       ///< of the start, the minibatches and the probes

  /// The horizon, in time of gradient flow.
  [[nodiscard]] double horizon() const noexcept { return static_cast<double>(steps) * learning_rate; }

  [[nodiscard]] recall_law law(const point& at) const {
    return recall_law{{.pairs = pairs,
                       .vocabulary = common + rare,
                       .within_class = at.within_class,
                       .rare = at.rare,
                       .rare_vocabulary = rare,
                       .burstiness = at.burstiness}};
  }
  /// Sequences like those trained on, in which memory and context disagree: common tokens alone, no label stored.
  [[nodiscard]] recall_law conflicts(int burstiness) const { return law({0, 1, burstiness}); }
  /// Two layers of one head.
  [[nodiscard]] lindyn::manifold::basis basis() const { return {2, 1, conflicts(1).structure()}; }
};

/// How the weights may start: see start_weights.
inline const std::vector<std::string> starts{"equal", "coordinates", "weights"};

/// The full weights at the start, the same for every cell: those with equal coordinates, with normal coordinates, or
/// normal weights.
[[nodiscard]] inline std::vector<double> start_weights(const setting& s, const lindyn::manifold::basis& basis) {
  const auto normal = [&](lindyn::index count) {
    lindyn::counter_generator generator(s.seed, ~std::uint64_t{1});  // the minibatches' streams count from zero
    std::vector<double> result;
    for (lindyn::index i = 0; i < count; ++i) result.push_back(s.scale * lindyn::standard_normal(generator));
    return result;
  };
  if (s.start == "weights") return normal(basis.parameters().size());
  const auto dimension = basis.dimension();
  return basis.embed(s.start == "equal" ? std::vector<double>(static_cast<std::size_t>(dimension), s.scale)
                                        : normal(dimension));
}

/// All of it, for summary.json.
[[nodiscard]] inline lindyn::io::json configuration(const setting& s) {
  return {{"pairs", s.pairs}, {"vocab", s.common},        {"rare_vocab", s.rare},  {"start", s.start},
          {"scale", s.scale}, {"steps", s.steps},         {"lr", s.learning_rate}, {"horizon", s.horizon()},
          {"batch", s.batch}, {"tolerance", s.tolerance}, {"probes", s.probes},    {"seed", s.seed}};
}

}  // namespace examples::circuit_competition
