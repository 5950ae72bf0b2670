// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Pictures of curves that stand below each other in one CSV file.

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "gnuplot.hpp"

namespace examples {

/// Number of colours.
inline constexpr int palette_size = 8;
/// Colours that the colour-blind tell apart, as Okabe and Ito's, but without yellow.
inline constexpr std::array<const char*, palette_size> palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                               "#E69F00", "#56B4E9", "#555555", "#000000"};

/// One curve of a CSV file.
struct curve {
  std::string where;  ///< gnuplot's condition for the rows that belong to it; empty: all
  std::string x, y;   ///< gnuplot's expressions, "$3"
  std::string title;
  std::string style = "with lines linewidth 2";
  int colour = 0;  ///< of the palette
};

/// A diagram with its axes.
struct panel {
  std::string title, x_label, y_label;
  std::string settings;  ///< more of gnuplot's commands, each with a line break behind it
  std::vector<curve> curves;
};

/// Rows in which a column has this text.
[[nodiscard]] inline std::string is(int column, const std::string& text) {
  return "strcol(" + std::to_string(column) + ") eq " + examples::quoted(text);
}
/// Rows in which a column has this number.
[[nodiscard]] inline std::string is(int column, double number) {
  return "abs($" + std::to_string(column) + " - " + lindyn::detail::to_text(number) + ") < 1e-12";
}

/// Draws panels beside each other into folder/name.png and .svg from folder/name.csv.
/// \param width, height  of a panel
/// \param rows           of panels, the first of them above
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_panels(const std::filesystem::path& folder, const std::string& name,
                                      const std::string& title, const std::vector<panel>& panels, int width = 440,
                                      int height = 420, int rows = 1) {
  const int columns = (static_cast<int>(panels.size()) + rows - 1) / rows;
  std::string body = "set datafile separator ','\nset key noenhanced\nset tics nomirror\nset border 3\n";
  body += "set multiplot layout " + std::to_string(rows) + "," + std::to_string(columns) + " title " +
          examples::quoted(title) + " noenhanced\n";
  for (const panel& each : panels) {
    body +=
        "unset logscale\nset xrange [*:*]\nset yrange [*:*]\nset key inside top left Left reverse\nset format '%g'\n";
    body += "set title " + examples::quoted(each.title) + " noenhanced\nset xlabel " + examples::quoted(each.x_label) +
            " noenhanced\nset ylabel " + examples::quoted(each.y_label) + " noenhanced\n" + each.settings + "plot ";
    bool first = true;
    for (const curve& line : each.curves) {
      const std::string x = line.where.empty() ? "(" + line.x + ")" : "(" + line.where + " ? " + line.x + " : NaN)";
      const std::string data = line.y.starts_with('$')
                                   ? examples::quoted(name + ".csv") + " skip 1 using " + x + ":(" + line.y + ")"
                                   : line.y;  // a function of x
      body += (first ? "" : ", ") + data + " " + line.style + " linecolor rgb '" +
              palette[static_cast<std::size_t>(line.colour) % palette.size()] + "'" +
              (line.title.empty() ? " notitle" : " title " + examples::quoted(line.title));
      first = false;
    }
    body += "\n";
  }
  body += "unset multiplot\n";
  return draw(folder, name, body, width * columns, height * rows);
}

}  // namespace examples
