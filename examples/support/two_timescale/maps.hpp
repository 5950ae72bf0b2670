// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a window leads to in every rate system, over its onset and width at equal budget, and over onset and gamma.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <lindyn/io/json.hpp>
#include <lindyn/rates/critical_window_map.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/journal.hpp>
#include <lindyn/sweep/table.hpp>

#include "../gnuplot.hpp"
#include "setting.hpp"

namespace examples::two_timescale {

/// One of both maps: the onset along the second axis, what it is varied with along the first.
struct window_map {
  std::string name;   ///< of its files
  std::string label;  ///< of the first axis
  lindyn::sweep::grid grid;
};

/// Both maps.
[[nodiscard]] inline std::vector<window_map> window_maps(const setting& s) {
  using lindyn::sweep::axis;
  const axis onset = axis::linear("onset", 0, s.o.onset_to, s.o.resolution);
  return {{"onset_width", "updates of the window, at equal budget",
           lindyn::sweep::grid({axis::linear("width", s.o.width_from, s.o.width_to, s.o.resolution), onset})},
          {"onset_gamma", "gamma, the initial scale",
           lindyn::sweep::grid({axis::linear("gamma", s.o.gamma_from, s.o.gamma_to, s.o.resolution), onset})}};
}

/// The file name of a system's map.
[[nodiscard]] inline std::string file_of(const window_map& map, const std::string& system) {
  return map.name + "_" + system;
}

/// A system's map.
struct found_map {
  std::string system;
  lindyn::sweep::table table;
};

/// The maps of all systems; each keeps its journal in the folder of the results.
[[nodiscard]] inline std::vector<found_map> find_maps(const setting& s, const window_map& map) {
  std::vector<found_map> result;
  for_each_system(s, [&](const char* name, const char*, const auto& make) {
    result.push_back({name, rates::critical_window_map(make, map.grid,
                                                       {.protocol = s.protocol(0),
                                                        .gamma = s.o.gamma,
                                                        .threads = s.o.threads,
                                                        .journal = s.o.out / (file_of(map, name) + ".journal"),
                                                        .tell = s.tell})});
  });
  return result;
}

/// Forgets earlier maps.
inline void remove_maps(const setting& s) {
  for (const window_map& map : window_maps(s))
    for_each_system(s, [&](const char* name, const char*, const auto&) {
      lindyn::sweep::remove_journal(s.o.out / (file_of(map, name) + ".journal"));
    });
}

/// Writes a CSV file for each map, and returns what stands in the summary: the part of the map in which reasoning is most
/// of what is learnt.
[[nodiscard]] inline lindyn::io::json write_maps(const setting& s, const window_map& map,
                                                 const std::vector<found_map>& found) {
  lindyn::io::json summary;
  for (const found_map& one : found) {
    lindyn::sweep::write_csv(s.o.out / (file_of(map, one.system) + ".csv"), one.table);
    const std::vector<double> shares = one.table.column("share");
    // Masses that both come to 1 are equal up to the flow's tolerance alone.
    const auto won = std::ranges::count_if(shares, [](double share) { return share > 0.5 + 1e-4; });
    const auto [least, most] = std::ranges::minmax(shares);
    summary[one.system] = {{"reasoning_wins_in", static_cast<double>(won) / static_cast<double>(shares.size())},
                           {"least_share", least},
                           {"largest_share", most}};
  }
  return summary;
}

/// Draws the maps of all systems beside each other.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_maps(const setting& s, const window_map& map, const std::vector<found_map>& found) {
  std::string body =
      "set datafile separator ','\nset tics out nomirror\nset cbrange [0:1]\n"
      "set palette defined (0 '#D55E00', 0.5 '#F7F7F7', 1 '#0072B2')\nset xlabel 'onset of decay'\nset ylabel " +
      examples::quoted(map.label) + " noenhanced\nset xrange [0:" + lindyn::io::number_text(s.o.onset_to) +
      "]\nset yrange [" + lindyn::io::number_text(map.grid.axes()[0].values().front()) + ":" +
      lindyn::io::number_text(map.grid.axes()[0].values().back()) +
      "]\nset multiplot layout 2,3 title 'Share of reasoning at the end of training'\n";
  for (const found_map& one : found)
    body += "set title " + examples::quoted(one.system) + " noenhanced\nplot " +
            examples::quoted(file_of(map, one.system) + ".csv") + " skip 1 using 2:1:3 with image notitle\n";
  return examples::draw(s.o.out, map.name, body + "unset multiplot\n", 1200, 720);
}

}  // namespace examples::two_timescale
