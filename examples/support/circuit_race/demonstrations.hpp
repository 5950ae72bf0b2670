// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two races that go against intuition: the largest start loses, and a weight outside the circuit decides.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <lindyn/circuit/race/crossing.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/sweep/table.hpp>

#include "../gnuplot.hpp"
#include "setting.hpp"
#include "winners.hpp"

namespace examples::circuit_race {

/// The first random start whose clear winner isn't the pair with the largest amplitude.
[[nodiscard]] inline lindyn::io::json tell_largest_start(const setting& s, const sweep::table& starts) {
  const auto winner = starts.column("winner"), largest = starts.column("largest_start"), lead = starts.column("lead");
  bool any_clear = false;
  for (std::size_t i = 0; i < winner.size(); ++i) {
    const bool clear = winner[i] >= 0 && lead[i] > 0.5;
    any_clear = any_clear || clear;
    if (!clear || winner[i] == largest[i]) continue;
    const auto amplitude = [&](double place) { return starts.column("amplitude at the start " + s.name(place))[i]; };
    std::printf(
        "The largest start needn't win: at random start %zu %s begins with amplitude %.2f, %s with %.2f, and %s "
        "wins.\n",
        i + 1, s.name(largest[i]).c_str(), amplitude(largest[i]), s.name(winner[i]).c_str(), amplitude(winner[i]),
        s.name(winner[i]).c_str());
    return {{"start", i + 1},
            {"largest", s.name(largest[i])},
            {"its_amplitude", amplitude(largest[i])},
            {"winner", s.name(winner[i])},
            {"winners_amplitude", amplitude(winner[i])},
            {"lead", lead[i]}};
  }
  if (any_clear) std::printf("The largest start has won each clear race.\n");
  return nullptr;
}

/// A coordinate that changes who wins though it is in neither circuit.
struct outside_weight {
  std::int64_t seed = 0;
  index place = 0;
  double from = 0, to = 0;  ///< its values at the start and where another pair wins
  std::size_t before = 0, after = 0;
  double crossing = 0;  ///< the value at which the winner changes
};

/// Whether a coordinate is of a pair's heads: of one of their attention weights, or reads out what the second copied.
[[nodiscard]] inline bool belongs(const lindyn::manifold::layout& layout, index place, const circuit::head_pair& pair) {
  const auto which = layout.at(place);
  if (which.layer > layout.layers()) return circuit::copied_by(layout, which.key_copy, pair.second);
  const circuit::head head{which.layer, which.head};
  return head == pair.first || head == pair.second;
}

/// Whether a coordinate makes a pair's circuit: one of the three at its core, or one by which it is composed.
[[nodiscard]] inline bool makes(const setting& s, index place, const circuit::head_pair& pair) {
  const auto core = circuit::core_places(s.basis().layout(), pair, s.race.selections);
  const auto composition = circuit::composition_places(s.basis().layout(), pair);
  return std::ranges::find(core, place) != core.end() || std::ranges::find(composition, place) != composition.end();
}

/// Whether the work is mainly the winner's: nobody else does half as much, and without it more than half is lost of what
/// is to be won.
[[nodiscard]] inline bool is_clear(setting& s, const circuit::race_result& race) {
  const std::vector<double> nothing(static_cast<std::size_t>(s.basis().dimension()));
  return race.winner && !race.shared() && race.standings[*race.winner].needed > (s.model.loss(nothing) - race.loss) / 2;
}

[[nodiscard]] inline bool same_heads(const circuit::head_pair& a, const circuit::head_pair& b) {
  return a.first == b.first && a.second == b.second;
}

/// Looks through the random starts, that of the map first, for a coordinate of no head of the winner's, whose change by
/// at most two hands the clear victory to other heads, whose circuit it doesn't make either.
[[nodiscard]] inline std::optional<outside_weight> find_outside_weight(setting& s) {
  const auto& layout = s.basis().layout();
  for (index i = 0; i <= s.o.starts; ++i) {
    const std::int64_t seed = i == 0 ? s.o.seed : i;
    std::vector<double> start = s.random_start(seed);
    const auto before = circuit::race(s.model, start, s.race);
    if (!is_clear(s, before)) continue;
    for (const double change : {0.5, -0.5, 1.0, -1.0, 2.0, -2.0})
      for (index place = 0; place < s.basis().dimension(); ++place) {
        if (belongs(layout, place, s.pairs[*before.winner])) continue;
        double& value = start[static_cast<std::size_t>(place)];
        const double from = value;
        value += change;
        const auto after = circuit::race(s.model, start, s.race);
        if (is_clear(s, after) && !same_heads(s.pairs[*after.winner], s.pairs[*before.winner]) &&
            !makes(s, place, s.pairs[*after.winner])) {
          const auto found = circuit::find_crossing(s.model, s.random_start(seed), start, {.race = s.race});
          return outside_weight{
              seed, place, from, value, *before.winner, *after.winner, std::lerp(from, value, found->high)};
        }
        value = from;
      }
  }
  return {};
}

/// outside_weight.csv, .png and .svg: what each pair is needed for, along that coordinate.
[[nodiscard]] inline bool draw_outside_weight(const setting& s, const outside_weight& found) {
  const std::string label = s.basis().label(found.place);
  const double margin = 0.25 * std::abs(found.to - found.from);
  const auto line =
      circuit::winner_map(s.model, s.random_start(found.seed),
                          sweep::grid({sweep::axis::linear(label, std::min(found.from, found.to) - margin,
                                                           std::max(found.from, found.to) + margin, 201)}),
                          {.race = s.race, .threads = s.o.threads, .tell = s.tell});
  sweep::write_csv(s.o.out / "outside_weight.csv", line);
  std::string body =
      "set datafile separator ','\nset key outside right top Left reverse noenhanced\nset tics nomirror\n";
  body += "set border 3\nset title " +
          examples::quoted("A weight outside the circuit decides: random start " + std::to_string(found.seed)) +
          " noenhanced offset 0,0.8\nset xlabel " +
          examples::quoted(label + " at the start: " + s.basis().describe(found.place)) +
          " noenhanced\nset tmargin 5\nset ylabel 'loss without the pair - loss with it, at the end'\n";
  body += "set arrow 1 from " + number_text(found.from) + ", graph 0 to " + number_text(found.from) +
          ", graph 1 nohead dashtype 2 linecolor rgb '#999999'\nset label 1 'start' at " + number_text(found.from) +
          ", graph 1 offset 0,0.6 center textcolor rgb '#777777'\nplot ";
  const auto colours = palette(s.pairs.size());
  for (std::size_t p = 0; p < s.pairs.size(); ++p)
    body += std::string(p > 0 ? ", " : "") + "'outside_weight.csv' skip 1 using 1:" + std::to_string(5 + p) +
            " with lines linewidth 2 linecolor rgb '" +
            text("#%02X%02X%02X", colours[p][0], colours[p][1], colours[p][2]) + "' title " +
            examples::quoted(s.name(s.pairs[p]));
  return examples::draw(s.o.out, "outside_weight", body + "\n", 760, 400);
}

/// What was found, told and for summary.json.
[[nodiscard]] inline lindyn::io::json tell_outside_weight(const setting& s,
                                                          const std::optional<outside_weight>& found) {
  if (!found) {
    std::printf("No single weight outside the circuits was found to change the winner.\n");
    return nullptr;
  }
  const std::string label = s.basis().label(found->place);
  std::printf(
      "A weight outside decides: from random start %lld %s wins; with %s (%s) %s %.4f instead of at %.4f %s does.\n",
      static_cast<long long>(found->seed), s.name(s.pairs[found->before]).c_str(), label.c_str(),
      s.basis().describe(found->place).c_str(), found->to > found->from ? "above" : "below", found->crossing,
      found->from, s.name(s.pairs[found->after]).c_str());
  return {{"start", found->seed},
          {"coordinate", label},
          {"meaning", s.basis().describe(found->place)},
          {"at_the_start", found->from},
          {"changed_to", found->to},
          {"winner_changes_at", found->crossing},
          {"winner_before", s.name(s.pairs[found->before])},
          {"winner_after", s.name(s.pairs[found->after])}};
}

}  // namespace examples::circuit_race
