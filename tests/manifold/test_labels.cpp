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
  CHECK(describe(of, {.layer = 1, .selection = 2}) == "layer 1 attends to its own place");
  CHECK(describe(of, {.layer = 1, .selection = 3}) == "layer 1 attends to the previous token");
  CHECK(describe(of, {.layer = 1, .selection = 4}) == "layer 1 attends to the token 2 places before");
  CHECK(describe(of, {.layer = 1}) == "layer 1 matches the query's token with the key's token");
  CHECK(describe(of, {.layer = 2, .key_copy = 1}) ==
        "layer 2 matches the query's token with what layer 1 copied to the key");
  CHECK(describe(of, {.layer = 2, .query_copy = 1, .selection = 1}) ==
        "layer 2 matches what layer 1 copied to the query with the partner of the key's token");
  CHECK(describe(of, {.layer = 3, .query_copy = 3, .key_copy = 2}) ==
        "layer 3 matches what layers 1 then 2 copied to the query with what layer 2 copied to the key");
  CHECK(describe(of, {.layer = 3, .query_copy = 3, .key_copy = 2, .selection = 2}) ==
        "layer 3 attends where the position layers 1 then 2 copied to the query is the position layer 2 copied to the "
        "key");
  CHECK(describe(of, {.layer = 2, .key_copy = 1, .selection = 3}) ==
        "layer 2 attends where the query's position comes one place after the position layer 1 copied to the key");
  CHECK(describe(of, {.layer = 2, .query_copy = 1, .selection = 4}) ==
        "layer 2 attends where the position layer 1 copied to the query comes 2 places after the key's position");
  CHECK(describe(of, {.layer = 4, .key_copy = 2}) == "the answer is what layer 2 copied");
  CHECK(describe(of, {.layer = 4, .key_copy = 7}) == "the answer is what layers 1 then 2 then 3 copied");
  CHECK(describe(of, {.layer = 4}) == "the answer is the last token");
  CHECK(describe(of, {.layer = 4, .selection = 1}) == "the answer is the partner of the last token");
  CHECK(describe(layout(2, 2, 1, 2), {.layer = 2, .head = 1, .key_copy = 2}) ==
        "layer 2b matches the query's token with what layer 1b copied to the key");
}

TEST_CASE("a negative strength says the reverse, zero doesn't") {
  const layout of(2, 1, 2, 2);
  const std::vector<std::string_view> names{"I", "R2"}, positions{"Ip", "Ma"};
  const auto reverse = [&](const coordinate& which) { return describe(of, which, names, positions, -0.5); };
  CHECK(describe(of, {.layer = 1, .selection = 3}, one_class, {}, -1) == "layer 1 avoids the previous token");
  CHECK(describe(of, {.layer = 1, .selection = 3}, one_class, {}, 0) == "layer 1 attends to the previous token");
  CHECK(reverse({.layer = 2, .key_copy = 1}) ==
        "layer 2 avoids a match of the query's token with what layer 1 copied to the key");
  CHECK(reverse({.layer = 2, .key_copy = 1, .selection = 2}) ==
        "layer 2 avoids places where the query's position is the position layer 1 copied to the key");
  CHECK(reverse({.layer = 1, .selection = 3}) ==
        "layer 1 avoids places where the query's position stands in relation Ma to the key's position");
  CHECK(reverse({.layer = 1, .selection = 1}) ==
        "layer 1 avoids places where the query's token stands in relation R2 to the key's token");
  CHECK(reverse({.layer = 3, .key_copy = 2}) == "the answer isn't what layer 2 copied");
  CHECK(reverse({.layer = 3, .selection = 1}) == "the answer doesn't stand in relation R2 to the last token");
}

TEST_CASE("classes of tokens, items and labels have sentences of their own") {
  const std::vector<std::string_view> classes{"Ic", "C", "Ir"}, sides{"Ia", "Ib", "C", "C'", "I"}, unknown{"I", "R2"};
  const layout three(2, 1, 3, 2), five(2, 1, 5, 2), two(2, 1, 2, 2);
  const std::string query = "layer 2 matches the query's token with ";
  const auto attends = [](const layout& of, int selection, const std::vector<std::string_view>& names) {
    return describe(of, {.layer = 2, .key_copy = 1, .selection = selection}, names);
  };
  CHECK(attends(three, 0, classes) == query + "the common token layer 1 copied to the key");
  CHECK(attends(three, 1, classes) == query + "the partner of what layer 1 copied to the key");
  CHECK(attends(three, 2, classes) == query + "the rare token layer 1 copied to the key");
  CHECK(attends(three, 4, classes) ==
        "layer 2 attends where the query's position comes one place after the position layer 1 copied to the key");
  CHECK(attends(five, 0, sides) == query + "the item layer 1 copied to the key");
  CHECK(attends(five, 1, sides) == query + "the label layer 1 copied to the key");
  CHECK(attends(five, 2, sides) == query + "the label stored for the item layer 1 copied to the key");
  CHECK(attends(five, 3, sides) == query + "the item stored with the label layer 1 copied to the key");
  CHECK(attends(five, 4, sides) == query + "what layer 1 copied to the key");
  CHECK(attends(two, 1, unknown) ==
        "layer 2 attends where the query's token stands in relation R2 to what layer 1 copied to the key");
  CHECK(describe(five, {.layer = 3, .selection = 2}, sides) == "the answer is the label stored for the last item");
  CHECK(describe(three, {.layer = 3, .key_copy = 3, .selection = 2}, classes) ==
        "the answer is the rare token layers 1 then 2 copied");
  CHECK(describe(two, {.layer = 3, .key_copy = 1, .selection = 1}, unknown) ==
        "the answer stands in relation R2 to what layer 1 copied");
}

TEST_CASE("what a selection of positions is depends on its name, not on its place") {
  constexpr std::array<std::string_view, 7> positions{"M", "M2", "M12", "Ip", "Ma", "R1", "M1234567"};
  constexpr layout of(1, 1, 1, 7);
  static_assert(selection_name(of, 1, one_class, positions) == "M" &&
                selection_name(of, 0, one_class, positions) == "I");
  const auto attends = [&](int selection) {
    return describe(of, {.layer = 1, .selection = selection}, one_class, positions);
  };
  const std::string stands = "layer 1 attends where the query's position stands in relation ";
  CHECK(attends(1) == "layer 1 attends to the previous token");
  CHECK(attends(2) == "layer 1 attends to the token 2 places before");
  CHECK(attends(3) == "layer 1 attends to the token 12 places before");
  CHECK(attends(4) == "layer 1 attends to its own place");
  CHECK(attends(5) == stands + "Ma to the key's position");
  CHECK(attends(6) == stands + "R1 to the key's position");
  CHECK(attends(7) == stands + "M1234567 to the key's position");  // no vocabulary of positions is so large
  CHECK_THROWS_AS((void)describe(of, {}, one_class, std::span(positions).first(5)), lindyn::argument_error);
}

}  // namespace
