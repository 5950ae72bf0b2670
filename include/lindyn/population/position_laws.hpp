// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the positions of block lists are drawn: `slot_positions` and `ring_positions`.

#include <algorithm>
#include <span>
#include <string>

#include <lindyn/population/block_list.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn {

/// Position laws as types, for compile-time manifolds.
namespace positions {

/// Every block takes a slot of its own. The position selections are {I, M, .., M^(k-1)}, M the shift inside a slot.
struct slots {};

/// Positions follow each other on a ring of P. The position selections are M^0 .. M^(P-2): every circulant is needed,
/// and the centred ones sum to zero.
template <int P>
struct ring {
  static_assert(P >= 3, "lindyn: a ring needs at least three positions.");
  static constexpr int size = P;  ///< P
};

}  // namespace positions

namespace population {

/// m slots of k phases, position = slot * k + phase. Each of the N + D + 1 blocks (the query is the last, incomplete)
/// takes a slot of its own, uniform without replacement, and a phase f of its own, uniform; its r-th token stands at
/// phase f + r mod k. Symmetry: permutations of the slots and rotations inside each, Z_k wr S_m.
class slot_positions {
public:
  /// \param list   sizes
  /// \param slots  m; 0 takes the default N + D + 2
  /// Throws argument_error if m < N + D + 1.
  explicit slot_positions(const block_list& list, int slots = 0) : block_(list.block), slots_(slots) {
    detail::require_block_list(list);
    if (slots == 0) slots_ = list.blocks() + 2;
    const int least = list.blocks() + 1;
    const std::string blocks = list.distractors > 0 ? "pairs + distractors" : "pairs";
    require(slots_ >= least, "slots", slots,
            "at least " + blocks + " + 1 = " + std::to_string(least) + " (0: " + blocks + " + 2)");
    require(slots_ <= 100'000, "slots", slots, "at most 100000");
  }

  /// m.
  [[nodiscard]] int slots() const noexcept { return slots_; }
  /// P = m k.
  [[nodiscard]] int positions() const noexcept { return slots_ * block_; }
  /// Z_k wr S_m.
  [[nodiscard]] symmetry::structure structure() const { return symmetry::slot_phase(slots_, block_); }

  /// Writes the positions.
  template <class Choices>
  void operator()(Choices& choose, std::span<int> positions) const {
    auto& unused = choose.positions();
    for (int place = 0; place < static_cast<int>(positions.size()); ++place) {
      const int phase = place % block_, before = phase == 0 ? 0 : positions[static_cast<std::size_t>(place - phase)];
      const int slot = before - before % block_;
      const int position =
          phase == 0 ? choose.position(place, unused) : choose.position(place, slot + (before - slot + phase) % block_);
      positions[static_cast<std::size_t>(place)] = position;
      if (phase == 0)
        for (int other = 0; other < block_; ++other) unused.remove(position - position % block_ + other);
    }
  }

private:
  int block_, slots_;
};

/// P positions on a ring: the sequence starts at a uniform offset, position i is offset + i mod P.
/// Symmetry: the rotations of the ring.
class ring_positions {
public:
  /// Throws argument_error if P is shorter than the sequence (or 3).
  ring_positions(const block_list& list, int ring) : ring_(ring) {
    detail::require_block_list(list);
    const int least = std::max(3, list.length());
    require(ring >= least, "ring", ring, "at least " + std::to_string(least) + ", the length of a sequence");
    require(ring <= 100'000, "ring", ring, "at most 100000");
  }

  /// P.
  [[nodiscard]] int positions() const noexcept { return ring_; }
  /// Z_P.
  [[nodiscard]] symmetry::structure structure() const { return symmetry::cyclic(ring_); }

  /// Writes the positions.
  template <class Choices>
  void operator()(Choices& choose, std::span<int> positions) const {
    auto& all = choose.positions();
    for (int place = 0; place < static_cast<int>(positions.size()); ++place)
      positions[static_cast<std::size_t>(place)] =
          place == 0 ? choose.position(0, all) : choose.position(place, (positions[0] + place) % ring_);
  }

private:
  int ring_;
};

}  // namespace population
}  // namespace lindyn
