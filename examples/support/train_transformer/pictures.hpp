// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// training.png and .svg: losses, accuracies, and what was observed, over the steps.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/schedule/schedule.hpp>

#include "../gnuplot.hpp"
#include "history.hpp"

namespace examples::train_transformer {

/// An interval of steps.
struct interval {
  double begin = 0, end = 0;
};

/// Where in [0, steps] a schedule isn't zero; nothing if that is everywhere.
[[nodiscard]] inline std::vector<interval> windows_of(const lindyn::schedule::schedule& of, double steps) {
  std::vector<double> edges = of.edges();
  std::erase_if(edges, [&](double edge) { return edge >= steps; });
  edges.push_back(steps);
  std::vector<interval> result;
  double begin = 0;
  for (const double end : edges) {
    if (of.value((begin + end) / 2) > 0) {
      if (!result.empty() && result.back().end == begin)
        result.back().end = end;
      else
        result.push_back({begin, end});
    }
    begin = end;
  }
  if (result.size() == 1 && result.front().begin == 0 && result.front().end == steps) result.clear();
  return result;
}

/// What is drawn.
struct picture {
  std::string title;              ///< one line
  std::vector<interval> windows;  ///< shaded: where weights decay
  double reached = 0.99;          ///< a line across the accuracies
};

/// Draws the tables metrics.csv and, if there are observations, observations.csv of the folder.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_training(const std::filesystem::path& folder, const history& metrics,
                                        const history& observations, const picture& what) {
  const auto number = [](double value) { return lindyn::detail::to_text(value); };
  const auto column = [](const history& of, std::string_view name) {
    return std::to_string(std::ranges::find(of.columns(), name) - of.columns().begin() + 1);
  };
  constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555"};
  const auto line = [&](const std::string& file, const std::string& which, std::size_t colour,
                        const std::string& name) {
    return "'" + file + "' skip 1 using 1:" + which + " with lines linewidth 2 linecolor rgb '" +
           colours[colour % colours.size()] + "' title " + examples::quoted(name);
  };
  std::vector<std::size_t> shown;
  for (const char* name : {"s_bar", "sigma_H_all", "sigma_H_last", "pr_norm_own_mean", "pr_norm_across_heads"})
    if (const auto found = std::ranges::find(observations.columns(), name); found != observations.columns().end())
      if (!std::isnan(observations.rows().back()[static_cast<std::size_t>(found - observations.columns().begin())]))
        shown.push_back(static_cast<std::size_t>(found - observations.columns().begin()));

  const int panels = shown.empty() ? 2 : 3;
  std::string body = "set datafile separator ','\nset key noenhanced\n";
  body +=
      "set multiplot layout " + std::to_string(panels) + ",1 title " + examples::quoted(what.title) + " noenhanced\n";
  body += "set lmargin 10\nset rmargin 28\nset tics nomirror\nset border 3\nset key outside right top Left reverse\n";
  body += "set format x '%.0f'\nset xrange [0:" + number(std::max(1.0, metrics.rows().back().front())) + "]\n";
  for (const interval& window : what.windows)
    body += "set object rectangle from " + number(window.begin) + ", graph 0 to " + number(window.end) +
            ", graph 1 behind fillcolor rgb '#E8E8E8' fillstyle solid noborder\n";
  const std::string shade =
      what.windows.empty() ? "" : ", NaN with boxes fillstyle solid linecolor rgb '#E8E8E8' title 'decay'";
  const auto both = [&](const std::string& what_of) {
    const std::string training = "training_" + what_of;
    const auto place =
        static_cast<std::size_t>(std::ranges::find(metrics.columns(), training) - metrics.columns().begin());
    const bool evaluated =
        std::ranges::any_of(metrics.rows(), [&](const auto& row) { return !std::isnan(row[place]); });
    return (evaluated ? line("metrics.csv", column(metrics, training), 0, "training") + ", " : "") +
           line("metrics.csv", column(metrics, "test_" + what_of), 1, "test");
  };
  body += "set ylabel 'loss'\nset logscale y\nset format y '10^{%L}'\nplot " + both("loss") + shade + "\n";
  body += "unset logscale y\nset format y '%g'\nset yrange [0:1.02]\nset ylabel 'accuracy'\n";
  if (panels == 2) body += "set xlabel 'training step'\n";
  body += "plot " + both("accuracy") + ", " + number(what.reached) +
          " with lines dashtype 2 linecolor rgb '#999999' title 'reached'\n";
  if (!shown.empty()) {
    body += "set xlabel 'training step'\nset yrange [0:*]\nset ylabel 'order parameter'\nplot ";
    for (std::size_t k = 0; k < shown.size(); ++k)
      body += (k > 0 ? ", " : "") +
              line("observations.csv", std::to_string(shown[k] + 1), k + 2, observations.columns()[shown[k]]);
    body += "\n";
  }
  body += "unset multiplot\n";
  return examples::draw(folder, "training", body, 900, 320 * panels);
}

}  // namespace examples::train_transformer
