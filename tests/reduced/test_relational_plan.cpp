// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/reduced/compile_relations.hpp>

#include "../compare/confinement_laws.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using reduced::compile_relations;

TEST_CASE("recall has one trunk, and a query for each pair") {
  for (const int pairs : {3, 8, 11}) {
    const auto law = on_slots({.pairs = pairs, .vocabulary = 2 * pairs + 3, .block = 2});
    const manifold::basis basis(2, 1, law.structure());
    const auto plan = compile_relations(basis, population::enumerate_types(law).types);
    REQUIRE(plan.contexts.size() == 1);
    CHECK(plan.types() == pairs);
    const auto& context = plan.contexts.front();
    CHECK(context.trunk == 2 * pairs);
    CHECK(plan.longest_trunk == 2 * pairs);
    CHECK(context.slots ==
          std::vector<int>(static_cast<std::size_t>(2 * pairs)));  // the query's and the answer are two
    CHECK(context.others == std::vector<double>{3});
    CHECK(context.class_count == 1);
    // Each place is related to itself, and within a block to its neighbour on both sides, as two phases are a ring.
    CHECK(plan.kinds.size() == 3);  // a place and itself; its neighbour; the query and its item
    CHECK(context.pairs.size() == static_cast<std::size_t>(4 * pairs));
    CHECK(context.causal.size() == static_cast<std::size_t>(3 * pairs));
    CHECK(context.row_begin.back() == 4 * pairs);
    double weight = 0;
    for (const auto& queries : context.queries) {
      CHECK(queries.count <= reduced::lanes::count);
      weight += queries.weight.sum();
    }
    CHECK(context.queries.size() == static_cast<std::size_t>((pairs + 7) / 8));
    CHECK(weight == doctest::Approx(1).epsilon(1e-15));
  }
}

TEST_CASE("alike sequences are merged with their weights, those of weight zero left out") {
  const manifold::basis basis(1, 1, symmetry::product(symmetry::full_symmetric(6), symmetry::cyclic(9)));
  const std::vector<int> a{0, 1, 0}, b{4, 2, 4}, c{4, 2, 2}, here{0, 1, 2}, there{5, 6, 7}, apart{0, 1, 3};
  const auto types = [&](const std::vector<task::sequence>& sequences) {
    return compile_relations(basis, sequences).types();
  };
  CHECK(types({{a, here, 1, 0.5}, {b, there, 2, 0.25}}) == 1);                     // the same relations
  CHECK(types({{a, here, 1, 0.5}, {b, there, 4, 0.25}}) == 2);                     // another answer
  CHECK(types({{a, here, 1, 0.5}, {a, here, 3, 0.25}, {a, here, 5, 0.25}}) == 2);  // both unseen
  CHECK(types({{a, here, 1, 0.5}, {c, here, 2, 0.25}}) == 2);                      // another query
  CHECK(types({{a, here, 1, 0.5}, {a, apart, 1, 0.25}}) == 2);                     // at another distance
  CHECK(types({{a, here, 1, 0.5}, {c, here, 2, 0.0}}) == 1);
  const auto plan = compile_relations(basis, std::vector<task::sequence>{{a, here, 1, 0.5}, {b, there, 2, 0.25}});
  CHECK(plan.contexts.front().queries.front().weight[0] == 0.75);
}

TEST_CASE("each class of tokens has slots of its own and others of its own, for queries of either class") {
  // Tokens 0 .. 3 are of class 0, tokens 4 .. 8 of class 1.
  const manifold::basis basis(
      1, 1,
      symmetry::product(symmetry::direct_sum({{symmetry::full_symmetric(4), "a"}, {symmetry::full_symmetric(5), "b"}}),
                        symmetry::cyclic(9)));
  const std::vector<int> a{0, 4, 2}, b{0, 4, 5}, here{0, 8, 7};
  const auto plan =
      compile_relations(basis, std::vector<task::sequence>{{a, here, 7, 0.25}, {b, here, 1, 0.25}, {b, here, 6, 0.5}});
  REQUIRE(plan.contexts.size() == 1);
  const auto& context = plan.contexts.front();
  CHECK(context.classes == std::vector<int>{0, 1});
  CHECK(context.class_count == 2);
  CHECK(context.slots == std::vector<int>{0, 1, 0, 1, 1});  // one more of class 0 serves all, two of class 1
  CHECK(context.others == std::vector<double>{2, 2});
  CHECK(context.unrelated == std::vector<int>{0, 1, 0, 0});  // but for place 1 and place 0, eight places on
  REQUIRE(context.class_kinds.size() == 4);
  CHECK(context.class_kinds[0] == -1);
  CHECK(context.class_kinds[2] == -1);
  using terms = reduced::pair_kind;
  CHECK(plan.kinds[static_cast<std::size_t>(context.class_kinds[1])] == terms{{0, 0.25}});
  CHECK(plan.kinds[static_cast<std::size_t>(context.class_kinds[3])] == terms{{1, -0.2}});
  REQUIRE(context.queries.size() == 1);
  CHECK(context.queries.front().classes.front().sum() == 1);
  CHECK(context.queries.front().classes.back().sum() == 2);
}

TEST_CASE("sequences of several lengths have a trunk each") {
  const manifold::basis basis(1, 1, symmetry::product(symmetry::full_symmetric(6), symmetry::cyclic(9)));
  const std::vector<int> one{3}, two{0, 1}, three{0, 1, 2};
  const auto plan =
      compile_relations(basis, std::vector<task::sequence>{{one, one, 0, 1}, {two, two, 0, 1}, {three, three, 0, 1}});
  REQUIRE(plan.contexts.size() == 3);
  CHECK(plan.longest_trunk == 2);
  for (int place = 0; place < 3; ++place) CHECK(plan.contexts[static_cast<std::size_t>(place)].trunk == place);
}

}  // namespace
