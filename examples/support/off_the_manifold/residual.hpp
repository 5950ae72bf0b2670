// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `residual`: a stream that adds up instead of keeping every copy apart, by its width.

#include <string>
#include <vector>

#include "../panels.hpp"
#include "../statistics.hpp"
#include "findings.hpp"
#include "residual_width.hpp"

namespace examples::off_the_manifold {

/// Networks whose heads write through fixed random orthogonal maps into one residual stream, against the width of that
/// stream; see residual_width.hpp.
[[nodiscard]] inline findings residual(const context& c) {
  const residual_width_options options{.threads = c.threads, .tell = c.tell};
  const auto rows = measure_residual_width(options);
  findings result;
  lindyn::io::csv_writer csv(c.out / "residual.csv",
                             {"width", "seed", "gradient_off_manifold", "weights_off_manifold", "loss", "emergence"});
  for (const auto& row : rows) {
    csv.row(row.width, row.seed, row.gradient_off_manifold, row.weights_off_manifold, row.loss,
            row.emergence ? static_cast<double>(*row.emergence) : std::nan(""));
    result.numbers["rows"].push_back({{"width", row.width},
                                      {"seed", row.seed},
                                      {"gradient_off_manifold", row.gradient_off_manifold},
                                      {"weights_off_manifold", row.weights_off_manifold},
                                      {"loss", row.loss},
                                      {"emergence", or_null(row.emergence)}});
  }
  csv.commit();

  // Narrower streams than the concatenated one can't keep the copies apart at all: no power law there.
  const auto shape = small_task().basis.shape();
  const index entries = shape.width(shape.layers);
  std::vector<double> widths, of_gradient, of_weights;
  std::string narrow;
  for (const index width : options.widths) {
    if (width < entries) {
      narrow += (narrow.empty() ? "" : ", ") + std::to_string(width);
      result.numbers["widths left out of the fit"].push_back(width);
      continue;
    }
    std::vector<double> gradients, weights;
    for (const auto& row : rows)
      if (row.width == width)
        gradients.push_back(row.gradient_off_manifold), weights.push_back(row.weights_off_manifold);
    widths.push_back(static_cast<double>(width));
    of_gradient.push_back(mean(gradients));
    of_weights.push_back(mean(weights));
  }
  const power_law gradient = fit_power_law(widths, of_gradient), weights = fit_power_law(widths, of_weights);
  result.numbers["widths of the fit"] = widths;
  result.numbers["entries of the concatenated stream"] = entries;
  result.numbers["standard deviation of the coordinates at which the gradient is split"] = options.scale;
  result.numbers["where the gradient's share saturates"] = "at a standard deviation of about 0.3 and more";
  result.numbers["gradient_exponent"] = gradient.exponent;
  result.numbers["gradient_exponent_standard_error"] = gradient.standard_error;
  result.numbers["weights_exponent"] = weights.exponent;
  result.numbers["weights_exponent_standard_error"] = weights.standard_error;
  result.say(
      "residual stream: the gradient's off-manifold share falls from %.3f (width %g) to %.3f (width %g), as "
      "width^(%.3f +- %.3f); that of trained weights from %.3f to %.3f, as width^(%.3f +- %.3f).",
      of_gradient.front(), widths.front(), of_gradient.back(), widths.back(), gradient.exponent,
      gradient.standard_error, of_weights.front(), of_weights.back(), weights.exponent, weights.standard_error);
  result.say(
      "residual stream: the fits leave out the widths %s, which have no room for the %td entries of the concatenated "
      "stream; the gradient is split at random coordinates of standard deviation %g: its share grows with them, and "
      "saturates from about 0.3 on.",
      narrow.c_str(), entries, options.scale);

  panel picture{"2 pairs, 5 tokens, population gradient",
                "width of the residual stream",
                "off-manifold share",
                "set logscale xy\nset key bottom left\n",
                {}};
  picture.curves.push_back(
      {.where = "$1 > 0", .x = "$1", .y = "$3", .title = "gradient", .style = "with points pointtype 6"});
  picture.curves.push_back({.where = "$1 > 0",
                            .x = "$1",
                            .y = "$4",
                            .title = "weights after training",
                            .style = "with points pointtype 7",
                            .colour = 1});
  picture.curves.push_back(
      {.where = {},
       .x = {},
       .y = lindyn::detail::to_text(of_gradient.front() * std::sqrt(widths.front())) + " / sqrt(x)",
       .title = "width^(-1/2)",
       .style = "with lines dashtype 2",
       .colour = 6});
  result.drawn = draw_panels(c.out, "residual", "A stream that adds up", {picture});
  return result;
}

}  // namespace examples::off_the_manifold
