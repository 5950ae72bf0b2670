// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Singular values, to rounding also where they are small or zero.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Jacobi>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::observe {

/// Rotates the columns of `a` until they are orthogonal to each other (one-sided Jacobi: Hestenes, J. SIAM 6, 51, 1958):
/// their norms are then a's singular values, their directions its left singular vectors. The same rotations turn the
/// columns of `follower`, which may be null: a follower' stays what it was.
///
/// Eigen's own decompositions take five seconds to compile, and eigenvalues of a'a lose half of the digits of small
/// singular values. This takes 6 to 10 sweeps of rows x columns^2 x 6 operations. Squares must be numbers still: see
/// scale_to_one.
inline void orthogonalise_columns(Eigen::MatrixXd& a, Eigen::MatrixXd* follower = nullptr) {
  constexpr int most_sweeps = 60;  // never seen: convergence is quadratic
  const double rounding = std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(a.rows()));
  Eigen::VectorXd squares(a.cols());
  bool turned = true;
  for (int sweep = 0; turned && sweep < most_sweeps; ++sweep) {
    turned = false;
    for (index column = 0; column < a.cols(); ++column) squares[column] = a.col(column).squaredNorm();
    for (index one = 0; one < a.cols(); ++one)
      for (index other = one + 1; other < a.cols(); ++other) {
        const double product = a.col(one).dot(a.col(other));
        if (std::abs(product) <= rounding * std::sqrt(squares[one]) * std::sqrt(squares[other])) continue;
        turned = true;
        Eigen::JacobiRotation<double> rotation;
        rotation.makeJacobi(squares[one], product, squares[other]);
        a.applyOnTheRight(one, other, rotation);
        if (follower) follower->applyOnTheRight(one, other, rotation);
        squares[one] = a.col(one).squaredNorm();
        squares[other] = a.col(other).squaredNorm();
      }
  }
}

/// Divides a matrix by a power of two, which it returns, so that its largest entry is in [1, 2): what is small beside
/// that may vanish in squares, but nothing else does, and nothing overflows. Zero stays zero, divided by 1.
inline double scale_to_one(Eigen::MatrixXd& a) {
  const double largest = a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0.0;
  const double scale = largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
  a /= scale;
  return scale;
}

/// The singular values of a matrix, the largest first, as many as its smaller extent. Their errors are some roundings of
/// the largest one at most. Throws non_finite_error for a matrix with such entries.
template <class T>
[[nodiscard]] std::vector<double> singular_values(const matrix_view<T>& matrix) {
  require_finite("matrix", matrix);
  Eigen::MatrixXd columns(std::max(matrix.rows, matrix.columns), std::min(matrix.rows, matrix.columns));
  for (index row = 0; row < matrix.rows; ++row)
    for (index column = 0; column < matrix.columns; ++column)
      (matrix.rows < matrix.columns ? columns(column, row) : columns(row, column)) =
          static_cast<double>(matrix(row, column));
  const double scale = scale_to_one(columns);
  orthogonalise_columns(columns);
  std::vector<double> values;
  for (index column = 0; column < columns.cols(); ++column) values.push_back(columns.col(column).norm() * scale);
  std::ranges::sort(values, std::greater{});
  return values;
}

}  // namespace lindyn::observe
