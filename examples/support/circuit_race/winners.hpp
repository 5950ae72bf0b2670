// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The map of winners, its boundary, and its picture.

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <lindyn/circuit/race/crossing.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/sweep/boundary.hpp>
#include <lindyn/sweep/map.hpp>

#include "../gnuplot.hpp"
#include "../statistics.hpp"
#include "setting.hpp"

namespace examples::circuit_race {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The map with what follows from it.
struct winners {
  sweep::table map;
  std::vector<double> winner;     ///< by cell
  std::vector<index> distance{};  ///< by cell, from the boundary
  /// Of the zone of shared work, on the lines across the map that cross the boundary, in units of a coordinate; infinite
  /// where it reaches the map's edge or another boundary: without those, which are wide, the others would look typical.
  std::vector<double> widths{};

  /// Whether there is a boundary: more than one winner.
  [[nodiscard]] bool bounded() const { return std::ranges::find(distance, 1) != distance.end(); }
  [[nodiscard]] lindyn::matrix_view<const double> view() const {
    return {winner.data(), map.cells().axes()[0].count(), map.cells().axes()[1].count()};
  }
};

/// Lines across the map, from edge to edge, `lines` along x and as many along y. A row: 1 if its ends have
/// different winners, else 0; the width of the zone in which two pairs share the work, infinite unless it ends on the
/// line on both sides.
[[nodiscard]] inline sweep::table lines_across(const setting& s, int lines) {
  return sweep::map(
      sweep::grid({sweep::axis::listed("along", {0, 1}), sweep::axis::linear("at", s.o.low, s.o.high, lines)}),
      {"crossed", "width"},
      [&] {
        return [&s, model = s.model](const sweep::cell& line) mutable {
          const bool along_x = line.values[0] == 0;
          const auto end = [&](double value) {
            return along_x ? s.start_at(value, line.values[1]) : s.start_at(line.values[1], value);
          };
          circuit::race_options race = s.race;
          race.tolerance = 1e-9;
          const auto found = circuit::find_crossing(model, end(s.o.low), end(s.o.high), {.race = race});
          const auto width = found ? found->width() : std::nullopt;
          return std::array{found ? 1.0 : 0.0, width ? *width * (s.o.high - s.o.low) : infinity};
        };
      },
      s.sweeping("boundary", "boundary.journal"));
}

[[nodiscard]] inline winners map_of_winners(const setting& s) {
  auto map = circuit::winner_map(
      s.model, s.start, s.grid(),
      {.race = s.race, .threads = s.o.threads, .journal = s.o.out / "winner_map.journal", .tell = s.tell});
  auto winner = map.column("winner");
  winners result{std::move(map), std::move(winner)};
  result.distance = sweep::boundary_distance(result.view());
  const sweep::table lines = lines_across(s, 17);
  const std::vector<double> crossed = lines.column("crossed"), width = lines.column("width");
  for (std::size_t i = 0; i < width.size(); ++i)
    if (crossed[i] == 1) result.widths.push_back(width[i]);
  return result;
}

/// Shares of the map, how long and how sharp its boundary is; told, and for summary.json.
[[nodiscard]] inline lindyn::io::json tell_winners(const setting& s, const winners& found) {
  lindyn::io::json result;
  const auto share = [&](auto count) { return static_cast<double>(count) / static_cast<double>(found.winner.size()); };
  std::printf("The map, %s from %g to %g (right) and %s (up):\n", s.o.x.c_str(), s.o.low, s.o.high, s.o.y.c_str());
  for (double place = -1; place < static_cast<double>(s.pairs.size()); ++place) {
    const auto count = std::ranges::count(found.winner, place);
    if (count == 0) continue;
    result["share"][s.name(place)] = share(count);
    if (place < 0)
      std::printf("  nobody wins in %.1f %% of the cells, where the loss hasn't reached %g\n", 100 * share(count),
                  s.o.loss);
    else
      std::printf("  %s wins in %.1f %% of the cells\n", s.name(place).c_str(), 100 * share(count));
  }
  const std::vector<double> leads = found.map.column("lead");
  result["share_at_the_boundary"] = share(std::ranges::count(found.distance, 1));
  result["share_shared"] = share(std::ranges::count_if(leads, [](double lead) { return lead <= 0.5; }));
  result["regions"] = sweep::region_count(found.view());
  std::vector<double> widths = found.widths;
  std::ranges::sort(widths);
  const auto measured = std::ranges::lower_bound(widths, infinity) - widths.begin();
  result["lines"]["across_boundary"] = widths.size();
  result["lines"]["zone_ends_within_the_map"] = measured;
  if (measured > 0) {
    const double least = widths.front(), most = widths[static_cast<std::size_t>(measured - 1)];
    result["zone_width"] = {{"median", median(widths)}, {"least", least}, {"most", most}};
    std::printf(
        "  boundary: %zu lines from edge to edge cross it; the zone in which the work is shared ends within the "
        "map on %td, where it is %.2g to %.2g wide; the median of all is %.2g\n",
        widths.size(), measured, least, most, median(widths));
  }
  return result;
}

/// boundary.csv: the sides that cells of different winners have in common, as ends of segments.
inline void write_boundary(const setting& s, const winners& found) {
  lindyn::io::csv_writer csv(s.o.out / "boundary.csv", {"x1", "y1", "x2", "y2"});
  for (const auto& [x1, y1, x2, y2] : sweep::boundary_segments(found.map.cells(), found.winner))
    csv.row(x1, y1, x2, y2);
  csv.commit();
}

/// A colour for each pair; those for six and fewer are told apart by the colour-blind too.
[[nodiscard]] inline std::vector<std::array<int, 3>> palette(std::size_t pairs) {
  std::vector<std::array<int, 3>> colours{{0, 114, 178},  {230, 159, 0}, {0, 158, 115},
                                          {86, 180, 233}, {213, 94, 0},  {204, 121, 167}};
  for (std::size_t i = colours.size(); i < pairs; ++i) {
    const auto part = [&](std::size_t factor) { return static_cast<int>(40 + (factor * i) % 180); };
    colours.push_back({part(97), part(61), part(139)});
  }
  colours.resize(pairs);
  return colours;
}

/// winner_map.png and .svg: the winner as colour, paler where its lead is small; the boundary; and as circles what full
/// networks did, in the colour of their winner (confirmation_map.csv).
[[nodiscard]] inline bool draw_winners(const setting& s, const winners& found) {
  const auto colours = palette(s.pairs.size());
  const auto hex = [](const std::array<int, 3>& colour) {
    return text("#%02X%02X%02X", colour[0], colour[1], colour[2]);
  };
  std::string body = "set datafile separator ','\n";
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const std::string name(1, "rgb"[channel]);
    body += "array " + name + "[" + std::to_string(colours.size() + 1) + "] = [120";  // grey where nobody wins
    for (const auto& colour : colours) body += ", " + std::to_string(colour[channel]);
    body += "]\n";
  }
  body += "paler(c, lead) = 255 - (255 - c) * (0.25 + 0.75 * lead)\n";
  body += "full(w) = 65536 * r[w + 2] + 256 * g[w + 2] + b[w + 2]\n";
  body += "set size ratio -1\nset key outside right top Left reverse noenhanced\nset tics out nomirror\n";
  body += "set title " + examples::quoted("Which pair of heads forms the circuit") + "\n";
  body += "set xlabel " + examples::quoted(s.o.x + " at the start") + " noenhanced\nset ylabel " +
          examples::quoted(s.o.y + " at the start") + " noenhanced\n";
  const std::string range = "[" + number_text(s.o.low) + ":" + number_text(s.o.high) + "]";
  body += "set xrange " + range + "\nset yrange " + range + "\n";
  body +=
      "plot 'winner_map.csv' skip 1 using 2:1:(paler(r[$3 + 2], $4)):(paler(g[$3 + 2], $4)):(paler(b[$3 + 2], $4)) "
      "with rgbimage notitle";
  if (found.bounded())
    body +=
        ", 'boundary.csv' skip 1 using 1:2:($3 - $1):($4 - $2) with vectors nohead linewidth 0.7 linecolor rgb "
        "'#000000' notitle";
  for (std::size_t p = 0; p < s.pairs.size(); ++p)
    if (std::ranges::find(found.winner, static_cast<double>(p)) != found.winner.end())
      body += ", NaN with points pointtype 5 pointsize 2 linecolor rgb '" + hex(colours[p]) + "' title " +
              examples::quoted(s.name(s.pairs[p]) + " wins");
  if (s.o.confirm > 0)
    body +=
        ", 'confirmation_map.csv' skip 1 using 2:3 with points pointtype 7 pointsize 1.7 linecolor rgb '#000000' "
        "notitle, '' skip 1 using 2:3:(full($6)) with points pointtype 7 pointsize 1.2 linecolor rgb variable "
        "notitle, NaN with points pointtype 6 pointsize 1.5 linecolor rgb '#000000' title 'full networks'";
  return examples::draw(s.o.out, "winner_map", body + "\n", 760, 560);
}

}  // namespace examples::circuit_race
