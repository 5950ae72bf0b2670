// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <lindyn/circuit/induction/exact_induction_head.hpp>
#include <lindyn/circuit/race/crossing.hpp>
#include <lindyn/circuit/race/race.hpp>
#include <lindyn/circuit/race/winner_map.hpp>
#include <lindyn/model/attention_only.hpp>

#include "../io/testing.hpp"
#include "race_setting.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using circuit::measure;
using lindyn::index;  // POSIX has a function of this name
using sweep::axis;

/// The name of the winner.
std::string winner(const circuit::race_result& result) {
  return std::string(circuit::label(race_manifold::layout, result.standings[result.winner.value()].pair).view());
}

TEST_CASE("what a pair does alone is what the exact induction head does; all standings are those of their definition") {
  auto model = race_model();
  const auto point = normal_numbers(race_manifold::dimension, 11, 1.5);
  const auto standings = circuit::standings(model, point);
  REQUIRE(standings.size() == 6);
  const double whole = model.loss(point);
  circuit::exact_induction_head head({.pairs = 4, .vocabulary = 16});
  for (const circuit::standing& of : standings) {
    const auto core = circuit::core_places(race_manifold::layout, of.pair);
    double product = 1;
    bool positive = true;
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(of.core[i] == point[static_cast<std::size_t>(core[i])]);
      product *= of.core[i];
      positive = positive && of.core[i] > 0;
    }
    CHECK(of.product == doctest::Approx(positive ? product : 0.0));
    if (of.pair.by == circuit::composition::key)
      CHECK(of.alone == doctest::Approx(std::log(16) - head.evaluate(of.core).loss).epsilon(1e-12));
    auto without = point;
    for (const index cut : circuit::composition_places(race_manifold::layout, of.pair))
      without[static_cast<std::size_t>(cut)] = 0;
    CHECK(of.needed == model.loss(without) - whole);
    CHECK(of.by(measure::needed) == of.needed);
    CHECK(of.by(measure::alone) == of.alone);
    CHECK(of.by(measure::product) == of.product);
  }
}

TEST_CASE("the three core coordinates of any pair solve the task, by key and by query, and are all needed") {
  auto model = race_model();
  for (const circuit::head_pair& pair : circuit::head_pairs(race_manifold::layout)) {
    CAPTURE(circuit::label(race_manifold::layout, pair).view());
    std::vector<double> point(static_cast<std::size_t>(race_manifold::dimension));
    const auto core = circuit::core_places(race_manifold::layout, pair);
    for (const index at : core) point[static_cast<std::size_t>(at)] = 15;
    // By key it is ln 2 in one of four sequences: an item in the first place sees itself alone, so that it is found too.
    CHECK(model.loss(point) ==
          doctest::Approx(pair.by == circuit::composition::key ? std::log(2) / 4 : 0).epsilon(0.01));
    for (const index at : core) {
      auto less = point;
      less[static_cast<std::size_t>(at)] = 0;
      CHECK(model.loss(less) > 0.5);
    }
  }
}

TEST_CASE("ranks: the largest first, the earlier of equals, and by how much") {
  std::vector<circuit::standing> of(4);
  const std::array needed{0.5, 2.0, -1.0, 1.5};
  for (std::size_t i = 0; i < 4; ++i) of[i].needed = needed[i];
  const auto order = circuit::rank(of);
  CHECK(order.first == 1);
  CHECK(order.second == 3);
  CHECK(order.lead == 0.25);
  CHECK(circuit::rank(of, measure::alone).first == 0);
  CHECK(circuit::rank(of, measure::alone).second == 1);
  CHECK(circuit::rank(of, measure::alone).lead == 0);
  of[3].needed = of[1].needed = -3;
  of[0].needed = 1;
  CHECK(circuit::rank(of).first == 0);
  CHECK(circuit::rank(of).lead == 1);
  of.resize(1);
  CHECK_THROWS_AS((void)circuit::rank(of), argument_error);
}

TEST_CASE("a pair with a long start wins, whichever it is") {
  auto model = race_model();
  for (const circuit::head_pair& pair : circuit::head_pairs(race_manifold::layout)) {
    std::vector<double> start(static_cast<std::size_t>(race_manifold::dimension));
    for (const index at : circuit::core_places(race_manifold::layout, pair)) start[static_cast<std::size_t>(at)] = 2;
    const auto result = circuit::race(model, start);
    REQUIRE(result.winner);
    CHECK(result.standings[*result.winner].pair == pair);
    CHECK(result.lead > 0.9);
    CHECK(!result.shared());
    CHECK(result.loss == 0.05);
    CHECK(model.loss(result.coordinates) == doctest::Approx(0.05));
    for (const measure by : {measure::alone, measure::product})
      CHECK(circuit::race(model, start, {.by = by}).winner == result.winner);
  }
}

TEST_CASE("the pair with the largest start needn't win") {
  auto model = race_model();
  // All weights are zero but the three of the pointer 1-2: the induction head 2-3 is faster.
  std::vector<double> start(static_cast<std::size_t>(race_manifold::dimension));
  for (const char* label : {"L1[x,x]I", "L2[1,x]M", "out:2 I"}) start[place(model, label)] = 0.4;
  const auto alone = circuit::race(model, start);
  CHECK(winner(alone) == "2-3");
  CHECK(alone.lead > 0.85);

  // Among induction heads too: 1-2 has the largest of each of the three weights.
  start = race_start(291);
  const auto largest = circuit::core_places(race_manifold::layout, {.first = {1}, .second = {2}});
  for (const auto& other : {circuit::head_pair{{1}, {3}}, circuit::head_pair{{2}, {3}}}) {
    const auto core = circuit::core_places(race_manifold::layout, other);
    for (std::size_t i = 0; i < 3; ++i)
      if (core[i] != largest[i])
        CHECK(std::abs(start[static_cast<std::size_t>(core[i])]) < start[static_cast<std::size_t>(largest[i])]);
  }
  const auto among = circuit::race(model, start);
  CHECK(winner(among) == "2-3");
  CHECK(among.lead > 0.85);
}

TEST_CASE("a weight that belongs to neither circuit decides between them") {
  auto model = race_model();
  auto start = race_start(29);
  const std::size_t outside = place(model, "L1[x,x]I");
  for (const auto& pair : {circuit::head_pair{{1}, {2}}, circuit::head_pair{{2}, {3}}}) {
    const auto core = circuit::core_places(race_manifold::layout, pair);
    const auto composition = circuit::composition_places(race_manifold::layout, pair);
    CHECK(std::ranges::count(core, static_cast<index>(outside)) == 0);
    CHECK(std::ranges::count(composition, static_cast<index>(outside)) == 0);
  }
  start[outside] = -0.5;
  const auto below = circuit::race(model, start);
  start[outside] = 0.5;
  const auto above = circuit::race(model, start);
  CHECK(winner(below) == "1-2");
  CHECK(below.lead > 0.9);
  CHECK(winner(above) == "2-3");
  CHECK(above.lead > 0.9);
}

TEST_CASE("without enough time there is no winner; exchangeable heads tie, and the earlier one wins") {
  auto model = race_model();
  const auto start = race_start(1);
  const auto early = circuit::race(model, start, {.until = 50});
  CHECK(!early.winner);
  CHECK(!early.shared());
  CHECK(early.time == 50);
  CHECK(early.loss > 0.05);
  CHECK(early.standings.size() == 6);

  const population::recall_law<race_task> law{{.pairs = 2, .vocabulary = 6}};
  reduced::relational_model two_heads(manifold::basis(2, 2, law.structure()), population::enumerate_types(law).types);
  std::vector<double> alike(static_cast<std::size_t>(two_heads.dimension()));
  for (const char* label : {"L1a[x,x]M", "L2a[x,1a]I", "L2b[x,1a]I", "out:2a I", "out:2b I"})
    alike[place(two_heads, label)] = 0.5;
  const auto tie = circuit::race(two_heads, alike);
  REQUIRE(tie.winner);
  CHECK(circuit::label(two_heads.basis().layout(), tie.standings[*tie.winner].pair) == "1a-2a");
  CHECK(tie.lead < 1e-6);
  CHECK(tie.shared());
  alike[place(two_heads, "L2b[x,1a]I")] = 1.5;
  const auto ahead = circuit::race(two_heads, alike);
  CHECK(circuit::label(two_heads.basis().layout(), ahead.standings[ahead.winner.value()].pair) == "1a-2b");

  CHECK_THROWS_AS((void)circuit::race(model, std::span(start).first(3)), shape_error);
  CHECK_THROWS_AS((void)circuit::race(model, start, {.tolerance = 0}), argument_error);
  CHECK_THROWS_AS((void)circuit::race(model, start, {.selections = {.token = 4}}), argument_error);
  reduced::relational_model one_layer(manifold::basis(1, 1, law.structure()), population::enumerate_types(law).types);
  CHECK_THROWS_AS((void)circuit::race(one_layer, std::vector<double>(8)), argument_error);
}

TEST_CASE("at a crossing both pairs do the same, nothing jumps, and the zone of shared work has a width") {
  auto model = race_model();
  auto from = race_start(29), to = from;
  from[place(model, "L1[x,x]I")] = -0.5;
  to[place(model, "L1[x,x]I")] = 0.5;
  const circuit::crossing_options options{.race = {.tolerance = 1e-7}, .resolution = 0x1p-24};
  const auto found = circuit::find_crossing(model, from, to, options);
  REQUIRE(found);
  CHECK(found->high - found->low <= 0x1p-24);
  CHECK(found->before.winner != found->after.winner);
  CHECK(found->before.lead < 1e-4);
  CHECK(found->after.lead < 1e-4);
  CHECK(difference(found->before.coordinates, found->after.coordinates) < 1e-4);
  CHECK(std::abs(found->before.time / found->after.time - 1) < 1e-5);

  REQUIRE(found->width());
  MESSAGE("crossing at " << found->low << ", width " << *found->width());
  CHECK(*found->clear_before < found->low);
  CHECK(*found->clear_after > found->high);
  for (const double edge : {*found->clear_before, *found->clear_after}) {
    auto start = from;
    start[place(model, "L1[x,x]I")] = -0.5 + edge;
    CHECK(circuit::race(model, start, options.race).lead == doctest::Approx(0.5).epsilon(0.02));
  }

  CHECK(!circuit::find_crossing(model, from, from, options));
  CHECK_THROWS_AS((void)circuit::find_crossing(model, from, to, {.resolution = 0}), argument_error);
  CHECK_THROWS_AS((void)circuit::find_crossing(model, from, std::span(to).first(3)), shape_error);
}

TEST_CASE("between a start that wins in time and one that doesn't nobody shares on the side of the latter") {
  auto model = race_model();
  const std::vector<double> zero(static_cast<std::size_t>(race_manifold::dimension));
  auto fast = zero;
  for (const index at : circuit::core_places(race_manifold::layout, {{1}, {2}})) fast[static_cast<std::size_t>(at)] = 2;
  const double in_time = circuit::race(model, fast).time;
  const circuit::crossing_options options{.race = {.until = 2 * in_time}, .resolution = 0x1p-12};
  const auto found = circuit::find_crossing(model, zero, fast, options);
  REQUIRE(found);
  CHECK(!found->before.winner);
  CHECK(found->before.time == 2 * in_time);
  CHECK(found->after.winner);
  CHECK(found->after.time <= 2 * in_time);
  REQUIRE(found->clear_before);
  CHECK(found->low - *found->clear_before <= 2 * options.resolution);
}

TEST_CASE("the zone of shared work isn't measured across another boundary") {
  // Three pairs win on this line: the one in the middle shares its work wherever it wins.
  auto model = race_model();
  const auto from = race_start(6), to = race_start(7);
  const auto found = circuit::find_crossing(model, from, to, {.race = {}, .resolution = 0x1p-12});
  REQUIRE(found);
  const auto last = circuit::race(model, to);
  CHECK(last.winner != found->before.winner);
  CHECK(last.winner != found->after.winner);
  CHECK(!last.shared());
  CHECK(found->clear_before);
  CHECK(!found->clear_after);
  CHECK(!found->width());
}

TEST_CASE("each cell of a winner map is the race from its start, on any number of threads, resumed or not") {
  auto model = race_model();
  const auto start = race_start(6);
  const sweep::grid over({axis::linear("L3[x,2]I", -1, 1, 2), axis::linear("L1[x,x]M", -1, 1, 3)});
  const temporary_folder folder;
  const circuit::winner_map_options options{.journal = folder / "map.journal"};
  const sweep::table map = circuit::winner_map(model, start, over, options);
  CHECK(map.columns() == std::vector<std::string>{"winner", "lead", "time", "needed 1-2", "needed 1-3", "needed 2-3",
                                                  "needed 1-2 by query", "needed 1-3 by query", "needed 2-3 by query"});
  for (index number = 0; number < over.size(); ++number) {
    auto from = start;
    from[place(model, "L3[x,2]I")] = over.at(number).values[0];
    from[place(model, "L1[x,x]M")] = over.at(number).values[1];
    const auto result = circuit::race(model, from);
    CHECK(map.values()(number, 0) == static_cast<double>(result.winner.value()));
    CHECK(map.values()(number, 1) == result.lead);
    CHECK(map.values()(number, 2) == result.time);
    for (std::size_t pair = 0; pair < 6; ++pair)
      CHECK(map.values()(number, static_cast<index>(3 + pair)) == result.standings[pair].needed);
  }
  const auto same = [&](const sweep::table& other) { return std::ranges::equal(other.values(), map.values()); };
  CHECK(same(circuit::winner_map(model, start, over, {.threads = 3})));
  index told = 0;
  auto resumed = options;
  resumed.tell = [&](const progress_report& report) {
    CHECK(report.done == report.total);
    ++told;
  };
  CHECK(same(circuit::winner_map(model, start, over, resumed)));
  CHECK(told == 1);

  auto other = options;
  other.race.loss = 0.1;
  CHECK_THROWS_AS((void)circuit::winner_map(model, start, over, other), sweep::other_configuration_error);
  CHECK_THROWS_AS((void)circuit::winner_map(model, race_start(7), over, options), sweep::other_configuration_error);
  const population::recall_law<race_task> law{{.pairs = 3, .vocabulary = 16}};
  const reduced::relational_model fewer(race_manifold::basis(law), population::enumerate_types(law).types);
  CHECK_THROWS_AS((void)circuit::winner_map(fewer, start, over, options), sweep::other_configuration_error);

  // From zero only the readout moves at first, and alike on any number of slots.
  const population::recall_law<race_task> wider{{.pairs = 4, .vocabulary = 16, .slots = 9}};
  const reduced::relational_model on_nine(race_manifold::basis(wider), population::enumerate_types(wider).types);
  const std::vector<double> zero(start.size());
  const sweep::grid point({axis::listed("L3[x,2]I", {0})});
  const circuit::winner_map_options from_zero{.race = {.until = 1}, .journal = folder / "zero.journal"};
  (void)circuit::winner_map(model, zero, point, from_zero);
  CHECK_THROWS_AS((void)circuit::winner_map(on_nine, zero, point, from_zero), sweep::other_configuration_error);
}

TEST_CASE("cells without a winner have -1; axes must be coordinates") {
  const auto model = race_model();
  const auto start = race_start(6);
  const sweep::grid over({axis::listed("out:3 I", {0.1, 0.2})});
  CHECK(circuit::winner_map(model, start, over, {.race = {.until = 1}}).column("winner") ==
        std::vector<double>{-1, -1});
  CHECK_THROWS_AS((void)circuit::winner_map(model, start, sweep::grid({axis::listed("out:4 I", {0.1})})),
                  argument_error);
  CHECK_THROWS_AS((void)circuit::winner_map(model, std::span(start).first(3), over), shape_error);
}

}  // namespace
