// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <lindyn/io/output_folder.hpp>

#include "testing.hpp"

using lindyn::file_error;
using lindyn::io::prepare_output_folder;
using namespace lindyn::testing;

TEST_CASE("an output folder is created with its parents, is empty, and is accepted again while it is") {
  const temporary_folder folder;
  const auto path = folder / "a" / "b";
  for (int time = 0; time < 2; ++time) {
    CHECK(prepare_output_folder(path, false) == path);
    CHECK(std::filesystem::is_directory(path));
    CHECK(std::filesystem::is_empty(path));
  }
}

TEST_CASE("a folder that is not empty is refused unless forced, and keeps what is in it") {
  const temporary_folder folder;
  put(folder / "result", "precious");
  const auto message = message_of<file_error>([&] { prepare_output_folder(folder.path(), false); });
  CHECK(contains(message, folder.path().string()));
  CHECK(contains(message, "not empty; --force overwrites it"));
  CHECK(contains(message_of<file_error>([&] { prepare_output_folder(folder.path(), false, "--again does"); }),
                 "not empty; --again does"));
  CHECK(prepare_output_folder(folder.path(), true) == folder.path());
  CHECK(content(folder / "result") == "precious");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file in the place of an output folder, or of a parent, is refused even if forced") {
  const temporary_folder folder;
  put(folder / "file", "");
  CHECK(contains(message_of<file_error>([&] { prepare_output_folder(folder / "file", true); }), "Not a directory"));
  CHECK(contains(message_of<file_error>([&] { prepare_output_folder(folder / "file" / "sub", true); }),
                 "Not a directory"));
}

TEST_CASE("a folder that can't be written to is refused") {
  // Not even root can create files in the kernel's process folder.
  if (std::filesystem::is_directory("/proc/self")) {
    CHECK(contains(message_of<file_error>([] { prepare_output_folder("/proc/self", true); }), "/proc/self"));
    CHECK(contains(message_of<file_error>([] { prepare_output_folder("/proc/self/out", false); }), "/proc/self/out"));
  }
}
