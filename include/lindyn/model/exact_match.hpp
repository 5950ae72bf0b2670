// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whole sequences that a network answers rightly.

#include <cstdint>
#include <span>
#include <vector>

#include <lindyn/core/views.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::model {

/// Result of an evaluation by places and by sequences.
struct sequence_evaluation {
  task::evaluation places;     ///< over all places where something is asked: its accuracy is that of tokens
  std::int64_t matched = 0;    ///< sequences where all that is asked, be it nothing, is answered rightly
  std::int64_t sequences = 0;  ///< all of them

  /// The share of sequences that are answered rightly at all places; 0 where there are none.
  [[nodiscard]] constexpr double exact_match() const noexcept {
    return sequences == 0 ? 0.0 : static_cast<double>(matched) / static_cast<double>(sequences);
  }
};

/// Evaluates a network on a whole set, in blocks, which bound the memory. Where the answers of a sequence are its own next
/// tokens and a last one that ends it, a causal network matches exactly those sequences that it also writes itself, by
/// `decode_greedily`: right up to some place, it has read there what stands in the set, so that it answers the same. This
/// takes one evaluation instead of one a token; only logits that are equal up to rounding may be ordered otherwise.
/// \param net      as prenorm_transformer
/// \param weights  its weights
/// \param set      the sequences, at least one
/// \param memory   that evaluations reuse
/// \param block    sequences that are evaluated at once, at least 1
/// Throws as the network does.
template <class Net>
[[nodiscard]] sequence_evaluation evaluate_sequences(const Net& net, std::span<const typename Net::scalar> weights,
                                                     const task::sequence_set& set, typename Net::workspace& memory,
                                                     index block = 1024) {
  std::vector<int> answers;
  sequence_evaluation result;
  result.places = net.answer(weights, set, answers, memory, block);
  result.sequences = set.count();
  auto answer = answers.begin();
  for (index sequence = 0; sequence < set.count(); ++sequence) {
    bool right = true;
    for (const int asked : set.answers(sequence))
      if (asked != task::no_answer) right &= *answer++ == asked;
    result.matched += right ? 1 : 0;
  }
  return result;
}

}  // namespace lindyn::model
