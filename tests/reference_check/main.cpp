// SPDX-License-Identifier: MIT
/// \file
/// reference_check PATH...: compares this library with values that were computed independently, in any number of files
/// and folders (all *.json in them). Prints a line a file; exits 0 only if every file passes. An unknown kind, a file
/// that can't be read and a path without files are failures.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "reference_check.hpp"

namespace {

namespace fs = std::filesystem;

/// The file itself, or all *.json of a folder by name.
std::vector<fs::path> files_at(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  if (files.empty()) throw lindyn::file_error("there is no *.json in this folder");
  return files;
}

/// Checks one file; returns what to print after "PASS" or "FAIL".
bool passes(const fs::path& path, std::string& text) {
  const auto file = lindyn::io::read_json(path);
  const auto kind = lindyn::io::member_as<std::string>(file, "kind");
  const auto check = reference_check::kinds().find(kind);
  std::string known = "one of";
  for (const auto& [name, how] : reference_check::kinds()) known += " " + name;
  lindyn::require(check != reference_check::kinds().end(), "kind", kind, known);
  reference_check::report errors;
  check->second(file, path.parent_path(), errors);
  text = kind + ": " + errors.text();
  return errors.passes();
}

bool checked(const fs::path& path) {
  bool good = false;
  std::string text;
  try {
    good = passes(path, text);
  } catch (const std::exception& problem) {
    text = problem.what();
  }
  std::cout << (good ? "PASS " : "FAIL ") << path.string() << "  " << text << std::endl;
  return good;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: reference_check PATH...   files, or folders with *.json files\n";
    return 2;
  }
  bool all = true;
  for (int number = 1; number < count; ++number) {
    const fs::path path = arguments[number];
    try {
      for (const auto& file : files_at(path)) all = checked(file) && all;
    } catch (const std::exception& problem) {
      std::cout << "FAIL " << path.string() << "  " << problem.what() << std::endl;
      all = false;
    }
  }
  return all ? 0 : 1;
}
