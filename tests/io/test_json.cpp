// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include <lindyn/io/json.hpp>

#include "testing.hpp"

using lindyn::argument_error;
using lindyn::file_error;
using lindyn::io::json;
using lindyn::io::member;
using lindyn::io::member_as;
using lindyn::io::read_json;
using lindyn::io::write_json;
using namespace lindyn::testing;

TEST_CASE("JSON is written indented, in the order of writing, with a line end") {
  const temporary_folder folder;
  write_json(folder / "a.json", {{"zeta", 1}, {"alpha", {{"nested", true}}}, {"text", "a \"b\""}});
  CHECK(content(folder / "a.json") ==
        "{\n  \"zeta\": 1,\n  \"alpha\": {\n    \"nested\": true\n  },\n  \"text\": \"a \\\"b\\\"\"\n}\n");
  CHECK(folder.entries() == 1);
}

TEST_CASE("JSON numbers come back as they were written") {
  const temporary_folder folder;
  for (const double value : {0.1, 1.0 / 3, 5e-324, -1.7976931348623157e308, 1e22}) {
    write_json(folder / "a.json", value);
    CHECK(read_json(folder / "a.json").get<double>() == value);
  }
}

TEST_CASE("numbers that are not finite are written as null, wherever they stand") {
  const temporary_folder folder;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  write_json(folder / "a.json", {{"a", std::numeric_limits<double>::quiet_NaN()}, {"b", {1, infinity, -infinity}}});
  CHECK(read_json(folder / "a.json") == json{{"a", nullptr}, {"b", {1, nullptr, nullptr}}});
}

TEST_CASE("a text that is not UTF-8 is refused and the old file kept") {
  const temporary_folder folder;
  put(folder / "a.json", "old");
  const auto message = message_of<file_error>([&] { write_json(folder / "a.json", {{"text", "\xff"}}); });
  CHECK(contains(message, (folder / "a.json").string()));
  CHECK(content(folder / "a.json") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("files that are absent, folders or no JSON are refused by name") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "folder");
  put(folder / "cut.json", "{\"a\": [1, 2");
  put(folder / "nan.json", "[NaN]");
  put(folder / "empty.json", "");
  put(folder / "twice.json", R"({"a": 1, "b": [{"a": 1, "c": {"a": 2}}, {"a": 1, "a": 1}]})");
  const auto check = [&](const char* name, const char* reason) {
    const auto message = message_of<file_error>([&] { (void)read_json(folder / name); });
    CHECK(contains(message, (folder / name).string()));
    CHECK(contains(message, reason));
  };
  check("absent.json", "No such file");
  check("folder", "it is a folder");
  check("cut.json", "parse error");
  check("nan.json", "parse error");
  check("empty.json", "parse error");
  check("twice.json", "there are two members \"a\" in one object");
}

TEST_CASE("members are read as the type that is asked for") {
  const json object{{"flag", true}, {"count", 3}, {"negative", -3}, {"rate", 0.5}, {"name", "x"}, {"list", {1}}};
  CHECK(member_as<bool>(object, "flag"));
  CHECK(member_as<int>(object, "count") == 3);
  CHECK(member_as<std::int64_t>(object, "negative") == -3);
  CHECK(member_as<std::uint64_t>(object, "count") == 3);
  CHECK(member_as<double>(object, "rate") == 0.5);
  CHECK(member_as<double>(object, "count") == 3);
  CHECK(member_as<std::string>(object, "name") == "x");
  CHECK(member(object, "list") == json{1});
}

TEST_CASE("members that are absent or of another type are refused by name, with what is there") {
  const json object{{"flag", true}, {"negative", -3},     {"rate", 0.5},
                    {"name", "x"},  {"nothing", nullptr}, {"large", 3000000000u}};
  const auto refused = [&]<class T>(const char* name, T) {
    return message_of<argument_error>([&] { (void)member_as<T>(object, name); });
  };
  CHECK(refused("lacking", 0) == "lacking = absent is not allowed: it must be a member of the JSON object");
  CHECK(refused("rate", 0) == "rate = 0.5 is not allowed: it must be an integer of the type's range");
  CHECK(refused("negative", 0u) == "negative = -3 is not allowed: it must be an integer that is at least 0");
  CHECK(refused("large", 0) == "large = 3000000000 is not allowed: it must be an integer of the type's range");
  CHECK(refused("large", 0u).empty());
  CHECK(refused("flag", 0) == "flag = true is not allowed: it must be an integer of the type's range");
  CHECK(refused("name", 0.0) == "name = \"x\" is not allowed: it must be a number");
  CHECK(refused("nothing", 0.0) == "nothing = null is not allowed: it must be a number");
  CHECK(refused("rate", false) == "rate = 0.5 is not allowed: it must be true or false");
  CHECK(refused("rate", std::string()) == "rate = 0.5 is not allowed: it must be a text");
  CHECK(!message_of<argument_error>([] { (void)member(json{1, 2}, "a"); }).empty());
}
