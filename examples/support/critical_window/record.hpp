// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is seen of one training, and the files that keep it: they are there once it is finished, so that they are the
/// journal of an interrupted sweep, too.

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/io/json.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/observe/condensation.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/train/observer.hpp>

#include "../train_transformer/history.hpp"
#include "planned_run.hpp"

namespace examples::critical_window {

/// Evaluations along a training, a row each; a training that has diverged ends in a row that has nothing but the step.
using train_transformer::history;

/// Columns of a record. The accuracies are those of all sequences of training and of test.
inline const std::vector<std::string> record_columns{"step",      "training_loss", "training_accuracy",
                                                     "test_loss", "test_accuracy", "condensation"};

/// The place of a column of a record.
[[nodiscard]] inline std::size_t record_column(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(record_columns, name) - record_columns.begin());
}

/// Where a finished training is kept: its settings, for train_transformer --config, and its record, which comes last.
struct run_files {
  std::filesystem::path configuration, record;
  run_files(const std::filesystem::path& folder, const planned_run& of)
      : configuration(folder / (of.name() + ".json")), record(folder / (of.name() + ".csv")) {}
};

/// The record of a training, if it is finished. Throws file_error for a file that isn't what it should be.
[[nodiscard]] inline std::optional<history> read_record(const std::filesystem::path& folder, const planned_run& of) {
  const run_files files(folder, of);
  if (!std::filesystem::exists(files.record)) return std::nullopt;
  history result(record_columns);
  result.read(files.record, std::numeric_limits<index>::max());
  return result;
}

/// Keeps a finished training.
inline void write_record(const std::filesystem::path& folder, const planned_run& of, const history& record) {
  const run_files files(folder, of);
  io::write_json(files.configuration, train_transformer::to_json(of.of));
  record.write(files.record);
}

using network = lindyn::model::prenorm_transformer<float>;

/// Appends a row to a record at each evaluation. A copy goes on by itself.
class recorder {
public:
  /// \param net, data  outlive the recorder
  recorder(const network& net, const lindyn::population::split_set& data, const settings& of)
      : net_(&net), data_(&data), stride_(of.evaluate_every), last_(of.steps) {}

  /// Whether it hears of that step.
  [[nodiscard]] bool wants(index step) const { return step % stride_ == 0 || step == last_; }

  /// Hears of a step.
  void operator()(const lindyn::train::observation<float>& here, network::workspace& memory) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> row{static_cast<double>(here.step)};
    try {
      for (const auto* set : {&data_->training, &data_->test}) {
        const auto found = net_->loss(here.weights, *set, memory, 512);
        row.insert(row.end(), {found.loss, found.accuracy()});
      }
      const bool measured = here.step % (10 * stride_) == 0 || here.step == last_;
      row.push_back(measured ? lindyn::observe::mean_condensation(net_->parameters(), here.weights) : none);
    } catch (const lindyn::non_finite_error&) {
      row.resize(1);
      row.resize(record_columns.size(), none);
    }
    seen_.append(std::move(row));
  }

  /// Ends the record of a training that has diverged in that step.
  void diverged(index step) {
    std::vector<double> row(record_columns.size(), std::numeric_limits<double>::quiet_NaN());
    row.front() = static_cast<double>(step);
    seen_.append(std::move(row));
  }

  [[nodiscard]] const history& seen() const noexcept { return seen_; }

private:
  const network* net_;
  const lindyn::population::split_set* data_;
  index stride_, last_;
  history seen_{record_columns};
};

}  // namespace examples::critical_window
