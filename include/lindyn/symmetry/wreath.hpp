// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Slots whose contents one group moves, each slot for itself, while another permutes the slots.

#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/symmetry/permutation.hpp>

namespace lindyn::symmetry {

/// The wreath product, inner wr outer, of a transitive group on phases and any group on slots, in its imprimitive
/// action on the points slot * (number of phases) + phase: an element moves the phases of every slot by an inner
/// element of its own, then the slots by an outer element.
///
/// Two points of one slot keep the inner orbital of their phases and the outer orbit of their slot. The phases of two
/// different slots move independently, and the inner group is transitive, so that nothing but the outer orbital of the
/// slots is kept. Orbits are those of the slots. The remainder of a block is the outer's own (of an outer orbit of one
/// slot, where all pairs are in one slot: the inner remainder). Selected, in this order: for every outer orbit, the
/// inner's selected orbitals and, unless it is the remainder, the inner remainder, both in one slot; then the outer's
/// selected orbitals between different slots.
///
/// Names: an inner orbital keeps its name (followed by the outer orbit's number, "I.0", "I.1", .., if there are
/// several); the inner remainder is "R"; "s", for slots, follows the names of outer orbitals. A prime follows a name
/// that is taken already.
///
/// Binary if and only if both groups are. Let two tuples have the same relations. If both groups are binary, an outer
/// element carries the slots of one into those of the other, and in each slot an inner element the phases. Conversely,
/// tuples in one slot show that the inner group must be binary, tuples of one phase in each slot that the outer must.
///
/// `wreath` is the product of any structures; slot_phase is wreath(cyclic, full_symmetric) without any indirection.
template <class Structure>
class basic_wreath {
public:
  /// Throws argument_error unless `inner` is transitive on at least 2 points and `outer` acts on at least 2, and for
  /// more points than an int can count.
  basic_wreath(Structure inner, Structure outer)
      : inner_(std::move(inner)), outer_(std::move(outer)), phases_(inner_.size()), slots_(outer_.size()) {
    require(inner_.orbit_count() == 1, "inner.orbit_count()", inner_.orbit_count(), "1, a transitive group");
    require(phases_ >= 2, "inner.size()", phases_, "at least 2");
    require(slots_ >= 2, "outer.size()", slots_, "at least 2");
    require(slots_ <= std::numeric_limits<int>::max() / phases_, "outer.size()", slots_,
            "small enough for slots x phases to fit an int");
    std::vector<int> diagonal(static_cast<std::size_t>(outer_.orbit_count()), -1);  // the outer orbital of equal slots
    for (int slot = 0; slot < slots_; ++slot)
      diagonal[static_cast<std::size_t>(outer_.orbit(slot))] = outer_.orbital(slot, slot);

    const double area = static_cast<double>(phases_) * phases_;
    double rest = area;  // pairs of the inner remainder
    for (int s = 0; s < inner_.orbital_count(); ++s) rest -= inner_.pairs(s);
    std::set<std::string> taken;
    const auto select = [&](std::pair<int, int> block, double pairs, std::string name) {
      while (!taken.insert(name).second) name += "'";
      orbitals_.push_back({block, pairs, std::move(name)});
      return orbital_count() - 1;
    };
    for (int orbit = 0; orbit < outer_.orbit_count(); ++orbit) {
      const std::string number = outer_.orbit_count() > 1 ? "." + std::to_string(orbit) : "";
      const auto in_one_slot = [&](double pairs, const std::string& name) {
        return select({orbit, orbit}, outer_.orbit_size(orbit) * pairs, name + number);
      };
      first_.push_back(orbital_count());
      for (int s = 0; s < inner_.orbital_count(); ++s) in_one_slot(inner_.pairs(s), inner_.name(s));
      const bool several = diagonal[static_cast<std::size_t>(orbit)] >= 0;
      remainder_.push_back(several ? in_one_slot(rest, "R") : -1);
    }
    for (int s = 0; s < outer_.orbital_count(); ++s) {
      const auto [row, column] = outer_.block(s);
      const bool equal = row == column && diagonal[static_cast<std::size_t>(row)] == s;
      between_.push_back(equal ? -1 : select({row, column}, area * outer_.pairs(s), outer_.name(s) + "s"));
    }
  }

  /// The group on the phases of a slot.
  [[nodiscard]] const Structure& inner() const noexcept { return inner_; }
  /// The group on the slots.
  [[nodiscard]] const Structure& outer() const noexcept { return outer_; }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] int size() const noexcept { return slots_ * phases_; }
  [[nodiscard]] int orbital_count() const noexcept { return static_cast<int>(orbitals_.size()); }
  [[nodiscard]] int orbital(int i, int j) const {
    const int row = i / phases_, column = j / phases_;
    if (row != column) {
      const int outside = outer_.orbital(row, column);
      return outside < 0 ? -1 : between_[static_cast<std::size_t>(outside)];
    }
    const auto orbit = static_cast<std::size_t>(outer_.orbit(row));
    const int inside = inner_.orbital(i % phases_, j % phases_);
    return inside < 0 ? remainder_[orbit] : first_[orbit] + inside;
  }
  [[nodiscard]] int orbit_count() const { return outer_.orbit_count(); }
  [[nodiscard]] int orbit(int point) const { return outer_.orbit(point / phases_); }
  [[nodiscard]] int orbit_size(int orbit) const { return outer_.orbit_size(orbit) * phases_; }
  [[nodiscard]] std::pair<int, int> block(int s) const noexcept { return orbitals_[static_cast<std::size_t>(s)].block; }
  [[nodiscard]] double pairs(int s) const noexcept { return orbitals_[static_cast<std::size_t>(s)].pairs; }
  [[nodiscard]] std::string name(int s) const { return orbitals_[static_cast<std::size_t>(s)].name; }
  [[nodiscard]] bool is_binary() const { return inner_.is_binary() && outer_.is_binary(); }
  /// The inner generators in one slot of each outer orbit, whose conjugates act in the others, and the outer ones.
  [[nodiscard]] std::vector<permutation> generators() const {
    std::vector<permutation> all;
    for (int slot = 0, orbits = 0; slot < slots_; ++slot) {
      if (outer_.orbit(slot) != orbits) continue;  // only an orbit's first slot has the next number
      ++orbits;
      for (const permutation& phases : inner_.generators())
        all.push_back(detail::extended(phases, slot * phases_, size()));
    }
    for (const permutation& slots : outer_.generators()) all.push_back(detail::move_slots(slots, phases_));
    return all;
  }
  /// \}

private:
  struct orbital_entry {
    std::pair<int, int> block;
    double pairs;
    std::string name;
  };

  Structure inner_, outer_;
  int phases_, slots_;
  std::vector<int> first_;      // by outer orbit: the first selected orbital in one slot
  std::vector<int> remainder_;  // by outer orbit: the inner remainder; -1 where it is the block's remainder
  std::vector<int> between_;    // by outer orbital: the selected orbital between different slots
  std::vector<orbital_entry> orbitals_;
};

}  // namespace lindyn::symmetry
