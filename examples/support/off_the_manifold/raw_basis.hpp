// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `raw`: what a basis that isn't centred misses of the gradient.

#include <string>
#include <vector>

#include <lindyn/population/whole_population.hpp>

#include "../panels.hpp"
#include "../statistics.hpp"
#include "experiment.hpp"
#include "findings.hpp"

namespace examples::off_the_manifold {

/// The share of the population gradient that lies outside the span of the raw 0/1 selections, against the vocabulary.
/// On the manifold the gradient is known from the reduced model, at any size; at the small task it is compared with the
/// full network's. One centred selection I - J/V projected on I leaves exactly 1/sqrt(V), as in the readout; positions,
/// whose number is fixed here, leave their own share.
[[nodiscard]] inline findings raw_basis(const context& c) {
  using namespace lindyn;
  struct row {
    int vocabulary;
    double leak = 0, leak_readout = 0, leak_centred = 0;
  };
  std::vector<row> rows;
  for (const int vocabulary : {8, 16, 32, 64, 128, 256, 512}) rows.push_back({vocabulary});
  findings result;
  // The gradient at a random point of the manifold, from the reduced model.
  const auto gradient_of = [](const experiment& subject) {
    auto model = subject.reduced();
    std::vector<double> coordinates = subject.coordinates(0.3, 1);
    std::vector<double> velocity(coordinates.size());
    model.velocity(coordinates, velocity);
    for (double& entry : velocity) entry = -entry;
    return subject.basis.embed(velocity);
  };
  const auto raw = [](const experiment& subject) {
    return manifold::basis(2, 1, subject.law.structure(), {.centring = manifold::centring::none});
  };
  side_by_side(c, "raw basis", rows.size(), [&](std::size_t i) {
    row& each = rows[i];
    const experiment subject{{.pairs = 4, .vocabulary = each.vocabulary}};
    const auto gradient = gradient_of(subject);
    const auto projection = raw(subject).project(gradient);
    each.leak = projection.relative_residual();
    each.leak_readout = projection.weights.back().off_manifold_norm / projection.weights.back().norm;
    each.leak_centred = subject.basis.project(gradient).relative_residual();
  });

  const experiment small = small_task();
  const model::attention_only<> net(small.basis.shape());
  std::vector<double> gradient(static_cast<std::size_t>(net.parameters().size()));
  model::attention_workspace<double> memory(c.threads);
  net.loss_and_gradient(small.on_manifold(0.3, 1), population::whole_population(small.law), task::loss::cross_entropy,
                        gradient, memory);
  const double enumerated = raw(small).project(gradient).relative_residual();
  const double reduced = raw(small).project(gradient_of(small)).relative_residual();

  io::csv_writer csv(c.out / "raw.csv", {"vocabulary", "leak", "leak_readout", "one_over_root", "leak_centred"});
  std::vector<double> sizes, leaks, readouts;
  for (const row& each : rows) {
    csv.row(each.vocabulary, each.leak, each.leak_readout, 1 / std::sqrt(each.vocabulary), each.leak_centred);
    sizes.push_back(each.vocabulary);
    leaks.push_back(each.leak);
    readouts.push_back(each.leak_readout);
    result.numbers["leak by vocabulary"][std::to_string(each.vocabulary)] = {
        {"all", each.leak}, {"readout", each.leak_readout}, {"centred basis", each.leak_centred}};
  }
  csv.commit();
  const power_law fit = fit_power_law(sizes, readouts);
  result.numbers["readout_exponent"] = fit.exponent;
  result.numbers["readout_exponent_standard_error"] = fit.standard_error;
  result.numbers["small_task_enumerated"] = enumerated;
  result.numbers["small_task_reduced"] = reduced;
  result.say(
      "raw basis: the population gradient's share outside it is %.3f at V = %d and %.3f at V = %d; that of the "
      "readout falls as V^(%.3f +- %.3f), 1/sqrt(V) times %.4f.",
      leaks.front(), rows.front().vocabulary, leaks.back(), rows.back().vocabulary, fit.exponent, fit.standard_error,
      readouts.back() * std::sqrt(sizes.back()));
  result.say(
      "raw basis: at the small task the enumerated gradient leaks %.6f, the reduced model's %.6f; the centred basis "
      "leaks %.1g at most.",
      enumerated, reduced, std::ranges::max(rows, {}, &row::leak_centred).leak_centred);
  result.drawn = draw_panels(
      c.out, "raw", "A basis that isn't centred",
      {{"4 pairs on 6 slots, population gradient",
        "vocabulary V",
        "share of the gradient outside the basis",
        "set logscale xy\n",
        {{.where = {},
          .x = "$1",
          .y = "$2",
          .title = "all weights",
          .style = "with linespoints pointtype 6 linewidth 2"},
         {.where = {}, .x = "$1", .y = "$3", .title = "readout", .style = "with points pointtype 7", .colour = 1},
         {.where = {},
          .x = {},
          .y = "1 / sqrt(x)",
          .title = "1/sqrt(V)",
          .style = "with lines dashtype 2",
          .colour = 6}}}});
  return result;
}

}  // namespace examples::off_the_manifold
