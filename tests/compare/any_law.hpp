// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Any data law behind one type, so that what is checked of all laws is compiled once.

#include <functional>
#include <span>
#include <utility>

#include <lindyn/population/law.hpp>

namespace lindyn::testing {

/// Any data law. Its samples, enumeration, probabilities and types are those of the law it holds.
class any_law {
public:
  template <population::data_law Law>
  any_law(Law law)
      : sizes_(law.sizes()),
        structure_(law.structure()),
        draw_([law](population::random_choices& choose, std::span<int> tokens, std::span<int> positions) {
          return law(choose, tokens, positions);
        }),
        enumerate_([law](const visitor& visit) { population::enumerate(law, visit); }),
        probability_([law](const task::sequence& given) { return population::probability(law, given); }),
        enumerate_types_([law](index bound) { return population::enumerate_types(law, bound); }) {}

  [[nodiscard]] population::process_sizes sizes() const { return sizes_; }
  [[nodiscard]] const symmetry::stream_structure& structure() const { return structure_; }
  int operator()(population::random_choices& choose, std::span<int> tokens, std::span<int> positions) const {
    return draw_(choose, tokens, positions);
  }
  template <class Visit>
  void enumerate(Visit&& visit) const {
    enumerate_([&](const task::sequence& sequence) { return population::detail::goes_on(visit, sequence); });
  }
  [[nodiscard]] double probability(const task::sequence& given) const { return probability_(given); }
  [[nodiscard]] population::relational_types enumerate_types(index bound = 20'000) const {
    return enumerate_types_(bound);
  }

private:
  using visitor = std::function<bool(const task::sequence&)>;
  population::process_sizes sizes_;
  symmetry::stream_structure structure_;
  std::function<int(population::random_choices&, std::span<int>, std::span<int>)> draw_;
  std::function<void(const visitor&)> enumerate_;
  std::function<double(const task::sequence&)> probability_;
  std::function<population::relational_types(index)> enumerate_types_;
};

static_assert(population::data_law<any_law>);

}  // namespace lindyn::testing
