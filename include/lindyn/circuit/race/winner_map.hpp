// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who wins the race of circuits, as a function of initial coordinates.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/circuit/race/race.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/sweep/table.hpp>

namespace lindyn::circuit {

/// Options of winner_map.
struct winner_map_options {
  race_options race = {};              ///< of each cell
  int threads = 1;                     ///< one unless more are asked for; results don't depend on it
  std::filesystem::path journal = {};  ///< where finished cells are kept, to be resumed from; empty: nowhere
  progress::callback tell = {};        ///< hears of the cells done
};

namespace detail {

/// What decides the results of a map, apart from its axes. Of the model its sizes speak, its velocity at the start, and
/// that at a point where nothing is zero: from zero weights, say, only the readout moves, alike on any number of slots.
inline std::string configuration(reduced::relational_model& model, std::span<const double> start,
                                 const race_options& race) {
  std::string text;
  const auto line = [&](const char* name, std::span<const double> values) {
    text += name;
    for (const double value : values) text += ' ' + io::number_text(value);
    text += '\n';
  };
  const auto describe = [&](const char* name, std::span<const double> point) {
    std::vector<double> loss_and_velocity(point.size() + 1);
    loss_and_velocity[0] = model.velocity(point, std::span(loss_and_velocity).subspan(1));
    line(name, loss_and_velocity);
  };
  const model::attention_shape shape = model.basis().shape();
  line("vocabulary, positions, layers, heads",
       std::vector<double>{static_cast<double>(shape.vocabulary), static_cast<double>(shape.positions),
                           static_cast<double>(shape.layers), static_cast<double>(shape.heads)});
  line("start", start);
  describe("loss and velocity there", start);
  std::vector<double> elsewhere(start.size());
  counter_generator generator(1);
  for (double& coordinate : elsewhere) coordinate = standard_normal(generator);
  describe("loss and velocity at a random point", elsewhere);
  const std::vector<double> options{race.loss,
                                    race.until,
                                    race.tolerance,
                                    static_cast<double>(race.max_steps),
                                    static_cast<double>(race.by),
                                    static_cast<double>(race.selections.token),
                                    static_cast<double>(race.selections.shift)};
  line("race: loss, until, tolerance, max_steps, by, token, shift", options);
  return text;
}

}  // namespace detail

/// A race from each cell's start: that of `start` with the coordinates that the axes name at the cell's values.
///
///     circuit::winner_map(model, start, sweep::grid({sweep::axis::linear("L1[x,x]M", -1, 1, 256),
///                                                    sweep::axis::linear("L2[x,1]I", -1, 1, 256)}), {.threads = 2});
///
/// Columns: `winner`, the place of the winning pair in head_pairs, -1 if the loss wasn't reached; its `lead`; the
/// `time`; and `needed 1-2`, .. of each pair. Every thread has a copy of the model. With a journal an interrupted map
/// is resumed, and finished by the same call to the same bits; see sweep::map.
/// \param model    the loss on the manifold
/// \param start    coordinates at the start
/// \param over     axes whose names are labels of coordinates
/// \param options  see winner_map_options
/// Throws argument_error for an axis whose name is no label, shape_error for another number of coordinates; as sweep::map.
[[nodiscard]] inline sweep::table winner_map(const reduced::relational_model& model, std::span<const double> start,
                                             const sweep::grid& over, const winner_map_options& options = {}) {
  require_extent("start.size()", start.size(), model.dimension());
  const manifold::layout& layout = model.basis().layout();
  std::vector<std::size_t> places;
  for (const sweep::axis& axis : over.axes())
    places.push_back(static_cast<std::size_t>(model.basis().place_of(axis.name())));
  std::vector<std::string> columns{"winner", "lead", "time"};
  for (const head_pair& pair : head_pairs(layout))
    columns.push_back("needed " + std::string(label(layout, pair).view()));

  reduced::relational_model own = model;
  const auto make_worker = [&] {
    return [&, mine = model, from = std::vector<double>(start.begin(), start.end()),
            row = std::vector<double>()](const sweep::cell& cell) mutable -> const std::vector<double>& {
      for (std::size_t i = 0; i < places.size(); ++i) from[places[i]] = cell.values[i];
      const race_result result = race(mine, from, options.race);
      row = {result.winner ? static_cast<double>(*result.winner) : -1, result.lead, result.time};
      for (const standing& each : result.standings) row.push_back(each.needed);
      return row;
    };
  };
  return sweep::map(over, columns, make_worker,
                    {.threads = options.threads,
                     .journal = options.journal,
                     .configuration = detail::configuration(own, start, options.race),
                     .task = "winner map",
                     .tell = options.tell});
}

}  // namespace lindyn::circuit
