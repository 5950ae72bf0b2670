// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One array that the matrices of an evaluation are cut from.

#include <algorithm>
#include <cstddef>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::model::detail {

/// Matrices are taken one behind the other, those of each run from a part of its own. Taking them all in their largest extents, growing, and taking them all again
/// gives matrices that fit; nothing is allocated where the array was long enough already.
template <class Scalar, class Array>
class row_arena {
public:
  static constexpr index unit = 16;  ///< rows and arrays begin at multiples of so many entries

  explicit row_arena(int runs = 1) : runs_(runs) {}

  /// Takes back everything from `mark` on.
  void rewind(index mark = 0) noexcept { used_ = mark; }
  /// Where the next matrix would begin.
  [[nodiscard]] index mark() const noexcept { return used_; }

  [[nodiscard]] backend::strided_matrix<Scalar> matrix(index rows, index columns) noexcept {
    const index stride = (columns + unit - 1) / unit * unit;
    return {flat(rows * stride).data, rows, columns, stride, size_};
  }
  [[nodiscard]] backend::run_vector<Scalar> flat(index size) noexcept {
    const index begin = used_;
    used_ += (size + unit - 1) / unit * unit;
    needed_ = std::max(needed_, used_);
    return {needed_ <= size_ ? memory_.data() + begin : nullptr, size_};
  }
  /// Makes room for all that has been taken; matrices from before are no more.
  void grow() {
    if (needed_ <= size_) return;
    memory_ = Array();  // first, so that there never are two of them
    memory_.resize(static_cast<std::size_t>(needed_ * runs_));
    size_ = needed_;
  }

private:
  int runs_;
  Array memory_;
  index size_ = 0, used_ = 0, needed_ = 0;  // of one run
};

}  // namespace lindyn::model::detail
