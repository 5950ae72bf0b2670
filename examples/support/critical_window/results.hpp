// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What was found, as tables: a row for each run, and statistics over the seeds of each setting.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/io/csv.hpp>

#include "../statistics.hpp"
#include "experiments.hpp"
#include "record.hpp"

namespace examples::critical_window {

/// The figures of a finished training; NaN where there is none.
struct outcome {
  double accuracy = 0;  ///< on test data, at the end; of SCAN, the share of exact matches, here and below
  double best = 0, best_step = 0;
  double at_3000 = 0, at_7500 = 0;  ///< at these steps of the published experiments
  double training_accuracy = 0;     ///< at the end
  double condensation = 0;          ///< at the end
  double diverged_step = 0;         ///< the first that isn't finite

  /// \param of    the record, of a row at least
  /// \param plan  of what
  /// \param all   how long experiments are
  outcome(const history& of, const planned_run& plan, const extent& all) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const std::size_t test = of.column(train_transformer::decisive_column(plan.of));
    const auto value_at = [&](double step) {
      const auto found = std::ranges::find(of.rows(), step, [](const auto& row) { return row.front(); });
      return found == of.rows().end() ? none : (*found)[test];
    };
    const auto& last = of.rows().back();
    accuracy = last[test];
    best = best_step = none;
    for (const auto& row : of.rows())
      if (!(row[test] <= best) && !std::isnan(row[test])) best = row[test], best_step = row.front();
    at_3000 = value_at(std::round(scaled_step(all, 3'000)));
    at_7500 = value_at(std::round(scaled_step(all, 7'500)));
    training_accuracy = last[of.column("training_accuracy")];
    condensation = last[of.column("condensation")];
    const auto diverged = std::ranges::find_if(of.rows(), has_diverged);
    diverged_step = diverged == of.rows().end() ? none : diverged->front();
  }
};

/// A finished training.
struct result {
  const planned_run* plan;
  outcome found;
};

/// All runs of an experiment that are finished.
[[nodiscard]] inline std::vector<result> read_results(const std::filesystem::path& folder, const experiment& of,
                                                      const extent& all) {
  std::vector<result> results;
  for (const planned_run& plan : of.runs)
    if (const auto kept = read_record(folder, plan); kept.rows)
      results.push_back({&plan, outcome(*kept.rows, plan, all)});
  return results;
}

/// The columns of runs.csv.
inline const std::vector<std::string> run_columns{"experiment",
                                                  "condition",
                                                  "decay_mode",
                                                  "onset",
                                                  "width",
                                                  "lambda",
                                                  "optimizer",
                                                  "task",
                                                  "layers",
                                                  "gamma",
                                                  "seed",
                                                  "steps",
                                                  "accuracy",
                                                  "best",
                                                  "best_step",
                                                  "accuracy_at_3000",
                                                  "accuracy_at_7500",
                                                  "training_accuracy",
                                                  "condensation",
                                                  "diverged_step",
                                                  "run",
                                                  "intervention"};

/// Appends the rows of an experiment to runs.csv.
inline void append_rows(io::csv_writer& csv, const std::vector<result>& results) {
  for (const auto& [plan, found] : results)
    csv.row(plan->experiment, plan->condition, plan->window.rate > 0 ? plan->of.decay_mode : "", plan->onset(),
            plan->width(), plan->window.rate, plan->of.optimizer, plan->of.task, plan->of.layers, plan->of.gamma,
            plan->of.seed, plan->of.steps, found.accuracy, found.best, found.best_step, found.at_3000, found.at_7500,
            found.training_accuracy, found.condensation, found.diverged_step, plan->name(), plan->intervention);
}

/// Mean, extremes and values of a figure over the seeds; null where there is none.
[[nodiscard]] inline io::json spread(const std::vector<const outcome*>& over, double outcome::*figure) {
  std::vector<double> values;
  for (const outcome* each : over)
    if (!std::isnan(each->*figure)) values.push_back(each->*figure);
  if (values.empty()) return nullptr;
  return {{"mean", examples::mean(values)},
          {"min", std::ranges::min(values)},
          {"max", std::ranges::max(values)},
          {"values", values}};
}

/// Statistics of each setting over its seeds, in the order of the plan.
[[nodiscard]] inline io::json summarise(const std::vector<result>& results) {
  io::json rows = io::json::array();
  std::vector<std::string> keys;
  std::vector<std::vector<const outcome*>> groups;
  for (const auto& [plan, found] : results) {
    settings same = plan->of;
    same.seed = same.batch_seed = 0;
    const std::string key = plan->condition + plan->intervention + train_transformer::to_json(same).dump();
    const auto place = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
    if (place == keys.size()) {
      keys.push_back(key);
      groups.emplace_back();
      rows.push_back({{"condition", plan->condition},
                      {"intervention", plan->intervention},
                      {"decay", plan->of.decay},
                      {"decay_mode", plan->window.rate > 0 ? io::json(plan->of.decay_mode) : io::json()},
                      {"optimizer", plan->of.optimizer},
                      {"task", plan->of.task},
                      {"layers", plan->of.layers},
                      {"gamma", plan->of.gamma},
                      {"steps", plan->of.steps}});
    }
    groups[place].push_back(&found);
  }
  for (std::size_t place = 0; place < groups.size(); ++place) {
    auto& row = rows[place];
    const auto& group = groups[place];
    row["seeds"] = group.size();
    row["accuracy"] = spread(group, &outcome::accuracy);
    row["above_half"] = std::ranges::count_if(group, [](const outcome* each) { return each->accuracy > 0.5; });
    row["best"] = spread(group, &outcome::best);
    row["accuracy_at_3000"] = spread(group, &outcome::at_3000);
    row["accuracy_at_7500"] = spread(group, &outcome::at_7500);
    row["training_accuracy"] = spread(group, &outcome::training_accuracy);
    row["condensation"] = spread(group, &outcome::condensation);
    row["diverged"] =
        std::ranges::count_if(group, [](const outcome* each) { return !std::isnan(each->diverged_step); });
  }
  return rows;
}

}  // namespace examples::critical_window
