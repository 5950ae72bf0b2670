// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// m and r over time in every system, without decay and with windows of it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <lindyn/compare/linearised_flow.hpp>
#include <lindyn/compare/rates_along.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/rates/decay_course.hpp>

#include "../panels.hpp"
#include "setting.hpp"

namespace examples::two_timescale {

/// m and r of one system under one course of decay.
struct course {
  std::string system;
  std::optional<double> onset;  ///< of the window; none without decay
  std::vector<double> updates, memorising, reasoning;
};

/// Updates at which courses are told: dense at first, where everything is decided, and evenly up to the last.
[[nodiscard]] inline std::vector<double> updates_told(double last) {
  std::vector<double> result{0};
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) result.push_back(last * std::pow(1e-4, 1 - static_cast<double>(i) / count));
  for (int i = 1; i <= count; ++i) result.push_back(last * i / count);
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// The courses of all systems, and of all weights of linearised attention.
[[nodiscard]] inline std::vector<course> find_courses(const setting& s) {
  std::vector<course> result;
  lindyn::progress tell(s.tell);
  std::vector<std::optional<double>> windows{std::nullopt};
  for (const double onset : s.o.onsets) windows.emplace_back(onset);
  const std::vector<double> updates = updates_told(s.o.updates);
  std::size_t done = 0;
  for (const auto& onset : windows) {
    tell("courses", static_cast<double>(done++), static_cast<double>(windows.size()));
    const rates::step_size step{.learning_rate = s.o.lr, .mode = s.mode};
    const rates::decay_course decay = onset ? s.protocol(*onset).decay() : rates::decay_course({}, step);
    std::vector<double> times;
    for (const double update : updates) times.push_back(step.time(update));
    course full{"full", onset, {}, {}, {}};
    const auto of_weights = lindyn::compare::linearised_flow(
        s.net, s.weights(s.o.gamma), {.until = times.back(), .decay = decay, .tolerance = 1e-6});
    for (const auto& record : of_weights.records) {
      full.updates.push_back(step.updates(record.t));
      full.memorising.push_back(record.masses.memorising);
      full.reasoning.push_back(record.masses.reasoning);
    }
    result.push_back(std::move(full));
    for_each_system(s, [&](const char* name, const char*, const auto& make) {
      const auto trial = make(s.o.gamma);
      auto found = lindyn::compare::course_of(trial.system, trial.start, decay, times);
      result.push_back({name, onset, updates, std::move(found.memorising), std::move(found.reasoning)});
    });
  }
  tell("courses", 1, 1);
  return result;
}

/// "none", or "200".
[[nodiscard]] inline std::string window_label(const std::optional<double>& onset) {
  return onset ? lindyn::io::number_text(*onset) : "none";
}

/// Writes courses.csv, and returns what of it stands in the summary: the end of each course.
[[nodiscard]] inline lindyn::io::json write_courses(const setting& s, const std::vector<course>& found) {
  lindyn::io::csv_writer csv(s.o.out / "courses.csv", {"onset", "system", "update", "memorising", "reasoning"});
  lindyn::io::json summary = lindyn::io::json::array();
  for (const course& one : found) {
    const std::string label = window_label(one.onset);
    for (std::size_t i = 0; i < one.updates.size(); ++i)
      csv.row(label, one.system, one.updates[i], one.memorising[i], one.reasoning[i]);
    summary.push_back({{"onset", label},
                       {"system", one.system},
                       {"memorising", one.memorising.back()},
                       {"reasoning", one.reasoning.back()}});
  }
  csv.commit();
  return summary;
}

/// courses.png and .svg: a panel for each window, which is shaded; the key has a place of its own.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_courses(const setting& s, const std::vector<course>& found) {
  std::vector<examples::panel> panels;
  std::vector<std::string> labels, systems;
  // All weights are points, as one of the lines is nearly theirs.
  const auto style_of = [](const std::string& system) {
    return system == "full" ? " with points pointtype 6 pointsize 1.2" : " with lines linewidth 2";
  };
  for (const course& one : found) {
    const std::string label = window_label(one.onset);
    if (std::ranges::find(systems, one.system) == systems.end()) systems.push_back(one.system);
    const auto colour = static_cast<int>(std::ranges::find(systems, one.system) - systems.begin());
    if (std::ranges::find(labels, label) == labels.end()) {
      labels.push_back(label);
      const bool late = one.onset.value_or(0) > 0.1 * s.o.updates;  // it would be narrow on a logarithmic axis
      std::string settings = std::string("unset object\n") + (late ? "" : "set logscale x\n") + "set xrange [" +
                             (late ? "0" : lindyn::io::number_text(s.o.updates * 1e-4)) + ":" +
                             lindyn::io::number_text(s.o.updates) + "]\nset yrange [-0.05:1.1]\n";
      if (one.onset)
        settings += "set object 1 rectangle from " + lindyn::io::number_text(std::max(*one.onset, s.o.updates * 1e-4)) +
                    ", graph 0 to " + lindyn::io::number_text(std::min(*one.onset + s.o.window, s.o.updates)) +
                    ", graph 1 behind fillcolor rgb '#E8E8E8' fillstyle solid noborder\n";
      panels.push_back({one.onset ? "decay from update " + label : "no decay", "update", "r (m dashed)", settings, {}});
    }
    const std::string where = examples::is(1, label) + " && " + examples::is(2, one.system);
    const bool full = one.system == "full";
    const std::string some = full ? "every " + std::to_string(std::max<std::size_t>(1, one.updates.size() / 60)) : "";
    panels.back().curves.push_back({where, "$3", "$5", "", some + style_of(one.system), colour});
    panels.back().curves.push_back(
        {where, "$3", "$4", "",
         some + (full ? " with points pointtype 6 pointsize 0.6" : " with lines linewidth 1 dashtype 2"), colour});
  }
  examples::panel key{"",
                      "",
                      "",
                      "unset object\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
                      "set key center\n",
                      {}};
  for (std::size_t i = 0; i < systems.size(); ++i)
    key.curves.push_back({"", "", "NaN", systems[i], style_of(systems[i]), static_cast<int>(i)});
  panels.push_back(key);
  return examples::draw_panels(s.o.out, "courses", "Memorising and reasoning under windows of weight decay", panels,
                               440, 360, panels.size() > 3 ? 2 : 1);
}

}  // namespace examples::two_timescale
