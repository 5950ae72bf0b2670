// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How well a network answers: the loss and the counts of right answers.

#include <cstdint>

namespace lindyn::task {

/// Result of an evaluation over places where something is asked, each of which weighs the same.
struct evaluation {
  double loss = 0;           ///< mean cross-entropy in nats
  std::int64_t correct = 0;  ///< places where the largest logit (the first of equals) is the answer's
  std::int64_t total = 0;    ///< places where something was asked

  /// The share of right answers; 0 where nothing was asked.
  [[nodiscard]] constexpr double accuracy() const noexcept {
    return total == 0 ? 0.0 : static_cast<double>(correct) / static_cast<double>(total);
  }
  /// Becomes the result over the places of both.
  constexpr evaluation& operator+=(const evaluation& other) noexcept {
    if (other.total == 0) return *this;
    const auto places = static_cast<double>(total), others = static_cast<double>(other.total);
    loss = (places * loss + others * other.loss) / (places + others);
    correct += other.correct;
    total += other.total;
    return *this;
  }
  /// Whether all numbers agree.
  friend constexpr bool operator==(const evaluation&, const evaluation&) noexcept = default;
};

}  // namespace lindyn::task
