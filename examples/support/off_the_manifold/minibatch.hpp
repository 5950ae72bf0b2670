// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Part `sgd`: how far minibatches carry gradient descent off the manifold, by their size.

#include <string>
#include <vector>

#include "../panels.hpp"
#include "../statistics.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace examples::off_the_manifold {

/// Off-manifold norm over the weights' norm at step 200 of gradient descent, against the batch.
///
/// A minibatch gradient is the population gradient, which is tangent to the manifold, and noise of size batch^(-1/2).
/// The noise adds up off the manifold while the weights' norm hardly changes, if (1) the weights start on the manifold
/// with a norm that isn't small, and (2) the learning rate is small enough that the noise doesn't change the gradient.
/// Then the share falls as batch^(-1/2). From a tiny start the weights themselves consist of noise, and the share is
/// near one for every batch: norm and off-manifold norm fall alike.
[[nodiscard]] inline findings minibatch(const context& c) {
  struct setting {
    std::string name;
    double start, rate;
    std::vector<index> batches;
    std::uint64_t seeds;
  };
  const std::vector<setting> settings{
      {"start 0.3 rate 1", 0.3, 1, {64, 128, 256, 512, 1024, 2048, 4096}, 8},
      {"start 0.3 rate 0.1", 0.3, 0.1, {64, 256, 1024}, 4},
      {"start 0.3 rate 4", 0.3, 4, {64, 256, 1024}, 4},
      {"start 0.01 rate 1", 0.01, 1, {64, 256, 1024}, 4},
  };
  const auto subject = large_task();
  struct job {
    const setting* of;
    index batch;
    std::uint64_t seed;
    double share = 0, norm = 0, off_manifold = 0;
  };
  std::vector<job> jobs;
  for (const auto& each : settings)
    for (const index batch : each.batches)
      for (std::uint64_t seed = 1; seed <= each.seeds; ++seed) jobs.push_back({&each, batch, seed});
  std::ranges::stable_sort(jobs, std::greater{}, &job::batch);  // the longest first
  side_by_side(c, "minibatches", jobs.size(), [&](std::size_t i) {
    job& each = jobs[i];
    const auto result =
        train<float>(subject, subject.on_manifold(each.of->start, each.seed),
                     {.steps = 200, .learning_rate = each.of->rate, .batch = each.batch, .seed = each.seed},
                     lindyn::optimizer::sgd_options{}, {200});
    each.norm = result.last().norm;
    each.off_manifold = result.last().off_manifold;
    each.share = result.last().share();
  });

  lindyn::io::csv_writer csv(c.out / "sgd.csv",
                             {"setting", "start", "learning_rate", "batch", "seed", "share", "norm", "off_manifold"});
  for (const job& each : jobs)
    csv.row(each.of->name, each.of->start, each.of->rate, each.batch, each.seed, each.share, each.norm,
            each.off_manifold);
  csv.commit();

  findings result;
  for (const auto& each : settings) {
    std::vector<double> batches, shares;
    auto& numbers = result.numbers[each.name];
    numbers["start"] = each.start;
    numbers["learning_rate"] = each.rate;
    numbers["seeds"] = each.seeds;
    for (const index batch : each.batches) {
      std::vector<double> of_seeds;
      for (const job& done : jobs)
        if (done.of == &each && done.batch == batch) of_seeds.push_back(done.share);
      batches.push_back(static_cast<double>(batch));
      shares.push_back(mean(of_seeds));
      numbers["share by batch"][std::to_string(batch)] = shares.back();
    }
    const power_law fit = fit_power_law(batches, shares);
    numbers["exponent"] = fit.exponent;
    numbers["standard_error"] = fit.standard_error;
    result.say(
        "%s: the off-manifold share at step 200 falls from %.3g (batch %g) to %.3g (batch %g), as batch^(%.3f +- "
        "%.3f).",
        each.name.c_str(), shares.front(), batches.front(), shares.back(), batches.back(), fit.exponent,
        fit.standard_error);
  }
  result.sentences.push_back(
      "So the exponent is -1/2 from a start on the manifold whose norm isn't small, at rates at which the noise "
      "doesn't feed back; a tiny start is all noise.");

  panel picture{"", "batch", "off-manifold share at step 200", "set logscale xy\nset key bottom left\n", {}};
  for (std::size_t s = 0; s < settings.size(); ++s)
    picture.curves.push_back({.where = is(1, settings[s].name),
                              .x = "$4",
                              .y = "$6",
                              .title = settings[s].name,
                              .style = "with points pointtype 6",
                              .colour = static_cast<int>(s)});
  const double height = result.numbers[settings.front().name]["share by batch"]["64"].get<double>() * 8;
  picture.curves.push_back({.where = {},
                            .x = {},
                            .y = lindyn::detail::to_text(height) + " / sqrt(x)",
                            .title = "batch^(-1/2)",
                            .style = "with lines dashtype 2",
                            .colour = 6});
  result.drawn = draw_panels(c.out, "sgd", "Minibatches off the manifold: 16 pairs, 64 tokens", {picture});
  return result;
}

}  // namespace examples::off_the_manifold
