// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Selections: the matrices S between tokens, or between positions, that the manifold is built of.

#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::manifold {

/// Whether a selection is its orbital's 0/1 matrix, or that less its mean on each block of orbits.
enum class centring {
  orbit_mean,  ///< S minus its mean: orthogonal to all that the group leaves fixed; the gradient stays on these
  none,        ///< raw 0/1: not invariant (a leak of about 1/sqrt(V)); for showing why centring is needed
};

/// Which orbitals are selected.
struct selection_options {
  std::vector<int> tokens{};     ///< indices of the token structure's orbitals; empty: all
  std::vector<int> positions{};  ///< indices of the position structure's orbitals; empty: all
  manifold::centring centring = manifold::centring::orbit_mean;  ///< of all selections
};

/// Selections on one set of points (the tokens or the positions), with their Gram matrix. Where orbital s holds p_s of
/// the A ordered pairs in its block (row orbit x column orbit), and 1_s is its 0/1 matrix,
/// \f[
///   S_s = \mathbf 1_s - \frac{p_s}{A} \mathbf 1 \mathbf 1^\top , \qquad
///   G_{st} = \langle S_s, S_t \rangle = \delta_{st}\, p_s - \frac{p_s p_t}{A}
/// \f]
/// within a block, and 0 between blocks.
class selection_set {
public:
  /// \param selected  indices of the structure's orbitals; empty: all
  /// Throws argument_error for an index without orbital or named twice.
  selection_set(symmetry::structure structure, std::vector<int> selected, manifold::centring centring)
      : structure_(std::move(structure)), selected_(std::move(selected)), centring_(centring) {
    const int all = structure_.orbital_count();
    if (selected_.empty()) {
      selected_.resize(static_cast<std::size_t>(all));
      std::iota(selected_.begin(), selected_.end(), 0);
    }
    place_.assign(static_cast<std::size_t>(all), -1);
    for (int s = 0; s < count(); ++s) {
      const int orbital = selected_[static_cast<std::size_t>(s)];
      require(orbital >= 0 && orbital < all, "selection", orbital,
              "an orbital in [0, " + std::to_string(all) + ") (shift powers end there)");
      require(place_[static_cast<std::size_t>(orbital)] < 0, "selection", orbital, "named once");
      place_[static_cast<std::size_t>(orbital)] = s;
    }
    for (int point = 0; point < size(); ++point) orbits_.push_back(structure_.orbit(point));
    fill_gram();
  }

  /// Number of points.
  [[nodiscard]] int size() const { return structure_.size(); }
  /// Number of selections.
  [[nodiscard]] int count() const noexcept { return static_cast<int>(selected_.size()); }
  /// The symmetry whose orbitals are selected.
  [[nodiscard]] const symmetry::structure& structure() const noexcept { return structure_; }
  /// Name of selection s, "I".
  [[nodiscard]] std::string name(int s) const { return structure_.name(selected_[static_cast<std::size_t>(s)]); }
  /// How the selections are centred.
  [[nodiscard]] manifold::centring centred() const noexcept { return centring_; }
  /// The selection that holds between row point i and column point j; -1 if none does.
  [[nodiscard]] int between(int i, int j) const {
    const int orbital = structure_.orbital(i, j);
    return orbital < 0 ? -1 : place_[static_cast<std::size_t>(orbital)];
  }
  /// The constant that centring takes from the block of points in which selection s lies.
  [[nodiscard]] double mean(int s) const { return means_[static_cast<std::size_t>(s)]; }
  /// (row orbit, column orbit) of selection s.
  [[nodiscard]] std::pair<int, int> block(int s) const {
    return structure_.block(selected_[static_cast<std::size_t>(s)]);
  }
  /// count() x count() Frobenius products of the selections.
  [[nodiscard]] const Eigen::MatrixXd& gram() const noexcept { return gram_; }

  /// matrix(row + i, column + j) += sum_s coefficient_s S(i, j).
  void add(std::span<const double> coefficients, matrix_view<double> matrix, index row, index column) const {
    if (count() == 0) return;
    // Whole rows of what centring takes, which the rows of an orbit have in common; then the selected pairs.
    const int orbits = structure_.orbit_count();
    Eigen::ArrayXXd shifts = Eigen::ArrayXXd::Zero(orbits, orbits), lines(size(), orbits);
    for (int s = 0; s < count(); ++s) {
      const auto [row_orbit, column_orbit] = block(s);
      shifts(column_orbit, row_orbit) -= coefficients[static_cast<std::size_t>(s)] * mean(s);
    }
    for (int orbit = 0; orbit < orbits; ++orbit)
      for (int j = 0; j < size(); ++j) lines(j, orbit) = shifts(orbit_of(j), orbit);
    for (int i = 0; i < size(); ++i)
      Eigen::Map<Eigen::ArrayXd>(&matrix(row + i, column), size()) += lines.col(orbit_of(i));
    for (const auto& [i, j, s] : selected_pairs())
      matrix(row + i, column + j) += coefficients[static_cast<std::size_t>(s)];
  }

  /// products_s = sum_ij S(i, j) matrix(row + i, column + j).
  void inner_products(matrix_view<const double> matrix, index row, index column, std::span<double> products) const {
    if (count() == 0) return;
    const int orbits = structure_.orbit_count();
    Eigen::ArrayXXd lines = Eigen::ArrayXXd::Zero(size(), orbits), totals = Eigen::ArrayXXd::Zero(orbits, orbits);
    for (int i = 0; i < size(); ++i)
      lines.col(orbit_of(i)) += Eigen::Map<const Eigen::ArrayXd>(&matrix(row + i, column), size());
    for (int orbit = 0; orbit < orbits; ++orbit)
      for (int j = 0; j < size(); ++j) totals(orbit_of(j), orbit) += lines(j, orbit);
    for (int s = 0; s < count(); ++s) {
      const auto [row_orbit, column_orbit] = block(s);
      products[static_cast<std::size_t>(s)] = -mean(s) * totals(column_orbit, row_orbit);
    }
    for (const auto& [i, j, s] : selected_pairs()) products[static_cast<std::size_t>(s)] += matrix(row + i, column + j);
  }

  /// out = gram() in, or its inverse times in, for count() entries (may be the same array); returns count().
  index transform(const double* in, double* out, bool inverse) const {
    for (const orbit_block& block : blocks_) {
      double sum = 0;
      for (const int s : block.members) sum += inverse ? in[s] : pairs_[static_cast<std::size_t>(s)] * in[s];
      const double shift = centring_ == manifold::centring::none ? 0.0 : inverse ? sum / block.rest : -sum / block.area;
      for (const int s : block.members) {
        const double pairs = pairs_[static_cast<std::size_t>(s)];
        out[s] = inverse ? in[s] / pairs + shift : pairs * (in[s] + shift);
      }
    }
    return count();
  }

private:
  /// A pair of points and the selection that holds between them.
  struct selected_pair {
    int row, column, selection;
  };
  /// All such pairs, row by row, found when they are first asked for: that takes size()^2 steps, as many as a block of
  /// weights has entries. Copies of the set share them.
  struct pair_list {
    std::once_flag listed;
    std::vector<selected_pair> pairs;
  };
  [[nodiscard]] const std::vector<selected_pair>& selected_pairs() const {
    std::call_once(list_->listed, [this] {
      structure_.visit([this](const auto& structure) {
        for (int i = 0; i < structure.size(); ++i)
          for (int j = 0; j < structure.size(); ++j) {
            const int orbital = structure.orbital(i, j);
            const int s = orbital < 0 ? -1 : place_[static_cast<std::size_t>(orbital)];
            if (s >= 0) list_->pairs.push_back({i, j, s});
          }
      });
    });
    return list_->pairs;
  }

  [[nodiscard]] int orbit_of(int point) const { return orbits_[static_cast<std::size_t>(point)]; }
  [[nodiscard]] std::size_t block_index(int s) const {
    const auto [row_orbit, column_orbit] = block(s);
    return static_cast<std::size_t>(row_orbit * structure_.orbit_count() + column_orbit);
  }

  /// The selections between a row orbit and a column orbit. There the Gram matrix is G = diag(p) - p p' / A with the
  /// pair counts p and the area A, and its inverse diag(1 / p) + 1 1' / (A - sum p) (Sherman-Morrison). A - sum p
  /// counts the pairs of the remainder and of orbitals that aren't selected, so it is positive, and no selection is
  /// singular.
  struct orbit_block {
    std::vector<int> members;
    double area = 0, rest = 0;
  };

  void fill_gram() {
    gram_.setZero(count(), count());
    std::vector<int> place(static_cast<std::size_t>(structure_.orbit_count() * structure_.orbit_count()), -1);
    for (int s = 0; s < count(); ++s) {
      const int orbital = selected_[static_cast<std::size_t>(s)];
      const double pairs = structure_.pairs(orbital), area = symmetry::block_area(structure_, orbital);
      const bool centred = centring_ == manifold::centring::orbit_mean;
      pairs_.push_back(pairs);
      means_.push_back(centred ? pairs / area : 0.0);
      int& number = place[block_index(s)];
      if (number < 0) {
        number = static_cast<int>(blocks_.size());
        blocks_.push_back({{}, area, area});
      }
      orbit_block& block = blocks_[static_cast<std::size_t>(number)];
      block.members.push_back(s);
      block.rest -= pairs;
      for (int t = 0; t < count(); ++t) {
        const int other = selected_[static_cast<std::size_t>(t)];
        gram_(s, t) = centred ? symmetry::gram(structure_, orbital, other) : (s == t ? pairs : 0.0);
      }
    }
  }

  symmetry::structure structure_;
  std::vector<int> selected_, place_, orbits_;
  std::shared_ptr<pair_list> list_ = std::make_shared<pair_list>();
  manifold::centring centring_;
  std::vector<double> means_;
  std::vector<double> pairs_;
  std::vector<orbit_block> blocks_;
  Eigen::MatrixXd gram_;
};

}  // namespace lindyn::manifold
