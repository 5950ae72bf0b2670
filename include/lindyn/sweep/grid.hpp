// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// All combinations of the values of some axes.

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/sweep/axis.hpp>

namespace lindyn::sweep {

/// One combination: where it stands on each axis, and the values there, in the order of the axes.
struct cell {
  index number = 0;            ///< within the grid
  std::vector<index> places;   ///< one for each axis, in [0, count) of that axis
  std::vector<double> values;  ///< one for each axis
};

/// The product of one or more axes. Cells are numbered row by row: the last axis runs fastest.
class grid {
public:
  /// Throws argument_error if there is no axis, two of them have the same name, or there are too many cells to count.
  explicit grid(std::vector<axis> axes) : axes_(std::move(axes)) {
    require(!axes_.empty(), "axes.size()", axes_.size(), "at least 1");
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        require(axes_[i].name() != axes_[j].name(), "axes", axes_[i].name() + " twice", "axes of different names");
      require(size_ <= std::numeric_limits<index>::max() / axes_[i].count(), "axes", "more cells than can be counted",
              "fewer or shorter axes");
      size_ *= axes_[i].count();
    }
  }

  /// Number of cells.
  [[nodiscard]] index size() const noexcept { return size_; }
  /// The axes, in their order.
  [[nodiscard]] const std::vector<axis>& axes() const noexcept { return axes_; }

  /// The cell of that number. Throws argument_error if there is none.
  [[nodiscard]] cell at(index number) const {
    require(number >= 0 && number < size_, "number", number, "in [0, size())");
    cell result{number, std::vector<index>(axes_.size()), std::vector<double>(axes_.size())};
    for (std::size_t i = axes_.size(); i-- > 0; number /= axes_[i].count()) {
      result.places[i] = number % axes_[i].count();
      result.values[i] = axes_[i].at(result.places[i]);
    }
    return result;
  }

  /// The number of the cell at one place on each axis.
  /// Throws shape_error unless there is a place for each axis, argument_error if one lies outside of its axis.
  [[nodiscard]] index number(std::span<const index> places) const {
    require_extent("places.size()", places.size(), axes_.size());
    index result = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      require(places[i] >= 0 && places[i] < axes_[i].count(), "place on " + axes_[i].name(), places[i],
              "in [0, count())");
      result = result * axes_[i].count() + places[i];
    }
    return result;
  }

  /// Whether both have the same axes in the same order.
  friend bool operator==(const grid&, const grid&) = default;

private:
  std::vector<axis> axes_;
  index size_ = 1;
};

}  // namespace lindyn::sweep
