// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `conditional_retrieval_tokens`: the label depends on a condition and a key together.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/block_list.hpp>
#include <lindyn/population/distinct_tokens.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

/// Blocks of three, [condition key label]: one for each pair of m conditions and q keys, so that N = m q, in uniform
/// order. The conditions, the keys and the N labels are distinct tokens, uniform. The query shows condition and key of
/// a uniform block, the answer is its label. As every condition meets every key, neither of the two tells the label
/// without the other (if q >= 2): an attention head that matches only one of them is right with probability 1 / q or
/// 1 / m.
///
///     m = q = 2:   [6 1 4] [9 1 7] [9 5 0] [6 5 2]   9 1 -> 7
///
/// Symmetry: all permutations of the tokens. (IMIR names the task; the complete table of pairs is our choice.)
class conditional_retrieval_tokens {
public:
  /// \param list        N = m q blocks of three tokens
  /// \param conditions  m, at least 2, N being a multiple of it
  /// Throws argument_error for other numbers, or fewer than m + q + m q tokens.
  conditional_retrieval_tokens(const block_list& list, int conditions) : list_(list), conditions_(conditions) {
    detail::require_block_list(list);
    require(conditions >= 2, "conditions", conditions, "at least 2, as one tells nothing");
    require(list.pairs % conditions == 0, "pairs", list.pairs,
            "a multiple of conditions = " + std::to_string(conditions) + ", as every condition meets every key");
    detail::require_distinct(list, 3, conditions + keys() + list.pairs);
  }

  /// N blocks, V tokens, three tokens a block.
  [[nodiscard]] const block_list& list() const noexcept { return list_; }
  /// m.
  [[nodiscard]] int conditions() const noexcept { return conditions_; }
  /// q = N / m.
  [[nodiscard]] int keys() const noexcept { return list_.pairs / conditions_; }
  /// The symmetry of the tokens.
  [[nodiscard]] symmetry::structure structure() const { return symmetry::full_symmetric(list_.vocabulary); }

  /// Writes the tokens, returns the answer. In uniform order the next pair is uniform among those that didn't occur
  /// yet. Conditions and keys have no names but their tokens: those that didn't occur yet are one option, which counts
  /// as often as there are pairs of theirs.
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    const auto at = [&](int place) -> int& { return tokens[static_cast<std::size_t>(place)]; };
    auto& unused = choose.tokens();
    std::vector<int> known_conditions, known_keys;  // their tokens, in the order of their first blocks
    std::vector<std::vector<bool>> met(static_cast<std::size_t>(conditions_));  // [condition][key]
    std::vector<int> weights;
    const auto token = [&](std::vector<int>& known, int which, int place) {
      if (which < static_cast<int>(known.size())) return choose.token(place, known[static_cast<std::size_t>(which)]);
      return known.emplace_back(detail::draw_unused(choose, unused, place));
    };
    for (auto& row : met) row.resize(static_cast<std::size_t>(keys()));
    for (int place = 0; place < list_.pairs * 3; place += 3) {
      weights.clear();
      for (std::size_t c = 0; c < known_conditions.size(); ++c)
        weights.push_back(static_cast<int>(std::ranges::count(met[c], false)));
      weights.push_back((conditions_ - static_cast<int>(known_conditions.size())) * keys());
      const int condition = choose.weighted(weights);
      at(place) = token(known_conditions, condition, place);

      auto& row = met[static_cast<std::size_t>(condition)];
      weights.clear();
      for (std::size_t k = 0; k < known_keys.size(); ++k) weights.push_back(row[k] ? 0 : 1);
      weights.push_back(keys() - static_cast<int>(known_keys.size()));
      const int key = choose.weighted(weights);
      at(place + 1) = token(known_keys, key, place + 1);
      row[static_cast<std::size_t>(key)] = true;

      at(place + 2) = detail::draw_unused(choose, unused, place + 2);
    }
    return detail::ask(choose, list_, tokens);
  }

private:
  block_list list_;
  int conditions_;
};

}  // namespace lindyn::population
