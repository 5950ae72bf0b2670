// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The files of this checkout as text, for tests of its structure.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace house {

/// A text file: its path within the folder that was asked for, and its lines.
struct source_file {
  std::string path;
  std::vector<std::string> lines;
};

/// All files below `folder`, in the order of their paths, without what git or a build leaves there.
inline std::vector<source_file> source_tree(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<source_file> files;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("build") || name == ".git" || name == ".cache" || name == "out")
      entry.disable_recursion_pending();
    else if (entry->is_regular_file()) {
      files.push_back({fs::relative(entry->path(), folder).generic_string(), {}});
      std::ifstream in(entry->path());
      for (std::string line; std::getline(in, line);) files.back().lines.push_back(line);
    }
  }
  std::ranges::sort(files, {}, &source_file::path);
  return files;
}

/// The headers below include/, with paths as one includes them: lindyn/ROOM/NAME.hpp.
inline std::vector<source_file> headers() {
  auto files = source_tree(std::filesystem::path(LINDYN_SOURCE_DIR) / "include");
  std::erase_if(files, [](const source_file& file) { return !file.path.ends_with(".hpp"); });
  return files;
}

/// What a file includes, delimiters included: `<lindyn/core/errors.hpp>`, `"near.hpp"`.
inline std::vector<std::string> includes(const source_file& file) {
  constexpr std::string_view directive = "#include ";
  std::vector<std::string> found;
  for (const std::string& line : file.lines)
    if (line.starts_with(directive))
      found.push_back(
          line.substr(directive.size(), line.find_first_of(">\"", directive.size() + 1) + 1 - directive.size()));
  return found;
}

/// One line for each entry, for messages.
inline std::string listed(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += "\n  " + entry;
  return text;
}

}  // namespace house
