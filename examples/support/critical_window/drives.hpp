// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What becomes of each part of the network on the first 500 steps, while it decays and before: its size, and how its
/// gradient drives it against the decay.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/io/csv.hpp>
#include <lindyn/io/output_folder.hpp>
#include <lindyn/observe/norms.hpp>

#include "../panels.hpp"
#include "network_parts.hpp"
#include "planner.hpp"
#include "record.hpp"
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

/// Columns of what is kept of a training: of each part, the size and the drive.
[[nodiscard]] inline std::vector<std::string> drive_columns() {
  std::vector<std::string> result{"step"};
  for (const char* figure : {"log_rms", "drive"})
    for (const network_part& part : network_parts) result.push_back(figure + (" " + part.name));
  return result;
}

/// What is kept of a training, in a folder of its own.
[[nodiscard]] inline std::filesystem::path drive_file(const std::filesystem::path& out, const planned_run& of) {
  return out / "drives" / (of.name() + ".csv");
}
/// The same, if it is there.
[[nodiscard]] inline kept_record read_drive(const std::filesystem::path& out, const planned_run& of) {
  return read_complete(drive_file(out, of), drive_columns(), of.of.steps);
}

/// Follows the size and the drive of parts. A copy goes on by itself.
class drive_recorder {
public:
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
    std::vector<double> row{static_cast<double>(here.step)};
    for (const auto& norm : lindyn::observe::group_norms(*table_, here.weights, modules_))
      row.push_back(std::log(norm.rms));
    for (double& sum : sums_) row.push_back(std::exchange(sum, 0) / static_cast<double>(steps_));
    steps_ = 0;
    seen.append(std::move(row));
  }

  /// A row for each stride; drives are means over the steps since the row before.
  history seen{drive_columns()};

private:
  const lindyn::parameter_table* table_;
  index stride_, steps_ = 0;
  std::vector<double> sums_;
  std::vector<lindyn::observe::module_parts> modules_;
};

/// What a training is called in drives.csv and its picture.
struct drive_label {
  std::string decay_mode, onset;
  explicit drive_label(const planned_run& of)
      : decay_mode(of.window.rate > 0 ? of.of.decay_mode : "none"),
        onset(of.window.rate > 0 ? lindyn::detail::to_text(of.window.begin) : "") {}
  bool operator==(const drive_label&) const = default;
};

/// Draws FOLDER/drives.png and .svg: sizes of all parts above, their drives below, means over seeds.
/// \param runs  those that are in drives.csv
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw_drives(const std::filesystem::path& out, const experiment& of,
                                      const std::vector<std::pair<const planned_run*, history>>& runs) {
  std::vector<examples::panel> panels;
  for (const auto& [column, axis, range] :
       {std::tuple{"$6", "log of the root mean square", ""},
        std::tuple{"$7", "radial drive / lambda", "set yrange [-2:7]\nset key samplen 1\nset grid ytics\n"}})
    for (const network_part& part : network_parts) {
      examples::panel next{part.name, "step", panels.size() % network_parts.size() == 0 ? axis : "", range, {}};
      if (panels.size() != network_parts.size()) next.settings += "set key off\n";  // there is room in that one
      std::vector<drive_label> labels;
      for (const auto& [plan, kept] : runs) {
        const drive_label label(*plan);
        if (std::ranges::find(labels, label) != labels.end()) continue;
        next.curves.push_back({examples::is(1, label.decay_mode) + " && " + examples::is(2, label.onset) + " && " +
                                   examples::is(5, part.name),
                               "$4", column,
                               label.onset.empty() ? "no decay" : label.decay_mode + " from " + label.onset,
                               "smooth unique with lines linewidth 2", static_cast<int>(labels.size())});
        labels.push_back(label);
      }
      panels.push_back(std::move(next));
    }
  return examples::draw_panels(out, "drives", of.about, panels, 300, 320, 2);
}

}  // namespace detail

/// Makes those of the trainings that aren't in OUT/drives yet, several at a time.
/// \param stop  true ends it
inline void train_drives(const std::filesystem::path& out, const extent& all, int threads,
                         const std::function<bool()>& stop) {
  auto missing = detail::plan_drives(all).runs;
  std::erase_if(missing, [&](const planned_run& each) { return !detail::read_drive(out, each).missing(); });
  if (missing.empty()) return;
  io::prepare_output_folder(out / "drives", true);
  family<optimizer::adam_options> together(
      missing, std::get<optimizer::adam_options>(train_transformer::make_rule(missing.front().of)));
  together.watch(
      threads, stop,
      [&](const network& net, const planned_run&) {
        return detail::drive_recorder(net.parameters(), all.quick ? 1 : 10);
      },
      [&](const planned_run& plan, const auto& training, detail::drive_recorder& seen, const auto& end) {
        if (end.failure) seen.seen.append(diverged_row(training.steps(), seen.seen.columns().size()));
        seen.seen.write(detail::drive_file(out, plan));
      });
}

/// Writes OUT/drives.csv of the trainings that are in OUT/drives, and its picture: a row for every tenth step of every
/// part in each, the natural logarithm of the root mean square of its entries, and -<g, w> / (lambda |w|^2), the mean of
/// ten steps, where lambda = 4e-3 also before decay begins: above 1, descent along the gradient would let it grow against
/// decay that isn't normalised.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool write_drives(const std::filesystem::path& out, const extent& all) {
  constexpr double lambda = 4e-3;
  const experiment what = detail::plan_drives(all);
  std::vector<std::pair<const planned_run*, history>> there;
  for (const planned_run& plan : what.runs)
    if (auto kept = detail::read_drive(out, plan); kept.rows) there.emplace_back(&plan, std::move(*kept.rows));
  if (there.empty()) return true;
  io::csv_writer csv(out / "drives.csv",
                     {"decay_mode", "onset", "seed", "step", "part", "log_rms", "drive_over_lambda"});
  for (auto first = there.begin(); first != there.end();) {  // gnuplot takes means over rows that are together
    const detail::drive_label label(*first->first);
    const auto last =
        std::find_if(first, there.end(), [&](const auto& run) { return detail::drive_label(*run.first) != label; });
    for (std::size_t part = 0; part < network_parts.size(); ++part)
      for (auto run = first; run != last; ++run)
        for (const auto& row : run->second.rows())
          csv.row(label.decay_mode, label.onset, run->first->of.seed, row.front(), network_parts[part].name,
                  row[1 + part], row[1 + network_parts.size() + part] / lambda);
    first = last;
  }
  csv.commit();
  return detail::draw_drives(out, what, there);
}

}  // namespace examples::critical_window
