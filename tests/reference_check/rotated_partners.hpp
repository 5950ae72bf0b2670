// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The stored association of the reference files.

#include <span>

#include <lindyn/population/token_laws.hpp>
#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace reference_check {

/// The files' stored association, which isn't that of population::stored_association_tokens: keys of distinct couples
/// (2i, 2i + 1) in uniform order, either member of each; with probability 1/2 every label is its item's partner, else
/// the partners are rotated by one place among the blocks. The queried block is uniform.
class rotated_partners {
public:
  explicit rotated_partners(const lindyn::population::block_list& list) : list_(list) {}

  [[nodiscard]] const lindyn::population::block_list& list() const { return list_; }
  [[nodiscard]] lindyn::symmetry::structure structure() const { return lindyn::symmetry::matching(list_.vocabulary); }

  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    using lindyn::symmetry::matching;
    const auto at = [&](int block, int place) -> int& {
      return tokens[static_cast<std::size_t>(block * list_.block + place)];
    };
    const int item = list_.block - 2, label = list_.block - 1;
    auto& unused = choose.tokens();
    for (int block = 0; block < list_.pairs; ++block)
      for (int key = 0; key <= item; ++key) {
        at(block, key) = choose.token(block * list_.block + key, unused);
        unused.remove(at(block, key));
        unused.remove(matching::partner(at(block, key)));
      }
    const int turn = choose.chance(0.5) ? 0 : 1;
    for (int block = 0; block < list_.pairs; ++block)
      at(block, label) =
          choose.token(block * list_.block + label, matching::partner(at((block + turn) % list_.pairs, item)));
    const int queried = choose.among(list_.pairs);
    for (int key = 0; key <= item; ++key)
      at(list_.pairs, key) = choose.token(list_.pairs * list_.block + key, at(queried, key));
    return at(queried, label);
  }

private:
  lindyn::population::block_list list_;
};

}  // namespace reference_check
