// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <lindyn/io/array.hpp>

#include "testing.hpp"

using lindyn::argument_error;
using lindyn::shape_error;
using lindyn::io::array_from_json;
using lindyn::io::json;
using namespace lindyn::testing;

namespace {

std::string refusal(const std::string& text) {
  return message_of<argument_error>([&] { (void)array_from_json(json::parse(text), "W"); });
}

}  // namespace

TEST_CASE("arrays of any rank are read with their shape") {
  const auto matrix = array_from_json(json::parse(R"({"shape": [2, 3], "data": [1, 2.5, -3, 4, 5, 6e-3]})"), "W");
  CHECK(matrix.shape == std::vector<lindyn::index>{2, 3});
  CHECK(matrix.data == std::vector<double>{1, 2.5, -3, 4, 5, 0.006});
  const auto scalar = array_from_json(json::parse(R"({"shape": [], "data": [7]})"), "W");
  CHECK(scalar.shape.empty());
  CHECK(scalar.data == std::vector<double>{7});
  const auto empty = array_from_json(json::parse(R"({"shape": [0, 5], "data": []})"), "W");
  CHECK(empty.shape == std::vector<lindyn::index>{0, 5});
  CHECK(empty.data.empty());
}

TEST_CASE("a plain list is an array of rank 1") {
  const auto list = array_from_json(json{0.5, 2}, "W");
  CHECK(list.shape == std::vector<lindyn::index>{2});
  CHECK(list.data == std::vector<double>{0.5, 2});
}

TEST_CASE("arrays may be built in code as well as parsed") {
  const auto matrix = array_from_json({{"shape", {1, 2}}, {"data", {3, 4.5}}}, "W");
  CHECK(matrix.shape == std::vector<lindyn::index>{1, 2});
  CHECK(matrix.data == std::vector<double>{3, 4.5});
}

TEST_CASE("a shape that does not fit the data is a shape error, however large it is") {
  for (const char* shape : {"[2, 2]", "[5]", "[]", "[0]"}) {
    CAPTURE(shape);
    const auto text = std::string(R"({"data": [1, 2, 3], "shape": )") + shape + "}";
    CHECK_THROWS_AS((void)array_from_json(json::parse(text), "W"), shape_error);
  }
  // 2^64 entries are not none, though an integer product of the extents would wrap to 0.
  CHECK_THROWS_AS((void)array_from_json(json::parse(R"({"shape": [4294967296, 4294967296], "data": []})"), "W"),
                  shape_error);
  CHECK(contains(refusal(R"({"shape": [2, 2], "data": [1, 2, 3]})"), "W.shape = [2,2]"));
}

TEST_CASE("what is no array of numbers is refused by name") {
  CHECK(contains(refusal("3"), "W = number"));
  CHECK(contains(refusal(R"({"shape": [1]})"), "data = absent"));
  CHECK(contains(refusal(R"({"data": [1]})"), "shape = absent"));
  CHECK(contains(refusal(R"({"shape": [1], "data": 1})"), "W.data = number"));
  CHECK(contains(refusal(R"({"shape": 1, "data": [1]})"), "W.shape = number"));
  CHECK(contains(refusal(R"({"shape": [-1], "data": [1]})"), "W.shape = [-1]"));
  CHECK(contains(refusal(R"({"shape": [0.5, 2], "data": [1]})"), "W.shape = [0.5,2]"));
  CHECK(contains(refusal(R"({"shape": [2], "data": [1, null]})"), "W.data[1] = null"));
  CHECK(contains(refusal(R"([1, "2"])"), "W.data[1] = \"2\""));
}
