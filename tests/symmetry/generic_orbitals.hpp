// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <lindyn/symmetry/group.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/reynolds.hpp>

#include <Eigen/LU>

#include <map>
#include <set>
#include <string>
#include <tuple>

/// A closed form has the orbits and, up to their numbers, the orbitals of the table computed from its own generators;
/// counts, names and the Gram matrix are those of these orbitals.
template <lindyn::symmetry::orbital_structure Closed>
void compare_with_generic_orbitals(const Closed& closed) {
  using namespace lindyn::symmetry;
  const int n = closed.size();
  CAPTURE(n);
  const orbital_table table(n, closed.generators());
  REQUIRE(closed.orbit_count() == table.orbit_count());
  REQUIRE(closed.orbital_count() == table.orbital_count());
  std::map<std::tuple<int, int, int>, std::tuple<int, int, int>> theirs;  // (row orbit, column orbit, orbital)
  std::set<std::tuple<int, int, int>> met;
  std::map<std::tuple<int, int, int>, double> pairs;
  int disagreements = 0;
  for (int i = 0; i < n; ++i) {
    CHECK(closed.orbit(i) == table.orbit(i));
    CHECK(closed.orbit_size(closed.orbit(i)) == table.orbit_size(table.orbit(i)));
    for (int j = 0; j < n; ++j) {
      const std::tuple mine{closed.orbit(i), closed.orbit(j), closed.orbital(i, j)};
      const std::tuple other{table.orbit(i), table.orbit(j), table.orbital(i, j)};
      const auto [known, added] = theirs.try_emplace(mine, other);
      disagreements += known->second != other || (added && !met.insert(other).second);
      ++pairs[mine];
    }
  }
  CHECK(disagreements == 0);
  CHECK(static_cast<int>(theirs.size()) == table.commutant_dimension());
  std::set<std::string> names;
  for (int s = 0; s < closed.orbital_count(); ++s) {
    const auto [row, column] = closed.block(s);
    CHECK(closed.pairs(s) == pairs[{row, column, s}]);
    CHECK(names.insert(closed.name(s)).second);
    for (int t = 0; t < closed.orbital_count(); ++t)
      CHECK(centred_matrix(closed, s).cwiseProduct(centred_matrix(closed, t)).sum() ==
            doctest::Approx(gram(closed, s, t)).epsilon(1e-13));
  }
  CHECK(Eigen::FullPivLU<Eigen::MatrixXd>(gram_matrix(closed)).isInvertible());
}

/// The selected orbitals span what averaging over the enumerated group leaves of matrices whose block means are 0: each
/// matrix unit's average is a combination of them, and together the averages have their number as rank.
template <lindyn::symmetry::orbital_structure Closed>
void check_centred_commutant(const Closed& closed) {
  using namespace lindyn::symmetry;
  const int n = closed.size();
  CAPTURE(n);
  const auto elements = enumerate(closed.generators());
  Eigen::MatrixXd averages(n * n, n * n);
  double outside = 0;
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < n; ++row) {
      Eigen::MatrixXd average = Eigen::MatrixXd::Zero(n, n);
      for (const permutation& p : elements) average(p[row], p[column]) += 1.0 / static_cast<double>(elements.size());
      average.array() -= 1.0 / closed.orbit_size(closed.orbit(row)) / closed.orbit_size(closed.orbit(column)) *
                         Eigen::ArrayXXd::NullaryExpr(n, n, [&](Eigen::Index i, Eigen::Index j) {
                           return closed.orbit(static_cast<int>(i)) == closed.orbit(row) &&
                                          closed.orbit(static_cast<int>(j)) == closed.orbit(column)
                                      ? 1.0
                                      : 0.0;
                         });
      averages.col(column * n + row) = average.reshaped();
      const Eigen::VectorXd coordinates = centred_coordinates(average, closed);
      for (int s = 0; s < closed.orbital_count(); ++s) average -= coordinates(s) * centred_matrix(closed, s);
      outside = std::max(outside, average.cwiseAbs().maxCoeff());
    }
  CHECK(outside < 1e-14);
  Eigen::FullPivLU<Eigen::MatrixXd> decomposition(averages);
  CHECK(decomposition.setThreshold(1e-10).rank() == closed.orbital_count());
}
