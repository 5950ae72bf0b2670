// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The folder into which a program writes its results.

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/atomic_file.hpp>

namespace lindyn::io {

/// Creates the folder, with its parents, unless it is there, and returns its path.
/// \param force  whether a folder that is not empty may be written to; what is in it stays until it is overwritten
/// \param advice  what the message says of a folder that is not empty: by which options a program writes into it anyway
/// \throws file_error, naming path and reason, if the folder is not empty and `force` is not given, if something else
///         is in its place, or if it can't be created or written to
inline std::filesystem::path prepare_output_folder(const std::filesystem::path& folder, bool force,
                                                   std::string_view advice = "--force overwrites it") {
  const auto fail = [&](const std::string& reason) {
    throw file_error("cannot write into " + folder.string() + ": " + reason);
  };
  std::error_code reason;
  std::filesystem::create_directories(folder, reason);
  if (reason) fail(reason.message());
  const bool empty = std::filesystem::is_empty(folder, reason);
  if (reason) fail(reason.message());
  if (!empty && !force) fail("it exists and is not empty; " + std::string(advice));
  const atomic_file writable(folder / "writable");  // never committed: it leaves nothing behind
  return folder;
}

}  // namespace lindyn::io
