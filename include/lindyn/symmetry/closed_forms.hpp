// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Orbitals of the named groups in closed form: no tables, every query O(1), usable at compile time.
///
/// Each of these groups is transitive, and each of its selected orbitals is a permutation matrix, so that the centred
/// Gram matrix is n on the diagonal minus 1 everywhere, with n points: ||S||^2 = n - 1, <S, S'> = -1.
/// All of them are binary; each says why.

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/permutation.hpp>

namespace lindyn::symmetry {

namespace detail {

/// One orbit of n points, with permutation matrices as selected orbitals.
class transitive {
public:
  constexpr explicit transitive(int points) noexcept : points_(points) {}
  [[nodiscard]] constexpr int size() const noexcept { return points_; }
  [[nodiscard]] constexpr int orbit_count() const noexcept { return 1; }
  [[nodiscard]] constexpr int orbit(int /*point*/) const noexcept { return 0; }
  [[nodiscard]] constexpr int orbit_size(int /*orbit*/) const noexcept { return points_; }
  [[nodiscard]] constexpr std::pair<int, int> block(int /*orbital*/) const noexcept { return {0, 0}; }
  [[nodiscard]] constexpr double pairs(int /*orbital*/) const noexcept { return points_; }
  [[nodiscard]] constexpr bool is_binary() const noexcept { return true; }
  friend constexpr bool operator==(const transitive&, const transitive&) noexcept = default;

private:
  int points_;
};

/// Generators of the wreath product Z_phases wr S_slots: one slot's phases turn, and all slots are permuted.
[[nodiscard]] inline std::vector<permutation> wreath_generators(int slots, int phases) {
  return {extended(rotation(phases), 0, slots * phases), move_slots(transposition(slots), phases),
          move_slots(rotation(slots), phases)};
}

[[nodiscard]] inline std::string shift_name(int shift) {
  if (shift == 0) return "Ip";
  return shift == 1 ? "M" : "M" + std::to_string(shift);
}

}  // namespace detail

/// All permutations of n tokens, S_n. Selected: I (equal tokens). Remainder: different tokens.
/// Binary: if two tuples have the same places equal, a permutation carries one into the other.
class full_symmetric : public detail::transitive {
public:
  /// Throws argument_error for fewer than 3 tokens.
  constexpr explicit full_symmetric(int tokens) : transitive(tokens) {
    if (tokens < 3) require(false, "tokens", tokens, "at least 3, as a class needs at least 3 tokens");
  }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] constexpr int orbital_count() const noexcept { return 1; }
  [[nodiscard]] constexpr int orbital(int i, int j) const noexcept { return i == j ? 0 : -1; }
  [[nodiscard]] std::string name(int /*orbital*/) const { return "I"; }
  [[nodiscard]] std::vector<permutation> generators() const {
    return {detail::transposition(size()), detail::rotation(size())};
  }
  /// \}
  /// Whether both have the same points.
  friend constexpr bool operator==(const full_symmetric&, const full_symmetric&) noexcept = default;
};

/// All permutations of n tokens that keep partners partners, Z_2 wr S_(n/2); the partner of 2i is 2i + 1.
/// Selected: I (equal tokens), C (partners). Remainder: all other pairs.
/// Binary, as it is the slots' group with two phases.
class matching : public detail::transitive {
public:
  /// Throws argument_error unless n is even and at least 4.
  constexpr explicit matching(int tokens) : transitive(tokens) {
    if (tokens < 4 || tokens % 2 != 0)
      require(false, "tokens", tokens, "even and at least 4, as a matching needs two couples of partners");
  }
  /// The other token of the couple.
  [[nodiscard]] static constexpr int partner(int token) noexcept { return token ^ 1; }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] constexpr int orbital_count() const noexcept { return 2; }
  [[nodiscard]] constexpr int orbital(int i, int j) const noexcept { return i == j ? 0 : i == partner(j) ? 1 : -1; }
  [[nodiscard]] std::string name(int orbital) const { return orbital == 0 ? "I" : "C"; }
  [[nodiscard]] std::vector<permutation> generators() const { return detail::wreath_generators(size() / 2, 2); }
  /// \}
  /// Whether both have the same points.
  friend constexpr bool operator==(const matching&, const matching&) noexcept = default;
};

/// The rotations of n positions on a ring, Z_n. The orbital of shift d holds the pairs with i - j = d mod n, that is
/// (M^d)[i, i - d] = 1: the query's row attends d positions back. Selected: M^0 .. M^(n-2). Remainder: shift n - 1.
/// Binary: the rotation of the first point determines a tuple's image, and the others follow by their shifts from it.
class cyclic : public detail::transitive {
public:
  /// Throws argument_error for fewer than 3 positions.
  constexpr explicit cyclic(int positions) : transitive(positions) {
    if (positions < 3) require(false, "positions", positions, "at least 3 on a ring");
  }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] constexpr int orbital_count() const noexcept { return size() - 1; }
  [[nodiscard]] constexpr int orbital(int i, int j) const noexcept {
    const int shift = i < j ? i - j + size() : i - j;
    return shift == size() - 1 ? -1 : shift;
  }
  [[nodiscard]] std::string name(int orbital) const { return detail::shift_name(orbital); }
  [[nodiscard]] std::vector<permutation> generators() const { return {detail::rotation(size())}; }
  /// \}
  /// Whether both have the same points.
  friend constexpr bool operator==(const cyclic&, const cyclic&) noexcept = default;
};

/// m slots of k phases, position slot * k + phase: all permutations of the slots, and a rotation of the phases in each,
/// Z_k wr S_m. Selected: M^0 .. M^(k-1), where M^d holds the pairs of one slot with phase(i) - phase(j) = d mod k.
/// Remainder: positions of different slots.
/// Binary: relations tell which places of a tuple share a slot, so that a permutation of the slots carries one tuple's
/// slots into the other's; in each slot, a rotation then carries the first phase, and the shifts from it do the rest.
class slot_phase : public detail::transitive {
public:
  /// Throws argument_error for fewer than 2 slots, fewer than 2 phases, or more positions than an int can count.
  constexpr slot_phase(int slots, int phases) : transitive(points(slots, phases)), phases_(phases) {}
  /// Number of slots.
  [[nodiscard]] constexpr int slots() const noexcept { return size() / phases_; }
  /// Number of phases, the positions of a slot.
  [[nodiscard]] constexpr int phases() const noexcept { return phases_; }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] constexpr int orbital_count() const noexcept { return phases_; }
  [[nodiscard]] constexpr int orbital(int i, int j) const noexcept {
    if (i / phases_ != j / phases_) return -1;
    return i < j ? i - j + phases_ : i - j;
  }
  [[nodiscard]] std::string name(int orbital) const { return detail::shift_name(orbital); }
  [[nodiscard]] std::vector<permutation> generators() const { return detail::wreath_generators(slots(), phases_); }
  /// \}
  /// Whether both have the same slots and phases.
  friend constexpr bool operator==(const slot_phase&, const slot_phase&) noexcept = default;

private:
  [[nodiscard]] static constexpr int points(int slots, int phases) {
    if (slots < 2) require(false, "slots", slots, "at least 2, else the centred Gram matrix is singular");
    if (phases < 2) require(false, "phases", phases, "at least 2");
    if (slots > std::numeric_limits<int>::max() / phases)
      require(false, "slots", slots, "small enough for slots x phases to fit an int");
    return slots * phases;
  }
  int phases_;
};

static_assert(orbital_structure<full_symmetric> && orbital_structure<matching> && orbital_structure<cyclic> &&
              orbital_structure<slot_phase>);

}  // namespace lindyn::symmetry
