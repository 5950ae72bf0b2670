// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `adam`: which optimisers leave the manifold, how fast, and where to.

#include <string>
#include <vector>

#include "../panels.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace examples::off_the_manifold {

/// Gradient descent, momentum and Adam from a point of the manifold, with the population gradient and with minibatches.
///
/// An elementwise optimiser commutes with permutations, so that with the population gradient Adam stays in the commutant
/// (one number an orbital), but not in its centred part: it moves along the constant blocks, to which softmax and
/// cross-entropy are blind; off the manifold, but without consequence. That holds until rounding errors are seen: where
/// the gradient vanishes by symmetry, Adam divides what rounding left of it by itself, and takes steps of full size once
/// that exceeds epsilon. A larger epsilon holds the symmetry for longer. With minibatches the noise plays that part from
/// the first step.
[[nodiscard]] inline findings rules(const context& c) {
  using namespace lindyn;
  struct run {
    std::string name;
    bool exact;
    double rate;
    index steps;
    rule_options rule;
    std::uint64_t seed = 1;
    trace result{};
  };
  const auto small = small_task(), middle = middle_task();
  std::vector<run> runs;
  for (const bool exact : {true, false}) {
    const std::string gradient = exact ? "population" : "batch 512";
    const index steps = exact ? 800 : 4000;
    runs.push_back({"sgd " + gradient, exact, 0.5, steps, optimizer::sgd_options{}});
    runs.push_back({"momentum " + gradient, exact, 0.05, steps, optimizer::momentum_options{}});
    runs.push_back({"adam " + gradient, exact, 0.01, steps / 2, optimizer::adam_options{}});
  }
  runs.push_back({"adam population epsilon 1e-4", true, 0.01, 400, optimizer::adam_options{.epsilon = 1e-4}});
  side_by_side(c, "optimisers", runs.size(), [&](std::size_t i) {
    run& each = runs[runs.size() - 1 - i];
    const auto& subject = each.exact ? small : middle;
    const train::descent_options options{
        .steps = each.steps, .learning_rate = each.rate, .batch = each.exact ? 0 : 512, .seed = each.seed};
    const auto start = subject.on_manifold(0.3, each.seed);
    each.result = each.exact ? off_the_manifold::train<double>(subject, start, options, each.rule)
                             : off_the_manifold::train<float>(subject, start, options, each.rule);
  });

  io::csv_writer csv(c.out / "adam.csv",
                     {"run", "step", "loss", "norm", "off_manifold", "share", "off_commutant_share"});
  for (const run& each : runs)
    for (const moment& point : each.result.moments)
      csv.row(each.name, point.step, point.loss, point.norm, point.off_manifold, point.share(),
              point.off_commutant_share());
  csv.commit();

  findings result;
  for (const run& each : runs) {
    auto& numbers = result.numbers[each.name];
    numbers["learning_rate"] = each.rate;
    numbers["steps"] = each.steps;
    for (const moment& point : each.result.moments)
      if (point.step == 1 || point.step == 10 || point.step == 100 || point.step == each.steps) {
        numbers["share by step"][std::to_string(point.step)] = point.share();
        numbers["off-commutant share by step"][std::to_string(point.step)] = point.off_commutant_share();
      }
    numbers["emergence_step"] = or_null(each.result.emergence());
    numbers["loss_start"] = each.result.first().loss;
    numbers["loss_end"] = each.result.last().loss;
    const double share = each.result.last().share();
    result.say(
        "%s: after %td steps %.2g of the weights' norm is off the manifold, and %.2g off the commutant with its "
        "constant blocks; loss %.3f -> %.3f.",
        each.name.c_str(), each.steps, share, each.result.last().off_commutant_share(), each.result.first().loss,
        each.result.last().loss);
  }

  // Adam on the coordinates is another optimiser, while the weights keep the symmetry too: at the same rate, and at twice
  // the rate (a block of one centred selection has two values, whose normalised steps are opposite).
  const run& adam = runs.back();
  const auto start = small.coordinates(0.3, 1);
  for (const double factor : {1.0, 2.0}) {
    const auto other = train_coordinates(small, start, {adam.steps, factor * adam.rate}, optimizer::adam_options{});
    std::size_t last = 0;  // moment at which the weights still keep the symmetry
    while (last + 1 < other.moments.size() && adam.result.moments[last + 1].off_commutant_share() < 1e-6) ++last;
    const moment &alone = other.moments[last], &full = adam.result.moments[last];
    const double distance = compare::largest_difference(alone.coordinates, full.coordinates);
    const double way = compare::largest_difference(full.coordinates, start);
    const std::string name = "adam on coordinates at " + lindyn::detail::to_text(factor) + " x the rate";
    result.numbers[name] = {{"step", full.step},
                            {"largest_difference", distance},
                            {"largest_way", way},
                            {"loss", alone.loss},
                            {"loss_of_the_weights", full.loss}};
    result.say(
        "%s against %s: at step %td coordinates differ by up to %.2g, having moved by up to %.2g; loss %.3f "
        "against %.3f.",
        name.c_str(), adam.name.c_str(), full.step, distance, way, alone.loss, full.loss);
  }

  const auto panel_of = [&](const std::string& title, bool exact, const std::string& settings) {
    panel picture{title, "step", "off-manifold share", "set logscale xy\n" + settings, {}};
    int colour = 0;
    for (const run& each : runs) {
      if (each.exact != exact) continue;
      picture.curves.push_back({.where = is(1, each.name), .x = "$2", .y = "$6", .title = each.name, .colour = colour});
      if (each.name.starts_with("adam"))
        picture.curves.push_back({.where = is(1, each.name),
                                  .x = "$2",
                                  .y = "$7",
                                  .title = "off the commutant",
                                  .style = "with lines linewidth 2 dashtype 2",
                                  .colour = colour});
      ++colour;
    }
    return picture;
  };
  result.drawn = draw_panels(
      c.out, "adam", "Which optimisers leave the manifold",
      {panel_of("population gradient, 2 pairs, 5 tokens", true, "set key top left\nset yrange [1e-17:1e12]\n"),
       panel_of("minibatches of 512, 4 pairs, 16 tokens", false, "set key bottom right\n")});
  return result;
}

}  // namespace examples::off_the_manifold
