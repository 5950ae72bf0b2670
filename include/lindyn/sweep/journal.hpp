// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a computation of many cells has done so far, in a file that outlives its end, however sudden.

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/file_lock.hpp>
#include <lindyn/io/number.hpp>

namespace lindyn::sweep {

/// A line of a journal isn't what a journal holds there. The file is left as it is.
class damaged_journal_error : public file_error {
public:
  /// \param path   of the journal
  /// \param line   which is wrong, the first being 1
  /// \param reason what is wrong with it
  damaged_journal_error(const std::filesystem::path& path, index line, const std::string& reason)
      : file_error(path.string() + " is damaged in line " + std::to_string(line) + ": " + reason), line_(line) {}
  /// The line that is wrong, the first being 1.
  [[nodiscard]] index line() const noexcept { return line_; }

private:
  index line_;
};

/// A journal belongs to another computation than the one that was to be resumed. The file is left as it is.
class other_configuration_error : public file_error {
public:
  using file_error::file_error;
};

/// A text file with one line a finished cell, behind the text that says of which computation it is:
///
///     # lindyn journal 1
///     # rate 0.5
///     cell,loss,time
///     3,0.25,17.5
///     0,0.125,31
///
/// Each line is handed to the operating system as soon as its cell is done: when the program is killed, at most the
/// last line is torn, and that cell is done again. A machine that loses power may leave worse behind: lines that are
/// missing at the end are done again, but a file that holds anything else between whole lines is a damaged journal.
/// One program at a time may use a journal (io/file_lock.hpp).
class journal {
public:
  /// A finished cell.
  struct record {
    index cell = 0;              ///< its number
    std::vector<double> values;  ///< one for each column
  };

  /// Opens the journal at `path` with what it holds, or begins one if there is none.
  /// \param configuration  all that decides the values, in any number of lines
  /// \param columns        names of the values
  /// \param cells          how many cells there are, those with numbers in [0, cells)
  /// \throws io::file_in_use_error if another program writes it;
  ///         other_configuration_error, naming the first line that differs, if the file is of another configuration or
  ///         of other columns; damaged_journal_error if it isn't a journal, or a line (but a torn last one, which is
  ///         dropped) isn't a record, or one of a cell that was there before; file_error if it can't be read or written
  journal(std::filesystem::path path, std::string_view configuration, const std::vector<std::string>& columns,
          index cells)
      : path_(std::move(path)), lock_(path_), columns_(columns.size()), cells_(cells) {
    const std::string head = head_of(configuration, columns);
    const std::string content = read();
    const bool begun = !head.starts_with(content);  // else nothing is there, or not even the whole head
    if (begun) {
      require_head(head, content);
      parse(content, head.size());
    }
    const auto whole = begun ? content.rfind('\n') + 1 : 0;
    std::error_code reason;
    if (whole < content.size()) std::filesystem::resize_file(path_, whole, reason);
    if (reason) fail("write", reason);
    stream_.rdbuf()->pubsetbuf(nullptr, 0);  // a line is one write, of which nothing is held back
    errno = 0;
    stream_.open(path_, std::ios::binary | std::ios::app);
    if (!begun) stream_ << head;
    if (!stream_) fail("write", io::last_system_error());
  }

  /// What the file held when it was opened, in the order of its lines.
  [[nodiscard]] const std::vector<record>& finished() const noexcept { return finished_; }

  /// Adds a finished cell. Numbers are read back as they are, NaN and infinities too.
  /// Throws shape_error unless there is a value for each column, file_error if the line can't be written.
  void append(index cell, std::span<const double> values) {
    require_extent("values.size()", values.size(), columns_);
    std::string line = io::number_text(cell);
    for (const double value : values) line += ',' + io::number_text(value);
    errno = 0;
    stream_ << line + '\n';
    if (!stream_) fail("write", io::last_system_error());
  }

private:
  static std::string head_of(std::string_view configuration, const std::vector<std::string>& columns) {
    std::string head = "# lindyn journal 1\n# ";
    for (const char letter : configuration) head += letter == '\n' ? std::string("\n# ") : std::string(1, letter);
    head += "\ncell";
    for (const std::string& column : columns) {
      require(!column.empty() && column.find_first_of("\r\n") == std::string::npos, "column", '"' + column + '"',
              "a name without line ends");
      head += ',' + io::csv_field(column);
    }
    return head + '\n';
  }

  /// The content of the file.
  [[nodiscard]] std::string read() const {
    errno = 0;
    const std::ifstream file(path_, std::ios::binary);
    if (!file) fail("read", io::last_system_error());
    std::ostringstream content;
    content << file.rdbuf();
    if (content.bad()) fail("read", io::last_system_error());
    return content.str();
  }

  void require_head(std::string_view head, std::string_view content) const {
    if (content.starts_with(head)) return;
    const auto differs = std::ranges::mismatch(head, content).in1 - head.begin();
    const auto begin = head.substr(0, static_cast<std::size_t>(differs)).rfind('\n') + 1;
    const auto line = [&](std::string_view text) {
      const std::string_view rest = text.substr(begin);
      return std::string(rest.substr(0, std::min(rest.find('\n'), std::size_t{200})));
    };
    if (begin == 0) throw damaged_journal_error(path_, 1, "it is no journal of this version");
    throw other_configuration_error(path_.string() + " is of another configuration: it has \"" + line(content) +
                                    "\" where this one has \"" + line(head) + "\"");
  }

  void parse(const std::string& content, std::size_t from) {
    std::vector<bool> seen(static_cast<std::size_t>(cells_));
    auto line = std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(from), '\n');
    for (auto end = content.find('\n', from); end != std::string::npos; end = content.find('\n', from)) {
      ++line;
      record next = parse(std::string_view(content).substr(from, end - from), line);
      if (seen[static_cast<std::size_t>(next.cell)])
        throw damaged_journal_error(path_, line, "cell " + std::to_string(next.cell) + " was there before");
      seen[static_cast<std::size_t>(next.cell)] = true;
      finished_.push_back(std::move(next));
      from = end + 1;
    }
  }

  [[nodiscard]] record parse(std::string_view text, index line) const {
    std::vector<std::string_view> fields;
    for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
      end = text.find(',', begin);
      fields.push_back(text.substr(begin, end - begin));
    }
    const auto cell = io::number_from_text<index>(fields.front());
    if (!cell || *cell < 0 || *cell >= cells_)
      throw damaged_journal_error(
          path_, line, "\"" + std::string(fields.front()) + "\" is none of " + std::to_string(cells_) + " cells");
    if (fields.size() != columns_ + 1)
      throw damaged_journal_error(
          path_, line, "it has " + std::to_string(fields.size() - 1) + " values, not " + std::to_string(columns_));
    record result{*cell, {}};
    for (const auto field : std::span(fields).subspan(1)) {
      const auto value = io::number_from_text<double>(field);
      if (!value) throw damaged_journal_error(path_, line, "\"" + std::string(field) + "\" is no number");
      result.values.push_back(*value);
    }
    return result;
  }

  [[noreturn]] void fail(const std::string& action, const std::error_code& reason) const {
    throw file_error("cannot " + action + " " + path_.string() + ": " + reason.message());
  }

  std::filesystem::path path_;
  io::file_lock lock_;
  std::size_t columns_;
  index cells_;
  std::vector<record> finished_;
  std::ofstream stream_;
};

/// Removes a journal, if there is one, so that what it was for begins anew.
/// Throws io::file_in_use_error if another program writes it, file_error if it can't be removed.
inline void remove_journal(const std::filesystem::path& path) {
  std::error_code reason;
  if (std::filesystem::exists(path, reason)) {
    const io::file_lock unused(path);
    std::filesystem::remove(path, reason);
  }
  if (reason) throw file_error("cannot remove " + path.string() + ": " + reason.message());
}

}  // namespace lindyn::sweep
