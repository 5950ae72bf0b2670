// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `constrained`: training confined to the manifold, and of its coordinates alone, beside unconstrained training.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <lindyn/compare/manifold_constraint.hpp>

#include "../panels.hpp"
#include "../statistics.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace examples::off_the_manifold {

/// Mean and standard deviation of what a few runs showed, as text; "never" for none.
[[nodiscard]] inline std::string text_of(const std::vector<double>& values) {
  if (values.empty()) return "never";
  const std::string centre = text("%.4g", mean(values));
  return values.size() == 1 ? centre : centre + text(" +- %.3g", standard_deviation(values));
}

/// The same for summary.json: nulls for what too few runs showed.
[[nodiscard]] inline lindyn::io::json spread(const std::vector<double>& values) {
  lindyn::io::json result{{"runs", values.size()}, {"mean", nullptr}, {"standard_deviation", nullptr}};
  if (!values.empty()) result["mean"] = mean(values);
  if (values.size() > 1) result["standard_deviation"] = standard_deviation(values);
  return result;
}

/// Three ways to train from the same start, by three optimisers: the full network on minibatches, the same with its
/// gradient and weights projected on the manifold, and the coordinates on the exact population loss of the relational
/// types; each from a few starts. And what a step of each costs.
[[nodiscard]] inline findings constrained(const context& c) {
  using namespace lindyn;
  struct optimiser {
    std::string name;
    double rate;
    index steps;
    rule_options options;
  };
  const std::vector<optimiser> optimisers{{"sgd", 0.5, 4000, optimizer::sgd_options{}},
                                          {"momentum", 0.05, 4000, optimizer::momentum_options{}},
                                          {"adam", 0.01, 2000, optimizer::adam_options{}}};
  const std::vector<std::string> ways{"unconstrained", "constrained", "coordinates"};
  constexpr std::uint64_t seeds = 3;
  struct run {
    const optimiser* by;
    std::string way;
    std::uint64_t seed;  ///< of the start and of the minibatches
    trace result{};
  };
  const auto subject = middle_task();
  std::vector<run> runs;
  for (const optimiser& by : optimisers)
    for (const std::string& way : ways)
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) runs.push_back({&by, way, seed});
  const auto confined = [](const experiment& of) -> constraint<float> {
    return [project = compare::manifold_constraint(of.basis)](std::span<float> values) mutable { project(values); };
  };
  side_by_side(c, "constrained training", runs.size(), [&](std::size_t i) {
    run& each = runs[i];
    const auto& [name, rate, steps, rule] = *each.by;
    const train::descent_options options{.steps = steps, .learning_rate = rate, .batch = 512, .seed = each.seed};
    const auto start = subject.on_manifold(0.1, each.seed);
    if (each.way == "coordinates")
      each.result = train_coordinates(subject, subject.coordinates(0.1, each.seed), {steps, rate}, rule);
    else if (each.way == "constrained")
      each.result =
          off_the_manifold::train<float>(subject, start, options, rule, moments_until(steps), confined(subject));
    else
      each.result = off_the_manifold::train<float>(subject, start, options, rule);
  });

  io::csv_writer csv(c.out / "constrained.csv",
                     {"optimiser", "way", "seed", "step", "loss", "norm", "off_manifold", "share"});
  for (const run& each : runs)
    for (const moment& point : each.result.moments)
      csv.row(each.by->name, each.way, each.seed, point.step, point.loss, point.norm, point.off_manifold,
              point.share());
  csv.commit();

  findings result;
  const auto end_of = [&](const optimiser& by, const std::string& way, std::uint64_t seed) -> const moment& {
    return std::ranges::find_if(runs,
                                [&](const run& each) { return each.by == &by && each.way == way && each.seed == seed; })
        ->result.last();
  };
  for (const optimiser& by : optimisers) {
    std::string sentence = by.name + " (mean +- standard deviation of " + std::to_string(seeds) + " starts)";
    auto& numbers = result.numbers[by.name] = {{"learning_rate", by.rate}, {"steps", by.steps}, {"seeds", seeds}};
    for (const std::string& way : ways) {
      std::vector<double> losses, emergence, shares, distances;
      for (const run& each : runs) {
        if (each.by != &by || each.way != way) continue;
        const moment& last = each.result.last();
        losses.push_back(last.loss);
        if (const auto step = each.result.emergence()) emergence.push_back(*step);
        shares.push_back(last.share());
        distances.push_back(
            compare::largest_difference(last.coordinates, end_of(by, "unconstrained", each.seed).coordinates));
      }
      numbers[way] = {{"loss_end", spread(losses)},
                      {"emergence_step", spread(emergence)},
                      {"off_manifold_share_end", spread(shares)},
                      {"largest_coordinate_difference_to_unconstrained", spread(distances)}};
      sentence += "; " + way + ": loss at the end " + text_of(losses) + ", emergence at step " + text_of(emergence);
      if (!emergence.empty() && emergence.size() < seeds) sentence += text(" (%zu of them)", emergence.size());
      if (way == "unconstrained")
        sentence += ", off-manifold share " + text_of(shares);
      else
        sentence += ", coordinates within " + text_of(distances) + " of the unconstrained ones";
    }
    result.sentences.push_back(sentence + ".");
  }

  // What a step costs, on one thread.
  for (const auto& named :
       {std::pair{"4 pairs, 16 tokens", middle_task()}, std::pair{"16 pairs, 64 tokens", large_task()}}) {
    const char* const name = named.first;
    const experiment& timed = named.second;
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
    reduced::descend(model, timed.coordinates(0.1, 1), {repeats, 1e-6}, {}, adam);
    const double alone =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(repeats);
    result.numbers["seconds a step"][name] = {
        {"unconstrained, batch 512", free}, {"constrained, batch 512", confined_step}, {"coordinates", alone}};
    result.say(
        "%s, batch 512: a step takes %.3g ms unconstrained, %.3g ms constrained (which saves nothing: "
        "the network's pass stays), %.3g us for the coordinates: %.0f times faster, and without noise.",
        name, free * 1e3, confined_step * 1e3, alone * 1e6, free / alone);
  }

  const auto panel_of = [&](const std::string& rule) {
    panel picture{rule, "step", "loss", "set key top right\nset yrange [0:*]\n", {}};
    int colour = 0;
    for (const std::string& way : ways) {
      picture.curves.push_back(
          {.where = is(1, rule) + " && " + is(2, way) + " && " + is(3, 1.0),
           .x = "$4",
           .y = "$5",
           .title = way,
           .style = way == "coordinates" ? "with lines linewidth 2 dashtype 2" : "with lines linewidth 2",
           .colour = colour++});
    }
    return picture;
  };
  result.drawn = draw_panels(c.out, "constrained",
                             "Training confined to the manifold: 4 pairs, 16 tokens, batch 512, first of three starts",
                             {panel_of("sgd"), panel_of("momentum"), panel_of("adam")});
  return result;
}

}  // namespace examples::off_the_manifold
