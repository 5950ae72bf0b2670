// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include <lindyn/circuit/detection/circuit_graph.hpp>
#include <lindyn/circuit/detection/detection_json.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::circuit;

/// A circuit of three layers with a chain, a query-side copy, and a negative strength.
detection example() {
  detection found;
  found.layout = manifold::layout(3, 1, 1, 2);
  found.budget = 0.05;
  found.core_budget = 1;
  const auto add = [&](const manifold::coordinate& which, double strength, role is) {
    const auto place = found.layout.place(which);
    surviving_direction unit;
    static_cast<direction&>(unit) = {place,
                                     which,
                                     std::string(manifold::label(found.layout, which).view()),
                                     manifold::describe(found.layout, which, manifold::one_class, {}, strength),
                                     strength,
                                     10 * std::abs(strength)};
    unit.role = is;
    unit.loss_without = 2.5;
    unit.loss_alone = 2.75;
    found.survivors.push_back(std::move(unit));
  };
  add({.layer = 1, .selection = 2}, 4, role::core);
  add({.layer = 3, .query_copy = 2, .key_copy = 1}, -2, role::core);
  add({.layer = 4, .key_copy = 4 + 1}, 1, role::aiding);
  found.survivors[0].substitutes.push_back({1, "L1[x,x]Ip", 0.125});
  removed_direction gone;
  static_cast<direction&>(gone) = {3, found.layout.at(3), "L2[x,x]I", "a \"quoted\" sentence", 0.5, 5};
  gone.step = 1;
  gone.loss_with = 0.25;
  found.removed = {gone};
  found.gauge = {{{3}, {1}, "L2[x,x]I changes nothing"}};
  found.path = {{{}, 4, 0.5, 1.0}, {{3}, 3, 0.5, 0.75}};
  found.all = {0.5, 1.0};
  found.circuit = {0.5, 0.75};
  found.core = {1.25, {}};
  found.none = {2.75, 0.0625};
  found.norm = 50;
  found.energy_share = 0.5;
  found.circuit_share = 0.25;
  found.weights = {{"W_KQ.0.0", 2, 1}};
  found.coordinates.assign(static_cast<std::size_t>(found.layout.dimension()), 0.0);
  return found;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("the graph has heads as nodes and directions as edges, wide as they are strong") {
  const std::string graph = to_graphviz(example());
  CHECK(graph.starts_with("digraph circuit {"));
  CHECK(graph.ends_with("}\n"));
  for (const char* node :
       {"input [label", "head_1_0 [label=\"layer 1\"", "head_2_0 [label", "head_3_0 [label", "output ["})
    CHECK(has(graph, node));
  CHECK(has(graph,
            "input -> head_1_0 [color=\"#1b5e9b\", fontcolor=\"#1b5e9b\", penwidth=5, label=\"layer 1 attends to the "
            "previous\\ntoken\\nL1[x,x]M = 4; without it loss 2.5\"]"));
  CHECK(
      has(graph, "head_1_0 -> head_3_0 [color=\"#1b5e9b\", fontcolor=\"#1b5e9b\", penwidth=3, arrowhead=tee, label="));
  CHECK(has(graph,
            "head_2_0 -> head_3_0 [color=\"#1b5e9b\", fontcolor=\"#1b5e9b\", penwidth=3, style=dashed, "
            "label=\"query of L3[2,1]I\"]"));
  CHECK(has(graph, "head_3_0 -> output [color=\"#d9822b\""));
  CHECK(has(graph, "head_1_0 -> head_3_0 [color=\"#999999\", style=dotted"));
  CHECK(
      has(graph, "loss with all directions 0.5 (100 % right), the circuit 0.5 (75 % right), its core 1.25, none 2.75"));
  CHECK(has(graph, "50 % of the weights' squared norm is on the manifold, 25 % in the circuit\\n"));
  CHECK(has(graph, "blue: core, orange: aiding; the wider"));
  CHECK(std::ranges::count(graph, '{') == std::ranges::count(graph, '}'));
}

TEST_CASE("options of the graph") {
  const std::string few = to_graphviz(example(), {.most_directions = 1});
  CHECK(has(few, "drawn: 1 of 3 directions, the most missed first"));
  CHECK_FALSE(has(few, "-> output [color"));
  CHECK(has(few, "head_2_0 [label=\"layer 2\", shape=ellipse, style=filled, fillcolor=\"#fafafa\""));
  CHECK(
      has(to_graphviz(example(), {.title = "a \"title\"\nof two lines"}), "label=\"a \\\"title\\\"\\nof two lines\""));
  CHECK_THROWS_AS((void)to_graphviz(example(), {.digits = 0}), argument_error);
  CHECK_THROWS_AS((void)to_graphviz(example(), {.most_directions = -1}), argument_error);
  detection nothing = example();
  nothing.survivors.clear();
  CHECK(has(to_graphviz(nothing), "head_1_0 [label"));
}

TEST_CASE("JSON says everything, and numbers come back") {
  detection found = example();
  found.loss_weights = 0.375;
  const io::json json = io::json::parse(to_json(found).dump());
  CHECK(json["budget"] == 0.05);
  CHECK(json["all"]["accuracy"] == 1.0);
  CHECK_FALSE(json["core"].contains("accuracy"));
  CHECK(json["loss_weights"] == 0.375);
  CHECK(json["weights"][0]["energy_share"] == 0.75);
  REQUIRE(json["survivors"].size() == 3);
  CHECK(json["survivors"][0]["label"] == "L1[x,x]M");
  CHECK(json["survivors"][0]["role"] == "core");
  CHECK(json["survivors"][0]["substitutes"][0]["label"] == "L1[x,x]Ip");
  CHECK(json["survivors"][1]["strength"] == -2);
  CHECK(json["survivors"][2]["role"] == "aiding");
  CHECK(json["survivors"][2]["loss_alone"] == 2.75);
  CHECK(json["removed"][0]["sentence"] == "a \"quoted\" sentence");
  CHECK(json["removed"][0]["reason"] == "eliminated");
  CHECK(json["removed"][0]["loss_with"] == 0.25);
  CHECK(json["gauge"][0]["directions"]["L2[x,x]I"] == 1);
  CHECK(json["path"][1]["removed"][0] == "L2[x,x]I");
  CHECK(json["path"][1]["accuracy"] == 0.75);
  found.budget = std::numeric_limits<double>::infinity();
  CHECK(io::json::parse(to_json(found).dump())["budget"].is_null());
  CHECK(json["at_largest_scale"] == false);
  CHECK_FALSE(json.contains("largest_scale"));
  found.scale = 4;
  found.largest_scale = 4;
  CHECK(to_json(found)["at_largest_scale"] == true);
  CHECK(to_json(found)["largest_scale"] == 4);
}

}  // namespace
