// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What was seen along a run, as a table that a resumed run goes on with.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/atomic_file.hpp>
#include <lindyn/io/csv.hpp>

namespace examples::train_transformer {

/// A table of numbers, in each row the step first; NaN where something doesn't exist.
class history {
public:
  explicit history(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Appends a row, as wide as the columns.
  void append(std::vector<double> row) {
    lindyn::require_extent("row.size()", row.size(), columns_.size());
    rows_.push_back(std::move(row));
  }

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// The number of a column by its name; that of columns, if there is none.
  [[nodiscard]] std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin());
  }
  [[nodiscard]] const std::vector<std::vector<double>>& rows() const noexcept { return rows_; }

  /// Writes the table as CSV, complete or not at all.
  void write(const std::filesystem::path& path) const {
    lindyn::io::csv_writer csv(path, columns_);
    for (const auto& row : rows_) csv.row(row);
    csv.commit();
  }

  /// Takes the rows of a file that write() made, those of steps before `end`.
  /// \throws lindyn::file_error, naming path and line, for anything else
  void read(const std::filesystem::path& path, lindyn::index end_step) {
    std::ifstream file(path);
    if (!file)
      throw lindyn::file_error("cannot read " + path.string() + ": " + lindyn::io::last_system_error().message());
    std::string line;
    std::size_t number = 0;
    const auto fail = [&](const std::string& reason) {
      throw lindyn::file_error("cannot go on with " + path.string() + ", line " + std::to_string(number) + ": " +
                               reason);
    };
    while (std::getline(file, line)) {
      ++number;
      if (file.eof()) fail("it is cut");
      std::vector<std::string_view> fields;
      for (std::size_t begin = 0, end = 0; end != line.size(); begin = end + 1) {
        end = std::min(line.find(',', begin), line.size());
        fields.push_back(std::string_view(line).substr(begin, end - begin));
      }
      if (fields.size() != columns_.size()) fail("it has other columns than this run");
      if (number == 1) {
        if (!std::equal(fields.begin(), fields.end(), columns_.begin())) fail("it has other columns than this run");
        continue;
      }
      std::vector<double> row;
      for (const std::string_view field : fields) {
        double value = std::numeric_limits<double>::quiet_NaN();
        const auto [end, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (!field.empty() && (fault != std::errc() || end != field.data() + field.size()))
          fail("'" + std::string(field) + "' is no number");
        row.push_back(value);
      }
      if (row.front() < static_cast<double>(end_step)) append(std::move(row));
    }
    if (number == 0) fail("it is empty");
  }

private:
  std::vector<std::string> columns_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace examples::train_transformer
