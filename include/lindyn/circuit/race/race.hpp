// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The race of circuits: which pair of heads solves the task, from a given start.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/circuit/race/standings.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace lindyn::circuit {

/// Options of `race`. Time is that of gradient flow of the full weights with unit metric.
struct race_options {
  double loss = 0.05;                  ///< the task counts as solved at this loss, where the race ends
  double until = 1e5;                  ///< the race is given up then
  double tolerance = 1e-6;             ///< absolute and relative error of a step
  std::int64_t max_steps = 1'000'000;  ///< accepted and rejected ones together
  measure by = measure::needed;        ///< who is called the winner
  core_selections selections = {};     ///< what the three core coordinates of a pair are
};

/// How a race ended.
struct race_result {
  /// Place of the winner among `standings`; none if the loss wasn't reached.
  std::optional<std::size_t> winner = {};
  double lead = 0;                       ///< of the winner over the next, see ranking::lead
  double time = 0;                       ///< when the loss was reached, or when the race was given up
  double loss = 0;                       ///< then
  std::vector<double> coordinates = {};  ///< then
  std::vector<standing> standings = {};  ///< of all pairs then, in the order of head_pairs

  /// Whether a second pair does at least half as much as the winner: the two share the work.
  [[nodiscard]] bool shared() const noexcept { return winner && lead <= 0.5; }
};

/// Gradient flow of the coordinates from `start` until the loss says that the task is solved; then the winner is the
/// pair of heads that is ahead by options.by.
///
/// By default it is the pair whose composition is worth most: what the loss rises by when the second head can't make use
/// of what the first brought. Not cut are the heads themselves, as these take part in other pairs: ablating alpha of
/// 1-2 also ablates that of 1-3. Of two pairs that could do without each other each is needed less, and both are when they
/// form one longer circuit. The manifold has no symmetry that exchanges signs (softmax is no odd function): a circuit
/// has positive core coordinates, and needs no rule for signs. Heads of one layer can be exchanged, so that a start
/// that gives two of them the same weights ends in an exact tie, which the earlier one wins with lead 0.
///
/// The flow is a smooth function of the start, and so is what is needed at its end: at the boundary between two winners
/// both do the same, and `lead` is zero. See crossing.hpp for how soon it rises.
///
/// How often each pair wins, and how often measures agree, is in the room's README.md. In short, from 4,000 normal starts
/// of scale 0.3 (three layers of one head, N = 4, V = 16, slots, cross-entropy): `needed` and `alone` agree in 90 %,
/// `alone` and `product` in 95 %; in 11 % the work is shared.
///
/// Throws as reduced::flow, and argument_error unless there are two layers or more.
[[nodiscard]] inline race_result race(reduced::relational_model& model, std::span<const double> start,
                                      const race_options& options = {}) {
  require(model.basis().layout().layers() >= 2, "layers", model.basis().layout().layers(), "at least 2");
  integrate::flow_result flow = reduced::flow(model, start,
                                              {.until = options.until,
                                               .stop_at_loss = options.loss,
                                               .tolerance = options.tolerance,
                                               .max_steps = options.max_steps});
  race_result result{.time = flow.t, .loss = flow.value, .coordinates = std::move(flow.state)};
  result.standings = standings(model, result.coordinates, options.selections);
  const ranking order = rank(result.standings, options.by);
  result.lead = order.lead;
  if (flow.status == integrate::flow_status::event) result.winner = order.first;
  return result;
}

}  // namespace lindyn::circuit
