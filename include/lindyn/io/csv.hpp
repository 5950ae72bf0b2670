// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Tables as comma-separated values (RFC 4180, but lines end in LF alone, which every reader takes).

#include <cmath>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/atomic_file.hpp>
#include <lindyn/io/number.hpp>

namespace lindyn::io {

/// A text as a field of a table: in quotes if it has commas, quotes or line ends, its quotes doubled.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"') result += '"';
    result += character;
  }
  return result + '"';
}

/// Writes a table row by row into a file that appears when commit() is called, and only then.
class csv_writer {
public:
  /// \param columns their names, the first line. Throws argument_error if there are none, file_error as atomic_file.
  csv_writer(std::filesystem::path target, const std::vector<std::string>& columns)
      : file_(std::move(target)), columns_(columns.size()) {
    require(columns_ >= 1, "columns.size()", columns_, "at least 1");
    row(columns);
  }

  /// Writes one line. Each argument is a number, a text, or a range of either, whose elements are fields of their own.
  /// Numbers have the fewest digits that are read back as the same number; NaN and infinities are empty fields.
  /// Throws shape_error unless there are as many fields as columns.
  template <class... Arguments>
  void row(const Arguments&... arguments) {
    std::string line;
    std::size_t fields = 0;
    (append(line, fields, arguments), ...);
    require_extent("number of fields", fields, columns_);
    line += '\n';
    file_.stream() << line;
  }

  /// Makes the rows written so far the file's content. Throws as atomic_file::commit.
  void commit() { file_.commit(); }

private:
  template <class Argument>
  static void append(std::string& line, std::size_t& fields, const Argument& argument) {
    if constexpr (std::convertible_to<const Argument&, std::string_view>) {
      if (fields++ > 0) line += ',';
      line += csv_field(argument);
    } else if constexpr (std::ranges::input_range<const Argument>) {
      for (const auto& element : argument) append(line, fields, element);
    } else {
      static_assert(std::is_arithmetic_v<Argument>, "a CSV field has to be a number, a text, or a range of either");
      if (fields++ > 0) line += ',';
      line += number(argument);
    }
  }

  template <class Number>
  static std::string number(Number value) {
    if constexpr (std::same_as<Number, bool>) {
      return value ? "true" : "false";
    } else {
      if constexpr (std::floating_point<Number>)
        if (!std::isfinite(value)) return "";
      return number_text(value);
    }
  }

  atomic_file file_;
  std::size_t columns_;
};

}  // namespace lindyn::io
