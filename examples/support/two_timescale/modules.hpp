// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Modules under an optimiser, from many random starts: which of them survive, and what is learnt, by decay mode and onset.

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/rates/module_extinction.hpp>
#include <lindyn/rates/module_system.hpp>
#include <lindyn/schedule/budget.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/sweep/table.hpp>

#include "../panels.hpp"
#include "setting.hpp"

namespace examples::two_timescale {

/// Two modules of so many factors, one of which can memorise by itself; the task takes both. Its figures were fitted to the
/// transformer of the windows, see examples/critical_window/RESULTS.md.
[[nodiscard]] inline rates::module_system two_modules(int factors) {
  const std::vector<int> powers(static_cast<std::size_t>(factors), 1);
  return {.modules = {{.powers = powers, .memorises = 1}, {.powers = powers, .memorises = 0}},
          .reasons = 20,
          .scale = 0.18,
          .signal = 2.2e-3,
          .noise = 1e-2,
          .units = 4};
}

/// What became of the modules, in numbers of starts.
inline const std::vector<std::string> module_columns{"extinct", "all_extinct", "reasoning", "memorising", "diverged"};

/// Factors, decay modes by number, and onsets.
[[nodiscard]] inline lindyn::sweep::grid module_grid(const setting& s) {
  using lindyn::sweep::axis;
  std::vector<double> modes;
  for (const auto mode : lindyn::enumerators<lindyn::optimizer::decay_mode>())
    modes.push_back(static_cast<double>(mode));
  return lindyn::sweep::grid(
      {axis::listed("factors", {2, 3}), axis::listed("mode", modes), axis::listed("onset", s.o.module_onsets)});
}

/// Trains modules by the rule of that name.
[[nodiscard]] inline std::vector<rates::module_state> end_of_modules(const setting& s,
                                                                     const rates::module_system& system,
                                                                     const rates::module_training& training) {
  using namespace lindyn::optimizer;
  if (s.o.module_rule == "sgd") return rates::train_modules(system, sgd_options{}, training).back();
  if (s.o.module_rule == "momentum") return rates::train_modules(system, momentum_options{}, training).back();
  return rates::train_modules(system, adam_options{.beta2 = 0.98}, training).back();
}

/// The starts that came to each outcome, for each number of factors, mode and onset.
[[nodiscard]] inline lindyn::sweep::table train_all_modules(const setting& s) {
  const auto number = [](auto value) { return ' ' + lindyn::io::number_text(value); };
  const std::string configuration = "modules: starts" + number(s.o.starts) + " updates" + number(s.o.module_updates) +
                                    " seed" + number(s.o.seed) + " window" + number(s.o.window) + " budget" +
                                    number(s.o.budget) + " lr" + number(s.o.module_lr) + ' ' + s.o.module_rule + '\n';
  const auto worker = [&](const lindyn::sweep::cell& at) {
    const rates::module_system system = two_modules(static_cast<int>(at.values[0]));
    const double onset = at.values[2];
    const auto ends =
        end_of_modules(s, system,
                       {.starts = s.o.starts,
                        .steps = s.o.module_updates,
                        .learning_rate = s.o.module_lr,
                        .decay = lindyn::schedule::window_of_budget(onset, onset + s.o.window, s.o.budget),
                        .mode = static_cast<lindyn::optimizer::decay_mode>(at.values[1]),
                        .seed = s.o.seed});
    const rates::module_outcomes found = rates::outcomes(system, ends);
    const auto count = [](const rates::observed_share& share) { return static_cast<double>(share.count); };
    return std::array{count(found.extinct), count(found.all_extinct), count(found.reasoning), count(found.memorising),
                      count(found.diverged)};
  };
  return lindyn::sweep::map(
      module_grid(s), module_columns, [&] { return worker; }, journaled(s, "modules", configuration));
}

/// Prints and writes modules.csv, each outcome with Wilson's interval, and returns what stands in the summary.
[[nodiscard]] inline lindyn::io::json write_modules(const setting& s, const lindyn::sweep::table& found) {
  const auto mode_of = [](const lindyn::sweep::cell& at) {
    return std::string(name(static_cast<lindyn::optimizer::decay_mode>(at.values[1])));
  };
  const auto share_of = [&](index cell, std::size_t outcome) {
    return rates::observed_share{static_cast<index>(found.values()(cell, static_cast<index>(outcome))), s.o.starts};
  };
  // Outcome after outcome: rows of one line of the picture follow one another.
  lindyn::io::csv_writer csv(s.o.out / "modules.csv", {"factors", "mode", "onset", "outcome", "share", "low", "high"});
  for (std::size_t outcome = 0; outcome < module_columns.size(); ++outcome)
    for (index cell = 0; cell < found.cells().size(); ++cell) {
      const auto at = found.cells().at(cell);
      const rates::observed_share share = share_of(cell, outcome);
      const auto [low, high] = share.interval();
      csv.row(at.values[0], mode_of(at), at.values[2], module_columns[outcome], share.value(), low, high);
    }
  csv.commit();

  lindyn::io::json summary = lindyn::io::json::array();
  std::printf("\nmodules under %s, shares of %lld starts\n%-7s %-10s %7s", s.o.module_rule.c_str(),
              static_cast<long long>(s.o.starts), "factors", "decay", "onset");
  for (const std::string& outcome : module_columns) std::printf(" %11s", outcome.c_str());
  for (index cell = 0; cell < found.cells().size(); ++cell) {
    const auto at = found.cells().at(cell);
    lindyn::io::json row{{"factors", at.values[0]}, {"mode", mode_of(at)}, {"onset", at.values[2]}};
    std::printf("\n%-7g %-10s %7g", at.values[0], mode_of(at).c_str(), at.values[2]);
    for (std::size_t outcome = 0; outcome < module_columns.size(); ++outcome) {
      row[module_columns[outcome]] = share_of(cell, outcome).value();
      std::printf(" %11.3f", share_of(cell, outcome).value());
    }
    summary.push_back(row);
  }
  std::printf("\n");
  return summary;
}

/// modules.png and .svg: extinction and reasoning against the onset, a line for each mode, with Wilson's intervals; modes
/// stand a little beside each other, and in narrower lines one after the other, so that equal ones are seen.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_modules(const setting& s) {
  std::vector<examples::panel> panels;
  const auto modes = lindyn::enumerators<lindyn::optimizer::decay_mode>();
  const auto [first, last] = std::ranges::minmax(s.o.module_onsets);
  const double margin = std::max(1.0, 0.06 * (last - first)), apart = margin / static_cast<double>(modes.size());
  for (const double factors : {2.0, 3.0})
    for (const std::string outcome : {"extinct", "reasoning"}) {
      panels.push_back({lindyn::io::number_text(factors) + " factors, " + outcome,
                        "onset of decay",
                        "share of starts",
                        "set yrange [-0.02:1.02]\nset key center right\nset xrange [" +
                            lindyn::io::number_text(first - margin) + ":" + lindyn::io::number_text(last + margin) +
                            "]\n",
                        {}});
      int colour = 0;
      for (const auto mode : modes) {
        const double aside = apart * (colour - 0.5 * static_cast<double>(modes.size() - 1));
        const auto left = modes.size() - 1 - static_cast<std::size_t>(colour);  // narrower ones that are to come
        const std::string x = "$3 + " + lindyn::io::number_text(aside);
        const std::string where = examples::is(1, factors) + " && " + examples::is(2, std::string(name(mode))) +
                                  " && " + examples::is(4, outcome);
        panels.back().curves.push_back(
            {where, x, "$5", panels.size() == 1 ? std::string(name(mode)) : "",
             "with lines linewidth " + lindyn::io::number_text(1 + 1.5 * static_cast<double>(left)), colour});
        panels.back().curves.push_back(
            {where, x, "$5):6:($7", "", "with yerrorbars pointtype 7 pointsize 0.9", colour++});  // three columns
      }
    }
  return examples::draw_panels(s.o.out, "modules", "Modules under " + s.o.module_rule + ", by decay mode", panels, 440,
                               360, 2);
}

}  // namespace examples::two_timescale
