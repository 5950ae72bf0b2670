// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `decay`: what weight decay does to the off-manifold part, by its mode.

#include <string>
#include <vector>

#include "../panels.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace examples::off_the_manifold {

/// Gradient descent and Adam with each decay mode, from a point of the manifold and from random weights, with the
/// population gradient. Under gradient descent all modes shrink the weights alike on and off the manifold; what the loss
/// holds up against the decay is on it, so that decay makes the manifold attracting. Adam blows up what little gradient
/// there is off it, against which decoupled decay achieves less.
[[nodiscard]] inline findings decay(const context& c) {
  using namespace lindyn;
  using enum optimizer::decay_mode;
  struct run {
    std::string rule, mode, start;
    double rate, lambda;
    index steps;
    rule_options options;
    std::optional<double> shrink;  ///< what decay alone would leave of the weights; unknown for Adam's coupled one
    trace result{};
  };
  const auto subject = small_task();
  std::vector<run> runs;
  for (const std::string start : {"manifold", "random"}) {
    const auto add = [&](auto options, const std::string& rule, double rate, index steps, optimizer::decay_mode mode,
                         double lambda) {
      options.decay = {.rate = lambda, .mode = mode};
      const bool coupled = mode == coupled_l2;
      const double keep = coupled ? 1 - rate * lambda : factors(options.decay, rate).keep;
      const auto shrink =
          coupled && rule == "adam" ? std::nullopt : std::optional(std::pow(keep, static_cast<double>(steps)));
      runs.push_back(
          {rule, lambda > 0 ? std::string(name(mode)) : "none", start, rate, lambda, steps, options, shrink});
    };
    const optimizer::sgd_options sgd{};
    const optimizer::adam_options adam{};
    add(sgd, "sgd", 0.5, 1000, lr_scaled, 0);
    add(sgd, "sgd", 0.5, 1000, lr_scaled, 0.004);
    add(sgd, "sgd", 0.5, 1000, absolute, 0.002);
    add(sgd, "sgd", 0.5, 1000, coupled_l2, 0.004);
    add(adam, "adam", 0.01, 500, lr_scaled, 0);
    add(adam, "adam", 0.01, 500, lr_scaled, 0.4);
    add(adam, "adam", 0.01, 500, absolute, 0.004);
    add(adam, "adam", 0.01, 500, coupled_l2, 0.004);
  }
  side_by_side(c, "weight decay", runs.size(), [&](std::size_t i) {
    run& each = runs[i];
    const auto start = each.start == "manifold" ? subject.on_manifold(0.3, 1) : subject.random(0.1, 1);
    each.result = off_the_manifold::train<double>(
        subject, start, {.steps = each.steps, .learning_rate = each.rate, .batch = 0}, each.options);
  });

  io::csv_writer csv(c.out / "decay.csv",
                     {"optimiser", "mode", "start", "step", "loss", "norm", "off_manifold", "share"});
  findings result;
  for (const run& each : runs) {
    for (const moment& point : each.result.moments)
      csv.row(each.rule, each.mode, each.start, point.step, point.loss, point.norm, point.off_manifold, point.share());
    const moment &first = each.result.first(), &last = each.result.last();
    const auto remains =  // nothing to compare with where the start lies on the manifold
        each.start == "random" ? std::optional(last.off_manifold / first.off_manifold) : std::nullopt;
    result.numbers["runs"].push_back({{"optimiser", each.rule},
                                      {"mode", each.mode},
                                      {"start", each.start},
                                      {"learning_rate", each.rate},
                                      {"lambda", each.lambda},
                                      {"steps", each.steps},
                                      {"share_end", last.share()},
                                      {"off_manifold_end_over_start", or_null(remains)},
                                      {"decay_alone_would_leave", or_null(each.shrink)},
                                      {"norm_end", last.norm},
                                      {"loss_end", last.loss},
                                      {"emergence_step", or_null(each.result.emergence())}});
    if (!remains)
      result.say("%s, decay %s, start on the manifold: ends with an off-manifold share of %.2g, loss %.3f.",
                 each.rule.c_str(), each.mode.c_str(), last.share(), last.loss);
    else
      result.say(
          "%s, decay %s, random start: the off-manifold norm ends at %.3g of its start (decay alone would leave "
          "%s), share %.3f -> %.3f, loss %.3f.",
          each.rule.c_str(), each.mode.c_str(), *remains,
          each.shrink ? text("%.3g", *each.shrink).c_str() : "an unknown part", first.share(), last.share(), last.loss);
  }
  csv.commit();

  const auto panel_of = [&](const std::string& rule) {
    panel picture{
        rule + ", random start 0.1", "step", "off-manifold share", "set key bottom left\nset yrange [0:1]\n", {}};
    int colour = 0;
    for (const std::string mode : {"none", "lr_scaled", "absolute", "coupled_l2"}) {
      picture.curves.push_back({.where = is(1, rule) + " && " + is(2, mode) + " && " + is(3, "random"),
                                .x = "$4",
                                .y = "$8",
                                .title = mode,
                                .colour = colour});
      ++colour;
    }
    return picture;
  };
  result.drawn = draw_panels(c.out, "decay", "Weight decay, population gradient", {panel_of("sgd"), panel_of("adam")});
  return result;
}

}  // namespace examples::off_the_manifold
