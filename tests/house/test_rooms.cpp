// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source_tree.hpp"

namespace {

/// The floors of the house, ground floor first. A room includes itself and rooms on floors below its own.
const std::vector<std::vector<std::string>> floors = {
    {"core"},
    {"io", "schedule", "integrate", "backend"},
    {"task", "symmetry", "optimizer", "sweep"},
    {"population", "model"},
    {"manifold", "train"},
    {"reduced", "rates", "observe", "fit"},
    {"circuit", "compare"},
};

/// The floor of a room, -1 if there is no such room.
int floor_of(std::string_view room) {
  for (std::size_t floor = 0; floor < floors.size(); ++floor)
    if (std::ranges::find(floors[floor], room) != floors[floor].end()) return static_cast<int>(floor);
  return -1;
}

/// The room in `lindyn/ROOM/NAME.hpp`, empty for `lindyn/NAME.hpp`.
std::string room_of(std::string_view path) {
  path.remove_prefix(std::min(path.size(), path.find('/') + 1));
  const auto end = path.find('/');
  return std::string(end == std::string_view::npos ? std::string_view() : path.substr(0, end));
}

/// One sentence for every include that breaks the order of the rooms.
std::vector<std::string> broken_order(const std::vector<house::source_file>& headers) {
  std::vector<std::string> sentences;
  for (const auto& header : headers) {
    const std::string room = room_of(header.path);
    if (room.empty()) continue;
    if (floor_of(room) < 0) sentences.push_back(header.path + " stands in a room that no floor lists");
    for (const std::string& include : house::includes(header)) {
      if (include.starts_with('"')) sentences.push_back(header.path + " includes " + include + " by a relative path");
      if (!include.starts_with("<lindyn/") || include == "<lindyn/version.hpp>") continue;
      const std::string other = room_of(include);
      if (other != room && (floor_of(other) < 0 || floor_of(other) >= floor_of(room)))
        sentences.push_back(header.path + " includes " + include + ", which isn't below it");
    }
  }
  return sentences;
}

/// What the page of a room says of its floor and of the rooms it includes, in the order of the floors.
std::string place_in_house(std::string_view room, const std::vector<house::source_file>& headers) {
  std::set<std::string> included;
  for (const auto& header : headers)
    if (room_of(header.path) == room)
      for (const std::string& include : house::includes(header))
        if (include.starts_with("<lindyn/")) included.insert(room_of(include));
  std::string names;
  for (const auto& floor : floors)
    for (const std::string& other : floor)
      if (other != room && included.contains(other)) names += (names.empty() ? "`" : ", `") + other + "`";
  return "Floor " + std::to_string(floor_of(room)) + ": includes " + (names.empty() ? "no other room" : names) + ".";
}

}  // namespace

TEST_CASE("rooms include only rooms below their own") {
  const auto headers = house::headers();
  CHECK(headers.size() > 5);
  const auto sentences = broken_order(headers);
  CHECK_MESSAGE(sentences.empty(), house::listed(sentences));
}

TEST_CASE("the page of each room says on which floor it stands and what it includes") {
  const auto headers = house::headers();
  const auto files = house::source_tree(LINDYN_SOURCE_DIR);
  std::set<std::string> rooms;
  for (const auto& header : headers) rooms.insert(room_of(header.path));
  rooms.erase("");
  for (const std::string& room : rooms) {
    CAPTURE(room);
    const auto page = std::ranges::find(files, "include/lindyn/" + room + "/README.md", &house::source_file::path);
    REQUIRE(page != files.end());
    const std::string sentence = place_in_house(room, headers);
    CHECK_MESSAGE(std::ranges::find(page->lines, sentence) != page->lines.end(), "it should have the line: ", sentence);
  }
}

TEST_CASE("the test of the rooms' order sees what it is there to see") {
  const auto refused = [](const char* path, const char* line) {
    return broken_order({{path, {"#pragma once", line}}}).size() == 1;
  };
  CHECK(refused("lindyn/task/batch.hpp", "#include <lindyn/model/mlp.hpp>"));
  CHECK(refused("lindyn/task/batch.hpp", "#include <lindyn/symmetry/group.hpp>  // sideways"));
  CHECK(refused("lindyn/task/batch.hpp", "#include <lindyn/lindyn.hpp>"));
  CHECK(refused("lindyn/task/batch.hpp", "#include <lindyn/attic/box.hpp>"));
  CHECK(refused("lindyn/task/batch.hpp", "#include \"loss.hpp\""));
  CHECK(refused("lindyn/attic/box.hpp", "#include <vector>"));
  CHECK_FALSE(refused("lindyn/task/batch.hpp", "#include <lindyn/task/loss.hpp>"));
  CHECK_FALSE(refused("lindyn/task/batch.hpp", "#include <lindyn/core/errors.hpp>"));
  CHECK_FALSE(refused("lindyn/task/batch.hpp", "#include <lindyn/version.hpp>"));
  CHECK_FALSE(refused("lindyn/task/batch.hpp", "#include <vector>"));
}

TEST_CASE("the test of the rooms' pages sees what it is there to see") {
  const house::source_file plain = {"lindyn/core/a.hpp", {"#include <vector>"}};
  const house::source_file trainer = {
      "lindyn/train/b.hpp",
      {"#include <lindyn/model/c.hpp>", "#include <lindyn/core/a.hpp>", "#include <lindyn/train/d.hpp>"}};
  CHECK(place_in_house("core", {plain, trainer}) == "Floor 0: includes no other room.");
  CHECK(place_in_house("train", {plain, trainer}) == "Floor 4: includes `core`, `model`.");
}
