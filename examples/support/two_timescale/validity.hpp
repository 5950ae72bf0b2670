// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How far the rate systems of two factors are from all weights of linearised attention, over gamma.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/compare/linearised_flow.hpp>
#include <lindyn/compare/rates_along.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/sweep/table.hpp>

#include "../panels.hpp"
#include "../provenance.hpp"
#include "setting.hpp"

namespace examples::two_timescale {

/// Error of r up to which a system is said to hold.
inline constexpr double error_allowed = 0.05;

/// Largest differences of m and r from the full model along a flow without decay, and the times at which r meets 1/2 (0 if it
/// doesn't), for each gamma and seed.
[[nodiscard]] inline lindyn::sweep::table find_validity(const setting& s) {
  using lindyn::sweep::axis;
  const auto worker = [&](const lindyn::sweep::cell& at) {
    const std::vector<double> start =
        model::initial_weights(s.net, {.gamma = at.values[0], .seed = static_cast<std::uint64_t>(at.values[1])});
    const double until = std::min(s.o.lr * s.o.updates, 2 / s.slopes().memorising);
    const auto full = lindyn::compare::linearised_flow(s.net, start, {.until = until});
    const auto along = lindyn::compare::rates_along(s.net, std::span(start), full.records, {});
    const auto exact = difference(along.full, along.linearised), reduced = difference(along.full, along.reduced);
    return std::array{exact.memorising,
                      exact.reasoning,
                      reduced.memorising,
                      reduced.reasoning,
                      along.full.half_time.value_or(0),
                      along.reduced.half_time.value_or(0)};
  };
  const std::string configuration =
      "validity: keys " + lindyn::io::number_text(s.o.keys) + " anchors " + lindyn::io::number_text(s.o.anchors) +
      " pairs " + lindyn::io::number_text(s.o.pairs) + " width " + lindyn::io::number_text(s.o.width) + " reduction " +
      s.o.reduction + " time " + lindyn::io::number_text(s.o.lr * s.o.updates) + '\n';
  return lindyn::sweep::map(
      lindyn::sweep::grid(
          {axis::linear("gamma", 0.1, 1.1, 11), axis::linear("seed", 1, static_cast<double>(s.o.seeds), s.o.seeds)}),
      {"linearised_m", "linearised_r", "reduced_m", "reduced_r", "half_time", "reduced_half_time"},
      [&] { return worker; }, journaled(s, "validity", configuration));
}

/// Prints and writes validity.csv, and returns what stands in the summary: the largest errors over the seeds of each gamma,
/// and the gamma below which the reduced system holds.
[[nodiscard]] inline lindyn::io::json write_validity(const setting& s, const lindyn::sweep::table& found) {
  lindyn::sweep::write_csv(s.o.out / "validity.csv", found);
  lindyn::io::json rows = lindyn::io::json::array();
  std::optional<double> holds_to;
  bool holds = true;
  std::printf("\nlargest errors over %lld seeds, against all weights\n%-6s %14s %14s %14s %14s\n",
              static_cast<long long>(s.o.seeds), "gamma", "reduced: m", "r", "linearised: m", "r");
  for (index row = 0; row < found.cells().axes()[0].count(); ++row) {
    const double gamma = found.cells().axes()[0].at(row);
    std::array<double, 4> largest{};
    for (index seed = 0; seed < s.o.seeds; ++seed)
      for (std::size_t i = 0; i < largest.size(); ++i)
        largest[i] = std::max(largest[i], found.values()(row * s.o.seeds + seed, static_cast<index>(i)));
    std::printf("%-6.2g %14.4g %14.4g %14.1e %14.1e\n", gamma, largest[2], largest[3], largest[0], largest[1]);
    rows.push_back({{"gamma", gamma},
                    {"reduced_m", largest[2]},
                    {"reduced_r", largest[3]},
                    {"linearised_m", largest[0]},
                    {"linearised_r", largest[1]}});
    holds = holds && largest[3] <= error_allowed;
    if (holds) holds_to = gamma;
  }
  std::printf("r of the reduced system is right to %g up to gamma = %s\n", error_allowed,
              holds_to ? lindyn::io::number_text(*holds_to).c_str() : "nowhere");
  return {{"errors", rows}, {"error_allowed", error_allowed}, {"reduced_holds_to", examples::or_null(holds_to)}};
}

/// validity.png and .svg: errors, and the time of reasoning, over gamma.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_validity(const setting& s, const lindyn::sweep::table& found) {
  const std::string points = "with points pointtype 7 pointsize 0.7";
  std::vector<examples::panel> panels{{"largest error along the flow",
                                       "gamma",
                                       "",
                                       "set logscale y\nset format y '10^{%T}'\nset key center right\n",
                                       {{"", "$1", "$6", "r of the reduced system", points, 0},
                                        {"", "$1", "$5", "m of it", points, 1},
                                        {"", "$1", "$4", "r of the eight numbers", points, 2},
                                        {"", "$1", "$3", "m of them", points, 3}}}};
  const auto met = [&](const char* column) { return std::ranges::max(found.column(column)) > 0; };
  if (met("half_time") && met("reduced_half_time"))
    panels.push_back({"when r meets 1/2",
                      "gamma",
                      "time, learning rate x updates",
                      "set key top center\n",
                      {{"$7 > 0", "$1", "$7", "all weights", points, 0},
                       {"$8 > 0", "$1", "$8", "reduced system", "with points pointtype 6 pointsize 0.9", 1}}});
  return examples::draw_panels(s.o.out, "validity",
                               "Rate systems beside all weights of linearised attention, without decay", panels);
}

}  // namespace examples::two_timescale
