// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block-list task chosen at run time: the law, as one type for all choices.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/type_sample.hpp>

namespace examples {

/// The tokens of any block-list task.
struct chosen_tokens {
  std::variant<lindyn::population::recall_tokens, lindyn::population::stored_association_tokens,
               lindyn::population::directed_association_tokens, lindyn::population::j_hop_tokens,
               lindyn::population::indirect_object_tokens, lindyn::population::conditional_retrieval_tokens,
               lindyn::population::permutation_inversion_tokens>
      chosen;

  [[nodiscard]] const lindyn::population::block_list& list() const {
    return std::visit(
        [](const auto& law) -> const auto& { return law.list(); }, chosen);
  }
  [[nodiscard]] lindyn::symmetry::structure structure() const {
    return std::visit([](const auto& law) -> lindyn::symmetry::structure { return law.structure(); }, chosen);
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
  std::string task = "recall";  ///< one of `tasks`
  int pairs = 4;
  int vocabulary = 16;
  int block = 0;                               ///< 0: 3 for conditional retrieval, else 2
  int hops = 2;                                ///< j_hop only
  int conditions = 2;                          ///< conditional_retrieval only
  bool association = false, directed = false;  ///< recall only, as all up to `distractors`
  double within_class = 0.5;
  double rare = 0;
  int rare_vocabulary = 0;
  int burstiness = 1;
  int distractors = 0;
  std::string positions = "slots";  ///< or "ring"
  int slots = 0;                    ///< 0: pairs + distractors + 2
  int ring = 0;                     ///< 0: block x slots
};

/// The tasks, by name.
inline const std::vector<std::string> tasks{"recall", "j_hop", "indirect_object", "conditional_retrieval",
                                            "permutation_inversion"};

/// The same with every 0 that stands for a default replaced by it.
[[nodiscard]] inline law_options completed(law_options options) {
  if (options.block == 0) options.block = options.task == "conditional_retrieval" ? 3 : 2;
  if (options.slots == 0) options.slots = options.pairs + options.distractors + 2;
  if (options.ring == 0) options.ring = options.block * options.slots;
  return options;
}

/// Throws argument_error for options that make no law.
[[nodiscard]] inline chosen_tokens make_tokens(const law_options& options) {
  namespace population = lindyn::population;
  const population::block_list list{options.pairs, options.vocabulary, options.block, options.burstiness,
                                    options.distractors};
  const population::rare_class rare{options.rare, options.rare_vocabulary};
  if (options.task == "recall") {
    lindyn::require(!options.association || !options.directed, "directed", "true",
                    "false with --association: couples are directed or not");
    if (options.association) return {population::stored_association_tokens(list, options.within_class, rare)};
    if (options.directed) return {population::directed_association_tokens(list, options.within_class, rare)};
    return {population::recall_tokens(list, rare)};
  }
  const auto only_recall = [&](const char* name, bool given) {
    lindyn::require(!given, name, "given", "left out, as --task " + options.task + " doesn't have it");
  };
  only_recall("association", options.association);
  only_recall("directed", options.directed);
  only_recall("rare", options.rare != 0);
  only_recall("rare-vocab", options.rare_vocabulary != 0);
  if (options.task == "j_hop") return {population::j_hop_tokens(list, options.hops)};
  if (options.task == "indirect_object") return {population::indirect_object_tokens(list)};
  if (options.task == "conditional_retrieval")
    return {population::conditional_retrieval_tokens(list, options.conditions)};
  lindyn::require(options.task == "permutation_inversion", "task", options.task,
                  "recall, j_hop, indirect_object, conditional_retrieval or permutation_inversion");
  return {population::permutation_inversion_tokens(list)};
}

/// Throws argument_error for options that make no law.
[[nodiscard]] inline chosen_law make_law(const law_options& given) {
  namespace population = lindyn::population;
  const law_options options = completed(given);
  const chosen_tokens tokens = make_tokens(options);
  const auto positions = [&]() -> chosen_positions {
    if (options.positions == "ring") return {population::ring_positions(tokens.list(), options.ring)};
    lindyn::require(options.positions == "slots", "positions", options.positions, "slots or ring");
    return {population::slot_positions(tokens.list(), options.slots)};
  }();
  return {tokens, positions};
}

/// The population as the reduced model sees it: all relational types, or a sample of them where they are too many.
struct reduced_population {
  lindyn::population::sequence_table sequences;
  std::optional<lindyn::population::type_sample> sample;
};

[[nodiscard]] inline reduced_population relational_population(const chosen_law& law, std::uint64_t seed) {
  try {
    return {lindyn::population::enumerate_types(law).types, {}};
  } catch (const lindyn::too_many_error&) {
    auto sample = lindyn::population::sample_types(law, 2'000, seed);
    return {sample.sequences, std::move(sample)};
  }
}

}  // namespace examples
