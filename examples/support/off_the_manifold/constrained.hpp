// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `constrained`: training confined to the manifold, and of its coordinates alone, beside unconstrained training.

#include <chrono>
#include <string>
#include <vector>

#include <lindyn/compare/manifold_constraint.hpp>

#include "measure.hpp"
#include "pictures.hpp"

namespace examples::off_the_manifold {

/// Three ways to train from the same start, by three optimisers: the full network on minibatches, the same with its
/// gradient and weights projected on the manifold, and the coordinates on the exact population loss of the relational
/// types. And what a step of each costs.
[[nodiscard]] inline findings constrained(const context& c) {
  using namespace lindyn;
  struct run {
    std::string rule, way;
    double rate;
    index steps;
    rule_options options;
    trace result{};
  };
  const auto subject = middle_task();
  const std::vector<std::string> ways{"unconstrained", "constrained", "coordinates"};
  std::vector<run> runs;
  for (const std::string& way : ways) {
    runs.push_back({"sgd", way, 0.5, 4000, optimizer::sgd_options{}});
    runs.push_back({"momentum", way, 0.05, 4000, optimizer::momentum_options{}});
    runs.push_back({"adam", way, 0.01, 2000, optimizer::adam_options{}});
  }
  const auto start = subject.on_manifold(0.1, 1);
  const auto confined = [](const experiment& of) -> constraint<float> {
    return [project = compare::manifold_constraint(of.basis)](std::span<float> values) mutable { project(values); };
  };
  side_by_side(c, "constrained training", runs.size(), [&](std::size_t i) {
    run& each = runs[i];
    const train::descent_options options{.steps = each.steps, .learning_rate = each.rate, .batch = 512};
    if (each.way == "coordinates")
      each.result =
          train_coordinates(subject, subject.basis.project(start).coordinates, {each.steps, each.rate}, each.options);
    else if (each.way == "constrained")
      each.result = off_the_manifold::train<float>(subject, start, options, each.options, moments_until(each.steps),
                                                   confined(subject));
    else
      each.result = off_the_manifold::train<float>(subject, start, options, each.options);
  });

  io::csv_writer csv(c.out / "constrained.csv", {"optimiser", "way", "step", "loss", "norm", "off_manifold", "share"});
  for (const run& each : runs)
    for (const moment& point : each.result.moments)
      csv.row(each.rule, each.way, point.step, point.loss, point.norm, point.off_manifold, point.share());
  csv.commit();

  findings result;
  for (std::size_t r = 0; r < 3; ++r) {
    const run &free = runs[r], &confined_run = runs[3 + r], &alone = runs[6 + r];
    auto model = subject.reduced();
    for (const run* each : {&free, &confined_run, &alone}) {
      auto& numbers = result.numbers[each->rule][each->way];
      numbers["learning_rate"] = each->rate;
      numbers["steps"] = each->steps;
      numbers["loss_end"] = each->result.last().loss;
      numbers["population_loss_of_the_projection_end"] = model.loss(each->result.last().coordinates);
      numbers["emergence_step"] = or_null(each->result.emergence());
      numbers["off_manifold_share_end"] = each->result.last().share();
      numbers["largest_coordinate_difference_to_unconstrained"] =
          largest_difference(each->result.last().coordinates, free.result.last().coordinates);
    }
    const auto step = [](const run& each) { return each.result.emergence().value_or(-1); };
    result.say(
        "%s: loss at the end %.4f unconstrained, %.4f constrained, %.4f for the coordinates alone; emergence at "
        "step %.0f, %.0f and %.0f; unconstrained training ends %.2g off the manifold.",
        free.rule.c_str(), free.result.last().loss, confined_run.result.last().loss, alone.result.last().loss,
        step(free), step(confined_run), step(alone), free.result.last().share());
  }

  // What a step costs, on one thread.
  for (const auto& [name, timed] :
       {std::pair{"4 pairs, 16 tokens", middle_task()}, std::pair{"16 pairs, 64 tokens", large_task()}}) {
    const train::descent_options options{.steps = 200, .learning_rate = 0.01, .batch = 512};
    const auto point = timed.on_manifold(0.1, 1);
    const auto per_step = [&](const constraint<float>& confine) {
      std::vector<double> seconds;
      for (int repeat = 0; repeat < 3; ++repeat)
        seconds.push_back(
            off_the_manifold::train<float>(timed, point, options, optimizer::adam_options{}, {}, confine).seconds /
            200);
      return median(seconds);
    };
    const double free = per_step([](std::span<float>) {}), confined_step = per_step(confined(timed));
    auto model = timed.reduced();
    optimizer::adam<double> adam(model.dimension());
    const index repeats = 20'000;
    const auto begin = std::chrono::steady_clock::now();
    reduced::descend(model, timed.basis.project(point).coordinates, {repeats, 1e-6}, {}, adam);
    const double alone =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(repeats);
    result.numbers["seconds a step"][name] = {
        {"unconstrained, batch 512", free}, {"constrained, batch 512", confined_step}, {"coordinates", alone}};
    result.say(
        "%s, batch 512: a step takes %.3g ms unconstrained, %.3g ms constrained (the projections are cheap, but "
        "save nothing), %.3g us for the coordinates: %.0f times faster, and without noise.",
        name, free * 1e3, confined_step * 1e3, alone * 1e6, free / alone);
  }

  const auto panel_of = [&](const std::string& rule) {
    panel picture{rule, "step", "loss", "set key top right\nset yrange [0:*]\n", {}};
    int colour = 0;
    for (const std::string& way : ways) {
      picture.curves.push_back(
          {.where = is(1, rule) + " && " + is(2, way),
           .x = "$3",
           .y = "$4",
           .title = way,
           .style = way == "coordinates" ? "with lines linewidth 2 dashtype 2" : "with lines linewidth 2",
           .colour = colour++});
    }
    return picture;
  };
  result.drawn = draw_panels(c.out, "constrained", "Training confined to the manifold: 4 pairs, 16 tokens, batch 512",
                             {panel_of("sgd"), panel_of("momentum"), panel_of("adam")});
  return result;
}

}  // namespace examples::off_the_manifold
