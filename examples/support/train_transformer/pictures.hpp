// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// training.png and .svg: losses, accuracies, and what was observed, over the steps.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
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
  double level = 0;  ///< as a share of the largest, in (0, 1]
};

/// Where in [0, steps] a schedule isn't zero, and how large it is half-way between its edges; nothing if it is the same
/// everywhere.
[[nodiscard]] inline std::vector<interval> windows_of(const lindyn::schedule::schedule& of, double steps) {
  std::vector<double> edges = of.edges();
  std::erase_if(edges, [&](double edge) { return edge >= steps; });
  edges.push_back(steps);
  std::vector<interval> result;
  double begin = 0, largest = 0;
  for (const double end : edges) {
    const double level = of.value((begin + end) / 2);
    largest = std::max(largest, level);
    if (level > 0 && !result.empty() && result.back().end == begin && result.back().level == level)
      result.back().end = end;
    else if (level > 0)
      result.push_back({begin, end, level});
    begin = end;
  }
  if (result.size() == 1 && result.front().begin == 0 && result.front().end == steps) result.clear();
  for (interval& one : result) one.level /= largest;
  return result;
}

/// What is drawn.
struct picture {
  std::string title;                      ///< broken into lines where it is long
  std::vector<interval> windows;          ///< shaded: where weights decay, the darker the more
  double reached = 0.99;                  ///< a line across the accuracies
  std::vector<std::string> task_columns;  ///< those of the metrics that are the task's own
};

/// A title in double quotes, broken at blanks into lines that fit above the picture.
[[nodiscard]] inline std::string quoted_lines(std::string_view text) {
  constexpr std::size_t longest = 110;
  std::string result = "\"";
  std::size_t begin = 0, blank = 0;  // of the line, and its last blank, as places of the result
  for (const char letter : text) {
    if (letter == ' ') blank = result.size();
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter == '\n' ? std::string("\\n") : std::string(1, letter);
    if (letter == '\n') begin = result.size();
    if (result.size() - begin <= longest || blank <= begin) continue;
    result.replace(blank, 1, "\\n");
    begin = blank + 2;
  }
  return result + '"';
}

/// Draws the tables metrics.csv and, if there are observations, observations.csv of the folder.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_training(const std::filesystem::path& folder, const history& metrics,
                                        const history& observations, const picture& what) {
  const auto number = [](double value) { return lindyn::detail::to_text(value); };
  const auto any = [&](const history& of,
                       std::string_view name) {  // value to be seen: with two heads, pr_norm_across_heads is 0
    const std::size_t column = of.column(name);
    return column < of.columns().size() &&
           std::ranges::any_of(of.rows(), [&](const auto& row) { return std::abs(row[column]) > 1e-6; });
  };
  const auto line = [&](const char* file, const history& of, const std::string& column, const char* colour,
                        const std::string& name) {
    return "'" + std::string(file) + "' skip 1 using 1:" + std::to_string(of.column(column) + 1) +
           " with lines linewidth 2 linecolor rgb '" + colour + "' title " + examples::quoted(name) + ", ";
  };
  const auto observed = [&](std::initializer_list<std::array<const char*, 2>> names_and_colours) {
    std::string result;
    for (const auto& [name, colour] : names_and_colours)
      if (any(observations, "batch_" + std::string(name)))
        result += line("observations.csv", observations, "batch_" + std::string(name), colour, name);
    return result;
  };
  const auto known = [&](const std::string& column) {  // nothing is known of training with --evaluate test
    return std::ranges::any_of(metrics.rows(),
                               [&](const auto& row) { return !std::isnan(row[metrics.column(column)]); });
  };
  const auto both = [&](const std::string& what_of) {
    return (known("training_" + what_of) ? line("metrics.csv", metrics, "training_" + what_of, "#0072B2", "training")
                                         : "") +
           line("metrics.csv", metrics, "test_" + what_of, "#D55E00", "test");
  };
  const std::string likeness =
      observed({{"s_bar", "#009E73"}, {"pr_norm_own_mean", "#E69F00"}, {"pr_norm_across_heads", "#56B4E9"}});
  const std::string spread = observed({{"sigma_H_all", "#CC79A7"}, {"sigma_H_last", "#555555"}});
  const double steps = std::max(1.0, metrics.rows().back().front());
  std::vector<std::string> panels{
      "set ylabel 'loss'\nset logscale y\nset format y '10^{%L}'\nplot " + both("loss") +
          (what.windows.empty() ? "" : "NaN with boxes fillstyle solid linecolor rgb '#E0E0E0' title 'decay'") +
          "\nunset logscale y\nset format y '%g'\n",
      "set yrange [0:1.02]\nset ylabel 'accuracy'\nplot " + both("accuracy") + number(what.reached) +
          " with lines dashtype 2 linecolor rgb '#999999' title 'reached'\nset yrange [0:*]\n"};
  if (!what.task_columns.empty()) {
    constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#E69F00"};
    std::string lines;
    for (std::size_t k = 0; k < what.task_columns.size(); ++k)
      if (known(what.task_columns[k]))
        lines += line("metrics.csv", metrics, what.task_columns[k], colours[k % colours.size()], what.task_columns[k]);
    panels.push_back("set yrange [0:1.02]\nset ylabel 'share of sequences'\nplot " + lines + number(what.reached) +
                     " with lines dashtype 2 linecolor rgb '#999999' title 'reached'\nset yrange [0:*]\n");
  }
  if (!likeness.empty()) panels.push_back("set ylabel 'heads, on the batch of a step'\nplot " + likeness + "\n");
  if (!spread.empty()) panels.push_back("set ylabel 'spread of entropies, nats'\nplot " + spread + "\n");

  std::string body = "set datafile separator ','\nset key noenhanced\nset multiplot layout " +
                     std::to_string(panels.size()) + ",1 title " + quoted_lines(what.title) + " noenhanced\n" +
                     "set lmargin 10\nset rmargin 28\nset tics nomirror\nset border 3\n" +
                     "set key outside right top Left reverse\nset format x '%.0f'\nset xrange [0:" + number(steps) +
                     "]\n" + (steps < 8 ? "set xtics 1\n" : "");
  for (const interval& window : what.windows)
    body += "set object rectangle from " + number(window.begin) + ", graph 0 to " + number(window.end) +
            ", graph 1 behind fillcolor rgb '#E0E0E0' fillstyle solid " + number(0.2 + 0.8 * window.level) +
            " noborder\n";
  for (std::size_t k = 0; k < panels.size(); ++k)
    body += (k + 1 == panels.size() ? "set xlabel 'training step'\n" : "") + panels[k];
  return examples::draw(folder, "training", body + "unset multiplot\n", 900, 300 * static_cast<int>(panels.size()));
}

}  // namespace examples::train_transformer
