// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Training and test data out of one set of sequences.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::population {

/// What a network learns from, and what it is examined with. Neither is empty.
struct split_set {
  task::sequence_set training;  ///< seen in training
  task::sequence_set test;      ///< held out
};

/// Splits draw from this stream of their seed, and batches from streams that count from 0: equal seeds do no harm.
inline constexpr std::uint64_t split_stream = ~std::uint64_t{1};

/// The number of training sequences: share x count, rounded down; a product that misses a whole number by rounding
/// errors alone is that number. Half of the 97 x 97 = 9409 sums are 4704.
/// Throws argument_error, naming the share, if training or test would be left without a sequence.
[[nodiscard]] inline index training_count(double share, index count) {
  const double exact = share * static_cast<double>(count);
  const auto training = exact >= 0 && exact <= 1e15 ? static_cast<index>(std::floor(exact + 1e-6)) : index{0};
  require(training >= 1 && training < count, "share", share,
          "in (0, 1) such that neither training nor test is empty of " + std::to_string(count) + " sequences");
  return training;
}

/// Chooses which sequences are trained on: in an order that the seed permutes uniformly, each with its partner, as long
/// as they fit into training_count(share, count). The last sequence of the order that is its own partner goes to the
/// end, where it fills the place that pairs may leave open: the number is hit exactly, and one less only if it is odd
/// and every sequence has another partner.
/// \param partners  of each sequence: the one that stays with it on one side, which may be itself; mutual
/// \param share     of the sequences, those in training
/// \param seed      of the permutation
/// \return of each sequence, 1 in training, 0 in test
/// Throws argument_error if partners aren't mutual, or training or test would be empty.
[[nodiscard]] inline std::vector<char> choose_training(std::span<const int> partners, double share,
                                                       std::uint64_t seed) {
  const auto count = static_cast<index>(partners.size());
  require(count >= 2 && count <= std::numeric_limits<int>::max(), "count", count, "at least 2 sequences, below 2^31");
  const auto partner = [&](int sequence) { return partners[static_cast<std::size_t>(sequence)]; };
  for (int sequence = 0; sequence < count; ++sequence)
    if (partner(sequence) < 0 || partner(sequence) >= count || partner(partner(sequence)) != sequence)
      require(false, "partners[" + std::to_string(sequence) + "]", partner(sequence),
              "a sequence whose partner is this one");
  index open = training_count(share, count);

  std::vector<int> order(partners.size());
  std::iota(order.begin(), order.end(), 0);
  counter_generator generator(seed, split_stream);
  shuffle(generator, order);
  const auto alone = [&](int sequence) { return partner(sequence) == sequence; };
  if (const auto kept = std::find_if(order.rbegin(), order.rend(), alone); kept != order.rend())
    std::rotate(kept.base() - 1, kept.base(), order.end());

  std::vector<char> training(partners.size(), 0);
  for (const int sequence : order) {
    const index needed = alone(sequence) ? 1 : 2;
    char& chosen = training[static_cast<std::size_t>(sequence)];
    if (chosen != 0 || needed > open) continue;
    chosen = training[static_cast<std::size_t>(partner(sequence))] = 1;
    open -= needed;
  }
  require(std::ranges::find(training, 1) != training.end(), "share", share, "so large that a pair fits into training");
  return training;
}

/// The two parts of a set.
/// \param all       every sequence
/// \param training  of each sequence: 0 where it is held out
/// Throws shape_error if the two don't fit each other, argument_error if a part would be empty.
[[nodiscard]] inline split_set split(const task::sequence_set& all, std::span<const char> training) {
  require_extent("training.size()", training.size(), all.count());
  const auto part = [&](bool trained) {
    std::vector<int> tokens, answers;
    for (index sequence = 0; sequence < all.count(); ++sequence) {
      if ((training[static_cast<std::size_t>(sequence)] != 0) != trained) continue;
      tokens.insert(tokens.end(), all.tokens(sequence).begin(), all.tokens(sequence).end());
      answers.insert(answers.end(), all.answers(sequence).begin(), all.answers(sequence).end());
    }
    require(!tokens.empty(), trained ? "training" : "test", "an empty split", "at least one sequence");
    return task::sequence_set(all.sizes(), std::move(tokens), std::move(answers));
  };
  return {part(true), part(false)};
}

/// Any set by a share and a seed, as choose_training does where every sequence is its own partner.
/// \param all    every sequence
/// \param share  of them, those in training
/// \param seed   of the choice
[[nodiscard]] inline split_set split(const task::sequence_set& all, double share, std::uint64_t seed) {
  std::vector<int> partners(static_cast<std::size_t>(all.count()));
  std::iota(partners.begin(), partners.end(), 0);
  return split(all, choose_training(partners, share, seed));
}

}  // namespace lindyn::population
