// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who wins from random starts, and whether the largest start does: that of the largest amplitude (growth_rates.hpp).

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <lindyn/circuit/race/growth_rates.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/sweep/map.hpp>

#include "setting.hpp"

namespace examples::circuit_race {

/// Races from the random starts 1, 2, .. A row: the winner's place, its lead, the time, the place of the pair with the
/// largest amplitude at the start; then by pair the amplitude at the start, what the pair is needed for at the end, and
/// the product of its core coordinates there.
[[nodiscard]] inline sweep::table race_from_random_starts(const setting& s) {
  std::vector<std::string> columns{"winner", "lead", "time", "largest_start"};
  for (const std::string kind : {"amplitude at the start ", "needed ", "product "})
    for (const auto& pair : s.pairs) columns.push_back(kind + s.name(pair));
  std::vector<double> seeds;
  for (index seed = 1; seed <= s.o.starts; ++seed) seeds.push_back(static_cast<double>(seed));
  return sweep::map(
      sweep::grid({sweep::axis::listed("start", seeds)}), columns,
      [&] {
        return [&s, model = s.model](const sweep::cell& cell) mutable {
          const std::vector<double> start = s.random_start(static_cast<std::int64_t>(cell.values[0]));
          const std::vector<double> amplitude = circuit::growth_rates_at(model, start, s.race.selections).amplitude;
          const circuit::race_result race = circuit::race(model, start, s.race);
          std::vector<double> row{race.winner ? static_cast<double>(*race.winner) : -1, race.lead, race.time,
                                  static_cast<double>(std::ranges::max_element(amplitude) - amplitude.begin())};
          row.insert(row.end(), amplitude.begin(), amplitude.end());
          for (const auto& each : race.standings) row.push_back(each.needed);
          for (const auto& each : race.standings) row.push_back(each.product);
          return row;
        };
      },
      s.sweeping("random starts", "random_starts.journal"));
}

/// Who is first among the pairs that work by key, in columns of a kind; nobody (-1) where the race had no winner.
[[nodiscard]] inline std::vector<double> first_by_key(const setting& s, const sweep::table& found,
                                                      const std::string& kind) {
  std::vector<double> first(static_cast<std::size_t>(found.cells().size()), -1), best(first.size(), 0);
  for (std::size_t p = 0; p < s.pairs.size(); ++p) {
    if (s.pairs[p].by != circuit::composition::key) continue;
    const std::vector<double> values = found.column(kind + s.name(s.pairs[p]));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (first[i] >= 0 && values[i] <= best[i]) continue;
      first[i] = static_cast<double>(p);
      best[i] = values[i];
    }
  }
  const std::vector<double> winner = found.column("winner");
  for (std::size_t i = 0; i < first.size(); ++i)
    if (winner[i] < 0) first[i] = -1;
  return first;
}

/// How often each pair won, and how often the one that was first in another list.
[[nodiscard]] inline lindyn::io::json count_wins(const setting& s, const std::vector<double>& winners,
                                                 const std::vector<double>& favourites) {
  lindyn::io::json result;
  for (double place = -1; place < static_cast<double>(s.pairs.size()); ++place) {
    const auto wins = std::ranges::count(winners, place);
    if (wins > 0) result["wins"][s.name(place)] = wins;
  }
  index favourite = 0;
  for (std::size_t i = 0; i < winners.size(); ++i) favourite += winners[i] >= 0 && winners[i] == favourites[i] ? 1 : 0;
  result["largest_start_wins"] = favourite;
  result["of"] = winners.size();
  return result;
}

/// Statistics of the races, told and for summary.json.
[[nodiscard]] inline lindyn::io::json tell_random_starts(const setting& s, const sweep::table& found) {
  const auto largest_by_key = first_by_key(s, found, "amplitude at the start ");
  lindyn::io::json result;
  result["all_pairs"] = count_wins(s, found.column("winner"), found.column("largest_start"));
  result["by_key_product"] = count_wins(s, first_by_key(s, found, "product "), largest_by_key);
  result["by_key_needed"] = count_wins(s, first_by_key(s, found, "needed "), largest_by_key);
  const std::vector<double> leads = found.column("lead");
  result["shared"] = std::ranges::count_if(leads, [](double lead) { return lead <= 0.5; });
  const auto line = [&](const char* what, const lindyn::io::json& of) {
    std::printf("  %-44s", what);
    for (const auto& [name, wins] : of["wins"].items())
      std::printf(" %s %lld ", name.c_str(), static_cast<long long>(wins.get<index>()));
    std::printf(" largest amplitude at the start %lld of %lld\n",
                static_cast<long long>(of["largest_start_wins"].get<index>()),
                static_cast<long long>(of["of"].get<index>()));
  };
  if (std::ranges::max(found.column("winner")) < 0) {
    std::printf("From no random start of scale %g the loss has reached %g: nobody wins.\n", s.o.scale, s.o.loss);
    return result;
  }
  std::printf("Random starts of scale %g, who wins:\n", s.o.scale);
  line(("all pairs, by what is " + s.o.measure).c_str(), result["all_pairs"]);
  line("induction heads only, by what is needed", result["by_key_needed"]);
  line("induction heads only, by their product", result["by_key_product"]);
  return result;
}

}  // namespace examples::circuit_race
