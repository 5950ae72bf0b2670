// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Phase diagrams as pictures.

#include <filesystem>
#include <string>

#include <lindyn/core/errors.hpp>

#include "../gnuplot.hpp"

namespace examples::circuit_competition {

/// What there is to be drawn: without any of it gnuplot would complain of empty data.
struct contents {
  bool early = false, now = false, late = false;  ///< whether there is a boundary at t / 2, t and 2 t
  bool trained = false;                           ///< whether there is a full diagram
  bool disagreement = false;                      ///< whether a winner there is another than was predicted
};

/// Draws folder/name.png and .svg from folder/name.csv and folder/name_boundary.csv: the reduced diagram with its
/// boundaries at t / 2, t and 2 t and, if it was trained, the full one with the boundary that was predicted.
/// \param y_label  of the first axis
/// \param y_range  gnuplot's range of it, and what else is to be set there
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_diagrams(const std::filesystem::path& folder, const std::string& name,
                                        const std::string& title, const std::string& y_label,
                                        const std::string& y_range, double horizon, const contents& of) {
  const std::string data = examples::quoted(name + ".csv") + " skip 1 using 2:1";
  const auto boundary = [&](double factor, const std::string& style, const std::string& text) {
    const std::string time = lindyn::detail::to_text(factor * horizon);
    return ", " + examples::quoted(name + "_boundary.csv") + " skip 1 using (abs($1 - " + time +
           ") < 1e-9 ? $2 : NaN):3:4:5 with vectors nohead " + style + " title " + examples::quoted(text);
  };
  std::string body =
      "set datafile separator ','\nset key noenhanced outside below center horizontal Left reverse\nset tics nomirror "
      "out\n";
  body += "set palette defined (-1 '#1F5FA8', -0.4 '#8DB8DE', 0 '#F7F7F7', 0.4 '#F2A582', 1 '#B2182B')\n";
  body += "set cbrange [-6:6]\nset cblabel '< weights    D / nats    context >'\n";
  body += "set xlabel 'f_r, share of rare pairs' noenhanced\nset ylabel " + examples::quoted(y_label) +
          " noenhanced\nset xrange [0:1]\nset yrange " + y_range + "\n";
  body += "set multiplot layout 1," + std::string(of.trained ? "2" : "1") + " title " + examples::quoted(title) +
          " noenhanced\nset title 'reduced dynamics'\n";
  body += "plot " + data + ":5 with image notitle";
  if (of.early) body += boundary(0.5, "linewidth 1.5 dashtype 3 linecolor '#000000'", "boundary at t / 2");
  if (of.now) body += boundary(1, "linewidth 2.5 linecolor '#000000'", "boundary at t");
  if (of.late) body += boundary(2, "linewidth 1.5 dashtype 2 linecolor '#000000'", "at 2 t");
  body += "\n";
  if (of.trained) {
    body += "set title 'full network, minibatches'\nplot " + data + ":9 with image notitle";
    if (of.now) body += boundary(1, "linewidth 2.5 linecolor '#000000'", "boundary predicted at t");
    if (of.disagreement)
      body += ", " + examples::quoted(name + ".csv") +
              " skip 1 using ($12 == 0 ? $2 : NaN):1 with points pointtype 2 pointsize 2 linecolor '#000000' title "
              "'another winner than predicted'";
    body += "\n";
  }
  body += "unset multiplot\n";
  return draw(folder, name, body, of.trained ? 900 : 480, 470);
}

}  // namespace examples::circuit_competition
