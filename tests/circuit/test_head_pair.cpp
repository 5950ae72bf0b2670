// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <lindyn/circuit/race/cut_composition.hpp>
#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>

#include "../reduced/values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using circuit::composition;
using circuit::head_pair;
using lindyn::index;  // POSIX has a function of this name
using recall = task::associative_recall<block<2>>;
using imir = manifold::imir<recall, model::attention_only<layers<3>, heads<1>>>;

constexpr head_pair induction{.first = {2}, .second = {3}};
constexpr head_pair pointer{.first = {1}, .second = {2}, .by = composition::query};
constexpr std::array alpha_beta_gamma = circuit::core_places(imir::layout, induction);
static_assert(imir::label(alpha_beta_gamma[0]) == "L2[x,x]M");
static_assert(imir::label(alpha_beta_gamma[1]) == "L3[x,2]I");
static_assert(imir::label(alpha_beta_gamma[2]) == "out:3 I");
static_assert(circuit::label(imir::layout, induction) == "2-3");
static_assert(circuit::label(imir::layout, pointer) == "1-2 by query");

TEST_CASE("pairs of heads: all of different layers, by key and by query, and their core coordinates") {
  std::vector<std::string> names;
  for (const head_pair& pair : circuit::head_pairs(imir::layout))
    names.emplace_back(circuit::label(imir::layout, pair).view());
  CHECK(names == std::vector<std::string>{"1-2", "1-3", "2-3", "1-2 by query", "1-3 by query", "2-3 by query"});
  const auto places = circuit::core_places(imir::layout, pointer);
  CHECK(imir::label(places[0]) == "L1[x,x]I");
  CHECK(imir::label(places[1]) == "L2[1,x]M");
  CHECK(imir::label(places[2]) == "out:2 I");
}

TEST_CASE("several heads, sizes at run time: labels say which head") {
  const manifold::layout layout(3, 2, 2, 2);
  CHECK(circuit::head_pairs(layout).size() == 2 * 3 * 4);
  const head_pair pair{.first = {1, 1}, .second = {3, 0}};
  CHECK(circuit::label(layout, pair) == "1b-3a");
  const auto places = circuit::core_places(layout, pair);
  const auto text = [&](index place) { return std::string(manifold::label(layout, layout.at(place)).view()); };
  CHECK(text(places[0]) == "L1b[x,x]M");
  CHECK(text(places[1]) == "L3a[x,1b]I");
  CHECK(text(places[2]) == "out:3a I");
}

TEST_CASE("a composition is all coordinates of the second head whose copy's label names the first") {
  const manifold::layout layout(3, 2, 1, 2);
  for (const head_pair& pair : circuit::head_pairs(layout)) {
    CAPTURE(circuit::label(layout, pair).view());
    manifold::label_text first, second;
    manifold::append_head(first, layout, pair.first.layer, pair.first.number);
    manifold::append_head(second, layout, pair.second.layer, pair.second.number);
    std::vector<index> expected;
    for (index place = 0; place < layout.dimension(); ++place) {
      const std::string text(manifold::label(layout, layout.at(place)).view());
      const auto bracket = text.find('['), comma = text.find(','), end = text.find(']');
      if (bracket == std::string::npos || text.substr(1, bracket - 1) != second.view()) continue;
      const std::string copy = pair.by == composition::key ? text.substr(comma + 1, end - comma - 1)
                                                           : text.substr(bracket + 1, comma - bracket - 1);
      if (copy.find(first.view()) != std::string::npos) expected.push_back(place);
    }
    REQUIRE(!expected.empty());
    CHECK(circuit::composition_places(layout, pair) == expected);
  }
}

TEST_CASE("cutting a composition in the full weights is cutting its coordinates") {
  const population::recall_law<recall> law{{.pairs = 2, .vocabulary = 5}};
  const manifold::basis basis(3, 2, law.structure());
  const auto coordinates = normal_numbers(basis.dimension(), 3, 1.0);
  for (const head_pair& pair : circuit::head_pairs(basis.layout())) {
    auto without = coordinates;
    for (const index place : circuit::composition_places(basis.layout(), pair))
      without[static_cast<std::size_t>(place)] = 0;
    auto weights = basis.embed(coordinates);
    circuit::cut_composition(basis.shape(), pair, std::span(weights));
    CHECK(weights == basis.embed(without));
  }
  std::vector<double> few(3);
  CHECK_THROWS_AS(circuit::cut_composition(basis.shape(), {}, std::span(few)), shape_error);
}

TEST_CASE("pairs and selections that don't exist are refused by name") {
  const auto refused = [](const head_pair& pair, const circuit::core_selections& selections = {}) {
    try {
      (void)circuit::core_places(imir::layout, pair, selections);
    } catch (const argument_error& fault) {
      return fault.argument();
    }
    return std::string("nothing");
  };
  CHECK(refused({.first = {0}, .second = {2}}) == "first.layer");
  CHECK(refused({.first = {3}, .second = {3}}) == "first.layer");
  CHECK(refused({.first = {2}, .second = {2}}) == "second.layer");
  CHECK(refused({.first = {1}, .second = {4}}) == "second.layer");
  CHECK(refused({.first = {1, 1}, .second = {2}}) == "first.number");
  CHECK(refused({.first = {1}, .second = {2, -1}}) == "second.number");
  CHECK(refused({}, {.token = 1}) == "selections.token");
  CHECK(refused({}, {.shift = 2}) == "selections.shift");
  CHECK_THROWS_AS((void)circuit::composition_places(imir::layout, {.first = {3}}), argument_error);
}

}  // namespace
