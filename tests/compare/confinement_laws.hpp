// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Laws for the tests of confinement: some of the library, and some of a user's that break the symmetry they promise.

#include <span>
#include <utility>
#include <vector>

#include <lindyn/population/law.hpp>

namespace lindyn::testing {

/// N blocks of k tokens on m slots.
inline auto on_slots(const population::block_list& list, int slots = 0) {
  return population::law(population::recall_tokens(list), population::slot_positions(list, slots));
}
/// N blocks of k tokens on a ring of P positions.
inline auto on_ring(const population::block_list& list, int ring) {
  return population::law(population::recall_tokens(list), population::ring_positions(list, ring));
}
/// The same with a stored association.
inline auto stored_on_slots(const population::block_list& list, double within_class, int slots = 0) {
  return population::law(population::stored_association_tokens(list, within_class),
                         population::slot_positions(list, slots));
}
inline auto stored_on_ring(const population::block_list& list, double within_class, int ring) {
  return population::law(population::stored_association_tokens(list, within_class),
                         population::ring_positions(list, ring));
}

/// Positions on a ring where every block starts at an offset of its own, uniform and whatever the others are (so that
/// blocks may overlap). Its symmetry is that of one common offset, the rotations of the ring.
struct independent_offsets {
  population::block_list list;
  int ring;

  [[nodiscard]] int positions() const { return ring; }
  [[nodiscard]] symmetry::structure structure() const { return symmetry::cyclic(ring); }
  template <class Choices>
  void operator()(Choices& choose, std::span<int> positions) const {
    for (int place = 0; place < static_cast<int>(positions.size()); ++place) {
      int& position = positions[static_cast<std::size_t>(place)];
      position = place % list.block == 0
                     ? choose.position(place, choose.positions())
                     : choose.position(place, (positions[static_cast<std::size_t>(place) - 1] + 1) % ring);
    }
  }
};

/// Recall in which token 0 is drawn twice as often as any other. It claims to be symmetric in all tokens, wrongly.
struct frequent_token {
  population::block_list block_list;

  [[nodiscard]] const population::block_list& list() const { return block_list; }
  [[nodiscard]] symmetry::structure structure() const { return symmetry::full_symmetric(block_list.vocabulary); }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    auto& unused = choose.tokens();
    for (int place = 0; place < block_list.pairs * block_list.block; ++place) {
      const int number = choose.among(unused.size() + (unused.contains(0) ? 1 : 0));
      const int token = choose.token(place, number == unused.size() ? 0 : unused[number]);
      tokens[static_cast<std::size_t>(place)] = token;
      unused.remove(token);
    }
    return population::detail::ask(choose, block_list, tokens);
  }
};

/// Recall with items among the first half of the tokens and labels among the second: two classes of tokens, each
/// symmetric in itself, as the given generators say.
struct two_classes {
  population::block_list block_list;

  [[nodiscard]] const population::block_list& list() const { return block_list; }
  [[nodiscard]] symmetry::structure structure() const {
    const int half = block_list.vocabulary / 2;
    std::vector<symmetry::permutation> generators;
    for (const int first : {0, half}) {
      auto exchange = symmetry::identity(2 * half), turn = exchange;
      std::swap(exchange.at(first), exchange.at(first + 1));
      for (int token = first; token < first + half; ++token) turn.at(token) = first + (token - first + 1) % half;
      generators.insert(generators.end(), {exchange, turn});
    }
    return symmetry::commutant(generators, 2 * half);
  }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens) const {
    const int half = block_list.vocabulary / 2, places = block_list.pairs * 2;
    for (const int label : {0, 1}) {
      auto& unused = choose.tokens();
      for (int token = 0; token < half; ++token) unused.remove(token + (label == 0 ? half : 0));
      for (int place = label; place < places; place += 2) {
        int& token = tokens[static_cast<std::size_t>(place)];
        token = choose.token(place, unused);
        unused.remove(token);
      }
    }
    return population::detail::ask(choose, block_list, tokens);
  }
};

}  // namespace lindyn::testing
