// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block-list task chosen at run time: the law, as one type for all choices.

#include <span>
#include <string>
#include <utility>
#include <variant>

#include <lindyn/population/law.hpp>

namespace examples {

/// recall_tokens or stored_association_tokens.
struct chosen_tokens {
  std::variant<lindyn::population::recall_tokens, lindyn::population::stored_association_tokens> chosen;

  [[nodiscard]] const lindyn::population::block_list& list() const {
    return std::visit(
        [](const auto& law) -> const auto& { return law.list(); }, chosen);
  }
  [[nodiscard]] lindyn::symmetry::structure structure() const {
    return std::visit([](const auto& law) { return law.structure(); }, chosen);
  }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    return std::visit([&](const auto& law) { return law(choose, tokens); }, chosen);
  }
};

/// slot_positions or ring_positions.
struct chosen_positions {
  std::variant<lindyn::population::slot_positions, lindyn::population::ring_positions> chosen;

  [[nodiscard]] int positions() const {
    return std::visit([](const auto& law) { return law.positions(); }, chosen);
  }
  [[nodiscard]] lindyn::symmetry::structure structure() const {
    return std::visit([](const auto& law) { return law.structure(); }, chosen);
  }
  template <class Choices>
  void operator()(Choices& choose, std::span<int> positions) const {
    std::visit([&](const auto& law) { law(choose, positions); }, chosen);
  }
};

using chosen_law = lindyn::population::law<chosen_tokens, chosen_positions>;

/// The options that decide a law.
struct law_options {
  int pairs = 4;
  int vocabulary = 16;
  int block = 2;
  bool association = false;
  double within_class = 0.5;
  std::string positions = "slots";  ///< or "ring"
  int slots = 0;                    ///< 0: pairs + 2
  int ring = 0;                     ///< 0: 2 x slots
};

/// Throws argument_error for options that make no law.
[[nodiscard]] inline chosen_law make_law(const law_options& options) {
  namespace population = lindyn::population;
  const population::block_list list{options.pairs, options.vocabulary, options.block};
  const auto tokens = [&]() -> chosen_tokens {
    if (options.association) return {population::stored_association_tokens(list, options.within_class)};
    return {population::recall_tokens(list)};
  }();
  const int slots = options.slots == 0 ? options.pairs + 2 : options.slots;
  const auto positions = [&]() -> chosen_positions {
    if (options.positions == "ring")
      return {population::ring_positions(list, options.ring == 0 ? 2 * slots : options.ring)};
    lindyn::require(options.positions == "slots", "positions", options.positions, "slots or ring");
    return {population::slot_positions(list, slots)};
  }();
  return {tokens, positions};
}

}  // namespace examples
