// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <lindyn/population/law.hpp>

#include "../complaint.hpp"
#include "relations.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::population;
using lindyn::testing::complaint;
using recall = task::associative_recall<block<2>>;
using stored = task::associative_recall<block<2>, stored_association>;
using trigram = task::ngram<3>;
using rare_stored = task::associative_recall<block<2>, stored_association, rare_tokens>;
using directed = task::associative_recall<block<2>, directed_association>;
using rare_directed = task::associative_recall<block<3>, rare_tokens, directed_association>;

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

TEST_CASE("features and options of a task reach its law") {
  const recall_law<rare_stored> law{{.pairs = 4,
                                     .vocabulary = 32,
                                     .within_class = 0.25,
                                     .rare = 0.1,
                                     .rare_vocabulary = 12,
                                     .burstiness = 2,
                                     .distractors = 3}};
  CHECK(law.sizes().length == 15);
  CHECK(law.sizes().positions == 18);  // pairs, distractors, the query and a slot to spare
  CHECK(law.tokens().within_class() == 0.25);
  CHECK(law.tokens().list().burstiness == 2);
  CHECK(law.structure().tokens.orbital_count() == 3);
  CHECK(law.structure().tokens.orbit_size(1) == 12);

  const recall_law<rare_directed, lindyn::positions::ring<15>> ring{
      {.pairs = 3, .vocabulary = 27, .rare_vocabulary = 3, .distractors = 1}};
  CHECK(ring.sizes().length == 14);
  CHECK(ring.structure().tokens.orbital_count() == 5);
}

/// The names that the task gives to its selections are those of its law's orbitals.
template <class Task>
void compare_names() {
  recall_options options{.pairs = 2, .vocabulary = 20};
  if constexpr (Task::rare) options.rare_vocabulary = 6;
  const auto tokens = recall_law<Task>(options).structure().tokens;
  REQUIRE(tokens.orbital_count() == static_cast<int>(Task::token_selections.size()));
  for (int s = 0; s < tokens.orbital_count(); ++s)
    CHECK(tokens.name(s) == Task::token_selections[static_cast<std::size_t>(s)]);
}

TEST_CASE("the selections that a task names are the orbitals of its law") {
  compare_names<recall>();
  compare_names<stored>();
  compare_names<directed>();
  compare_names<task::associative_recall<block<2>, rare_tokens>>();
  compare_names<rare_stored>();
  compare_names<rare_directed>();
}

TEST_CASE("the options of a law are refused where they leave nothing to draw") {
  CHECK(complaint([] { return recall_law<recall>{{.pairs = 0}}; }).starts_with("pairs = 0"));
  CHECK(complaint([] { return recall_law<recall>{{.pairs = 9, .vocabulary = 16}}; }).starts_with("vocabulary = 16"));
  CHECK(complaint([] { return recall_law<recall>{{.slots = 4}}; }).starts_with("slots = 4"));
  CHECK(complaint([] { return recall_law<stored>{{.vocabulary = 15}}; }).starts_with("vocabulary = 15"));
  CHECK(complaint([] { return recall_law<stored>{{.within_class = -1}}; }).starts_with("within_class = -1"));
  CHECK(complaint([] { return recall_law<rare_stored>{{.vocabulary = 24}}; }) ==
        "rare_vocabulary = 0 is not allowed: it must be at least 3, as the task has rare_tokens");
  CHECK(complaint([] { return recall_law<stored>{{.rare = 0.1}}; }) ==
        "rare = 0.1 is not allowed: it must be 0, as the task has no rare_tokens");
  CHECK(complaint([] { return recall_law<stored>{{.rare_vocabulary = 4}}; }).starts_with("rare_vocabulary = 4"));
  CHECK(complaint([] { return recall_law<stored>{{.burstiness = 5}}; }).starts_with("burstiness = 5"));
  CHECK(complaint([] { return recall_law<recall>{{.slots = 6, .distractors = 2}}; }) ==
        "slots = 6 is not allowed: it must be at least pairs + distractors + 1 = 7 (0: pairs + distractors + 2)");
  CHECK(complaint([] { return recall_law<directed>{{.vocabulary = 15}}; }).starts_with("vocabulary = 15"));
  CHECK(complaint([] { return recall_law<recall, lindyn::positions::ring<8>>{{.distractors = 1}}; }) ==
        "ring = 8 is not allowed: it must be at least 11, the length of a sequence");
  CHECK(complaint([] { return recall_law<recall, lindyn::positions::ring<9>>{{.slots = 77}}; }) ==
        "slots = 77 is not allowed: it must be 0, as a ring has no slots");
  CHECK(complaint([] { return recall_law<recall>{{.within_class = 7}}; }).starts_with("within_class = 7"));
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

TEST_CASE("so they are with other features, on slots and on rings") {
  check_invariance(recall_law<rare_stored, lindyn::positions::ring<5>>{
      {.pairs = 2, .vocabulary = 8, .within_class = 0.3, .rare = 0.4, .rare_vocabulary = 4, .burstiness = 2}});
  check_invariance(recall_law<directed>{{.pairs = 1, .vocabulary = 6, .within_class = 0.3, .slots = 2}});
  check_invariance(recall_law<directed, lindyn::positions::ring<5>>{{.pairs = 1, .vocabulary = 6, .distractors = 1}});
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
