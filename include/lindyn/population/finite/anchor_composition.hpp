// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Anchor composition: two permutations applied to a key, some ordered pairs of which are held out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::population {

/// Of each anchor, the permutation of the keys that it stands for: key k becomes permutations[anchor][k].
using anchor_permutations = std::vector<std::vector<int>>;

/// Uniform permutations of `keys` keys, independent of each other (two may be equal), that the seed determines.
/// Throws argument_error for fewer than 2 keys or anchors.
[[nodiscard]] inline anchor_permutations random_permutations(int keys, int anchors, std::uint64_t seed) {
  require(keys >= 2, "keys", keys, "at least 2");
  require(anchors >= 2, "anchors", anchors, "at least 2");
  anchor_permutations result(static_cast<std::size_t>(anchors), std::vector<int>(static_cast<std::size_t>(keys)));
  counter_generator generator(seed, ~std::uint64_t{2});  // a stream that nothing else draws from
  for (auto& permutation : result) {
    std::iota(permutation.begin(), permutation.end(), 0);
    shuffle(generator, permutation);
  }
  return result;
}

/// Which of the M^2 ordered pairs of anchors (i, j), numbered i M + j, are trained on: first those of a uniform
/// permutation of the anchors, (i, sigma(i)), so that every anchor occurs in both places; then uniform ones of the
/// others.
/// \return of each pair, 1 in training, 0 in test
/// Throws argument_error unless M <= training_pairs < M^2.
[[nodiscard]] inline std::vector<char> choose_training_pairs(int anchors, int training_pairs,
                                                             std::uint64_t split_seed) {
  const int pairs = anchors * anchors;
  require(training_pairs >= anchors && training_pairs < pairs, "training_pairs", training_pairs,
          "at least the number of anchors, " + std::to_string(anchors) +
              ", and less than all pairs, so that neither training nor test is empty: below " + std::to_string(pairs));
  counter_generator generator(split_seed, split_stream);
  std::vector<int> sigma(static_cast<std::size_t>(anchors)), order;
  std::iota(sigma.begin(), sigma.end(), 0);
  shuffle(generator, sigma);
  std::vector<char> training(static_cast<std::size_t>(pairs), 0);
  for (int first = 0; first < anchors; ++first)
    training[static_cast<std::size_t>(first * anchors + sigma[static_cast<std::size_t>(first)])] = 1;
  for (int pair = 0; pair < pairs; ++pair)
    if (training[static_cast<std::size_t>(pair)] == 0) order.push_back(pair);
  std::vector<int> further(static_cast<std::size_t>(training_pairs - anchors));
  draw_distinct(generator, order, further);
  for (const int pair : further) training[static_cast<std::size_t>(pair)] = 1;
  return training;
}

/// The most sequences (keys x anchors^2) that anchor_composition makes.
inline constexpr double most_anchor_sequences = 1 << 24;

/// Options of anchor_composition.
struct anchor_options {
  int keys = 16;                 ///< K
  int anchors = 8;               ///< M
  int training_pairs = 45;       ///< of the M^2 ordered pairs of anchors
  std::uint64_t seed = 1;        ///< of the permutations
  std::uint64_t split_seed = 1;  ///< of the choice of training pairs
};

/// Composition of permutations of your own: sequences (k, a_i, a_j) with the answer pi_j(pi_i(k)), a_i being applied
/// first. Keys are the tokens 0 .. K-1, anchors K .. K+M-1; V = K + M for tokens and for outputs alike, of which only
/// keys are ever answers. Sequences come by pair, then by key.
/// \param permutations    of each anchor; all of as many keys
/// \param training_pairs  of the M^2 pairs, see choose_training_pairs
/// \param split_seed      of that choice
/// Throws argument_error for fewer than 2 keys or anchors and for a split that leaves a part empty, naming the anchor
/// whose row isn't a permutation; shape_error for rows of different lengths.
[[nodiscard]] inline split_set anchor_composition(const anchor_permutations& permutations, int training_pairs,
                                                  std::uint64_t split_seed) {
  require(permutations.size() >= 2 && permutations.size() <= 4096, "anchors", permutations.size(), "in [2, 4096]");
  const auto anchors = static_cast<int>(permutations.size()), keys = static_cast<int>(permutations.front().size());
  require(keys >= 2, "keys", keys, "at least 2");
  for (int anchor = 0; anchor < anchors; ++anchor) {
    std::vector<int> images = permutations[static_cast<std::size_t>(anchor)];
    const std::string name = "permutations[" + std::to_string(anchor) + "]";
    require_extent(name + ".size()", images.size(), keys);
    std::ranges::sort(images);
    for (int key = 0; key < keys; ++key)
      if (images[static_cast<std::size_t>(key)] != key)
        require(false, name, images[static_cast<std::size_t>(key)],
                "a permutation: every key below " + std::to_string(keys) + " once");
  }
  const std::vector<char> pairs = choose_training_pairs(anchors, training_pairs, split_seed);
  std::vector<int> tokens, answers;
  std::vector<char> training;
  for (int first = 0; first < anchors; ++first)
    for (int second = 0; second < anchors; ++second)
      for (int key = 0; key < keys; ++key) {
        const int between = permutations[static_cast<std::size_t>(first)][static_cast<std::size_t>(key)];
        tokens.insert(tokens.end(), {key, keys + first, keys + second});
        answers.push_back(permutations[static_cast<std::size_t>(second)][static_cast<std::size_t>(between)]);
        training.push_back(pairs[static_cast<std::size_t>(first * anchors + second)]);
      }
  const int vocabulary = keys + anchors;
  return split({{vocabulary, vocabulary, 3}, std::move(tokens), std::move(answers)}, training);
}

/// Anchor composition with random permutations: by default 16 keys and 8 anchors (V = 24), 45 of the 64 pairs in
/// training (720 sequences) and 19 held out (304).
/// Source: Ali, arXiv 2605.04396; how the 45 pairs are drawn is our choice, see choose_training_pairs.
/// Throws argument_error as the other, and for more than most_anchor_sequences.
[[nodiscard]] inline split_set anchor_composition(const anchor_options& options = {}) {
  require(options.anchors <= 4096, "anchors", options.anchors, "in [2, 4096]");
  require(1.0 * options.keys * options.anchors * options.anchors <= most_anchor_sequences, "keys", options.keys,
          "so few that keys x anchors^2 is at most 2^24");
  return anchor_composition(random_permutations(options.keys, options.anchors, options.seed), options.training_pairs,
                            options.split_seed);
}

}  // namespace lindyn::population
