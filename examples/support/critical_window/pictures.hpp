// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A picture of each experiment: every run a point, lines through the means over seeds.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/csv.hpp>

#include "../panels.hpp"
#include "../statistics.hpp"
#include "results.hpp"

namespace examples::critical_window {

/// Panels of points in series, of which some may be missing as yet.
class figure {
public:
  /// Adds a panel, which the next points belong to.
  void panel(const std::string& title, const std::string& x_label, const std::string& y_label,
             const std::string& settings = "") {
    panels_.push_back({title, x_label, y_label, settings, {}});
  }
  /// Names places on the last panel's y axis, from above; panels are as high as those need then.
  void places(const std::vector<std::string>& names) {
    std::string ticks;
    for (std::size_t place = 0; place < names.size(); ++place)
      ticks += (place > 0 ? ", " : "") + examples::quoted(names[place]) + " " + std::to_string(place);
    panels_.back().settings +=
        "set grid ytics\nset ytics (" + ticks + ") noenhanced\nset yrange [" + std::to_string(names.size()) + ":-1]\n";
    places_ = names.size();
  }
  /// Adds a point, unless it isn't finite.
  /// \param joined  whether the line through the means of its series goes through it
  void point(const std::string& series, double x, double y, bool joined = true) {
    if (std::isfinite(x) && std::isfinite(y)) points_.push_back({panels_.size() - 1, series, x, y, joined});
  }

  /// Writes folder/name.csv and draws it. Panels without points are left out.
  /// \return false if gnuplot isn't there or fails
  [[nodiscard]] bool draw(const std::filesystem::path& folder, const std::string& name, const std::string& title) {
    const int width = places_ > 0 ? 900 : panels_.size() == 1 ? 620 : 440;
    const int height = places_ > 0 ? 130 + 20 * static_cast<int>(places_) : 420;
    io::csv_writer csv(folder / (name + ".csv"), {"panel", "series", "x", "y", "joined"});
    for (const auto& [place, series, x, y, joined] : points_) {
      const std::string number = std::to_string(place + 1);
      csv.row(number, series, x, y, joined ? 1 : 0);
      const std::string here = examples::is(1, number) + " && " + examples::is(2, series);
      add(place, {here, "$3", "$4", series, "with points pointtype 7 pointsize 0.7", colour_of(series)});
      if (joined)
        add(place, {here + " && $5 == 1", "$3", "$4", "", "smooth unique with lines linewidth 2", colour_of(series)});
    }
    csv.commit();
    std::erase_if(panels_, [](const auto& each) { return each.curves.empty(); });
    return panels_.empty() || examples::draw_panels(folder, name, title, panels_, width, height);
  }

private:
  struct drawn {
    std::size_t panel;
    std::string series;
    double x, y;
    bool joined;
  };

  /// Adds a curve to a panel that hasn't it yet.
  void add(std::size_t to, examples::curve which) {
    auto& curves = panels_[to].curves;
    if (std::ranges::find(curves, which.where, &examples::curve::where) == curves.end())
      curves.push_back(std::move(which));
  }

  /// The same in all panels; those of decay modes, from the front of the palette, in all pictures.
  [[nodiscard]] int colour_of(const std::string& series) {
    static const std::vector<std::string> modes{"no decay", "lr_scaled", "absolute", "coupled_l2", "ratio"};
    if (const auto mode = std::ranges::find(modes, series); mode != modes.end())
      return static_cast<int>(mode - modes.begin());
    const auto found = std::ranges::find(series_, series);
    const auto place = static_cast<int>(found - series_.begin());
    if (found == series_.end()) series_.push_back(series);
    return examples::palette_size - 1 - place % examples::palette_size;
  }

  std::vector<examples::panel> panels_;
  std::vector<drawn> points_;
  std::vector<std::string> series_;
  std::size_t places_ = 0;  ///< names on the y axis; 0: it has numbers
};

namespace detail {

inline const std::string accuracies = "set yrange [0:1.05]\n";
/// Between the key and the axis' title, which gnuplot lets touch each other, is a line of its own.
inline const std::string key_below = "set key outside below horizontal maxcols 4 samplen 1\nset bmargin 6\n";

/// The end of the training against where its window lies, with no decay on the left of it and constant decay on the right.
inline void add_windows(figure& to, const std::vector<result>& results, const std::string& y_label) {
  const auto steps = static_cast<double>(results.front().plan->of.steps);
  const double before = -0.15 * steps, behind = 0.95 * steps, further = 1.15 * steps;
  const auto tick = [](const std::string& text, double at) {
    return "set xtics add (\"" + text + "\" " + lindyn::detail::to_text(at) + ")\n";
  };
  const bool both = std::ranges::any_of(
      results, [](const result& each) { return each.plan->condition == "always at the window's rate"; });
  to.panel("at step " + lindyn::detail::to_text(steps), "first step of the decay", y_label,
           accuracies + key_below + "set xrange [" + lindyn::detail::to_text(-0.2 * steps) + ":" +
               lindyn::detail::to_text((both ? 1.25 : 1.05) * steps) + "]\nset xtics 0," +
               lindyn::detail::to_text(steps / 4) + "," + lindyn::detail::to_text(0.75 * steps) + "\n" +
               tick("none", before) + tick("always", behind) + (both ? tick("always\\nat .004", further) : ""));
  for (const auto& [plan, found] : results) {
    const bool in_window = plan->condition == "window";
    const double x = plan->condition == "none"     ? before
                     : in_window                   ? plan->window.begin
                     : plan->condition == "always" ? behind
                                                   : further;
    to.point(plan->condition == "none" ? "no decay" : plan->of.decay_mode, x, found.accuracy, in_window);
  }
}

/// The end of the training by condition, from above.
inline void add_conditions(figure& to, const std::vector<result>& results) {
  std::vector<std::string> conditions;
  to.panel("", "accuracy on unseen pairs, at the end", "", "set xrange [0:1.05]\n" + key_below);
  for (const auto& [plan, found] : results) {
    const std::string name = plan->condition + ", onset " + lindyn::detail::to_text(plan->window.begin);
    const auto place = std::ranges::find(conditions, name) - conditions.begin();
    if (place == std::ssize(conditions)) conditions.push_back(name);
    to.point(plan->of.decay_mode, found.accuracy, static_cast<double>(place), false);
  }
  to.places(conditions);
}

inline void add_onsets(figure& to, const std::vector<result>& results) {
  for (const auto& [when, figure] : {std::pair{3'000, &outcome::at_3000}, std::pair{7'500, &outcome::at_7500}}) {
    to.panel("at step " + std::to_string(when), "first step of 5,000 that decay", "accuracy on unseen pairs",
             accuracies + key_below);
    for (const auto& [plan, found] : results) to.point(plan->of.decay_mode, plan->window.begin, found.*figure);
  }
}

/// Early windows against their onset, and late ones, with no decay on the left of them.
inline void add_gammas(figure& to, const experiment& of, const std::vector<result>& results) {
  const index early = of.runs.front().of.steps;
  const auto series = [](const planned_run& plan) { return "gamma " + lindyn::detail::to_text(plan.of.gamma); };
  to.panel("early, at step 7500", "first step of 5,000 that decay", "accuracy on unseen pairs", accuracies + key_below);
  for (const auto& [plan, found] : results)
    if (plan->of.steps == early) to.point(series(*plan), plan->window.begin, found.at_7500);
  const auto steps = static_cast<double>(of.runs.back().of.steps);
  to.panel("late, at step 20000", "first step of 5,000 that decay", "accuracy on unseen pairs",
           accuracies + key_below + "set xrange [" + lindyn::detail::to_text(-0.2 * steps) + ":" +
               lindyn::detail::to_text(0.8 * steps) + "]\nset xtics 0," + lindyn::detail::to_text(steps / 4) +
               "\nset xtics add ('none' " + lindyn::detail::to_text(-0.125 * steps) + ")\n");
  for (const auto& [plan, found] : results) {
    const bool in_window = plan->condition == "window";
    if (plan->of.steps != early)
      to.point(series(*plan), in_window ? plan->window.begin : -0.125 * steps, found.accuracy, in_window);
  }
}

inline void add_condensation(figure& to, const std::vector<result>& results) {
  constexpr double zero = 1e-4;  // where a rate of 0 stands on the logarithmic axis
  to.panel("", "lambda", "condensation of W_V, mean over layers",
           key_below + "set bmargin 7\nset logscale x\nset xrange [8e-5:1.3e-2]\n" +
               "set xtics ('0' 1e-4, '.0003' 3e-4, '.001' 1e-3, '.003' 3e-3, '.01' 1e-2)\n");
  for (const auto& [plan, found] : results)
    to.point(plan->window.rate > 0 ? plan->of.decay_mode : "no decay", std::max(zero, plan->window.rate),
             found.condensation);
  for (const auto& [rate, value] : {std::pair{zero, 42.4}, {3e-4, 38.2}, {1e-3, 32.5}, {3e-3, 25.6}, {1e-2, 21.6}})
    to.point("printed (arXiv 2605.04396)", rate, value);
}

inline void add_basin(figure& to, const std::vector<result>& results) {
  to.panel("", "gamma, scale of weights at the start", "accuracy on unseen pairs",
           accuracies + "set xrange [0.4:1.2]\n");
  for (const auto& [plan, found] : results) to.point("a seed each", plan->of.gamma, found.accuracy);
}

/// A map of means over seeds of runs with a window: onsets across, something else upwards.
/// \param label  of the axis upwards
/// \param value  value(run) is the place there
/// \return false if gnuplot isn't there or fails
template <class Value>
[[nodiscard]] bool draw_map(const std::filesystem::path& folder, const std::string& name, const std::string& title,
                            const std::vector<result>& results, const std::string& label, const Value& value) {
  std::map<double, int> onsets, values;
  std::map<std::pair<double, double>, std::vector<double>> cells;
  for (const auto& [plan, found] : results) {
    if (plan->condition != "window" || !std::isfinite(found.accuracy)) continue;
    onsets[plan->window.begin], values[value(*plan)];
    cells[{plan->window.begin, value(*plan)}].push_back(found.accuracy);
  }
  const auto ticks = [](const char* axis, std::map<double, int>& of) {
    std::string text = "set " + std::string(axis) + "tics (";
    int place = 0;
    for (auto& [at, number] : of) {
      number = place++;
      text += (number > 0 ? ", " : "") + examples::quoted(lindyn::detail::to_text(at)) + " " + std::to_string(number);
    }
    return text + ")\n";
  };
  const std::string axes = ticks("x", onsets) + ticks("y", values);
  std::string data = "$map << END\n";
  for (const auto& [at, accuracies_there] : cells)
    data += std::to_string(onsets[at.first]) + " " + std::to_string(values[at.second]) + " " +
            lindyn::detail::to_text(examples::mean(accuracies_there)) + "\n";
  return cells.empty() ||
         examples::draw(folder, name,
                        data + "END\n" + axes + "set title " + examples::quoted(title) +
                            " noenhanced\nset xlabel 'first step of the decay'\nset ylabel " + examples::quoted(label) +
                            "\nset cblabel 'accuracy on unseen pairs'\nset cbrange [0:1]\nset tics scale 0\n"
                            "set palette defined (0 '#F7F7F7', 0.5 '#F2A582', 1 '#B2182B')\n"
                            "set style fill solid noborder\nset xrange [-0.5:" +
                            std::to_string(onsets.size()) + "-0.5]\nset yrange [-0.5:" + std::to_string(values.size()) +
                            "-0.5]\nplot $map using 1:2:(0.5):(0.5):3 with boxxyerror palette notitle, "
                            "$map using 1:2:(sprintf('%.2f', $3)) with labels notitle\n",
                        std::max(640, 160 + 60 * static_cast<int>(onsets.size())), 440);
}

}  // namespace detail

/// Draws folder/NAME.png and .svg of an experiment's results, of which there may be none yet.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_experiment(const std::filesystem::path& folder, const experiment& of,
                                          const std::vector<result>& results) {
  if (results.empty()) return true;
  if (of.name == "map")
    return detail::draw_map(folder, of.name, of.about, results, "steps that decay",
                            [](const planned_run& plan) { return plan.window.end - plan.window.begin; });
  figure drawing;
  bool drawn = true;
  if (of.name == "onset")
    detail::add_onsets(drawing, results);
  else if (of.name == "gamma") {
    detail::add_gammas(drawing, of, results);
    drawn = detail::draw_map(folder, "gamma_map", "onset x gamma, at step 7,500 of early windows, 20,000 of late ones",
                             results, "gamma", [](const planned_run& plan) { return plan.of.gamma; });
  } else if (of.name == "condensation")
    detail::add_condensation(drawing, results);
  else if (of.name == "basin")
    detail::add_basin(drawing, results);
  else if (of.name == "causes" || of.name == "predictions")
    detail::add_conditions(drawing, results);
  else
    detail::add_windows(drawing, results, of.name == "scan" ? "exact matches in test" : "accuracy in test");
  return drawing.draw(folder, of.name, of.about) && drawn;
}

}  // namespace examples::critical_window
