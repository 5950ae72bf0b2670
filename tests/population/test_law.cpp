// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <lindyn/population/law.hpp>

#include "complaint.hpp"
#include "relations.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::population;
using lindyn::testing::complaint;
using recall = task::associative_recall<block<2>>;
using stored = task::associative_recall<block<2>, stored_association>;
using trigram = task::ngram<3>;

static_assert(data_law<recall_law<recall>>);
static_assert(data_law<recall_law<stored, lindyn::positions::ring<7>>>);
static_assert(!data_law<recall_tokens>);

TEST_CASE("the law of a task has the sizes of its options") {
  const recall_law<recall> slots{{.pairs = 3, .vocabulary = 9}};
  CHECK(slots.sizes().vocabulary == 9);
  CHECK(slots.sizes().positions == 10);
  CHECK(slots.sizes().length == 7);
  CHECK(recall_law<recall>{{.pairs = 3, .vocabulary = 9, .slots = 4}}.sizes().positions == 8);

  const recall_law<trigram, lindyn::positions::ring<20>> ring{{.pairs = 3, .vocabulary = 9}};
  CHECK(ring.sizes().positions == 20);
  CHECK(ring.sizes().length == 11);
  CHECK(ring.tokens().list().block == 3);

  const recall_law<stored> association{{.pairs = 3, .vocabulary = 10, .within_class = 0.25}};
  CHECK(association.tokens().within_class() == 0.25);
  CHECK(association.structure().tokens.orbital_count() == 2);
  CHECK(association.structure().positions.orbital_count() == 2);
}

TEST_CASE("the options of a law are refused where they leave nothing to draw") {
  CHECK(complaint([] { return recall_law<recall>{{.pairs = 0}}; }).starts_with("pairs = 0"));
  CHECK(complaint([] { return recall_law<recall>{{.pairs = 9, .vocabulary = 16}}; }).starts_with("vocabulary = 16"));
  CHECK(complaint([] { return recall_law<recall>{{.slots = 4}}; }).starts_with("slots = 4"));
  CHECK(complaint([] { return recall_law<stored>{{.vocabulary = 15}}; }).starts_with("vocabulary = 15"));
  CHECK(complaint([] { return recall_law<stored>{{.within_class = -1}}; }).starts_with("within_class = -1"));
  CHECK(complaint([] { return recall_law<recall, lindyn::positions::ring<8>>{{}}; }) ==
        "ring = 8 is not allowed: it must be at least 9, the length of a sequence");
}

TEST_CASE("tokens and positions are drawn independently") {
  const recall_law<recall, lindyn::positions::ring<6>> law{{.pairs = 2, .vocabulary = 5}};
  double difference = 0;
  for (const auto& sequence : lindyn::testing::enumerated(law)) {
    const double tokens = 1.0 / (5 * 4 * 3 * 2) / 2, positions = 1.0 / 6;
    difference = std::max(difference, std::abs(sequence.weight / (tokens * positions) - 1));
  }
  CHECK(difference < 1e-13);
}

/// Every generator that the law promises leaves every probability as it is, and the enumeration is carried onto itself.
template <class Law>
void check_invariance(const Law& law) {
  const auto table = lindyn::testing::enumerated(law);
  REQUIRE(law.structure().generators.size() >= 3);
  double difference = 0;
  for (const auto& generator : law.structure().generators)
    for (const auto& sequence : table) {
      const double image = probability(law, lindyn::testing::image(sequence, generator));
      difference = std::max(difference, std::abs(image / probability(law, sequence) - 1));
    }
  CHECK(difference < 1e-13);
}

TEST_CASE("laws are invariant under the symmetry they promise") {
  check_invariance(recall_law<recall, lindyn::positions::ring<6>>{{.pairs = 2, .vocabulary = 5}});
  check_invariance(recall_law<recall>{{.pairs = 1, .vocabulary = 4}});
  check_invariance(recall_law<trigram>{{.pairs = 1, .vocabulary = 4, .slots = 2}});
  for (const double within_class : {0.0, 0.3, 1.0}) {
    check_invariance(
        recall_law<stored, lindyn::positions::ring<5>>{{.pairs = 2, .vocabulary = 6, .within_class = within_class}});
    check_invariance(recall_law<stored>{{.pairs = 1, .vocabulary = 6, .within_class = within_class, .slots = 3}});
  }
}

TEST_CASE("a symmetry that the law lacks shows in its probabilities") {
  // Exchanging 0 and 2 alone tears two couples apart.
  const recall_law<stored, lindyn::positions::ring<5>> law{{.pairs = 2, .vocabulary = 6, .within_class = 0.3}};
  const symmetry::generator torn{{2, 1, 0, 3, 4, 5}, symmetry::identity(5)};
  double difference = 0;
  for (const auto& sequence : lindyn::testing::enumerated(law))
    difference =
        std::max(difference, std::abs(probability(law, lindyn::testing::image(sequence, torn)) - sequence.weight));
  CHECK(difference > 1e-4);
}

}  // namespace
