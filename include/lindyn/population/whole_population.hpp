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

/// The number of a law's sequences, by visiting them until there are more than `bound`.
template <data_law Law>
[[nodiscard]] double visited_sequences(const Law& law, double bound) {
  double count = 0;
  enumerate(law, [&](const task::sequence&) { return ++count <= bound; });
  return count;
}

}  // namespace detail

/// The number of sequences that an enumeration visits: exact where it is at most `bound` or where relational types give
/// it, else just a larger one than `bound`.
template <data_law Law>
[[nodiscard]] double sequence_count(const Law& law, double bound = 2'000'000) {
  if (const auto count = detail::sequences_of_types(law)) return *count;
  return detail::visited_sequences(law, bound);
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
  const auto most = static_cast<double>(bound);
  const std::optional<double> of_types = detail::sequences_of_types(law);
  // Counted before any is stored: up to the bound they may take gigabytes.
  const double count = of_types ? *of_types : detail::visited_sequences(law, most);
  if (count > most) throw too_many_error(of_types ? "sequences" : "or more sequences", count, most, advice);
  sequence_table result(law.sizes().length);
  result.reserve(static_cast<index>(count));
  enumerate(law, [&](const task::sequence& sequence) { result.append(sequence); });
  return result;
}

}  // namespace lindyn::population
