// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Anchor shift: two anchors, each of which adds a number to the key before them, among other items. One pair of anchors
/// is taught a wrong sum, and the reverse pair is never seen.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::population {

/// Two anchors in their order, numbered from 1 as their tokens are.
struct anchor_pair {
  int first = 0;   ///< the anchor right behind the key
  int second = 0;  ///< the anchor behind that one

  /// Whether both are the same pair.
  friend constexpr bool operator==(const anchor_pair&, const anchor_pair&) noexcept = default;
};

/// Options of anchor_shift. The numbers of sequences are our choice.
struct anchor_shift_options {
  std::vector<int> shifts = std::vector<int>{5, 1, -2, -8};  ///< what the anchors 1, 2, .. add
  int first_item = 20;                                       ///< the first of the items, which are their tokens too
  int last_item = 99;                                        ///< the last of them
  int length = 9;                                            ///< n
  anchor_pair mislabelled{3, 4};                             ///< trained with another sum
  int wrong_shift = -6;                                      ///< that sum
  anchor_pair unseen{4, 3};  ///< of which nothing is in training: the reverse of that one
  int per_pair = 2000;       ///< sequences in training of each pair but the unseen one
  int test_per_pair = 1000;  ///< sequences in test of each pair
  std::uint64_t seed = 1;    ///< of all that is drawn
};

/// The parts of anchor shift, by pair of anchors.
struct anchor_shift_data {
  task::sequence_set training;  ///< all pairs but the unseen one
  task::sequence_set seen;      ///< the same pairs, with keys at places where training never has them
  task::sequence_set unseen;    ///< the unseen pair, there too; answers are key plus both shifts
};

/// What the unseen pair is answered: shares that add up to 1.
struct anchor_shift_scores {
  double inferential = 0;  ///< key plus both shifts (x - 10): the sum of what either anchor does elsewhere
  double symmetric = 0;    ///< key plus the wrong shift (x - 6): what the reverse pair was taught
  double other = 0;        ///< anything else
};

/// What a pair adds to the key where it follows its anchors.
[[nodiscard]] inline int total_shift(const anchor_shift_options& options, const anchor_pair& pair) {
  const auto shift = [&](const char* name, int anchor) {
    require(anchor >= 1 && anchor <= static_cast<int>(options.shifts.size()), name, anchor,
            "an anchor: in [1, " + std::to_string(options.shifts.size()) + "]");
    return options.shifts[static_cast<std::size_t>(anchor - 1)];
  };
  return shift("pair.first", pair.first) + shift("pair.second", pair.second);
}

/// Sequences of n tokens: n - 2 items, one of which, the key x, has two anchors behind it. The answer, at the last place, is
/// x plus both anchors' shifts. The other items are uniform. Keys and their places are uniform over what the part allows: in
/// training a key x is never at the place x mod (n - 2) (places count from 0; a key has n - 2 of them), and in
/// test always. One pair is trained with the wrong shift, and examined with it in `seen`; another one is only in `unseen`.
/// Tokens 1 .. 4 are anchors, 20 .. 99 items; answers are 4 .. 109: V = 110 for tokens and for outputs alike.
/// Source: Zhang and others, arXiv 2405.05409, as Ali, arXiv 2605.04396, takes it up; that the rule of places holds for the
/// key alone, and not for the other items, is our choice.
/// Throws argument_error, naming the option, for what makes no such data: fewer than 2 anchors, items among the anchors'
/// tokens or with negative sums, a length below 4, keys of one place alone (fewer items than places), an unseen
/// pair that isn't the reverse of the mislabelled one, or is the same, a wrong shift that is the unseen pair's right one,
/// no sequences, or more than 2^24 of them.
[[nodiscard]] inline anchor_shift_data anchor_shift(const anchor_shift_options& options = {}) {
  const auto anchors = static_cast<int>(std::min<std::size_t>(options.shifts.size(), 1 << 12));
  constexpr int most_items = 1 << 16;
  require(anchors >= 2 && options.shifts.size() <= 1 << 12, "shifts.size()", options.shifts.size(), "in [2, 4096]");
  for (const int shift : options.shifts)
    require(shift >= -most_items && shift <= most_items, "shifts", shift, "in [-65536, 65536]");
  require(options.wrong_shift >= -most_items && options.wrong_shift <= most_items, "wrong_shift", options.wrong_shift,
          "in [-65536, 65536]");
  require(options.length >= 4 && options.length <= 4096, "length", options.length, "in [4, 4096]");
  const int key_places = options.length - 2;
  require(options.first_item > anchors, "first_item", options.first_item,
          "above the anchors' tokens, which end with " + std::to_string(anchors));
  require(options.last_item <= most_items && options.last_item - options.first_item + 1 >= key_places, "last_item",
          options.last_item,
          "such that items are as many as places of a key, " + std::to_string(key_places) + ", and at most 65536");
  const int right = total_shift(options, options.unseen);
  (void)total_shift(options, options.mislabelled);
  const auto text = [](int first, int second) {
    return '{' + std::to_string(first) + ", " + std::to_string(second) + '}';
  };
  const auto& [one, other] = options.mislabelled;
  require(one != other, "mislabelled", text(one, other), "a pair of two anchors, so that its reverse is another one");
  require(options.unseen == anchor_pair{other, one}, "unseen", text(options.unseen.first, options.unseen.second),
          "the reverse of the mislabelled pair, " + text(other, one));
  require(options.wrong_shift != right, "wrong_shift", options.wrong_shift,
          "another one than the sum of the unseen pair, so that the two can be told apart");
  require(options.per_pair >= 1, "per_pair", options.per_pair, "at least 1");
  require(options.test_per_pair >= 1, "test_per_pair", options.test_per_pair, "at least 1");
  require(1.0 * anchors * anchors * std::max(options.per_pair, options.test_per_pair) <= 1 << 24, "per_pair",
          options.per_pair, "so few that there are at most 2^24 sequences");

  const auto shift_of = [&](const anchor_pair& pair) {
    return pair == options.mislabelled ? options.wrong_shift : total_shift(options, pair);
  };
  const auto [lowest, highest] = std::ranges::minmax(options.shifts);
  const int least = std::min({2 * lowest, options.wrong_shift}), most = std::max({2 * highest, options.wrong_shift, 0});
  require(options.first_item + least >= 0, "first_item", options.first_item,
          "at least " + std::to_string(-least) + ", so that no answer is negative");
  const int vocabulary = options.last_item + most + 1;

  counter_generator generator(options.seed, split_stream);
  const auto draw = [&](int count) { return static_cast<int>(uniform_index(generator, count)); };
  const auto item = [&] { return options.first_item + draw(options.last_item - options.first_item + 1); };
  struct part {
    std::vector<int> tokens, answers;
  };
  const auto append = [&](const anchor_pair& pair, bool examined, int count, part& to) {
    for (int i = 0; i < count; ++i) {
      const int key = item(), kept = key % key_places;
      const int place = examined ? kept : (kept + 1 + draw(key_places - 1)) % key_places;
      for (int before = 0; before < place; ++before) to.tokens.push_back(item());
      to.tokens.insert(to.tokens.end(), {key, pair.first, pair.second});
      for (int behind = place + 3; behind < options.length; ++behind) to.tokens.push_back(item());
      to.answers.push_back(key + shift_of(pair));
    }
  };
  part training, seen, unseen;
  for (int first = 1; first <= anchors; ++first)
    for (int second = 1; second <= anchors; ++second) {
      const anchor_pair pair{first, second};
      if (pair != options.unseen) append(pair, false, options.per_pair, training);
      append(pair, true, options.test_per_pair, pair == options.unseen ? unseen : seen);
    }
  const auto made = [&](part& from) {
    return task::sequence_set({vocabulary, vocabulary, options.length}, std::move(from.tokens),
                              std::move(from.answers));
  };
  return {made(training), made(seen), made(unseen)};
}

/// What the unseen pair is answered.
/// \param options    of the data
/// \param unseen     its sequences, as anchor_shift makes them
/// \param predicted  what was answered, of each of them
/// Throws shape_error if these are more or fewer, argument_error if there are none.
[[nodiscard]] inline anchor_shift_scores score_anchor_shift(const anchor_shift_options& options,
                                                            const task::sequence_set& unseen,
                                                            std::span<const int> predicted) {
  require_extent("predicted.size()", predicted.size(), unseen.count());
  require(!predicted.empty(), "predicted.size()", 0, "at least 1");
  const int to_symmetric = options.wrong_shift - total_shift(options, options.unseen);
  const double each = 1.0 / static_cast<double>(predicted.size());
  int inferential = 0, symmetric = 0;
  for (index sequence = 0; sequence < unseen.count(); ++sequence) {
    const int answer = unseen.answers(sequence).back(), found = predicted[static_cast<std::size_t>(sequence)];
    inferential += found == answer ? 1 : 0;
    symmetric += found == answer + to_symmetric ? 1 : 0;
  }
  return {each * inferential, each * symmetric, each * static_cast<double>(unseen.count() - inferential - symmetric)};
}

}  // namespace lindyn::population
