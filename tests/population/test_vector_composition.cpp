// SPDX-License-Identifier: MIT

#include <limits>

#include <doctest/doctest.h>

#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/finite/vector_composition.hpp>
#include <lindyn/task/vector_composition.hpp>

#include "../complaint.hpp"

using namespace lindyn;
using lindyn::testing::complaint;

TEST_CASE("vectors of anchor composition have its pairs, and its permutations as answers") {
  const population::anchor_options sequences{.keys = 5, .anchors = 3, .training_pairs = 6, .seed = 4, .split_seed = 9};
  const auto set = population::anchor_composition(sequences).training;
  const auto data = population::vector_composition({.keys = 5,
                                                    .anchors = 3,
                                                    .training_pairs = 6,
                                                    .width = 8,
                                                    .rule = population::composition_rule::composed,
                                                    .seed = 4,
                                                    .split_seed = 9});
  REQUIRE(set.count() == 5 * data.pair_count());
  for (lindyn::index sequence = 0; sequence < set.count(); ++sequence) {
    const lindyn::index pair = sequence / 5, key = sequence % 5;
    CHECK(set.tokens(sequence)[1] == 5 + data.pairs[static_cast<std::size_t>(pair)].first);
    CHECK(set.tokens(sequence)[2] == 5 + data.pairs[static_cast<std::size_t>(pair)].second);
    for (lindyn::index row = 0; row < 8; ++row)
      CHECK(data.answers[static_cast<std::size_t>((pair * 8 + row) * 5 + key)] ==
            (row == set.answer(sequence, 2) ? 1.0 : 0.0));
  }
  for (lindyn::index anchor = 0; anchor < 3; ++anchor)  // the token behind the keys
    for (lindyn::index column = 0; column < 8; ++column)
      CHECK(data.anchor_vectors()(anchor, column) == (column == 5 + anchor ? 1.0 : 0.0));
  CHECK_FALSE(data.separable());
}

TEST_CASE("a composition without a width has no vectors, and options that make none are refused") {
  const task::vector_composition none{.keys = {1, 2}};
  CHECK(none.key_count() == 0);
  CHECK(none.anchor_count() == 0);
  CHECK(none.anchor_vectors().rows == 0);
  CHECK(complaint([&] { require_valid(none); }).starts_with("width = 0 "));

  using population::vector_composition;
  constexpr int largest = std::numeric_limits<int>::max();
  CHECK(complaint([] { return vector_composition({.width = 23}); }).starts_with("width = 23 "));
  CHECK(complaint([] { return vector_composition({.keys = 1}); }).starts_with("keys = 1 "));
  CHECK(complaint([] { return vector_composition({.keys = largest}); }).starts_with("keys = 2147483647 "));
  CHECK(complaint([] { return vector_composition({.anchors = 1}); }).starts_with("anchors = 1 "));
  CHECK(complaint([] { return vector_composition({.anchors = largest}); }).starts_with("anchors = 2147483647 "));
}
