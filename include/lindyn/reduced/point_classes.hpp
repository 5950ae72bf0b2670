// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The classes that centring tells tokens, or positions, apart by.

#include <algorithm>
#include <utility>
#include <vector>

#include <lindyn/manifold/selection.hpp>
#include <lindyn/reduced/relational_plan.hpp>

namespace lindyn::reduced::detail {

/// A class is an orbit in which a selection has rows or columns; the points of all other orbits, from which centring
/// takes nothing, are one class more. A structure with one orbit has one class.
class point_classes {
public:
  explicit point_classes(const manifold::selection_set& selections) : selections_(&selections) {
    const auto& structure = selections.structure();
    of_orbit_.assign(at(structure.orbit_count()), -1);
    const auto number = [&](int orbit) {
      int& result = of_orbit_[at(orbit)];
      if (result < 0) {
        result = count();
        sizes_.push_back(0);
      }
      return result;
    };
    for (int s = 0; s < selections.count(); ++s) {
      const auto [row, column] = selections.block(s);
      const int row_class = number(row);
      blocks_.emplace_back(row_class, number(column));
    }
    const int rest = count();
    if (std::ranges::find(of_orbit_, -1) != of_orbit_.end()) sizes_.push_back(0);
    std::ranges::replace(of_orbit_, -1, rest);
    for (int orbit = 0; orbit < structure.orbit_count(); ++orbit)
      sizes_[at(of_orbit_[at(orbit)])] += structure.orbit_size(orbit);
  }

  [[nodiscard]] int count() const noexcept { return static_cast<int>(sizes_.size()); }
  /// Number of points of a class.
  [[nodiscard]] int size(int which) const noexcept { return sizes_[at(which)]; }
  /// The class of a point.
  [[nodiscard]] int of(int point) const { return of_orbit_[at(selections_->structure().orbit(point))]; }
  /// (row class, column class) of selection s.
  [[nodiscard]] std::pair<int, int> block(int s) const noexcept { return blocks_[at(s)]; }

  /// Appends what centring takes from the score of a row of class `row` and a column of class `column`, less what it
  /// takes from that of a column of class `reference`.
  /// \param first  number of the first selection among those of a block of an attention weight
  void append_shift(pair_kind& kind, int first, int row, int column, int reference) const {
    if (column == reference) return;
    for (int s = 0; s < selections_->count(); ++s)
      if (block(s).first == row && (block(s).second == column || block(s).second == reference))
        kind.push_back({first + s, block(s).second == column ? -selections_->mean(s) : selections_->mean(s)});
  }

private:
  const manifold::selection_set* selections_;
  std::vector<int> of_orbit_, sizes_;
  std::vector<std::pair<int, int>> blocks_;
};

}  // namespace lindyn::reduced::detail
