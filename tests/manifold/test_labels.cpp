// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/manifold/labels.hpp>

namespace {
using namespace lindyn::manifold;

static_assert(label(layout(2, 1, 2, 2), {.layer = 2, .key_copy = 1}) == "L2[x,1]I");
static_assert(label(layout(2, 1, 2, 2), {.layer = 3, .key_copy = 3, .selection = 1}) == "out:21 C");

/// The coordinates of a three-layer network with T = {I}, P = {I, M}, as an independent program names them.
constexpr std::string_view three_layers[] = {
    "L1[x,x]I",  "L1[x,x]Ip",  "L1[x,x]M",   "L2[x,x]I",  "L2[x,x]Ip",  "L2[x,x]M",    "L2[x,1]I",   "L2[x,1]Ip",
    "L2[x,1]M",  "L2[1,x]I",   "L2[1,x]Ip",  "L2[1,x]M",  "L2[1,1]I",   "L2[1,1]Ip",   "L2[1,1]M",   "L3[x,x]I",
    "L3[x,x]Ip", "L3[x,x]M",   "L3[x,1]I",   "L3[x,1]Ip", "L3[x,1]M",   "L3[x,2]I",    "L3[x,2]Ip",  "L3[x,2]M",
    "L3[x,21]I", "L3[x,21]Ip", "L3[x,21]M",  "L3[1,x]I",  "L3[1,x]Ip",  "L3[1,x]M",    "L3[1,1]I",   "L3[1,1]Ip",
    "L3[1,1]M",  "L3[1,2]I",   "L3[1,2]Ip",  "L3[1,2]M",  "L3[1,21]I",  "L3[1,21]Ip",  "L3[1,21]M",  "L3[2,x]I",
    "L3[2,x]Ip", "L3[2,x]M",   "L3[2,1]I",   "L3[2,1]Ip", "L3[2,1]M",   "L3[2,2]I",    "L3[2,2]Ip",  "L3[2,2]M",
    "L3[2,21]I", "L3[2,21]Ip", "L3[2,21]M",  "L3[21,x]I", "L3[21,x]Ip", "L3[21,x]M",   "L3[21,1]I",  "L3[21,1]Ip",
    "L3[21,1]M", "L3[21,2]I",  "L3[21,2]Ip", "L3[21,2]M", "L3[21,21]I", "L3[21,21]Ip", "L3[21,21]M", "out:x",
    "out:1",     "out:2",      "out:21",     "out:3",     "out:31",     "out:32",      "out:321"};

TEST_CASE("labels are those of the reference, where the readout has one selection and so leaves its name out") {
  const layout of(3, 1, 1, 2);
  REQUIRE(of.dimension() == std::ssize(three_layers));
  for (lindyn::index place = 0; place < of.dimension(); ++place) {
    const std::string_view expected = three_layers[place];
    const std::string suffix = expected.starts_with("out") ? " I" : "";
    CHECK(label(of, of.at(place)).view() == std::string(expected) + suffix);
  }
}

TEST_CASE("selections are named by tokens, partners and shifts") {
  const layout of(2, 1, 2, 4);
  const std::string_view names[] = {"I", "C", "Ip", "M", "M2", "M3"};
  for (int selection = 0; selection < 6; ++selection) CHECK(selection_name(of, selection) == names[selection]);
  CHECK(label(of, {.layer = 1, .selection = 5}) == "L1[x,x]M3");
  CHECK(label(of, {.layer = 1, .selection = 0}, "I7") == "L1[x,x]I7");
}

TEST_CASE("a task with other selections brings their names") {
  constexpr std::array<std::string_view, 3> classes{"Ic", "C", "Ir"};
  constexpr layout of(2, 1, 3, 2);
  static_assert(selection_name(of, 2, classes) == "Ir" && selection_name(of, 3, classes) == "Ip");
  CHECK(label(of, {.layer = 3, .key_copy = 3, .selection = 2}, selection_name(of, 2, classes)) == "out:21 Ir");
  CHECK_THROWS_AS((void)label(of, {.layer = 1, .selection = 2}), lindyn::argument_error);  // I and C don't suffice
  CHECK_THROWS_AS((void)describe(of, {.layer = 1, .selection = 2}), lindyn::argument_error);
}

TEST_CASE("several heads are told apart by letters, layers beyond the ninth by dots") {
  const layout two(3, 2, 1, 2);
  CHECK(label(two, {.layer = 2, .head = 1, .query_copy = 1, .key_copy = 2, .selection = 2}) == "L2b[1a,1b]M");
  CHECK(label(two, {.layer = 3, .head = 0, .query_copy = 3 + 2, .key_copy = 6}) == "L3a[2a1b,2b]I");
  CHECK(label(two, {.layer = 4, .key_copy = 9 + 6 + 1}) == "out:3a2b1a I");
  const layout many(1, 30, 1, 2);
  CHECK(label(many, {.layer = 1, .head = 25}) == "L1z[x,x]I");
  CHECK(label(many, {.layer = 1, .head = 27}) == "L1b1[x,x]I");
  const layout deep(11, 1, 1, 2);
  CHECK(label(deep, {.layer = 12, .key_copy = 1024 + 512 + 1}) == "out:11.10.1 I");
}

TEST_CASE("labels are different") {
  for (const layout& of : {layout(2, 2, 2, 3), layout(3, 1, 2, 2)}) {
    bool different = true;
    for (lindyn::index place = 0; place < of.dimension(); ++place)
      for (lindyn::index other = 0; other < place; ++other)
        different = different && !(label(of, of.at(place)) == label(of, of.at(other)).view());
    CHECK(different);
  }
}

TEST_CASE("a coordinate is described in a sentence") {
  const layout of(3, 1, 2, 3);
  CHECK(describe(of, {.layer = 1, .selection = 3}) ==
        "layer 1 attends where the query's own position comes one place after the key's own position");
  CHECK(describe(of, {.layer = 1, .selection = 4}) ==
        "layer 1 attends where the query's own position comes 2 places after the key's own position");
  CHECK(describe(of, {.layer = 2, .key_copy = 1}) ==
        "layer 2 attends where the query's own token is the token brought to the key by layer 1");
  CHECK(describe(of, {.layer = 2, .query_copy = 1, .selection = 1}) ==
        "layer 2 attends where the token brought to the query by layer 1 is the partner of the key's own token");
  CHECK(describe(of, {.layer = 3, .query_copy = 3, .key_copy = 2, .selection = 2}) ==
        "layer 3 attends where the position brought to the query by layers 1 then 2 is the position brought to the key "
        "by layer 2");
  CHECK(describe(of, {.layer = 4, .key_copy = 2}) == "the answer is the token brought to the last place by layer 2");
  CHECK(describe(of, {.layer = 4, .selection = 1}) == "the answer is the partner of the last place's own token");
  CHECK(describe(layout(2, 2, 1, 2), {.layer = 2, .head = 1, .key_copy = 2}) ==
        "layer 2b attends where the query's own token is the token brought to the key by layer 1b");
}

TEST_CASE("classes of tokens, items and labels have sentences of their own") {
  const std::vector<std::string_view> classes{"Ic", "C", "Ir"}, sides{"Ia", "Ib", "C", "C'", "I"}, unknown{"I", "R2"};
  const layout three(2, 1, 3, 2), five(2, 1, 5, 2), two(2, 1, 2, 2);
  const std::string query = "layer 2 attends where the query's own token ";
  const auto attends = [](const layout& of, int selection, const std::vector<std::string_view>& names) {
    return describe(of, {.layer = 2, .key_copy = 1, .selection = selection}, names);
  };
  CHECK(attends(three, 0, classes) == query + "is the common token brought to the key by layer 1");
  CHECK(attends(three, 1, classes) == query + "is the partner of the token brought to the key by layer 1");
  CHECK(attends(three, 2, classes) == query + "is the rare token brought to the key by layer 1");
  CHECK(attends(three, 4, classes) ==
        "layer 2 attends where the query's own position comes one place after the position brought to the key by "
        "layer 1");
  CHECK(attends(five, 0, sides) == query + "is the item brought to the key by layer 1");
  CHECK(attends(five, 1, sides) == query + "is the label brought to the key by layer 1");
  CHECK(attends(five, 2, sides) == query + "is the label stored for the item brought to the key by layer 1");
  CHECK(attends(five, 3, sides) == query + "is the item stored with the label brought to the key by layer 1");
  CHECK(attends(five, 4, sides) == query + "is the token brought to the key by layer 1");
  CHECK(attends(two, 1, unknown) == query + "stands in relation R2 to the token brought to the key by layer 1");
  CHECK(describe(five, {.layer = 3, .selection = 2}, sides) ==
        "the answer is the label stored for the last place's own item");
  CHECK(describe(three, {.layer = 3, .key_copy = 3, .selection = 2}, classes) ==
        "the answer is the rare token brought to the last place by layers 1 then 2");
}

TEST_CASE("what a selection of positions is depends on its name, not on its place") {
  constexpr std::array<std::string_view, 6> positions{"M", "M2", "M12", "Ip", "Ma", "R1"};
  constexpr layout of(1, 1, 1, 6);
  static_assert(selection_name(of, 1, one_class, positions) == "M" &&
                selection_name(of, 0, one_class, positions) == "I");
  const auto attends = [&](int selection) {
    return describe(of, {.layer = 1, .selection = selection}, one_class, positions);
  };
  const std::string query = "layer 1 attends where the query's own position ", key = " the key's own position";
  CHECK(attends(1) == query + "comes one place after" + key);
  CHECK(attends(2) == query + "comes 2 places after" + key);
  CHECK(attends(3) == query + "comes 12 places after" + key);
  CHECK(attends(4) == query + "is" + key);
  CHECK(attends(5) == query + "stands in relation Ma to" + key);
  CHECK(attends(6) == query + "stands in relation R1 to" + key);
  CHECK_THROWS_AS((void)describe(of, {}, one_class, std::span(positions).first(5)), lindyn::argument_error);
}

}  // namespace
