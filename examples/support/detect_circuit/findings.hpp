// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What detection found, for people: sentences, the elimination as a table and a picture, the circuit's picture.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include <lindyn/circuit/detection/circuit_graph.hpp>
#include <lindyn/circuit/detection/detection.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/manifold/basis.hpp>

#include "../gnuplot.hpp"

namespace examples::detect_circuit {

using lindyn::index;
namespace circuit = lindyn::circuit;

/// Survivors of that role.
[[nodiscard]] inline index count(const circuit::detection& found, circuit::role role) {
  return std::ranges::count(found.survivors, role, &circuit::surviving_direction::role);
}

/// Accuracies whose price in directions is reported: the last two are those that IMIR prints of circuits in five layers,
/// with its aiding units and without.
inline constexpr std::array accuracy_levels{0.99, 0.922, 0.594};

/// How few directions are left where the elimination last had this accuracy, if ever.
[[nodiscard]] inline std::optional<index> fewest_with_accuracy(const circuit::detection& found, double least) {
  std::optional<index> result;
  for (const auto& step : found.path)
    if (*step.accuracy >= least) result = step.remaining;
  return result;
}

/// With so many decimals; large numbers, which a column has no room for, by powers of ten.
[[nodiscard]] inline std::string readable(double value, int decimals) {
  std::array<char, 64> text{};
  if (std::abs(value) < 1e4)
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  else
    std::snprintf(text.data(), text.size(), "%.2e", value);
  return text.data();
}

/// The table of losses and accuracies, and a sentence for each survivor: the core first, and of each role the most missed
/// first.
/// \param on_data  whether the losses are those of data
inline void print(const circuit::detection& found, bool on_data) {
  const index core = count(found, circuit::role::core), aiding = count(found, circuit::role::aiding);
  std::printf("\n%-34s%10s%12s\n", "", "loss", "accuracy");
  const auto row = [](const std::string& name, const circuit::performance& of) {
    std::printf("%-34s%10s%12.3f\n", name.c_str(), readable(of.loss, 4).c_str(), of.accuracy.value_or(0));
  };
  const auto number = [](index value) { return std::to_string(value); };
  row("all " + number(std::ssize(found.coordinates)) + " directions", found.all);
  row("core and aiding, " + number(core) + " + " + number(aiding), found.circuit);
  row("core alone, " + number(core), found.core);
  row("none", found.none);
  if (on_data) std::printf("Losses are those of the data, accuracies those of the population.\n");
  if (found.norm > 0)
    std::printf("%.1f %% of the weights' squared norm is on the manifold, %.1f %% in the circuit.\n",
                100 * found.energy_share, 100 * found.circuit_share);
  else
    std::printf("All weights are zero.\n");
  if (found.scale != 1 || found.core_scale != 1)
    std::printf("Loss and accuracy are those of %g times the circuit's strengths, and %g times the core's.\n",
                found.scale, found.core_scale);
  if (found.at_largest_scale())
    std::printf("The circuit's factor is the largest that was tried: with larger ones the circuit may be another.\n");
  for (const double level : accuracy_levels) {
    const char* const known = level == 0.922   ? " (IMIR's circuit with aiding units)"
                              : level == 0.594 ? " (IMIR's circuit without)"
                                               : "";
    const auto fewest = fewest_with_accuracy(found, level);
    if (fewest && (*known == 0 || found.layout.layers() == 5))
      std::printf("In the order of elimination, accuracy %g takes %lld directions%s.\n", level,
                  static_cast<long long>(*fewest), known);
  }
  if (found.survivors.empty()) {
    if (found.all.loss > found.none.loss)
      std::printf("There is no circuit: all directions together are worse than none (loss %s against %s).\n",
                  readable(found.all.loss, 4).c_str(), readable(found.none.loss, 4).c_str());
    else
      std::printf("There is no circuit: without any direction, the loss is still within the budget.\n");
    return;
  }

  constexpr std::size_t shown = 24;
  std::printf("\n%-8s%-16s%9s%14s  %s\n", "", "direction", "strength", "loss without", "what it does");
  auto units = found.survivors;
  std::stable_partition(units.begin(), units.end(), [](const auto& unit) { return unit.role == circuit::role::core; });
  for (std::size_t k = 0; k < std::min(shown, units.size()); ++k) {
    const auto& unit = units[k];
    std::printf("%-8s%-16s%9s%14s  %s\n", unit.role == circuit::role::core ? "core" : "aiding", unit.label.c_str(),
                readable(unit.strength, 2).c_str(), readable(unit.loss_without, 3).c_str(), unit.sentence.c_str());
  }
  if (found.survivors.size() > shown)
    std::printf("and %zu others: detection.json has all.\n", found.survivors.size() - shown);
}

/// elimination.csv: one line a step; the directions taken out are separated by semicolons.
inline void write_elimination(const std::filesystem::path& path, const lindyn::manifold::basis& basis,
                              const circuit::detection& found) {
  lindyn::io::csv_writer csv(path, {"remaining", "loss", "accuracy", "removed"});
  for (const auto& step : found.path) {
    std::string removed;
    for (const index place : step.removed) removed += (removed.empty() ? "" : "; ") + basis.label(place);
    csv.row(step.remaining, step.loss, *step.accuracy, removed);
  }
  csv.commit();
}

/// elimination.png and .svg: loss and accuracy against the number of directions left, fewer to the right.
[[nodiscard]] inline bool draw_elimination(const std::filesystem::path& folder, const circuit::detection& found,
                                           const std::string& title) {
  const auto core = count(found, circuit::role::core), all = std::ssize(found.survivors);
  const index first = found.path.front().remaining;  // 0 for weights that are zero on the manifold
  const auto mark = [](int number, index at, const std::string& name, const std::string& colour) {
    const std::string place = std::to_string(at);
    return at == 0 ? std::string()
                   : "set arrow " + std::to_string(number) + " from " + place + ", graph 0 to " + place +
                         ", graph 1 nohead dashtype 2 linecolor rgb '" + colour + "'\nset label " +
                         std::to_string(number) + " " + examples::quoted(name + " (" + place + ")") + " at " + place +
                         ", graph 0.5 rotate by 90 center offset -1.4,0 textcolor rgb '" + colour + "'\n";
  };
  std::string body = "set datafile separator ','\nset tics nomirror\nset border 11\nset ytics\nset y2tics\n";
  body += "set title " + examples::quoted(title) + " noenhanced\n" + (first > 0 ? "set logscale x\n" : "");
  body += "set xtics (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000)\n";
  body += "set xrange [" + std::to_string(first + 1) + (first > 0 ? ":0.9]\n" : ":-1]\n");
  body += "set yrange [0:*]\nset y2range [0:1.05]\nset xlabel 'directions left'\nset ylabel 'loss'\n";
  body += "set y2label 'accuracy'\nset key bottom left Left reverse\n";
  body += mark(1, all, "core and aiding", "#d9822b") + (core == all ? "" : mark(2, core, "core", "#1b5e9b"));
  body +=
      "plot 'elimination.csv' skip 1 using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.4 linecolor rgb "
      "'#000000' title 'loss', '' skip 1 using 1:3 axes x1y2 with linespoints linewidth 2 pointtype 7 pointsize 0.4 "
      "linecolor rgb '#009E73' title 'accuracy (right)'\n";
  return draw(folder, "elimination", body, 800, 450);
}

}  // namespace examples::detect_circuit
