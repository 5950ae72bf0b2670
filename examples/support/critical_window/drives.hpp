// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What becomes of each part of the network on the first 500 steps, while it decays and before: its size, and how its
/// gradient drives it against the decay.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/io/csv.hpp>
#include <lindyn/observe/norms.hpp>

#include "causes.hpp"
#include "training.hpp"

namespace examples::critical_window {

namespace detail {

/// The trainings: decay that begins at different steps, or never, in both modes that take equally much from weights
/// without a gradient.
[[nodiscard]] inline experiment plan_drives(const extent& all) {
  planner plan(all, "drives", "size and radial drive of each part of the network, 500 steps", 3);
  plan.run("none", "coupled_l2", {}, 500);
  plan.run("window", "absolute", {0, 5'000, 0.004}, 500);
  for (const double onset : {0, 100, 200, 400}) plan.run("window", "coupled_l2", {onset, onset + 5'000, 0.004}, 500);
  return std::move(plan).result();
}

/// Follows the size and the drive of parts. A copy goes on by itself.
class drive_recorder {
public:
  /// At some step, of each part.
  struct row {
    index step;
    std::vector<double> log_rms;
    std::vector<double> drive;  ///< of the steps since the row before, their mean
  };

  /// \param table   of the network; outlives the recorder
  /// \param stride  steps between rows
  drive_recorder(const lindyn::parameter_table& table, index stride)
      : table_(&table), stride_(stride), sums_(network_parts.size()) {
    for (const network_part& part : network_parts)
      modules_.push_back({.name = part.name, .matrices = matrices_of(table, part.modules)});
  }

  /// Hears of a step.
  void operator()(const lindyn::train::observation<float>& here) {
    const auto drives = lindyn::observe::radial_drives(*table_, here.weights, here.gradient, modules_);
    for (std::size_t part = 0; part < sums_.size(); ++part)
      sums_[part] += drives[part].rate.value_or(std::numeric_limits<double>::quiet_NaN());
    ++steps_;
    if (here.step % stride_ != 0) return;
    row next{.step = here.step, .log_rms = {}, .drive = {}};
    for (const auto& norm : lindyn::observe::group_norms(*table_, here.weights, modules_))
      next.log_rms.push_back(std::log(norm.rms));
    for (double& sum : sums_) next.drive.push_back(std::exchange(sum, 0) / static_cast<double>(steps_));
    steps_ = 0;
    rows.push_back(std::move(next));
  }

  std::vector<row> rows;

private:
  const lindyn::parameter_table* table_;
  index stride_, steps_ = 0;
  std::vector<double> sums_;
  std::vector<lindyn::observe::module_parts> modules_;
};

}  // namespace detail

/// Writes FOLDER/drives.csv, a row for every tenth step of every part in each training: the natural logarithm of the
/// root mean square of its entries, and -<g, w> / (lambda |w|^2), the mean of ten steps, where lambda = 4e-3 also before
/// decay begins: above 1, descent along the gradient would let it grow against decay that isn't normalised.
/// \param stop  true ends it, and nothing is written
inline void write_drives(const std::filesystem::path& folder, const extent& all, int threads,
                         const std::function<bool()>& stop) {
  constexpr double lambda = 4e-3;
  const experiment what = detail::plan_drives(all);
  std::vector<std::pair<planned_run, detail::drive_recorder>> ends;
  family<optimizer::adam_options> together(what.runs,
                                           std::get<optimizer::adam_options>(make_rule(what.runs.front().of)));
  together.watch(
      threads, stop,
      [&](const network& net, const planned_run&) {
        return detail::drive_recorder(net.parameters(), all.quick ? 1 : 10);
      },
      [&](const planned_run& plan, const auto&, detail::drive_recorder& seen, const auto&) {
        ends.emplace_back(plan, seen);
      });
  if (stop()) return;
  std::ranges::sort(ends, {}, [](const auto& end) {
    const planned_run& plan = end.first;
    return std::tuple(plan.of.decay_mode, plan.window.rate == 0, plan.window.begin, plan.of.seed);
  });
  io::csv_writer csv(folder / "drives.csv",
                     {"decay_mode", "onset", "seed", "step", "part", "log_rms", "drive_over_lambda"});
  for (const auto& [plan, seen] : ends)
    for (const auto& row : seen.rows)
      for (std::size_t part = 0; part < network_parts.size(); ++part) {
        const bool decays = plan.window.rate > 0;
        csv.row(decays ? plan.of.decay_mode : "none",
                decays ? plan.window.begin : std::numeric_limits<double>::quiet_NaN(), plan.of.seed, row.step,
                network_parts[part].name, row.log_rms[part], row.drive[part] / lambda);
      }
  csv.commit();
}

}  // namespace examples::critical_window
