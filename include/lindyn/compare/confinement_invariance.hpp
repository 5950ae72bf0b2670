// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Confinement by symmetry alone: is the law invariant under its generators, and is the manifold all of the matrices
/// that commute with them?

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lindyn/compare/confinement_leak.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/symmetry/joint.hpp>

namespace lindyn::compare::detail {

/// The sequence that a generator carries another one into.
class image {
public:
  void take(const symmetry::generator& g, const task::sequence& sequence) {
    const auto move = [](const symmetry::permutation& by, std::span<const int> from, std::vector<int>& to) {
      to.clear();
      for (const int point : from) to.push_back(by[static_cast<std::size_t>(point)]);
    };
    move(g.tokens, sequence.tokens, tokens_);
    move(g.positions, sequence.positions, positions_);
    answer_ = g.tokens[static_cast<std::size_t>(sequence.answer)];
  }
  [[nodiscard]] task::sequence view() const noexcept { return {tokens_, positions_, answer_}; }

private:
  std::vector<int> tokens_, positions_;
  int answer_ = 0;
};

/// "tokens 3 1 4 at 0 1 2, answer 5".
[[nodiscard]] inline std::string text_of(const task::sequence& sequence) {
  std::string text = "tokens";
  for (const int token : sequence.tokens) text.append(" ").append(std::to_string(token));
  text += " at";
  for (const int position : sequence.positions) text.append(" ").append(std::to_string(position));
  return text.append(", answer ").append(std::to_string(sequence.answer));
}

/// Compares the probabilities of sequences and of their images under every generator.
template <population::data_law Law>
class invariance_check {
public:
  explicit invariance_check(const Law& law) : law_(law), structure_(law.structure()) {
    require_extent("law.structure().tokens.size()", structure_.tokens.size(), law.sizes().vocabulary);
    require_extent("law.structure().positions.size()", structure_.positions.size(), law.sizes().positions);
  }

  void operator()(const task::sequence& sequence) {
    ++visited_;
    if (!fault_.empty()) return;
    const double here = population::probability(law_, sequence);
    for (std::size_t g = 0; g < structure_.generators.size() && fault_.empty(); ++g) {
      image_.take(structure_.generators[g], sequence);
      const double there = population::probability(law_, image_.view());
      if (std::abs(there - here) > 1e-12 * here || here <= 0)
        fault_ = "generator " + std::to_string(g) + " of the law's symmetry carries a sequence of probability " +
                 brief(here) + " (" + text_of(sequence) + ") into one of probability " + brief(there) + " (" +
                 text_of(image_.view()) + ")";
    }
  }

  /// What was found to be wrong; empty if nothing.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  [[nodiscard]] double visited() const noexcept { return visited_; }
  [[nodiscard]] std::size_t generators() const noexcept { return structure_.generators.size(); }

private:
  const Law& law_;
  symmetry::stream_structure structure_;
  image image_;
  double visited_ = 0;
  std::string fault_;
};

/// Whether the orbitals of one side of the basis are carried into themselves by all generators.
[[nodiscard]] inline bool orbitals_invariant(const manifold::selection_set& selections,
                                             const std::vector<symmetry::permutation>& generators) {
  return selections.structure().visit([&](const auto& group) {
    for (const auto& g : generators)
      for (int i = 0; i < group.size(); ++i)
        for (int j = 0; j < group.size(); ++j)
          if (group.orbital(i, j) != group.orbital(g[static_cast<std::size_t>(i)], g[static_cast<std::size_t>(j)]))
            return false;
    return true;
  });
}

/// Why the basis doesn't span the centred commutant of the law's generators; empty if it does. The commutant's
/// dimension is taken from the orbitals that the generators have, up to `largest_table` tokens and positions, and from
/// the closed forms that the law names beyond.
[[nodiscard]] inline std::string commutant_fault(const manifold::basis& basis,
                                                 const symmetry::stream_structure& promised) {
  constexpr int largest_table = 1024;
  const auto named = [&](const std::string& what, const manifold::selection_set& selections) -> std::string {
    if (selections.centred() != manifold::centring::orbit_mean) return "the selections of " + what + " aren't centred";
    const int all = selections.structure().orbital_count();
    if (selections.count() == all) return {};
    return std::to_string(selections.count()) + " of " + std::to_string(all) + " orbitals of " + what + " are selected";
  };
  for (const auto& fault : {named("tokens", basis.tokens()), named("positions", basis.positions())})
    if (!fault.empty()) return fault;

  int tokens = promised.tokens.orbital_count(), positions = promised.positions.orbital_count();
  if (std::max(promised.tokens.size(), promised.positions.size()) <= largest_table) {
    std::vector<symmetry::permutation> of_tokens, of_positions;
    for (const auto& g : promised.generators) {
      of_tokens.push_back(g.tokens);
      of_positions.push_back(g.positions);
    }
    if (!orbitals_invariant(basis.tokens(), of_tokens) || !orbitals_invariant(basis.positions(), of_positions))
      return "the basis has other orbitals than the law's generators";
    try {
      const auto generic =
          symmetry::from_generators(promised.tokens.size(), promised.positions.size(), promised.generators);
      tokens = generic.tokens.orbital_count();
      positions = generic.positions.orbital_count();
    } catch (const argument_error& coupled) {
      return coupled.what();
    }
  }
  const index expected =
      manifold::layout(basis.layout().layers(), basis.layout().heads(), tokens, positions).dimension();
  if (expected == basis.dimension()) return {};
  return "the manifold has dimension " + std::to_string(basis.dimension()) + ", the centred commutant of the law's " +
         "generators " + std::to_string(expected);
}

}  // namespace lindyn::compare::detail
