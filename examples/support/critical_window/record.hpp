// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is seen of one training, and the files that keep it: they are there once it is finished, so that they are the
/// journal of an interrupted sweep, too.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/observe/condensation.hpp>
#include <lindyn/train/observer.hpp>

#include "../train_transformer/data.hpp"
#include "../train_transformer/history.hpp"
#include "../train_transformer/task_metrics.hpp"
#include "planned_run.hpp"

namespace examples::critical_window {

/// Evaluations along a training, a row each; a training that has diverged ends in a row that has nothing but the step.
using train_transformer::history;

/// Columns of a record. The accuracies are those of all sequences of training and of test; a task's own columns, such as
/// SCAN's exact matches, are the last.
[[nodiscard]] inline std::vector<std::string> record_columns(const settings& of) {
  std::vector<std::string> result{"step",      "training_loss", "training_accuracy",
                                  "test_loss", "test_accuracy", "condensation"};
  for (auto& own : train_transformer::task_columns(of)) result.push_back(std::move(own));
  return result;
}

/// Where a finished training is kept: its settings, for train_transformer --config, unless there is an intervention that
/// settings can't say, and its record, which comes last.
struct run_files {
  std::filesystem::path configuration, record;
  run_files(const std::filesystem::path& folder, const planned_run& of)
      : configuration(folder / (of.name() + ".json")), record(folder / (of.name() + ".csv")) {}
};

/// A record that a folder may have.
struct kept_record {
  std::optional<history> rows = {};  ///< complete
  std::string fault = {};            ///< why its file can't be read, and what to do; empty: it can, or isn't there
  /// Whether the training is to be made.
  [[nodiscard]] bool missing() const noexcept { return !rows && fault.empty(); }
};

/// A row that has nothing but the step, in which the training has diverged.
[[nodiscard]] inline std::vector<double> diverged_row(index step, std::size_t columns) {
  std::vector<double> row(columns, std::numeric_limits<double>::quiet_NaN());
  row.front() = static_cast<double>(step);
  return row;
}

/// Whether a row is one of these.
[[nodiscard]] inline bool has_diverged(const std::vector<double>& row) {
  return std::all_of(row.begin() + 1, row.end(), [](double value) { return std::isnan(value); });
}

/// Reads a record, which is complete if it goes to the last step, or ends in a diverged_row.
[[nodiscard]] inline kept_record read_complete(const std::filesystem::path& path, std::vector<std::string> columns,
                                               index steps) {
  if (!std::filesystem::exists(path)) return {};
  history result(std::move(columns));
  try {
    result.read(path, std::numeric_limits<index>::max());
  } catch (const lindyn::file_error& fault) {
    return {.fault = std::string(fault.what()) + "; remove it, and the training is made again"};
  }
  if (result.rows().empty()) return {};
  const auto& last = result.rows().back();
  const bool complete = last.front() == static_cast<double>(steps) || has_diverged(last);
  return complete ? kept_record{.rows = std::move(result)} : kept_record{};
}

/// The record of a training, if it is finished.
[[nodiscard]] inline kept_record read_record(const std::filesystem::path& folder, const planned_run& of) {
  return read_complete(run_files(folder, of).record, record_columns(of.of), of.of.steps);
}

/// Keeps a finished training.
inline void write_record(const std::filesystem::path& folder, const planned_run& of, const history& record) {
  const run_files files(folder, of);
  if (of.intervention.empty()) io::write_json(files.configuration, train_transformer::to_json(of.of));
  record.write(files.record);
}

using network = lindyn::model::prenorm_transformer<float>;

/// Appends a row to a record at each evaluation. A copy goes on by itself.
class recorder {
public:
  /// \param net, data, of  outlive the recorder
  recorder(const network& net, const train_transformer::task_data& data, const settings& of)
      : net_(&net), data_(&data), of_(&of) {}

  /// Whether it hears of that step.
  [[nodiscard]] bool wants(index step) const { return step % of_->evaluate_every == 0 || step == of_->steps; }

  /// Hears of a step; false if the evaluation isn't finite: then the training has diverged, and ends.
  bool operator()(const lindyn::train::observation<float>& here, network::workspace& memory) {
    std::vector<double> row{static_cast<double>(here.step)}, own;
    try {
      for (const auto* set : {&data_->training, &data_->test}) {
        const auto [found, more] = train_transformer::evaluate_part(*of_, *data_, *set, *net_, here.weights, memory);
        row.insert(row.end(), {found.loss, found.accuracy()});
        own.insert(own.end(), more.begin(), more.end());
      }
      const bool measured = here.step % (10 * of_->evaluate_every) == 0 || here.step == of_->steps;
      row.push_back(measured ? lindyn::observe::mean_condensation(net_->parameters(), here.weights)
                             : std::numeric_limits<double>::quiet_NaN());
      row.insert(row.end(), own.begin(), own.end());
      seen_.append(std::move(row));
      return true;
    } catch (const lindyn::non_finite_error&) {
      diverged(here.step);
      return false;
    }
  }

  /// Ends the record of a training that has diverged in that step.
  void diverged(index step) { seen_.append(diverged_row(step, seen_.columns().size())); }

  /// All rows so far.
  [[nodiscard]] const history& seen() const noexcept { return seen_; }

private:
  const network* net_;
  const train_transformer::task_data* data_;
  const settings* of_;
  history seen_{record_columns(*of_)};
};

}  // namespace examples::critical_window
