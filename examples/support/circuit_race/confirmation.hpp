// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Full networks, trained on minibatches from the same starts: do the same pairs win?

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <lindyn/circuit/race/trained_race.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/sweep/map.hpp>

#include "setting.hpp"
#include "winners.hpp"

namespace examples::circuit_race {

/// Trains full networks from the starts that `start_of` gives for the values listed in `which`. A row: the winner's
/// place, its lead, the step, the loss; then the same race on the manifold: winner, lead, time.
template <class StartOf>
[[nodiscard]] sweep::table confirm(const setting& s, const std::string& axis, const std::vector<double>& which,
                                   const std::string& journal, StartOf&& start_of) {
  return sweep::map(
      sweep::grid({sweep::axis::listed(axis, which)}),
      {"winner", "lead", "step", "loss", "reduced_winner", "reduced_lead", "reduced_time"},
      [&] {
        return [&, model = s.model](const sweep::cell& cell) mutable {
          const std::vector<double> start = start_of(cell.values[0]);
          const circuit::race_result reduced = circuit::race(model, start, s.race);
          // Twice as long as the flow took; two thousand steps more, for those that take off late.
          const auto steps = static_cast<index>(std::min(2 * reduced.time / s.o.rate, 1e5)) + 2000;
          const lindyn::model::attention_only<lindyn::layers<lindyn::dynamic>, lindyn::heads<lindyn::dynamic>, float>
              net(s.basis().shape());
          const std::vector<double> embedded = s.basis().embed(start);
          std::vector<float> weights(embedded.begin(), embedded.end());
          const circuit::trained_race_result full =
              circuit::trained_race(net, s.law, std::span(weights),
                                    {.training = {.steps = steps,
                                                  .learning_rate = s.o.rate,
                                                  .batch = s.o.batch,
                                                  .seed = static_cast<std::uint64_t>(cell.values[0])},
                                     .loss = s.o.loss});
          const auto place = [](const auto& winner) { return winner ? static_cast<double>(*winner) : -1.0; };
          return std::vector<double>{
              place(full.winner), full.lead,   static_cast<double>(full.step), full.loss, place(reduced.winner),
              reduced.lead,       reduced.time};
        };
      },
      s.sweeping("full networks", journal));
}

/// Full networks at random starts 1, 2, ..
[[nodiscard]] inline sweep::table confirm_random_starts(const setting& s) {
  std::vector<double> seeds;
  for (index seed = 1; seed <= s.o.confirm; ++seed) seeds.push_back(static_cast<double>(seed));
  return confirm(s, "start", seeds, "confirmation_starts.journal",
                 [&](double seed) { return s.random_start(static_cast<std::int64_t>(seed)); });
}

/// Full networks at uniformly drawn cells of the map.
[[nodiscard]] inline sweep::table confirm_map(const setting& s, const sweep::grid& cells) {
  lindyn::counter_generator generator(static_cast<std::uint64_t>(s.o.seed));
  std::vector<double> numbers;
  for (index i = 0; i < s.o.confirm; ++i)
    numbers.push_back(static_cast<double>(lindyn::uniform_index(generator, static_cast<std::uint64_t>(cells.size()))));
  return confirm(s, "cell", numbers, "confirmation_map.journal", [&](double number) {
    const sweep::cell cell = cells.at(static_cast<index>(number));
    return s.start_at(cell.values[1], cell.values[0]);
  });
}

/// How many agree, of all and of those that are clear.
struct tally {
  index same = 0, all = 0, clear_same = 0, clear = 0;

  void count(bool agrees, bool is_clear) {
    ++all;
    same += agrees;
    clear += is_clear;
    clear_same += agrees && is_clear;
  }
  /// \param from  what was counted
  /// \param where  it is clear
  void print(const char* from, const char* where) const {
    std::printf("Full networks from %s: the same winner in %lld of %lld", from, static_cast<long long>(same),
                static_cast<long long>(all));
    if (clear > 0)
      std::printf("; %s in %lld of %lld", where, static_cast<long long>(clear_same), static_cast<long long>(clear));
    std::printf(".\n");
  }
  [[nodiscard]] lindyn::io::json json() const {
    return {
        {"same", same}, {"of", all}, {"same_away_from_the_boundary", clear_same}, {"away_from_the_boundary", clear}};
  }
};

/// confirmation_starts.csv, and who agrees. Away from the boundary: the flow's winner shares its work with nobody.
[[nodiscard]] inline lindyn::io::json write_confirmed_starts(const setting& s, const sweep::table& found) {
  sweep::write_csv(s.o.out / "confirmation_starts.csv", found);
  tally count;
  for (index i = 0; i < found.cells().size(); ++i) {
    const auto row = found.values().row(i);
    count.count(row[0] == row[4], row[5] > 0.5);
  }
  count.print("random starts", "where the winner is clear");
  return count.json();
}

/// confirmation_map.csv, and who agrees. Away from the boundary: further than one cell.
[[nodiscard]] inline lindyn::io::json write_confirmed_map(const setting& s, const winners& map,
                                                          const sweep::table& found) {
  lindyn::io::csv_writer csv(
      s.o.out / "confirmation_map.csv",
      {"cell", "x", "y", "cells_to_boundary", "winner", "winner_full", "lead", "lead_full", "step_full", "loss_full"});
  tally count;
  for (index i = 0; i < found.cells().size(); ++i) {
    const auto row = found.values().row(i);
    const auto number = static_cast<index>(found.cells().at(i).values[0]);
    const auto cell = map.map.cells().at(number);
    const auto distance = map.distance[static_cast<std::size_t>(number)];
    csv.row(number, cell.values[1], cell.values[0], map.bounded() ? static_cast<double>(distance) : infinity, row[4],
            row[0], row[5], row[1], row[2], row[3]);
    count.count(row[0] == row[4], distance > 1);
  }
  csv.commit();
  count.print("cells of the map", "further than one cell from the boundary");
  return count.json();
}

}  // namespace examples::circuit_race
