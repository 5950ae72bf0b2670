// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Couples of an item and a label, in closed form.

#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/permutation.hpp>

namespace lindyn::symmetry {

/// All permutations of n/2 couples (2i, 2i + 1) that keep the sides, S_(n/2): the even tokens are items (side a, orbit
/// 0), the odd ones their labels (side b, orbit 1).
///
/// Between two couples nothing but equal or different is kept, so each of the four (row side x column side) blocks of
/// n/2 x n/2 pairs has two orbitals: one couple, which is selected, and different couples, the remainder. Selected, in
/// this order: Ia (equal items), Ib (equal labels), C (the row is the label of the column's item) and C' (the row is
/// the item of the column's label). Each has n/2 pairs, so that the centred Gram matrix is (n/2 - 1) times the
/// identity.
///
/// Binary: relations and sides tell which places of a tuple hold one couple, and any two tuples of couples with the
/// same places equal are carried into each other by a permutation of the couples.
class directed_matching {
public:
  /// Throws argument_error unless n is even and at least 4.
  constexpr explicit directed_matching(int tokens) : tokens_(tokens) {
    if (tokens < 4 || tokens % 2 != 0)
      require(false, "tokens", tokens, "even and at least 4, as a directed matching needs two couples");
  }
  /// The label of an item, the item of a label.
  [[nodiscard]] static constexpr int partner(int token) noexcept { return token ^ 1; }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] constexpr int size() const noexcept { return tokens_; }
  [[nodiscard]] constexpr int orbital_count() const noexcept { return 4; }
  [[nodiscard]] constexpr int orbital(int i, int j) const noexcept {
    if (i / 2 != j / 2) return -1;
    return i == j ? orbit(i) : orbit(i) == 1 ? 2 : 3;
  }
  [[nodiscard]] constexpr int orbit_count() const noexcept { return 2; }
  [[nodiscard]] constexpr int orbit(int point) const noexcept { return point % 2; }
  [[nodiscard]] constexpr int orbit_size(int /*orbit*/) const noexcept { return tokens_ / 2; }
  [[nodiscard]] constexpr std::pair<int, int> block(int orbital) const noexcept {
    return orbital < 2 ? std::pair{orbital, orbital} : std::pair{3 - orbital, orbital - 2};
  }
  [[nodiscard]] constexpr double pairs(int /*orbital*/) const noexcept { return tokens_ / 2; }
  [[nodiscard]] constexpr bool is_binary() const noexcept { return true; }
  [[nodiscard]] std::string name(int orbital) const {
    return orbital == 0 ? "Ia" : orbital == 1 ? "Ib" : orbital == 2 ? "C" : "C'";
  }
  [[nodiscard]] std::vector<permutation> generators() const {
    return {detail::move_slots(detail::transposition(size() / 2), 2),
            detail::move_slots(detail::rotation(size() / 2), 2)};
  }
  /// \}
  /// Whether both have the same points.
  friend constexpr bool operator==(const directed_matching&, const directed_matching&) noexcept = default;

private:
  int tokens_;
};

static_assert(orbital_structure<directed_matching>);

}  // namespace lindyn::symmetry
