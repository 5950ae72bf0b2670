// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The Reynolds average of matrices over a permutation group, and coordinates in the centred commutant.

#include <Eigen/Core>

#include <concepts>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/symmetry/joint.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::symmetry {

namespace detail {

/// The mean of a matrix over each orbital.
struct orbital_mean {
  Eigen::VectorXd selected;   // by selected orbital
  Eigen::MatrixXd remainder;  // by (row orbit, column orbit)
};

template <orbital_structure Structure>
[[nodiscard]] orbital_mean orbital_means(const Eigen::MatrixXd& matrix, const Structure& group) {
  if constexpr (std::same_as<Structure, structure>) {
    return group.visit([&](const auto& held) { return orbital_means(matrix, held); });
  } else {
    require_extent("matrix.rows()", matrix.rows(), group.size());
    require_extent("matrix.cols()", matrix.cols(), group.size());
    orbital_mean mean{Eigen::VectorXd::Zero(group.orbital_count()),
                      Eigen::MatrixXd::Zero(group.orbit_count(), group.orbit_count())};
    for (int j = 0; j < group.size(); ++j)
      for (int i = 0; i < group.size(); ++i) {
        const int s = group.orbital(i, j);
        (s >= 0 ? mean.selected(s) : mean.remainder(group.orbit(i), group.orbit(j))) += matrix(i, j);
      }
    Eigen::MatrixXd rest(group.orbit_count(), group.orbit_count());  // number of pairs of each remainder
    for (int column = 0; column < group.orbit_count(); ++column)
      for (int row = 0; row < group.orbit_count(); ++row)
        rest(row, column) = static_cast<double>(group.orbit_size(row)) * group.orbit_size(column);
    for (int s = 0; s < group.orbital_count(); ++s) {
      mean.selected(s) /= group.pairs(s);
      rest(group.block(s).first, group.block(s).second) -= group.pairs(s);
    }
    mean.remainder.array() /= rest.array();
    return mean;
  }
}

template <orbital_structure Structure>
[[nodiscard]] Eigen::MatrixXd spread(const orbital_mean& mean, const Structure& group) {
  if constexpr (std::same_as<Structure, structure>) {
    return group.visit([&](const auto& held) { return spread(mean, held); });
  } else {
    Eigen::MatrixXd matrix(group.size(), group.size());
    for (int j = 0; j < group.size(); ++j)
      for (int i = 0; i < group.size(); ++i) {
        const int s = group.orbital(i, j);
        matrix(i, j) = s >= 0 ? mean.selected(s) : mean.remainder(group.orbit(i), group.orbit(j));
      }
    return matrix;
  }
}

}  // namespace detail

/// The Reynolds average of an n x n matrix X over the group,
/// \f[ \frac{1}{|G|} \sum_{P \in G} P X P^\top : \f]
/// each entry becomes the mean of X over its orbital, since the group is transitive on every orbital. Throws
/// shape_error unless X is n x n.
template <class Derived, orbital_structure Structure>
[[nodiscard]] Eigen::MatrixXd reynolds(const Eigen::MatrixBase<Derived>& matrix, const Structure& group) {
  return detail::spread(detail::orbital_means(matrix.template cast<double>(), group), group);
}

/// The Reynolds average of an n x m matrix X, the mean of P X Q' over P of one group and, independently, Q of another:
/// the means over the (row orbit x column orbit) blocks. Throws shape_error unless X is n x m.
template <class Derived, orbital_structure Rows, orbital_structure Columns>
[[nodiscard]] Eigen::MatrixXd reynolds(const Eigen::MatrixBase<Derived>& matrix, const Rows& rows,
                                       const Columns& columns) {
  require_extent("matrix.rows()", matrix.rows(), rows.size());
  require_extent("matrix.cols()", matrix.cols(), columns.size());
  const auto indicator = [](const auto& group) {  // points x orbits
    Eigen::MatrixXd matrix_of_orbits = Eigen::MatrixXd::Zero(group.size(), group.orbit_count());
    for (int i = 0; i < group.size(); ++i) matrix_of_orbits(i, group.orbit(i)) = 1.0;
    return matrix_of_orbits;
  };
  const Eigen::MatrixXd row_orbits = indicator(rows), column_orbits = indicator(columns);
  Eigen::MatrixXd mean = row_orbits.transpose() * matrix.template cast<double>() * column_orbits;
  mean.array().colwise() /= row_orbits.colwise().sum().transpose().array();
  mean.array().rowwise() /= column_orbits.colwise().sum().array();
  return row_orbits * mean * column_orbits.transpose();
}

/// The Reynolds average of weights on the stream [token | position], (V + P) x (V + P), under its joint group.
/// Throws shape_error for other shapes.
template <class Derived>
[[nodiscard]] Eigen::MatrixXd reynolds(const Eigen::MatrixBase<Derived>& matrix, const stream_structure& stream) {
  const int v = stream.tokens.size(), p = stream.positions.size();
  require_extent("matrix.rows()", matrix.rows(), v + p);
  require_extent("matrix.cols()", matrix.cols(), v + p);
  Eigen::MatrixXd average(v + p, v + p);
  average.topLeftCorner(v, v) = reynolds(matrix.topLeftCorner(v, v), stream.tokens);
  average.topRightCorner(v, p) = reynolds(matrix.topRightCorner(v, p), stream.tokens, stream.positions);
  average.bottomLeftCorner(p, v) = reynolds(matrix.bottomLeftCorner(p, v), stream.positions, stream.tokens);
  average.bottomRightCorner(p, p) = reynolds(matrix.bottomRightCorner(p, p), stream.positions);
  return average;
}

/// The centred n x n matrix of the selected orbital s.
template <orbital_structure Structure>
[[nodiscard]] Eigen::MatrixXd centred_matrix(const Structure& group, int s) {
  Eigen::MatrixXd matrix(group.size(), group.size());
  for (int j = 0; j < group.size(); ++j)
    for (int i = 0; i < group.size(); ++i) matrix(i, j) = centred_value(group, s, i, j);
  return matrix;
}

/// The Gram matrix of the centred selected orbitals.
template <orbital_structure Structure>
[[nodiscard]] Eigen::MatrixXd gram_matrix(const Structure& group) {
  Eigen::MatrixXd matrix(group.orbital_count(), group.orbital_count());
  for (int t = 0; t < group.orbital_count(); ++t)
    for (int s = 0; s < group.orbital_count(); ++s) matrix(s, t) = gram(group, s, t);
  return matrix;
}

/// Coordinates c of an n x n matrix X in the centred selected orbitals: sum_s c_s S_s is the orthogonal projection of X
/// on the centred commutant, that is \f$\sum_t G_{st} c_t = \langle S_s, X \rangle\f$ with Gram matrix G.
///
/// No system has to be solved: in a block of r x c points,
/// \f[
///   G = \mathrm{diag}(p) - \frac{p\, p^\top}{r c} , \qquad
///   G^{-1} = \mathrm{diag}(p)^{-1} + \frac{\mathbf 1 \mathbf 1^\top}{p_0} , \qquad p_0 = r c - \sum_s p_s ,
/// \f]
/// with the pair counts p (Sherman-Morrison), so that c_s is the mean of X over the orbital s, less the mean of X over
/// the remainder of its block.
/// Throws shape_error unless X is n x n.
template <class Derived, orbital_structure Structure>
[[nodiscard]] Eigen::VectorXd centred_coordinates(const Eigen::MatrixBase<Derived>& matrix, const Structure& group) {
  const detail::orbital_mean mean = detail::orbital_means(matrix.template cast<double>(), group);
  Eigen::VectorXd coordinates = mean.selected;
  for (int s = 0; s < group.orbital_count(); ++s)
    coordinates(s) -= mean.remainder(group.block(s).first, group.block(s).second);
  return coordinates;
}

}  // namespace lindyn::symmetry
