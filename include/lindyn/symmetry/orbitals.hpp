// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Orbitals: the orbits of a permutation group on ordered pairs, and the basis of its commutant that they give.
///
/// The 0/1 matrices S of the orbitals are a basis of the commutant, the matrices X with \f$P X P^\top = X\f$ for every
/// permutation matrix P of the group, which says that X is constant along orbitals. A *block* is a (row orbit x column
/// orbit) rectangle of r x c points; every orbital lies in one, with p pairs. The *centred* matrix of an orbital is S
/// minus its mean on its block,
/// \f[ S - \frac{p}{r c}\, \mathbf 1 \mathbf 1^\top . \f]
///
/// Centred matrices are orthogonal to all vectors that the group leaves fixed (they are constant on orbits): the row
/// sums of S agree within its row orbit, so that those of the centred matrix are
/// \f$\frac{p}{r} - \frac{p}{r c}\, c = 0\f$; columns alike. The orbitals of one block sum to
/// \f$\mathbf 1 \mathbf 1^\top\f$, so their centred matrices sum to 0 and satisfy no other relation: leaving one
/// orbital out per block, the *remainder*, makes the others, the *selected* ones, a basis of the centred commutant.

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>
#include <lindyn/symmetry/group.hpp>
#include <lindyn/symmetry/permutation.hpp>

namespace lindyn::symmetry {

/// What is known of a permutation group's orbitals. Points are 0 .. size()-1; orbits 0 .. orbit_count()-1, in the order
/// of their smallest points; selected orbitals 0 .. orbital_count()-1. Arguments outside these ranges are not checked.
/// The diagonal of an orbit of several points is always selected.
///
/// A group is *binary* if tuples of points, of any length, whose orbits and pairwise orbitals agree place by place are
/// carried into each other by an element of the group, so that relations tell the types of sequences.
/// Source: Cherlin, "Sporadic homogeneous structures", The Gelfand Mathematical Seminars 1996-1999 (2000).
template <class T>
concept orbital_structure = requires(const T& group, int i) {
  { group.size() } -> std::same_as<int>;                    // number of points
  { group.orbital_count() } -> std::same_as<int>;           // number of selected orbitals
  { group.orbital(i, i) } -> std::same_as<int>;             // the selected orbital of (row, column); -1: remainder
  { group.orbit_count() } -> std::same_as<int>;             // number of orbits of points
  { group.orbit(i) } -> std::same_as<int>;                  // the orbit of a point
  { group.orbit_size(i) } -> std::same_as<int>;             // number of points of an orbit
  { group.block(i) } -> std::same_as<std::pair<int, int>>;  // (row orbit, column orbit) of a selected orbital
  { group.pairs(i) } -> std::same_as<double>;               // number of ordered pairs of a selected orbital
  { group.name(i) } -> std::same_as<std::string>;           // of a selected orbital
  { group.is_binary() } -> std::same_as<bool>;              // true: known to be binary
  { group.generators() } -> std::same_as<std::vector<permutation>>;
};

/// Number of matrix entries of the block of the selected orbital s.
template <orbital_structure Structure>
[[nodiscard]] constexpr double block_area(const Structure& structure, int s) {
  const auto [row_orbit, column_orbit] = structure.block(s);
  return static_cast<double>(structure.orbit_size(row_orbit)) * structure.orbit_size(column_orbit);
}

/// The Frobenius product of the centred matrices of the selected orbitals s and t: within one block of r x c points
/// [s == t] pairs(s) - pairs(s) pairs(t) / (r c), since distinct orbitals are disjoint; 0 between blocks.
template <orbital_structure Structure>
[[nodiscard]] constexpr double gram(const Structure& structure, int s, int t) {
  if (structure.block(s) != structure.block(t)) return 0.0;
  const double pairs = structure.pairs(s);
  return (s == t ? pairs : 0.0) - pairs * structure.pairs(t) / block_area(structure, s);
}

/// The entry (row i, column j) of the centred matrix of the selected orbital s.
template <orbital_structure Structure>
[[nodiscard]] constexpr double centred_value(const Structure& structure, int s, int i, int j) {
  if (structure.block(s) != std::pair(structure.orbit(i), structure.orbit(j))) return 0.0;
  return (structure.orbital(i, j) == s ? 1.0 : 0.0) - structure.pairs(s) / block_area(structure, s);
}

/// Dimension of the whole commutant: the selected orbitals and one remainder for each block.
template <orbital_structure Structure>
[[nodiscard]] constexpr int commutant_dimension(const Structure& structure) {
  return structure.orbital_count() + structure.orbit_count() * structure.orbit_count();
}

/// The orbitals of any permutation group, from its generators: time O(n^2 |generators|), 4 n^2 bytes
/// (and some 24 bytes an orbital while it is built, which counts for groups of few elements).
///
/// Orbitals are numbered in the order of their first pair, column by column: those of a rotation are I, M, M^2, .. The
/// remainder of a block is its largest orbital (of several, the last in that order). The diagonal of an orbit is named
/// "I" ("I0", "I1", .. by orbit if there are several), the other selected orbitals are "R1", "R2", .. in order.
class orbital_table {
public:
  /// Largest number of points: the table then takes 256 MiB.
  static constexpr int max_size = 8192;

  /// \param size       number of points n, 1 .. max_size
  /// \param generators permutations of 0 .. n-1; none is the trivial group
  /// Throws argument_error for other sizes and invalid permutations.
  orbital_table(int size, std::vector<permutation> generators) : size_(size), generators_(std::move(generators)) {
    require(size >= 1 && size <= max_size, "size", size, "in [1, " + std::to_string(max_size) + "]");
    orbits_ = orbit_labels(generators_, size);
    for (const int orbit : orbits_) {
      if (orbit == orbit_count()) orbit_sizes_.push_back(0);
      ++orbit_sizes_[static_cast<std::size_t>(orbit)];
    }
    disjoint_sets pairs(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    for (const permutation& g : generators_)
      for (int i = 0, pair = 0; i < size; ++i) {
        const int image_row = g[static_cast<std::size_t>(i)] * size;
        for (int j = 0; j < size; ++j, ++pair) pairs.unite(pair, image_row + g[static_cast<std::size_t>(j)]);
      }
    labels_ = std::move(pairs).labels();
    select();
  }

  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int orbital_count() const noexcept { return static_cast<int>(selected_.size()); }
  [[nodiscard]] int orbital(int i, int j) const noexcept {
    return labels_[static_cast<std::size_t>(i) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(j)];
  }
  [[nodiscard]] int orbit_count() const noexcept { return static_cast<int>(orbit_sizes_.size()); }
  [[nodiscard]] int orbit(int i) const noexcept { return orbits_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int orbit_size(int orbit) const noexcept { return orbit_sizes_[static_cast<std::size_t>(orbit)]; }
  [[nodiscard]] std::pair<int, int> block(int s) const noexcept { return selected_[static_cast<std::size_t>(s)].block; }
  [[nodiscard]] double pairs(int s) const noexcept { return selected_[static_cast<std::size_t>(s)].pairs; }
  [[nodiscard]] std::string name(int s) const {
    const auto found = std::ranges::lower_bound(diagonals_, s);
    if (found == diagonals_.end() || *found != s)
      return "R" + std::to_string(s + 1 - static_cast<int>(found - diagonals_.begin()));
    return orbit_count() == 1 ? "I" : "I" + std::to_string(block(s).first);
  }
  /// True for the trivial group alone, whose tuples are in orbits of one; of others it isn't known from the orbitals.
  [[nodiscard]] bool is_binary() const noexcept { return orbit_count() == size(); }
  [[nodiscard]] std::vector<permutation> generators() const { return generators_; }
  /// \}

  /// Number of all orbitals, remainders included.
  [[nodiscard]] int commutant_dimension() const noexcept { return symmetry::commutant_dimension(*this); }

private:
  struct orbital_entry {
    std::pair<int, int> block;
    double pairs = 0;
  };

  /// Turns the labels of all orbitals into indices of the selected ones, -1 for remainders.
  void select() {
    std::vector<orbital_entry> all;
    std::vector<int> number(static_cast<std::size_t>(std::ranges::max(labels_)) + 1,
                            -1);  // of the orbital with a label
    for (int j = 0; j < size_; ++j)
      for (int i = 0; i < size_; ++i) {
        int& mine = number[static_cast<std::size_t>(orbital(i, j))];
        if (mine < 0) {
          mine = static_cast<int>(all.size());
          all.push_back({{orbit(i), orbit(j)}, 0});
        }
        ++all[static_cast<std::size_t>(mine)].pairs;
      }
    for (int& label : labels_) label = number[static_cast<std::size_t>(label)];
    const auto orbits = orbit_sizes_.size();
    std::vector<int> remainder(orbits * orbits, -1);
    for (std::size_t label = 0; label < all.size(); ++label) {
      const auto [row_orbit, column_orbit] = all[label].block;
      int& largest = remainder[static_cast<std::size_t>(row_orbit) * orbits + static_cast<std::size_t>(column_orbit)];
      if (largest < 0 || all[label].pairs >= all[static_cast<std::size_t>(largest)].pairs)
        largest = static_cast<int>(label);
    }
    std::vector<int> selection(all.size(), 0);
    for (const int label : remainder) selection[static_cast<std::size_t>(label)] = -1;
    for (std::size_t label = 0; label < all.size(); ++label)
      if (selection[label] == 0) {
        selection[label] = orbital_count();
        selected_.push_back(all[label]);
      }
    for (int& label : labels_) label = selection[static_cast<std::size_t>(label)];
    for (int i = 0; i < size_; ++i)  // an orbit's first point comes after those of all earlier orbits: this is sorted
      if (const int s = orbital(i, i); s >= 0 && (diagonals_.empty() || s > diagonals_.back())) diagonals_.push_back(s);
  }

  int size_;
  std::vector<permutation> generators_;
  std::vector<int> orbits_, orbit_sizes_;
  std::vector<int> labels_;  // n x n, row-major
  std::vector<orbital_entry> selected_;
  std::vector<int> diagonals_;  // the selected orbitals that are an orbit's diagonal, ascending
};

/// The commutant of the group that the generators generate. The orbital 0/1 matrices are a basis of the algebra of
/// matrices that commute with the generators' permutation matrices: its dimension is `commutant_dimension()`, that of
/// its centred part `orbital_count()`. Throws as orbital_table does.
[[nodiscard]] inline orbital_table commutant(std::vector<permutation> generators, int size) {
  return {size, std::move(generators)};
}

}  // namespace lindyn::symmetry
