// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/population/type_sample.hpp>

#include "../complaint.hpp"

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using namespace lindyn::population;
using lindyn::testing::complaint;
using recall = task::associative_recall<block<2>>;
using stored = task::associative_recall<block<2>, stored_association>;

/// Labels that are the partners of their items, in blocks of two of common tokens.
int stored_labels(const task::sequence& sequence) {
  int result = 0;
  for (std::size_t place = 0; place + 1 < sequence.tokens.size(); place += 2)
    result += (sequence.tokens[place] ^ 1) == sequence.tokens[place + 1];
  return result;
}

/// Some quantity that is a function of the relations, and varies between and within strata: of the stored labels, of
/// all pairs of partners, of rare tokens, and of the query.
double quantity(const task::sequence& sequence, const symmetry::structure& structure) {
  const auto are_partners = [&](int one, int other) { return structure.orbital(one, other) == 1; };
  int partners = 0, rare = 0, labels = 0;
  for (const int one : sequence.tokens) {
    rare += structure.orbit(one);
    for (const int other : sequence.tokens) partners += are_partners(one, other);
  }
  for (std::size_t place = 0; place + 1 < sequence.tokens.size(); place += 2)
    labels += are_partners(sequence.tokens[place], sequence.tokens[place + 1]);
  const bool recalled = are_partners(sequence.tokens.back(), sequence.answer);
  const bool first = sequence.tokens[0] == sequence.tokens.back();
  return std::sqrt(1.0 + partners) + (recalled ? 1 : 0.3) * std::exp(0.5 * labels) + (first ? 0.7 : 0) + 0.2 * rare;
}

template <class Law>
std::vector<double> context_means(const type_sample& sample, const Law& law) {
  const auto structure = law.structure();
  std::vector<double> result;
  for (index context = 0; context < sample.contexts(); ++context) {
    const task::batch_view batch = sample.context(context);
    double mean = 0;
    for (index place = 0; place < batch.count(); ++place)
      mean += quantity(batch[place], structure.tokens) / static_cast<double>(batch.count());
    result.push_back(mean);
  }
  return result;
}

template <class Law>
double exact(const Law& law) {
  const auto structure = law.structure();
  double result = 0;
  for (const auto& type : enumerate_types(law).types) result += type.weight * quantity(type, structure.tokens);
  return result;
}

TEST_CASE("the strata of stored associations are the numbers of stored labels, with binomial weights") {
  const recall_law<stored> law{{.pairs = 4, .vocabulary = 16, .within_class = 0.3}};
  const type_sample sample = sample_types(law, 1000, 1);
  REQUIRE(sample.strata.size() == 5);
  const double choose[] = {1, 4, 6, 4, 1};
  double total = 0;
  index contexts = 0;
  for (int number = 0; number <= 4; ++number) {
    const stratum& part = sample.strata[static_cast<std::size_t>(number)];
    CHECK(part.fewest == number);
    CHECK(part.most == number);
    const double weight = choose[number] * std::pow(0.7, number) * std::pow(0.3, 4 - number);
    CHECK(std::abs(part.weight - weight) < 1e-15);
    CHECK(std::abs(static_cast<double>(part.contexts) - 1000 * weight) <= 1);
    total += part.weight;
    contexts += part.contexts;
  }
  CHECK(std::abs(total - 1) < 1e-15);
  CHECK(contexts == 1000);
  CHECK(sample.contexts() == 1000);
  CHECK(std::abs(sample.sequences.total_weight() - 1) < 1e-14);
}

TEST_CASE("a context carries each of its queries once, and as many stored labels as its stratum says") {
  const recall_law<stored> law{{.pairs = 5, .vocabulary = 20, .within_class = 0.4}};
  const type_sample sample = sample_types(law, 200, 7);
  CHECK(sample.queries == 5);
  REQUIRE(sample.sequences.size() == 1000);
  for (index context = 0; context < sample.contexts(); ++context) {
    const task::batch_view batch = sample.context(context);
    const stratum& part = sample.strata[static_cast<std::size_t>(sample.stratum_of[static_cast<std::size_t>(context)])];
    REQUIRE(batch.count() == 5);
    std::set<int> queries;
    for (index place = 0; place < 5; ++place) {
      const auto sequence = batch[place], first = batch[0];
      CHECK(probability(law, sequence) > 0);
      CHECK(std::ranges::equal(sequence.tokens.first(10), first.tokens.first(10)));
      CHECK(std::ranges::equal(sequence.positions, first.positions));
      CHECK(stored_labels(sequence) >= part.fewest);
      CHECK(stored_labels(sequence) <= part.most);
      CHECK(std::abs(sequence.weight * static_cast<double>(part.contexts) * 5 / part.weight - 1) < 1e-15);
      queries.insert(sequence.tokens.back());
    }
    CHECK(queries.size() == 5);
  }
}

TEST_CASE("every label is stored equally often within a stratum") {
  const recall_law<stored> law{{.pairs = 3, .vocabulary = 10, .within_class = 0.5}};
  const type_sample sample = sample_types(law, 8000, 3);
  const index ones = sample.strata[1].contexts;
  REQUIRE(sample.strata[1].most == 1);
  std::vector<int> at(3);
  for (index context = 0; context < sample.contexts(); ++context)
    if (sample.stratum_of[static_cast<std::size_t>(context)] == 1)
      for (std::size_t pair = 0; pair < 3; ++pair) {
        const auto tokens = sample.context(context)[0].tokens;
        at[pair] += (tokens[2 * pair] ^ 1) == tokens[2 * pair + 1];
      }
  const auto count = static_cast<double>(ones);
  for (const int times : at) CHECK(std::abs(times - count / 3) < 5 * std::sqrt(count * 2 / 9));
}

TEST_CASE("the estimate is within five of its own errors of the exact average over types") {
  const auto compare = [](const auto& law, index contexts) {
    const type_sample sample = sample_types(law, contexts, 11);
    const estimate found = estimate_mean(sample, context_means(sample, law));
    CHECK(found.standard_error > 0);
    CHECK(std::abs(found.mean - exact(law)) < 5 * found.standard_error);
    CHECK(found.standard_error < 0.02);
  };
  compare(recall_law<stored>{{.pairs = 3, .vocabulary = 10, .within_class = 0.3}}, 1000);
  compare(recall_law<stored>{{.pairs = 4, .vocabulary = 16, .within_class = 0.8}}, 2000);
  compare(recall_law<stored, lindyn::positions::ring<20>>{{.pairs = 4, .vocabulary = 16, .within_class = 1}}, 1000);
}

TEST_CASE("over many samples the estimate is unbiased and its standard error is right") {
  // 12 contexts pool the rarer strata, so that these are checked too.
  for (const index contexts : {12, 60}) {
    const recall_law<stored> law{{.pairs = 3, .vocabulary = 10, .within_class = 0.4}};
    const double truth = exact(law);
    const int samples = 400;
    double mean = 0, square = 0, variance = 0;
    for (int seed = 0; seed < samples; ++seed) {
      const type_sample sample = sample_types(law, contexts, static_cast<std::uint64_t>(seed));
      const estimate found = estimate_mean(sample, context_means(sample, law));
      mean += (found.mean - truth) / samples;
      square += (found.mean - truth) * (found.mean - truth) / samples;
      variance += found.standard_error * found.standard_error / samples;
    }
    CHECK(std::abs(mean) < 5 * std::sqrt(square / samples));
    // The scatter of the estimates has a relative error of about sqrt(2 / samples) = 0.07.
    CHECK(std::abs(square / variance - 1) < 0.35);
  }
}

TEST_CASE("strata of fewer than two contexts are pooled with the next, the last ones with those before") {
  for (const double within_class : {0.1, 0.9}) {
    const recall_law<stored> law{{.pairs = 16, .vocabulary = 64, .within_class = within_class}};
    const type_sample sample = sample_types(law, 40, 1);
    CHECK(sample.strata.size() > 3);
    CHECK(sample.strata.size() < 8);
    CHECK(sample.strata.back().most == 16);
    double total = 0;
    int next = 0;
    index contexts = 0;
    for (const stratum& part : sample.strata) {
      CHECK(part.fewest == next);
      CHECK(part.contexts >= 2);
      next = part.most + 1;
      total += part.weight;
      contexts += part.contexts;
    }
    CHECK(std::abs(total - 1) < 1e-14);
    CHECK(contexts == 40);
  }
}

TEST_CASE("a sample is a function of the law, the number of contexts and the seed") {
  const recall_law<stored> law{{.pairs = 3, .vocabulary = 10, .within_class = 0.3}};
  const auto tokens = [&](std::uint64_t seed) {
    const type_sample sample = sample_types(law, 20, seed);
    const auto view = sample.sequences.view();
    return std::vector<int>(view.tokens.begin(), view.tokens.end());
  };
  CHECK(tokens(1) == tokens(1));
  CHECK(tokens(1) != tokens(2));
}

TEST_CASE("certain labels, or none at all, leave one stratum") {
  for (const double within_class : {0.0, 1.0}) {
    const recall_law<stored> law{{.pairs = 3, .vocabulary = 10, .within_class = within_class}};
    const type_sample sample = sample_types(law, 10, 1);
    REQUIRE(sample.strata.size() == 1);
    CHECK(sample.strata[0].fewest == (within_class == 0 ? 3 : 0));
    CHECK(sample.strata[0].most == sample.strata[0].fewest);
    CHECK(sample.strata[0].weight == 1);
  }
  // Without chances a context has all types there are, one for each query.
  const recall_law<recall> law{{.pairs = 3, .vocabulary = 9}};
  const type_sample sample = sample_types(law, 4, 1);
  REQUIRE(sample.strata.size() == 1);
  CHECK(sample.strata[0].contexts == 4);
  std::vector<double> values(4);
  for (index context = 0; context < 4; ++context)
    for (index place = 0; place < 3; ++place) {
      const auto sequence = sample.context(context)[place];
      for (std::size_t item = 0; item < 6; item += 2)
        if (sequence.tokens[item] == sequence.tokens[6])
          values[static_cast<std::size_t>(context)] += std::exp(static_cast<double>(item)) / 3;
    }
  const estimate found = estimate_mean(sample, values);
  CHECK(std::abs(found.mean / ((1 + std::exp(2.0) + std::exp(4.0)) / 3) - 1) < 1e-14);
  CHECK(found.standard_error < 1e-14);
}

using rare_stored = task::associative_recall<block<2>, stored_association, rare_tokens>;

TEST_CASE("of several probabilities the first that is neither 0 nor 1 makes the strata") {
  // Rare pairs are decided first; how many labels may be stored depends on them, and is left to chance.
  const recall_options options{.pairs = 3, .vocabulary = 16, .within_class = 0.4, .rare = 0.3, .rare_vocabulary = 6};
  const auto fewest_and_most = [](recall_options changed, double share, double within_class) {
    changed.rare = share;
    changed.within_class = within_class;
    const type_sample sample = sample_types(recall_law<rare_stored>{changed}, 400, 5);
    index context = 0;
    for (const stratum& part : sample.strata)
      for (index i = 0; i < part.contexts; ++i, ++context) {
        const auto tokens = sample.context(context)[0].tokens;
        int rare_pairs = 0;
        for (std::size_t item = 0; item < 6; item += 2) rare_pairs += tokens[item] >= 10;
        const int counted = share == 0 ? stored_labels(sample.context(context)[0]) : rare_pairs;
        CHECK(counted >= part.fewest);
        CHECK(counted <= part.most);
      }
    return std::pair(sample.strata.front().fewest, sample.strata.back().most);
  };
  CHECK(fewest_and_most(options, 0.3, 0.4) == std::pair(0, 3));
  CHECK(fewest_and_most(options, 0.5, 0.5) == std::pair(0, 3));  // labels' chances have the same p, and come later
  CHECK(fewest_and_most(options, 0, 0.4) == std::pair(0, 3));
  CHECK(fewest_and_most(options, 0.3, 0) == std::pair(0, 3));
  CHECK(fewest_and_most(options, 1, 0.4) == std::pair(3, 3));

  const type_sample sample = sample_types(recall_law<rare_stored>{options}, 400, 5);
  REQUIRE(sample.strata.size() == 4);
  const double weights[] = {0.343, 0.441, 0.189, 0.027};
  for (std::size_t s = 0; s < 4; ++s) CHECK(std::abs(sample.strata[s].weight - weights[s]) < 1e-15);
}

TEST_CASE("with several probabilities the estimate is as good as its error says") {
  const auto compare = [](const auto& law, index contexts, int queries) {
    const type_sample sample = sample_types(law, contexts, 11);
    CHECK(sample.queries == queries);
    const estimate found = estimate_mean(sample, context_means(sample, law));
    CHECK(found.standard_error > 0);
    CHECK(std::abs(found.mean - exact(law)) < 5 * found.standard_error);
    CHECK(found.standard_error < 0.03);
  };
  compare(
      recall_law<rare_stored>{{.pairs = 2, .vocabulary = 12, .within_class = 0.4, .rare = 0.3, .rare_vocabulary = 4}},
      3000, 2);
  compare(
      recall_law<rare_stored>{{.pairs = 2, .vocabulary = 12, .within_class = 0.5, .rare = 0.5, .rare_vocabulary = 4}},
      3000, 2);
  compare(recall_law<stored>{{.pairs = 2, .vocabulary = 10, .within_class = 0.3, .distractors = 1}}, 3000, 2);
  // Which blocks hold the queried pair is chosen before the tokens: no choice is left for a query.
  compare(recall_law<stored>{{.pairs = 3, .vocabulary = 10, .within_class = 0.3, .burstiness = 2}}, 4000, 1);
}

/// A process that asks what its options say, for tokens 0 .. 3 at one position.
struct asking {
  double first = 0.5, second = 0.5;  // of two chances
  bool again = false;                // a third chance if the first comes true
  bool longer = false;               // a query of three if the first comes true, of two otherwise
  [[nodiscard]] process_sizes sizes() const { return {4, 1, 1}; }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    positions[0] = choose.position(0, 0);
    tokens[0] = choose.token(0, choose.tokens());
    const bool hit = choose.chance(first);
    (void)choose.chance(second);
    if (again && hit) (void)choose.chance(first);
    return choose.among(longer && hit ? 3 : 2);
  }
};

TEST_CASE("laws that can't be stratified this way are refused") {
  const auto refused = [](const asking& law) { return complaint([&] { return sample_types(law, 20, 1).contexts(); }); };
  CHECK(refused({}) == "");
  CHECK(refused({.second = 0.4}) == "");
  CHECK(sample_types(asking{.second = 0.4}, 20, 1).strata.back().most == 1);
  CHECK(sample_types(asking{.first = 1, .second = 0.4}, 20, 1).strata.back().most == 1);
  CHECK(refused({.again = true}).starts_with("law = a process whose choices differ between draws is not allowed"));
  CHECK(refused({.longer = true}).starts_with("law = a process whose choices differ between draws is not allowed"));
  CHECK(refused({.first = 1.5, .second = 1.5}).starts_with("p of chance(p) = 1.5 is not allowed"));
}

TEST_CASE("a sample needs two contexts, and an estimate a value for each") {
  const recall_law<stored> law{{}};
  CHECK(complaint([&] { return sample_types(law, 1, 1).contexts(); }) ==
        "contexts = 1 is not allowed: it must be at least 2, so that there is a standard error");
  const type_sample sample = sample_types(law, 5, 1);
  const std::vector<double> values(4, 1.0);
  CHECK_THROWS_AS((void)estimate_mean(sample, values), shape_error);
}

}  // namespace
