// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a sweep has found: a row of numbers for each cell of a grid.

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/sweep/grid.hpp>

namespace lindyn::sweep {

/// A number for each cell and column; all are 0 at first.
class table {
public:
  /// Throws argument_error if there is no column.
  table(grid over, std::vector<std::string> columns)
      : cells_(std::move(over)),
        columns_(std::move(columns)),
        values_(static_cast<std::size_t>(cells_.size()) * columns_.size()) {
    require(!columns_.empty(), "columns.size()", columns_.size(), "at least 1");
  }

  /// The cells.
  [[nodiscard]] const grid& cells() const noexcept { return cells_; }
  /// Names of the numbers of a row.
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// \{
  /// The numbers, cells x columns.
  [[nodiscard]] matrix_view<double> values() noexcept { return {values_.data(), cells_.size(), std::ssize(columns_)}; }
  [[nodiscard]] matrix_view<const double> values() const noexcept {
    return {values_.data(), cells_.size(), std::ssize(columns_)};
  }
  /// \}
  /// The numbers of one column, a cell after the other. Throws argument_error if there is no column of that name.
  [[nodiscard]] std::vector<double> column(std::string_view name) const {
    const auto found = std::ranges::find(columns_, name);
    require(found != columns_.end(), "name", name, "one of the columns");
    std::vector<double> result;
    for (index cell = 0; cell < cells_.size(); ++cell) result.push_back(values()(cell, found - columns_.begin()));
    return result;
  }

private:
  grid cells_;
  std::vector<std::string> columns_;
  std::vector<double> values_;
};

/// Writes a line a cell: its value on each axis, then its numbers. Throws file_error as io::csv_writer does.
inline void write_csv(const std::filesystem::path& path, const table& found) {
  std::vector<std::string> names;
  for (const axis& each : found.cells().axes()) names.push_back(each.name());
  names.insert(names.end(), found.columns().begin(), found.columns().end());
  io::csv_writer csv(path, names);
  for (index cell = 0; cell < found.cells().size(); ++cell)
    csv.row(found.cells().at(cell).values, found.values().row(cell));
  csv.commit();
}

}  // namespace lindyn::sweep
