// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Non-owning, row-major views. Interfaces take these rather than Eigen types, so that device code can include them.

#include <concepts>
#include <cstddef>
#include <span>

namespace lindyn {

/// Signed size type of the whole library (that of Eigen::Index).
using index = std::ptrdiff_t;

/// A dense, row-major rows x columns matrix that lives elsewhere.
template <class T>
struct matrix_view {
  T* data = nullptr;  ///< rows x columns entries
  index rows = 0;     ///< number of rows
  index columns = 0;  ///< number of columns

  /// The entry of that row and column, which aren't checked.
  [[nodiscard]] constexpr T& operator()(index row, index column) const noexcept { return data[row * columns + column]; }
  /// The entries of one row.
  [[nodiscard]] constexpr std::span<T> row(index row) const noexcept {
    return {data + row * columns, static_cast<std::size_t>(columns)};
  }
  /// Number of entries.
  [[nodiscard]] constexpr index size() const noexcept { return rows * columns; }
  /// The first entry.
  [[nodiscard]] constexpr T* begin() const noexcept { return data; }
  /// Behind the last entry.
  [[nodiscard]] constexpr T* end() const noexcept { return data + size(); }

  /// A view of const elements of the same matrix.
  template <std::same_as<const T> Const>
  constexpr operator matrix_view<Const>() const noexcept {
    return {data, rows, columns};
  }
};

}  // namespace lindyn
