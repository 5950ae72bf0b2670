// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reduced and full dynamics from the same start, side by side.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/compare/trajectory.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/train/descent.hpp>

namespace lindyn::compare {

/// Options of `along`.
struct along_options {
  train::descent_options training = {};       ///< of the full network; time is t = steps x learning rate
  index records = 200;                        ///< points of the trajectory, the start aside
  std::optional<double> emergence_loss = {};  ///< the circuit has emerged at this loss; by default half of the start's
  index evaluation = 4096;              ///< sequences, drawn once, on which the loss of a minibatch run is measured
  double tolerance = 1e-6;              ///< of the flow that is timed and that says when the circuit emerges
  double trajectory_tolerance = 1e-10;  ///< of the flow whose coordinates are compared
};

/// One point of the trajectory.
struct along_record {
  index step = 0;                 ///< steps behind
  double t = 0;                   ///< step x learning rate
  double loss_full = 0;           ///< of the full network: exact for batch = 0, else on the evaluation sequences
  double loss_reduced = 0;        ///< population loss along the flow
  double off_manifold = 0;        ///< ||off-manifold part of the weights|| / ||weights||
  std::vector<double> full{};     ///< coordinates of the full weights' projection
  std::vector<double> flow{};     ///< coordinates of the flow
  std::vector<double> descent{};  ///< coordinates of the discrete map
};

/// The two dynamics side by side.
struct comparison {
  std::vector<along_record> records;                  ///< the start, and points evenly spaced behind it
  double loss_start = 0;                              ///< population loss at the projected start
  double loss_end = 0;                                ///< of the full network behind the last step
  double emergence_loss = 0;                          ///< the loss at which the circuit counts as emerged
  std::optional<double> emergence_step_full = {};     ///< exact for batch = 0, else interpolated between records
  std::optional<double> emergence_step_reduced = {};  ///< time of emergence along the flow / learning rate
  double coordinate_error_map_max = 0;                ///< largest |full - discrete map| of any coordinate and record
  double coordinate_error_flow_max = 0;               ///< likewise for the flow
  double off_manifold_max = 0;                        ///< largest along_record::off_manifold
  double seconds_full = 0;     ///< of the steps, without measurements; on as many threads as the training
  double seconds_reduced = 0;  ///< of the flow to the same time at options.tolerance, one thread, median of repeats
};

namespace detail {

/// `count` + 1 steps from 0 to `last`, evenly spaced, each once.
[[nodiscard]] inline std::vector<index> record_steps(index last, index count) {
  std::vector<index> result;
  for (index i = 0; i <= count; ++i) {
    const auto step = static_cast<index>(std::llround(static_cast<double>(last) * static_cast<double>(i) /
                                                      static_cast<double>(std::max<index>(count, 1))));
    if (result.empty() || step > result.back()) result.push_back(step);
  }
  return result;
}

/// Median seconds of `work`, repeated until the repeats total 0.2 s.
template <class Work>
[[nodiscard]] double median_seconds(Work&& work) {
  using clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (double total = 0; total < 0.2;) {
    const auto begin = clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(clock::now() - begin).count());
    total += seconds.back();
  }
  std::ranges::nth_element(seconds, seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2));
  return seconds[seconds.size() / 2];
}

}  // namespace detail

/// Trains the full network from `weights` (in place), and moves the coordinates of their projection by the discrete map
/// and by gradient flow to the same time.
/// \param model  the relational model of the same law, loss and manifold
/// \param net    model::attention_only, float or double
/// Throws what train::descend, reduced::descend and reduced::flow throw, and argument_error for bad options.
template <class Net, population::data_law Law>
[[nodiscard]] comparison along(reduced::relational_model& model, const Net& net, const Law& law,
                               std::span<typename Net::scalar> weights, const along_options& options) {
  const train::descent_options& training = options.training;
  require(training.steps >= 1, "steps", training.steps, "at least 1");
  require(options.records >= 1, "records", options.records, "at least 1");
  require(options.evaluation >= 1, "evaluation", options.evaluation, "at least 1");
  const manifold::basis& basis = model.basis();
  require_extent("net.parameters().size()", net.parameters().size(), basis.parameters().size());
  const std::vector<index> steps = detail::record_steps(training.steps, options.records);
  const auto in_double = [&](auto span) { return std::vector<double>(span.begin(), span.end()); };

  comparison result;
  const std::vector<double> start = basis.project(in_double(weights)).coordinates;
  result.loss_start = model.loss(start);
  result.emergence_loss = options.emergence_loss.value_or(result.loss_start / 2);
  require(result.emergence_loss > 0, "emergence_loss", result.emergence_loss, "positive");

  // The full network. Evaluation sequences are numbered from the middle of the stream, which no batch reaches.
  const bool whole = training.batch == 0;
  population::minibatch evaluation;
  typename Net::workspace memory(training.threads);
  if (!whole) population::sampler(law, training.seed).draw(index{1} << 62, options.evaluation, evaluation);
  auto due = steps.begin();
  result.seconds_full = train::descend(net, law, weights, training, [&](const auto& point) {
    if (whole && !result.emergence_step_full && point.loss <= result.emergence_loss)
      result.emergence_step_full = static_cast<double>(point.step);
    if (due == steps.end() || point.step != *due) return;
    ++due;
    const manifold::projection projection = basis.project(in_double(point.weights));
    result.records.push_back(
        {.step = point.step,
         .t = static_cast<double>(point.step) * training.learning_rate,
         .loss_full = whole ? point.loss : net.loss(point.weights, evaluation, training.loss, memory),
         .off_manifold = projection.relative_residual(),
         .full = projection.coordinates});
  });
  if (!whole)
    result.emergence_step_full =
        crossing(result.records, result.emergence_loss, &along_record::step, &along_record::loss_full);
  result.loss_end = result.records.back().loss_full;

  // The discrete map.
  progress tell(training.tell);
  std::size_t record = 0;
  reduced::descend(model, start, {.steps = training.steps, .learning_rate = training.learning_rate},
                   [&](index step, double, std::span<const double> coordinates) {
                     tell("discrete map", static_cast<double>(step), static_cast<double>(training.steps));
                     if (record == result.records.size() || step != result.records[record].step) return;
                     result.records[record++].descent.assign(coordinates.begin(), coordinates.end());
                   });

  // The flow: its coordinates at the records, when the circuit emerges, and how long it takes.
  reduced::flow_options flow{
      .until = result.records.back().t, .tolerance = options.trajectory_tolerance, .tell = training.tell};
  for (const along_record& point : result.records) flow.times.push_back(point.t);
  const integrate::flow_result trajectory = reduced::flow(model, start, flow);
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    along_record& point = result.records[i];
    const std::span<const double> coordinates = trajectory.sampled().row(static_cast<index>(i));
    point.flow.assign(coordinates.begin(), coordinates.end());
    point.loss_reduced = model.loss(coordinates);
    result.coordinate_error_map_max =
        std::max(result.coordinate_error_map_max, largest_difference(point.full, point.descent));
    result.coordinate_error_flow_max =
        std::max(result.coordinate_error_flow_max, largest_difference(point.full, point.flow));
    result.off_manifold_max = std::max(result.off_manifold_max, point.off_manifold);
  }
  const integrate::flow_result emergence = reduced::flow(
      model, start, {.until = flow.until, .stop_at_loss = result.emergence_loss, .tolerance = options.tolerance});
  if (emergence.status == integrate::flow_status::event)
    result.emergence_step_reduced = emergence.t / training.learning_rate;
  result.seconds_reduced = detail::median_seconds(
      [&] { return reduced::flow(model, start, {.until = flow.until, .tolerance = options.tolerance}); });
  return result;
}

/// The same for a compile-time manifold, a law with few relational types and a start on the manifold:
/// `compare::along<imir>(law, start, {.training = {.steps = 10'000, .batch = 512}})`.
template <class Imir, population::data_law Law>
[[nodiscard]] comparison along(const Law& law, const typename Imir::coordinates& start, const along_options& options) {
  using net = typename Imir::net;
  reduced::relational_model model(Imir::basis(law), population::enumerate_types(law).types, options.training.loss);
  const std::vector<double> embedded = model.basis().embed(start);
  std::vector<typename net::scalar> weights;
  for (const double weight : embedded) weights.push_back(static_cast<typename net::scalar>(weight));
  return along(model, net(model.basis().shape()), law, std::span(weights), options);
}

}  // namespace lindyn::compare
