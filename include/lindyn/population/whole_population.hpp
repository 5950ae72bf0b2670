// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whole populations: how many sequences a law has, and all of them in memory.

#include <optional>
#include <string>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sequence_table.hpp>

namespace lindyn::population {

namespace detail {

/// The number of a law's sequences, if its relational types give it.
template <data_law Law>
[[nodiscard]] std::optional<double> sequences_of_types(const Law& law) {
  try {
    return enumerate_types(law).sequence_count;
  } catch (const error&) {  // too many types, or none for want of invariance or of a group whose relations tell them
    return std::nullopt;
  }
}

}  // namespace detail

/// The number of sequences that an enumeration visits: exact where it is at most `bound` or where relational types give
/// it, else just a larger one than `bound`.
template <data_law Law>
[[nodiscard]] double sequence_count(const Law& law, double bound = 2'000'000) {
  if (const auto count = detail::sequences_of_types(law)) return *count;
  struct stop {};
  double count = 0;
  try {
    enumerate(law, [&](const task::sequence&) {
      if (++count > bound) throw stop{};
    });
  } catch (stop) {
  }
  return count;
}

/// All sequences of a law with their weights.
/// \param bound   largest number of them
/// \param advice  what the error says is feasible instead
/// Throws too_many_error, naming their number where it can be had, beyond `bound`.
template <data_law Law>
[[nodiscard]] sequence_table whole_population(
    const Law& law, index bound = 2'000'000,
    const std::string& advice = "take fewer pairs, tokens or positions (2 pairs of 5 tokens on 3 slots have 11520)") {
  require(bound >= 0, "bound", bound, "not negative");
  const std::optional<double> count = detail::sequences_of_types(law);
  const auto most = static_cast<double>(bound);
  if (count && *count > most) throw too_many_error("sequences", *count, most, advice);
  sequence_table result(law.sizes().length);
  if (count) result.reserve(static_cast<index>(*count));
  enumerate(law, [&](const task::sequence& sequence) {
    if (result.size() == bound) throw too_many_error("or more sequences", most + 1, most, advice);
    result.append(sequence);
  });
  return result;
}

}  // namespace lindyn::population
