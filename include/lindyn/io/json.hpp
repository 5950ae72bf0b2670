// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// JSON files by nlohmann-json: written atomically, read with errors that say what is wrong and where.

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/atomic_file.hpp>

namespace lindyn::io {

/// JSON whose members keep the order in which they were written.
using json = nlohmann::ordered_json;

/// Writes the value, indented by two spaces, into a file that appears complete or not at all. Numbers have the fewest
/// digits that are read back as the same number; NaN and infinities, for which JSON has no words, become null.
/// Throws file_error, naming the path, if it can't be written or if a text is not valid UTF-8.
inline void write_json(const std::filesystem::path& path, const json& value) {
  atomic_file file(path);
  try {
    file.stream() << value.dump(2) << '\n';
  } catch (const json::exception& problem) {
    throw file_error("cannot write " + path.string() + ": " + problem.what());
  }
  file.commit();
}

/// Reads a JSON file. Throws file_error, naming path and reason, if it can't be read, is no JSON, or an object in it has
/// two members of one name.
[[nodiscard]] inline json read_json(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& reason) {
    return file_error("cannot read " + path.string() + ": " + reason);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw fail("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw fail(last_system_error().message());
  std::vector<std::set<std::string>> open;  // of the objects that the parser is in: the names so far
  const auto refuse_repeated = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      throw fail("there are two members " + parsed.dump() + " in one object");
    return true;
  };
  try {
    return json::parse(file, refuse_repeated);
  } catch (const json::exception& problem) {
    throw fail(problem.what());
  }
}

/// The member `name` of a JSON object. Throws argument_error, naming it, if the object has none.
[[nodiscard]] inline const json& member(const json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) throw argument_error(name, "absent", "a member of the JSON object");
  return *found;
}

/// The member `name` of a JSON object as a T: bool, a number, or std::string. Integers are read as numbers with a
/// fraction where those are asked for, never the reverse. Throws argument_error, naming the member, if it is absent or
/// of another type.
template <class T>
[[nodiscard]] T member_as(const json& object, const std::string& name) {
  const json& value = member(object, name);
  const auto take = [&](bool right_type, const char* allowed) {
    if (!right_type) throw argument_error(name, value.dump(), allowed);
    return value.get<T>();
  };
  if constexpr (std::is_same_v<T, bool>) {
    return take(value.is_boolean(), "true or false");
  } else if constexpr (std::is_integral_v<T>) {
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<T>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
    return take(fits, std::is_signed_v<T> ? "an integer of the type's range" : "an integer that is at least 0");
  } else if constexpr (std::is_floating_point_v<T>) {
    return take(value.is_number(), "a number");
  } else {
    static_assert(std::is_same_v<T, std::string>, "a JSON member is read as bool, number or std::string");
    return take(value.is_string(), "a text");
  }
}

}  // namespace lindyn::io
