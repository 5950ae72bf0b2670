// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Files that appear complete or not at all: readers never see half of one, and a failed run leaves the old one alone.

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include <lindyn/core/errors.hpp>

namespace lindyn::io {

/// What the operating system says about the last failure, by errno, which is to be set to 0 before what may fail; a
/// generic reason if it says nothing.
[[nodiscard]] inline std::error_code last_system_error() {
  return errno != 0 ? std::error_code(errno, std::generic_category()) : std::make_error_code(std::errc::io_error);
}

/// Writes to a temporary file beside `target`, which commit() renames to it; without commit() the temporary is removed.
/// The folder has to exist. Content is written as it is (binary mode). What isn't a regular file (a folder, a device) is
/// never replaced.
class atomic_file {
public:
  /// Throws file_error, naming path and reason, if no file can be created there or something else is in its place.
  explicit atomic_file(std::filesystem::path target) : target_(std::move(target)), temporary_(target_) {
    std::error_code ignored;
    const auto there = std::filesystem::status(target_, ignored);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
      throw file_error("cannot replace " + target_.string() + ": it isn't a regular file");
    std::random_device unique;  // several programs may write the same target: the last to commit wins
    temporary_ += ".partial-" + std::to_string(unique()) + "-" + std::to_string(unique());
    errno = 0;
    stream_.open(temporary_, std::ios::binary);
    if (!stream_) fail("create", last_system_error());
  }

  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  ~atomic_file() {
    if (committed_) return;
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }

  /// The path that the file will have.
  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }

  /// Where to write the content, before commit().
  [[nodiscard]] std::ostream& stream() noexcept { return stream_; }

  /// Makes the content the target's, replacing a file that is there. To be called once, last.
  /// Throws file_error, naming path and reason, if the content could not be written or the target not be replaced.
  void commit() {
    errno = 0;
    stream_.close();
    if (!stream_) fail("write", last_system_error());
    std::error_code reason;
    std::filesystem::rename(temporary_, target_, reason);
    if (reason) fail("replace", reason);
    committed_ = true;
  }

private:
  [[noreturn]] void fail(const std::string& action, const std::error_code& reason) const {
    throw file_error("cannot " + action + " " + target_.string() + ": " + reason.message());
  }

  std::filesystem::path target_, temporary_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace lindyn::io
