// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The windows [t1, t2] that each system predicts, in updates.

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/windows.hpp>

#include "../provenance.hpp"
#include "setting.hpp"

namespace examples::two_timescale {

/// Onsets, in updates, at which a system says that decay makes reasoning win.
struct predicted_window {
  std::string system, meaning;
  std::optional<double> begin, end;  ///< none where there is no such onset, or no end
};

/// All predictions.
[[nodiscard]] inline std::vector<predicted_window> predict_windows(const setting& s) {
  std::vector<predicted_window> result;
  const rates::step_size step = s.protocol(0).step;
  const auto printed = [&](const char* name, const rates::growth& growth) {
    const rates::onset_interval found = rates::printed_window(growth, s.o.delta);
    result.push_back({name, "ln(1 / delta) / rate", step.updates(found.begin), step.updates(found.end)});
  };
  printed("printed", rates::printed_growth(s.statistics(s.o.gamma)));
  printed("corrected", rates::corrected_growth(s.statistics(s.o.gamma), s.net.reduction()));
  for_each_system(s, [&](const char* name, const char*, const auto& make) {
    const auto trial = make(s.o.gamma);
    // Two masses that don't know of each other both come to 1, whatever the window is: neither wins.
    if constexpr (!std::is_same_v<decltype(trial.system), rates::printed_system>) {
      const auto found = rates::decisive_onsets(trial.system, trial.start, s.protocol(0));
      predicted_window one{name, "onsets after which r > m at the end", {}, {}};
      if (found) one.begin = found->begin, one.end = found->end;
      result.push_back(one);
    }
  });
  const double factor = rates::initial_factor(s.o.gamma, s.o.width);
  const auto lasting = [&](const char* name, const std::optional<double>& time) {
    predicted_window one{name, "onsets of decay without an end that reasoning survives", {}, {}};
    if (time) one.begin = step.updates(*time);
    result.push_back(one);
  };
  lasting("reduced_3", rates::critical_onset<3>(s.slopes(), factor, s.level()));
  lasting("reduced_4", rates::critical_onset<4>(s.slopes(), factor, s.level()));
  return result;
}

/// Prints and writes windows.csv, and returns what stands in the summary.
[[nodiscard]] inline lindyn::io::json write_windows(const setting& s, const std::vector<predicted_window>& found) {
  lindyn::io::csv_writer csv(s.o.out / "windows.csv", {"system", "meaning", "begin", "end"});
  lindyn::io::json summary = lindyn::io::json::array();
  const auto text = [](const std::optional<double>& value) {
    return value ? lindyn::io::number_text(std::round(*value * 10) / 10) : std::string("-");
  };
  std::printf("\n%-12s %-56s %10s %10s\n", "windows", "", "from", "to update");
  for (const predicted_window& one : found) {
    csv.row(one.system, one.meaning, one.begin.value_or(NAN), one.end.value_or(NAN));
    std::printf("%-12s %-56s %10s %10s\n", one.system.c_str(), one.meaning.c_str(), text(one.begin).c_str(),
                text(one.end).c_str());
    summary.push_back({{"system", one.system},
                       {"meaning", one.meaning},
                       {"begin", examples::or_null(one.begin)},
                       {"end", examples::or_null(one.end)}});
  }
  csv.commit();
  return summary;
}

}  // namespace examples::two_timescale
