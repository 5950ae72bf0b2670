// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Anchor composition with vectors for tokens, for models that are linear in the key.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/task/vector_composition.hpp>

namespace lindyn::population {

/// What pairs of anchors do to keys.
enum class composition_rule {
  shared,    ///< all pairs the same: the answer to key k is that of a permutation, which one number a pair can express
  composed,  ///< as anchor_composition: pi_j(pi_i(k)), which no number a pair can express
};

/// The rule's name.
[[nodiscard]] constexpr std::string_view name(composition_rule rule) noexcept {
  return rule == composition_rule::shared     ? "shared"
         : rule == composition_rule::composed ? "composed"
                                              : std::string_view{};
}

/// What vectors stand for keys and anchors.
enum class token_vectors {
  one_hot,   ///< orthonormal: token t is unit vector t, anchors being the tokens behind the keys
  gaussian,  ///< entries drawn from N(0, 1 / d): of length 1 and orthogonal on average only
};

/// The vectors' name.
[[nodiscard]] constexpr std::string_view name(token_vectors vectors) noexcept {
  return vectors == token_vectors::one_hot    ? "one_hot"
         : vectors == token_vectors::gaussian ? "gaussian"
                                              : std::string_view{};
}

/// Options of vector_composition.
struct vector_options {
  int keys = 16;                                     ///< K
  int anchors = 8;                                   ///< A
  int training_pairs = 45;                           ///< of the A^2 ordered pairs of anchors
  int width = 64;                                    ///< d; of one-hot vectors, at least K + A
  composition_rule rule = composition_rule::shared;  ///< of the answers
  token_vectors vectors = token_vectors::one_hot;    ///< of keys and anchors; answers are vectors of keys
  std::uint64_t seed = 1;                            ///< of the permutations and of gaussian vectors
  std::uint64_t split_seed = 1;                      ///< of the choice of training pairs
};

/// The training pairs of anchor composition, whose permutations and split it shares, with vectors.
/// Throws argument_error as anchor_composition does, and for a width that is too small.
[[nodiscard]] inline task::vector_composition vector_composition(const vector_options& options = {}) {
  require_enumerator("rule", options.rule);
  require_enumerator("vectors", options.vectors);
  require(options.keys >= 2 && options.keys <= 4096, "keys", options.keys, "in [2, 4096]");
  require(options.anchors >= 2 && options.anchors <= 4096, "anchors", options.anchors, "in [2, 4096]");
  const bool one_hot = options.vectors == token_vectors::one_hot;
  require(options.width >= (one_hot ? options.keys + options.anchors : 1), "width", options.width,
          one_hot ? "at least keys + anchors, which one_hot needs" : "at least 1");
  const anchor_permutations permutations = random_permutations(options.keys, options.anchors, options.seed);
  const std::vector<char> training = choose_training_pairs(options.anchors, options.training_pairs, options.split_seed);

  task::vector_composition result{.width = options.width};
  const auto width = static_cast<std::size_t>(options.width), keys = static_cast<std::size_t>(options.keys);
  std::vector<double> vectors((keys + static_cast<std::size_t>(options.anchors)) * width);
  counter_generator generator(options.seed, ~std::uint64_t{3});  // a stream that nothing else draws from
  for (std::size_t entry = 0; entry < vectors.size(); ++entry)
    vectors[entry] = one_hot ? (entry / width == entry % width ? 1 : 0)
                             : standard_normal(generator) / std::sqrt(static_cast<double>(options.width));
  result.keys.assign(vectors.begin(), vectors.begin() + static_cast<std::ptrdiff_t>(keys * width));
  result.anchors.assign(vectors.begin() + static_cast<std::ptrdiff_t>(keys * width), vectors.end());

  const auto append_answers = [&](std::vector<double>& to, const auto& image) {
    for (std::size_t row = 0; row < width; ++row)
      for (std::size_t key = 0; key < keys; ++key) to.push_back(result.keys[image(key) * width + row]);
  };
  const auto image = [&](index anchor, std::size_t key) {
    return static_cast<std::size_t>(permutations[static_cast<std::size_t>(anchor)][key]);
  };
  for (index first = 0; first < options.anchors; ++first)
    for (index second = 0; second < options.anchors; ++second)
      if (training[static_cast<std::size_t>(first * options.anchors + second)]) {
        result.pairs.push_back({first, second});
        if (options.rule == composition_rule::composed)
          append_answers(result.answers, [&](std::size_t key) { return image(second, image(first, key)); });
      }
  if (options.rule == composition_rule::shared) {
    append_answers(result.rule, [&](std::size_t key) { return image(0, key); });
    result.couplings.assign(result.pairs.size(), 1.0);
    make_separable_answers(result);
  }
  return result;
}

}  // namespace lindyn::population
