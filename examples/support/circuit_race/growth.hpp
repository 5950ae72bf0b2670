// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who excites and who suppresses whom.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <lindyn/circuit/race/growth_rates.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>

#include "../gnuplot.hpp"
#include "setting.hpp"

namespace examples::circuit_race {

/// Derivatives of the pairs' growth rates: at the map's start, and half-way of the races from random starts, when the
/// loss has fallen by half of what it will. (At the random starts themselves most of them cancel in the mean.)
struct growth_statistics {
  circuit::growth_rates at_start;
  std::vector<double> mean{};              ///< pairs x dimension, over the random starts
  std::vector<double> positive{};          ///< share of the random starts in which it is positive
  std::vector<double> mean_interaction{};  ///< pairs x pairs
};

/// Where a race is half-way.
[[nodiscard]] inline std::vector<double> halfway(setting& s, const std::vector<double>& start) {
  circuit::race_options half = s.race;
  half.loss = (s.model.loss(start) + s.race.loss) / 2;
  return circuit::race(s.model, start, half).coordinates;
}

[[nodiscard]] inline growth_statistics growth_of(setting& s) {
  growth_statistics result{.at_start = circuit::growth_rates_at(s.model, s.start, s.race.selections)};
  result.mean.assign(result.at_start.derivative.size(), 0.0);
  result.positive = result.mean;
  result.mean_interaction.assign(result.at_start.interaction.size(), 0.0);
  const double weight = 1.0 / static_cast<double>(s.o.starts);
  for (index seed = 1; seed <= s.o.starts; ++seed) {
    const auto here = circuit::growth_rates_at(s.model, halfway(s, s.random_start(seed)), s.race.selections);
    for (std::size_t i = 0; i < result.mean.size(); ++i) {
      result.mean[i] += weight * here.derivative[i];
      result.positive[i] += here.derivative[i] > 0 ? weight : 0;
    }
    for (std::size_t i = 0; i < here.interaction.size(); ++i)
      result.mean_interaction[i] += weight * here.interaction[i];
  }
  return result;
}

/// growth_rates.csv: a line for each pair and coordinate. interactions.csv: a line for each pair and pair.
inline void write_growth(const setting& s, const growth_statistics& found) {
  const auto dimension = static_cast<std::size_t>(s.basis().dimension());
  lindyn::io::csv_writer csv(s.o.out / "growth_rates.csv",
                             {"pair_number", "coordinate_number", "pair", "coordinate", "at_the_maps_start",
                              "mean_half_way", "share_positive_half_way"});
  for (std::size_t i = 0; i < found.mean.size(); ++i)
    csv.row(i / dimension, i % dimension, s.name(s.pairs[i / dimension]),
            s.basis().label(static_cast<index>(i % dimension)), found.at_start.derivative[i], found.mean[i],
            found.positive[i]);
  csv.commit();
  lindyn::io::csv_writer pairs(s.o.out / "interactions.csv",
                               {"pair_number", "other_number", "pair", "other", "at_the_maps_start", "mean_half_way"});
  for (std::size_t i = 0; i < found.mean_interaction.size(); ++i)
    pairs.row(i / s.pairs.size(), i % s.pairs.size(), s.name(s.pairs[i / s.pairs.size()]),
              s.name(s.pairs[i % s.pairs.size()]), found.at_start.interaction[i], found.mean_interaction[i]);
  pairs.commit();
}

/// growth_rates.png and .svg: heat maps of the means, coordinates above, pairs below.
[[nodiscard]] inline bool draw_growth(const setting& s, const growth_statistics& found) {
  const auto tics = [](const std::string& axis, std::size_t count, auto&& name) {
    std::string text = "set " + axis + " (";
    for (std::size_t i = 0; i < count; ++i)
      text += std::string(i > 0 ? ", " : "") + examples::quoted(name(i)) + " " + std::to_string(i);
    return text + ") noenhanced\n";
  };
  const auto pair_name = [&](std::size_t i) { return s.name(s.pairs[i]); };
  const auto range = [](const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return "set cbrange [" + number_text(-largest) + ":" + number_text(largest) + "]\n";
  };
  const auto dimension = static_cast<std::size_t>(s.basis().dimension());
  const std::string last_pair = std::to_string(s.pairs.size()) + " - 0.5",
                    down = "set yrange [" + last_pair + ":-0.5]\n";
  std::string body = "set datafile separator ','\nset palette defined (-1 '#0072B2', 0 '#FFFFFF', 1 '#D55E00')\n";
  body += "unset key\nset tics scale 0\nset border 3\nset lmargin 18\nset rmargin 10\nset bmargin 6\nset multiplot\n";
  body +=
      "set size 1, 0.52\nset origin 0, 0.48\nset title 'What a coordinate adds to the growth rate of each "
      "circuit (orange: excites, blue: suppresses), half-way of the race, mean over " +
      std::to_string(s.o.starts) + " starts'\n";
  body += tics("xtics rotate by 90 right", dimension,
               [&](std::size_t i) { return s.basis().label(static_cast<index>(i)); });
  body += tics("ytics", s.pairs.size(), pair_name) + range(found.mean) + down +
          "set xrange [-0.5:" + std::to_string(dimension) +
          " - 0.5]\nplot 'growth_rates.csv' skip 1 using 2:1:6 with image\n";
  body +=
      "set size 0.6, 0.48\nset origin 0.1, 0\nset bmargin 3\nset title 'The same for a unit step towards another "
      "circuit, times 1000'\n";
  body += tics("xtics norotate center", s.pairs.size(), pair_name) + range(found.mean_interaction) +
          "set xrange [-0.5:" + last_pair +
          "]\nplot 'interactions.csv' skip 1 using 2:1:6 with image, '' skip 1 using "
          "2:1:(abs($6) < 5e-5 ? '0' : sprintf('%+.1f', 1000 * $6)) with labels\nunset multiplot\n";
  return examples::draw(s.o.out, "growth_rates", body, 1600, 700);
}

/// What excites each pair most and what suppresses it most, for summary.json.
[[nodiscard]] inline lindyn::io::json summary_of_growth(const setting& s, const growth_statistics& found) {
  const auto dimension = s.basis().dimension();
  lindyn::io::json result;
  result["error_of_a_derivative"] = found.at_start.error;
  for (std::size_t p = 0; p < s.pairs.size(); ++p) {
    std::vector<index> places;
    for (index i = 0; i < dimension; ++i) places.push_back(i);
    const auto value = [&](index i) {
      return found.mean[p * static_cast<std::size_t>(dimension) + static_cast<std::size_t>(i)];
    };
    std::ranges::stable_sort(places, std::greater{}, value);
    auto& of = result["pairs"][s.name(s.pairs[p])];
    for (std::size_t i = 0; i < 3 && i < places.size(); ++i) {
      const index high = places[i], low = places[places.size() - 1 - i];
      of["excited_by"].push_back({{"coordinate", s.basis().label(high)}, {"mean", value(high)}});
      of["suppressed_by"].push_back({{"coordinate", s.basis().label(low)}, {"mean", value(low)}});
    }
    for (std::size_t q = 0; q < s.pairs.size(); ++q)
      of["towards"][s.name(s.pairs[q])] = found.mean_interaction[p * s.pairs.size() + q];
  }
  return result;
}

}  // namespace examples::circuit_race
