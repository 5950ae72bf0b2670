// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "source_tree.hpp"

namespace {

using house::source_file;

bool contains(const source_file& file, std::string_view text) {
  return std::ranges::any_of(file.lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// Whether a file is source text, which has to name its licence.
bool is_source(std::string_view path) {
  constexpr std::array<std::string_view, 6> endings = {".hpp", ".cpp", ".cu", ".sh", "CMakeLists.txt", "/run"};
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

bool names_licence(const source_file& file) {
  const source_file top = {file.path,
                           {file.lines.begin(), file.lines.begin() + std::min<long>(2, std::ssize(file.lines))}};
  return contains(top, "SPDX-License-Identifier: MIT");
}

/// Whether a file names a place outside the checkout. The words are put together here, so as not to stand in this file.
bool leaves_checkout(const source_file& file) {
  return contains(file, std::string("..") + "/shared") || contains(file, std::string("/work") + "/");
}

/// One sentence for each room whose namespace lindyn.hpp doesn't describe, or without a README.md that the table of
/// rooms links to, and for each header that its room's doesn't name as ROOM/NAME.hpp.
std::vector<std::string> unnamed(const std::vector<source_file>& files) {
  const std::string library = "include/lindyn/";
  const source_file none;
  const auto find = [&](const std::string& path) -> const source_file& {
    const auto found = std::ranges::find(files, path, &source_file::path);
    return found == files.end() ? none : *found;
  };
  std::vector<std::string> sentences;
  const auto tell = [&](const std::string& sentence) {
    if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
  };
  for (const auto& header : files) {
    if (!header.path.starts_with(library) || !header.path.ends_with(".hpp")) continue;
    const std::string name = header.path.substr(library.size()), room = name.substr(0, name.find('/'));
    if (room == name) continue;
    const std::string page = library + room + "/README.md";
    const std::string space = room == "core" ? "lindyn" : "lindyn::" + room;
    const auto& described = find(library + "lindyn.hpp").lines;
    if (std::ranges::find(described, "/// \\namespace " + space) == described.end())
      tell("lindyn.hpp doesn't describe the namespace " + space);
    if (!contains(find("README.md"), "](" + page + ")")) tell("README.md doesn't link to " + page);
    if (!contains(find(page), "`" + name + "`")) tell(page + " doesn't name " + name);
  }
  return sentences;
}

std::vector<source_file> checkout() { return house::source_tree(LINDYN_SOURCE_DIR); }

}  // namespace

TEST_CASE("every source file names its licence in its first two lines") {
  for (const auto& file : checkout()) {
    CAPTURE(file.path);
    if (is_source(file.path)) CHECK(names_licence(file));
  }
}

TEST_CASE("no file names a place outside the checkout") {
  for (const auto& file : checkout()) {
    CAPTURE(file.path);
    CHECK_FALSE(leaves_checkout(file));
  }
}

TEST_CASE("the licence and the version are the same wherever they stand") {
  const auto files = checkout();
  const auto file = [&](std::string_view path) { return *std::ranges::find(files, path, &source_file::path); };
  CHECK(contains(file("LICENSE"), "MIT License"));
  CHECK(contains(file("CITATION.cff"), "license: MIT"));
  for (const auto& line : file("include/lindyn/version.hpp").lines) {
    if (!line.starts_with("#define LINDYN_VERSION_STRING")) continue;
    const std::string version = line.substr(line.find('"') + 1, line.rfind('"') - line.find('"') - 1);
    CAPTURE(version);
    CHECK(contains(file("CITATION.cff"), "version: " + version));
    CHECK(contains(file("CHANGELOG.md"), "[" + version + "]"));
  }
}

TEST_CASE("every room has a page that names its headers and stands in the README's table") {
  const auto sentences = unnamed(checkout());
  CHECK_MESSAGE(sentences.empty(), house::listed(sentences));
}

TEST_CASE("the tests of the texts see what they are there to see") {
  CHECK_FALSE(names_licence({"a.cpp", {"int main() {}"}}));
  CHECK_FALSE(names_licence({"a.cpp", {}}));
  CHECK(names_licence({"run", {"#!/usr/bin/env bash", "# SPDX-License-Identifier: MIT"}}));
  CHECK(leaves_checkout({"a.md", {std::string("see ..") + "/shared/notes"}}));
  CHECK_FALSE(leaves_checkout({"a.md", {"framework"}}));
  const source_file header = {"include/lindyn/core/errors.hpp", {}};
  const source_file umbrella = {"include/lindyn/lindyn.hpp", {"/// \\namespace lindyn"}};
  const source_file page = {"include/lindyn/core/README.md", {"| `core/errors.hpp` | errors |"}};
  const source_file front = {"README.md", {"| 0 | [`core/`](include/lindyn/core/README.md) | errors |"}};
  CHECK(unnamed({header, umbrella, page, front}).empty());
  CHECK(unnamed({header, umbrella, page}).size() == 1);
  CHECK(unnamed({header, umbrella, front}).size() == 1);
  CHECK(unnamed({header, page, front}).size() == 1);
  CHECK(unnamed({{"include/lindyn/core/random.hpp", {}}, umbrella, page, front}).size() == 1);
  CHECK(unnamed({{"include/lindyn/io/csv.hpp", {}}, umbrella, page, front}).size() == 3);
}
