// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `starts`: whether the manifold attracts training that starts off it.

#include <string>
#include <vector>

#include "../panels.hpp"
#include "../statistics.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace examples::off_the_manifold {

/// Gradient descent from random full weights of several sizes: the off-manifold share over training, the off-manifold
/// norm itself, and when the circuit emerges beside what the reduced dynamics predict from the projected start.
///
/// The share can fall for two reasons. The part on the manifold grows as the circuit forms, whatever the rest does; and
/// the rest may shrink, which is what attraction means. The norms tell them apart.
[[nodiscard]] inline findings random_starts(const context& c) {
  using namespace lindyn;
  struct run {
    bool exact;
    double scale;
    std::uint64_t seed;
    trace full{}, coordinates{};
    std::optional<double> emergence{}, predicted{};
  };
  const auto small = small_task(), middle = middle_task();
  const double rate = 0.5;
  std::vector<run> runs;
  for (const double scale : {0.01, 0.05, 0.1})
    for (std::uint64_t seed = 1; seed <= 2; ++seed) runs.push_back({false, scale, seed});
  for (const double scale : {0.01, 0.05, 0.2})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) runs.push_back({true, scale, seed});
  side_by_side(c, "random starts", runs.size(), [&](std::size_t i) {
    run& each = runs[i];
    const auto& subject = each.exact ? small : middle;
    const auto start = subject.random(each.scale, each.seed);
    const train::descent_options options{
        .steps = each.exact ? 1000 : 4000, .learning_rate = rate, .batch = each.exact ? 0 : 512, .seed = each.seed};
    each.full = each.exact ? off_the_manifold::train<double>(subject, start, options, optimizer::sgd_options{})
                           : off_the_manifold::train<float>(subject, start, options, optimizer::sgd_options{});
    each.coordinates =
        train_coordinates(subject, each.full.first().coordinates, {options.steps, rate}, optimizer::sgd_options{});
    const double level = each.coordinates.first().loss / 2;
    each.emergence = each.full.crossing(level);
    each.predicted = each.coordinates.crossing(level);
  });

  io::csv_writer csv(c.out / "starts.csv", {"gradient", "scale", "seed", "step", "loss", "loss_reduced", "norm",
                                            "off_manifold", "share", "off_manifold_relative_to_start"});
  findings result;
  const auto name = [](bool exact) { return std::string(exact ? "population" : "batch 512"); };
  for (const run& each : runs) {
    for (std::size_t i = 0; i < each.full.moments.size(); ++i) {
      const moment& point = each.full.moments[i];
      csv.row(name(each.exact), each.scale, each.seed, point.step, point.loss, each.coordinates.moments[i].loss,
              point.norm, point.off_manifold, point.share(), point.off_manifold / each.full.first().off_manifold);
    }
    result.numbers["runs"].push_back({{"gradient", name(each.exact)},
                                      {"scale", each.scale},
                                      {"seed", each.seed},
                                      {"learning_rate", rate},
                                      {"share_start", each.full.first().share()},
                                      {"share_end", each.full.last().share()},
                                      {"off_manifold_start", each.full.first().off_manifold},
                                      {"off_manifold_end", each.full.last().off_manifold},
                                      {"loss_end", each.full.last().loss},
                                      {"loss_end_reduced", each.coordinates.last().loss},
                                      {"emergence_step", or_null(each.emergence)},
                                      {"emergence_step_predicted", or_null(each.predicted)}});
  }
  csv.commit();

  for (const bool exact : {true, false}) {
    std::vector<double> scales;
    for (const run& each : runs)
      if (each.exact == exact && (scales.empty() || scales.back() != each.scale)) scales.push_back(each.scale);
    for (const double scale : scales) {
      std::vector<double> shares, growth, ratios;
      std::size_t emerged = 0, count = 0;
      for (const run& each : runs) {
        if (each.exact != exact || each.scale != scale) continue;
        ++count;
        shares.push_back(each.full.last().share());
        growth.push_back(each.full.last().off_manifold / each.full.first().off_manifold);
        if (each.emergence) ++emerged;
        if (each.emergence && each.predicted) ratios.push_back(*each.emergence / *each.predicted);
      }
      auto& numbers = result.numbers[name(exact) + ", scale " + lindyn::detail::to_text(scale)];
      numbers["share_end_median"] = median(shares);
      numbers["off_manifold_growth_median"] = median(growth);
      numbers["emerged"] = emerged;
      numbers["emergence_over_predicted_median"] = ratios.empty() ? io::json() : io::json(median(ratios));
      const std::string when = emerged == 0     ? "never"
                               : ratios.empty() ? "though predicted never to"
                                                : text("at %.3g times the predicted step", median(ratios));
      result.say(
          "random start %g, %s gradient: the off-manifold share ends at %.3g while the off-manifold norm itself is "
          "multiplied by %.3g (medians); %zu of %zu runs emerge, %s.",
          scale, name(exact).c_str(), median(shares), median(growth), emerged, count, when.c_str());
    }
  }

  const auto panel_of = [&](const std::string& title, const std::string& label, const std::string& y, bool exact,
                            const std::string& settings) {
    panel picture{title, "step", label, settings, {}};
    int colour = 0;
    double last = 0;
    for (const run& each : runs) {
      if (each.exact != exact) continue;
      const bool fresh = each.scale != last;
      if (fresh && last != 0) ++colour;
      last = each.scale;
      picture.curves.push_back(
          {.where = is(1, name(exact)) + " && " + is(2, each.scale) + " && " + is(3, static_cast<double>(each.seed)),
           .x = "$4",
           .y = y,
           .title = fresh ? "scale " + lindyn::detail::to_text(each.scale) : "",
           .colour = colour});
    }
    return picture;
  };
  result.drawn = draw_panels(
      c.out, "starts", "Random starts: does the manifold attract?",
      {panel_of("population gradient", "off-manifold share", "$9", true, "set key top right\nset yrange [0:1]\n"),
       panel_of("population gradient", "off-manifold norm, relative to the start", "$10", true,
                "set key top right\nset yrange [0:2]\n"),
       panel_of("batch 512, 4 pairs, 16 tokens", "off-manifold share", "$9", false,
                "set key top right\nset yrange [0:1]\n")});
  return result;
}

}  // namespace examples::off_the_manifold
