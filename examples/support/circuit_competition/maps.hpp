// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The phase diagrams: who wins in every cell, by the reduced dynamics and by training the full network.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/circuit/competition/conflict.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/train/descent.hpp>

#include "setting.hpp"

namespace examples::circuit_competition {

/// One of the diagrams: f_r along the second axis, what it is varied with along the first.
struct diagram {
  std::string name;  ///< of its files, and on the command line
  std::string about;
  lindyn::sweep::grid grid;
  std::function<point(std::span<const double>)> at;  ///< the values on the axes -> what they stand for
};

/// Gradient flow of the coordinates, exact on all relational types: the loss at the horizon t, and the preference for
/// the context over the weights at t / 2, t and 2 t.
[[nodiscard]] inline lindyn::sweep::table reduced_map(const setting& s, const diagram& d,
                                                      const lindyn::sweep::map_options& options) {
  using namespace lindyn;
  const manifold::basis basis = s.basis();
  const auto start = basis.project(start_weights(s, basis)).coordinates;
  return sweep::map(
      d.grid, {"loss", "preference_early", "preference", "preference_late"},
      [&] {
        return [&](const sweep::cell& cell) {
          const point at = d.at(cell.values);
          reduced::relational_model model(basis, population::enumerate_types(s.law(at)).types);
          circuit::conflict_preference preference(basis, population::enumerate_types(s.conflicts(at.burstiness)).types);
          const double t = s.horizon();
          const auto flow =
              reduced::flow(model, start, {.until = 2 * t, .tolerance = s.tolerance, .times = {t / 2, t, 2 * t}});
          const auto early = flow.sampled().row(0), now = flow.sampled().row(1), late = flow.sampled().row(2);
          return std::array{model.loss(now), preference(early), preference(now), preference(late)};
        };
      },
      options);
}

/// Training of the full network from the same start, each cell on minibatches of its own: at the horizon its loss, its
/// preference with the standard error over the probes, and what part of the weights isn't on the manifold.
[[nodiscard]] inline lindyn::sweep::table full_map(const setting& s, const diagram& d,
                                                   const lindyn::sweep::map_options& options) {
  using namespace lindyn;
  using network = model::attention_only<layers<2>, heads<1>, float>;
  const manifold::basis basis = s.basis();
  const std::vector<double> start = start_weights(s, basis);
  const network net(basis.shape());
  constexpr auto unused = lindyn::index{1} << 62;  // sequences in the middle of the stream, which no batch reaches
  return sweep::map(
      d.grid, {"loss", "preference", "preference_error", "off_manifold"},
      [&] {
        return [&](const sweep::cell& cell) {
          const point at = d.at(cell.values);
          const auto law = s.law(at);
          const std::uint64_t seed = (s.seed << 32) + static_cast<std::uint64_t>(cell.number);
          std::vector<float> weights(start.begin(), start.end());
          train::descend(net, law, std::span(weights),
                         {.steps = s.steps,
                          .learning_rate = s.learning_rate,
                          .batch = s.batch,
                          .seed = seed,
                          .embedding = model::embedding::centred},
                         [](const auto&) {});
          population::minibatch probes;
          population::sampler(law, seed).draw(unused, s.probes, probes);
          const double loss = net.loss(weights, probes, lindyn::task::loss::cross_entropy);
          population::sampler(s.conflicts(at.burstiness), seed).draw(unused, s.probes, probes);
          const auto preference = circuit::full_conflict_preference(basis, net, weights, probes);
          const double off = basis.project(std::vector<double>(weights.begin(), weights.end())).relative_residual();
          return std::array{loss, preference.mean, preference.standard_error, off};
        };
      },
      options);
}

}  // namespace examples::circuit_competition
