// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>

#include "relations.hpp"

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using namespace lindyn::population;
using recall = task::associative_recall<block<2>>;
using stored = task::associative_recall<block<2>, stored_association>;

/// Tokens, positions and the answer in one list.
std::vector<int> values(const task::sequence& sequence) {
  std::vector<int> result(sequence.tokens.begin(), sequence.tokens.end());
  result.insert(result.end(), sequence.positions.begin(), sequence.positions.end());
  result.push_back(sequence.answer);
  return result;
}

template <class Law>
std::vector<std::vector<int>> drawn(const Law& law, std::uint64_t seed, index first, index count) {
  sampler sampler(law, seed);
  minibatch batch;
  sampler.draw(first, count, batch);
  std::vector<std::vector<int>> result;
  for (index place = 0; place < count; ++place) result.push_back(values(batch.view()[place]));
  return result;
}

TEST_CASE("the stream of a seed is fixed for ever") {
  CHECK(drawn(recall_law<recall>{{}}, 1, 0, 3) ==
        std::vector<std::vector<int>>{{14, 0, 15, 8, 10, 3, 2, 1, 2, /**/ 10, 11, 7, 6, 9, 8, 3, 2, 5, /**/ 1},
                                      {2, 10, 7, 13, 9, 6, 3, 0, 7, /**/ 3, 2, 4, 5, 7, 6, 11, 10, 9, /**/ 13},
                                      {7, 5, 10, 2, 0, 15, 4, 14, 7, /**/ 6, 7, 0, 1, 11, 10, 9, 8, 5, /**/ 5}});
  CHECK(drawn(recall_law<stored>{{}}, 1, 0, 3) ==
        std::vector<std::vector<int>>{{14, 3, 0, 1, 13, 12, 6, 11, 13, /**/ 10, 11, 7, 6, 9, 8, 3, 2, 5, /**/ 12},
                                      {2, 13, 10, 11, 6, 7, 5, 4, 5, /**/ 3, 2, 4, 5, 7, 6, 11, 10, 9, /**/ 4},
                                      {7, 6, 5, 10, 8, 1, 2, 9, 8, /**/ 6, 7, 0, 1, 11, 10, 9, 8, 5, /**/ 1}});
  const recall_law<task::ngram<3>, lindyn::positions::ring<20>> trigrams{{.pairs = 2, .vocabulary = 9}};
  CHECK(drawn(trigrams, 42, 1'000'000'000'000, 2) ==
        std::vector<std::vector<int>>{{3, 8, 2, 1, 7, 5, 3, 8, /**/ 6, 7, 8, 9, 10, 11, 12, 13, /**/ 2},
                                      {1, 5, 0, 4, 6, 8, 1, 5, /**/ 10, 11, 12, 13, 14, 15, 16, 17, /**/ 0}});
}

TEST_CASE("a sequence depends on the seed and its number alone") {
  const recall_law<stored> law{{.pairs = 5, .vocabulary = 20, .within_class = 0.4}};
  const auto together = drawn(law, 9, 100, 40);
  CHECK(drawn(law, 8, 100, 40) != together);

  sampler sampler(law, 9);
  minibatch batch;
  sampler.draw(120, 20, batch);  // the second half first, then the first, in another batch size
  for (index place = 0; place < 20; ++place)
    CHECK(values(batch.view()[place]) == together[static_cast<std::size_t>(place) + 20]);
  for (index part = 0; part < 4; ++part) {
    sampler.draw(100 + 5 * part, 5, batch);
    CHECK(batch.count() == 5);
    for (index place = 0; place < 5; ++place)
      CHECK(values(batch.view()[place]) == together[static_cast<std::size_t>(5 * part + place)]);
  }

  std::vector<int> tokens(11), positions(11);
  const int answer = sampler.draw(117, tokens, positions);
  CHECK(values({tokens, positions, answer}) == together[17]);
}

TEST_CASE("a minibatch is a batch of equal weights that keeps its memory") {
  const recall_law<recall> law{{.pairs = 4, .vocabulary = 16}};
  sampler sampler(law, 3);
  CHECK(sampler.seed() == 3);
  CHECK(sampler.law().sizes().length == 9);
  minibatch batch;
  sampler.draw(0, 64, batch);
  const task::batch_view first = batch;
  task::require_valid(first, 16, 12);
  CHECK(first.count() == 64);
  CHECK(first.length() == 9);
  CHECK(first.weights.empty());
  sampler.draw(64, 32, batch);
  sampler.draw(96, 64, batch);
  CHECK(batch.view().tokens.data == first.tokens.data);
  CHECK(batch.view().positions.data == first.positions.data);
  CHECK(batch.view().answers.data() == first.answers.data());
}

/// Draws `count` sequences of the law and compares how often each came with its probability.
template <class Law>
void compare_frequencies(const Law& law, index count) {
  std::map<std::vector<int>, int> counts;
  sampler sampler(law, 2024);
  minibatch batch;
  for (index first = 0; first < count; first += 1000) {
    sampler.draw(first, 1000, batch);
    for (index place = 0; place < 1000; ++place) ++counts[values(batch.view()[place])];
  }
  const auto table = testing::enumerated(law);
  double square = 0, farthest = 0;
  index total = 0;
  for (const task::sequence& sequence : table) {
    const double expected = sequence.weight * static_cast<double>(count);
    const auto found = counts.find(values(sequence));
    const int seen = found == counts.end() ? 0 : found->second;
    total += seen;
    const double deviation = (seen - expected) / std::sqrt(expected * (1 - sequence.weight));
    farthest = std::max(farthest, std::abs(deviation));
    square += (seen - expected) * (seen - expected) / expected;
  }
  CHECK(total == count);  // nothing came that isn't enumerated
  CHECK(farthest < 5);
  // Pearson's chi-squared has mean n - 1 and variance 2 (n - 1).
  const auto freedom = static_cast<double>(table.size() - 1);
  CHECK(std::abs(square - freedom) < 5 * std::sqrt(2 * freedom));
}

TEST_CASE("sampled frequencies are those of the enumeration") {
  compare_frequencies(recall_law<recall, lindyn::positions::ring<5>>{{.pairs = 2, .vocabulary = 4}}, 50'000);
  compare_frequencies(recall_law<recall>{{.pairs = 1, .vocabulary = 4}}, 50'000);
  compare_frequencies(recall_law<task::ngram<3>>{{.pairs = 1, .vocabulary = 3, .slots = 2}}, 20'000);
  for (const double within_class : {0.0, 0.3, 1.0})
    compare_frequencies(recall_law<stored>{{.pairs = 1, .vocabulary = 6, .within_class = within_class, .slots = 2}},
                        30'000);
  compare_frequencies(
      recall_law<stored, lindyn::positions::ring<5>>{{.pairs = 2, .vocabulary = 6, .within_class = 0.3}}, 100'000);
}

TEST_CASE("draws need a number, a count and room for the sequence") {
  sampler sampler(recall_law<recall>{{}}, 1);
  minibatch batch;
  CHECK_THROWS_AS(sampler.draw(-1, 4, batch), argument_error);
  CHECK_THROWS_AS(sampler.draw(0, 0, batch), argument_error);
  std::vector<int> right(9), wrong(8);
  CHECK_THROWS_AS(sampler.draw(-1, right, right), argument_error);
  CHECK_THROWS_AS(sampler.draw(0, wrong, right), shape_error);
  CHECK_THROWS_AS(sampler.draw(0, right, wrong), shape_error);
  CHECK_THROWS_AS(batch.resize(-1, 3), argument_error);
  CHECK_THROWS_AS(batch.resize(3, 0), argument_error);
}

}  // namespace
