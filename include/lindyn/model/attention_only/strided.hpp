// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Row-major matrices that are parts of larger ones, and their products by Eigen. A single type on the way into each
/// product keeps Eigen's share of the compile time small.

#include <algorithm>
#include <type_traits>

#include <Eigen/Core>

#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::model::detail::inline LINDYN_VECTORS {

/// rows x columns entries data[row stride + column].
template <class T>
struct strided {
  T* data = nullptr;
  index rows = 0;
  index columns = 0;
  index stride = 0;

  [[nodiscard]] T* row(index place) const noexcept { return data + place * stride; }
  [[nodiscard]] strided middle_columns(index first, index count) const noexcept {
    return {data + first, rows, count, stride};
  }
  [[nodiscard]] strided rows_from(index first) const noexcept { return {row(first), rows - first, columns, stride}; }
  void set_zero() const {
    for (index place = 0; place < rows; ++place) std::fill_n(row(place), columns, T(0));
  }
  constexpr operator strided<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }
};

template <class Scalar>
class dense_products {
  using matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using target = Eigen::Map<matrix, 0, Eigen::OuterStride<>>;
  using factor = Eigen::Map<const matrix, 0, Eigen::OuterStride<>>;
  [[nodiscard]] static target map(strided<Scalar> c) {
    return {c.data, c.rows, c.columns, Eigen::OuterStride<>(c.stride)};
  }
  [[nodiscard]] static factor map(strided<const Scalar> a) {
    return {a.data, a.rows, a.columns, Eigen::OuterStride<>(a.stride)};
  }

public:
  /// C += A B
  static void add(strided<Scalar> c, strided<const Scalar> a, strided<const Scalar> b) {
    map(c).noalias() += map(a) * map(b);
  }
  /// C += A' B
  static void add_left_transposed(strided<Scalar> c, strided<const Scalar> a, strided<const Scalar> b) {
    map(c).noalias() += map(a).transpose() * map(b);
  }
  /// C += A B'
  static void add_right_transposed(strided<Scalar> c, strided<const Scalar> a, strided<const Scalar> b) {
    map(c).noalias() += map(a) * map(b).transpose();
  }
};

/// to += from, `count` entries.
template <class Scalar>
void add_entries(Scalar* to, const Scalar* from, index count) {
  using array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  Eigen::Map<array>(to, count) += Eigen::Map<const array>(from, count);
}

}  // namespace lindyn::model::detail::inline LINDYN_VECTORS
