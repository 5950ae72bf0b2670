// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the tests of this room share: a folder of their own, and whole files as texts.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace lindyn::testing {

/// A new, empty folder that is removed with its content at the end of the scope.
class temporary_folder {
public:
  temporary_folder() {
    std::random_device unique;
    path_ = std::filesystem::temp_directory_path() /
            ("lindyn-test-" + std::to_string(unique()) + "-" + std::to_string(unique()));
    std::filesystem::create_directory(path_);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// How many files and folders are directly in it.
  [[nodiscard]] auto entries() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

private:
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The message of the exception of type Error that `action` throws; empty if it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace lindyn::testing
