// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/reynolds.hpp>

#include <Eigen/QR>

#include <map>
#include <set>

namespace {
using namespace lindyn::symmetry;

const permutation hexagon_rotation{1, 2, 3, 4, 5, 0}, hexagon_reflection{0, 5, 4, 3, 2, 1};

/// S_4 on 0..3 and S_5 on 4..8.
const std::vector<permutation> two_classes{
    {1, 0, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 0, 4, 5, 6, 7, 8}, {0, 1, 2, 3, 5, 4, 6, 7, 8}, {0, 1, 2, 3, 5, 6, 7, 8, 4}};

/// A directed matching of 3 couples: couples are permuted, sides are kept.
const std::vector<permutation> directed_matching{{2, 3, 0, 1, 4, 5}, {2, 3, 4, 5, 0, 1}};

struct example {
  const char* what;
  int size;
  std::vector<permutation> generators;
};

/// Groups with one orbit, several orbits, fixed points, and none but the identity.
std::vector<example> examples() {
  return {{"dihedral", 6, {hexagon_rotation, hexagon_reflection}},
          {"two classes", 9, two_classes},
          {"directed matching", 6, directed_matching},
          {"matching", 6, matching(6).generators()},
          {"slot phase", 6, slot_phase(2, 3).generators()},
          {"cyclic", 5, cyclic(5).generators()},
          {"one reflection", 5, {{0, 2, 1, 4, 3}}},
          {"3-cycle, its mirror and a fixed point", 7, {{1, 2, 0, 4, 5, 3, 6}}},
          {"trivial", 4, {}},
          {"one point", 1, {}}};
}

/// Numerical dimension of the space of X with P X = X P for all generators.
long commuting_dimension(const example& group) {
  const int n = group.size;
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(static_cast<long>(group.generators.size() + 1) * n * n, n * n);
  long row = 0;
  for (const permutation& g : group.generators)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j, ++row) {  // (P X)[g(i), j] = X[i, j] and (X P)[g(i), j] = X[g(i), g(j)]
        system(row, i * n + j) += 1.0;
        system(row, g[i] * n + g[j]) -= 1.0;
      }
  return n * n - Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(system).rank();
}

TEST_CASE("the orbitals are the orbits of the enumerated group on pairs") {
  for (const example& group : examples()) {
    CAPTURE(group.what);
    const orbital_table table(group.size, group.generators);
    const auto elements =
        group.generators.empty() ? std::vector<permutation>{identity(group.size)} : enumerate(group.generators);
    std::set<std::set<std::pair<int, int>>> orbitals;
    for (int i = 0; i < group.size; ++i)
      for (int j = 0; j < group.size; ++j) {
        std::set<std::pair<int, int>> orbital;
        for (const permutation& g : elements) orbital.emplace(g[i], g[j]);
        for (const auto& [row, column] : orbital) {
          CHECK(table.orbital(row, column) == table.orbital(i, j));
          CHECK(table.orbit(row) == table.orbit(i));
        }
        if (const int s = table.orbital(i, j); s >= 0) {
          CHECK(table.pairs(s) == static_cast<double>(orbital.size()));
          CHECK(table.block(s) == std::pair(table.orbit(i), table.orbit(j)));
        }
        orbitals.insert(std::move(orbital));
      }
    CHECK(table.commutant_dimension() == static_cast<int>(orbitals.size()));
    CHECK(table.generators() == group.generators);
  }
}

TEST_CASE("each block leaves out exactly one orbital, a largest one") {
  for (const example& group : examples()) {
    CAPTURE(group.what);
    const orbital_table table(group.size, group.generators);
    std::map<std::pair<int, int>, double> remainder, selected, largest;
    for (int i = 0; i < group.size; ++i)
      for (int j = 0; j < group.size; ++j)
        remainder[{table.orbit(i), table.orbit(j)}] += table.orbital(i, j) < 0 ? 1 : 0;
    for (int s = 0; s < table.orbital_count(); ++s) {
      selected[table.block(s)] += table.pairs(s);
      largest[table.block(s)] = std::max(largest[table.block(s)], table.pairs(s));
    }
    for (const auto& [block, pairs] : remainder) {
      CHECK(pairs >= largest[block]);
      CHECK(pairs >= 1);
      CHECK(pairs + selected[block] == table.orbit_size(block.first) * table.orbit_size(block.second));
    }
  }
}

TEST_CASE("the number of orbitals is the dimension of the space of commuting matrices") {
  for (const example& group : examples()) {
    CAPTURE(group.what);
    const orbital_table table = commutant(group.generators, group.size);
    CHECK(table.commutant_dimension() == commuting_dimension(group));
  }
}

TEST_CASE("centred orbitals commute with the group, vanish on fixed vectors and are linearly independent") {
  for (const example& group : examples()) {
    CAPTURE(group.what);
    const int n = group.size;
    const orbital_table table(n, group.generators);
    Eigen::MatrixXd fixed = Eigen::MatrixXd::Zero(n, table.orbit_count());
    for (int i = 0; i < n; ++i) fixed(i, table.orbit(i)) = 1.0;
    Eigen::MatrixXd basis(n * n, table.orbital_count());
    for (int s = 0; s < table.orbital_count(); ++s) {
      const Eigen::MatrixXd matrix = centred_matrix(table, s);
      CHECK((matrix * fixed).cwiseAbs().maxCoeff() <= 1e-14);
      CHECK((matrix.transpose() * fixed).cwiseAbs().maxCoeff() <= 1e-14);
      for (const permutation& g : group.generators)
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) CHECK(matrix(g[i], g[j]) == matrix(i, j));
      basis.col(s) = matrix.reshaped();
    }
    if (table.orbital_count() > 0) CHECK(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(basis).rank() == basis.cols());
    // the centred commutant is the commutant less one constant per block
    CHECK(table.orbital_count() == commuting_dimension(group) - table.orbit_count() * table.orbit_count());
  }
}

TEST_CASE("the Gram entries are the Frobenius products of the centred matrices") {
  for (const example& group : examples()) {
    CAPTURE(group.what);
    const orbital_table table(group.size, group.generators);
    for (int s = 0; s < table.orbital_count(); ++s)
      for (int t = 0; t < table.orbital_count(); ++t) {
        const double product = centred_matrix(table, s).cwiseProduct(centred_matrix(table, t)).sum();
        CHECK(gram(table, s, t) == doctest::Approx(product).epsilon(1e-13));
        CHECK(gram_matrix(table)(s, t) == gram(table, s, t));
      }
  }
}

TEST_CASE("a dihedral group keeps distances on the ring") {
  const orbital_table table(6, {hexagon_rotation, hexagon_reflection});
  CHECK(table.orbit_count() == 1);
  CHECK(table.commutant_dimension() == 4);
  REQUIRE(table.orbital_count() == 3);
  CHECK(table.name(0) == "I");
  CHECK(table.name(1) == "R1");
  CHECK(table.orbital(1, 0) == table.orbital(0, 5));
  // distances 1 and 2 have 12 pairs each: the later one is left out
  CHECK(table.orbital(0, 2) == -1);
  CHECK(table.orbital(0, 3) == 2);
  CHECK(table.pairs(2) == 6);
}

TEST_CASE("two classes of tokens have an identity each and nothing centred between them") {
  const orbital_table table(9, two_classes);
  CHECK(table.orbit_count() == 2);
  CHECK(table.orbit_size(0) == 4);
  CHECK(table.orbit_size(1) == 5);
  CHECK(table.commutant_dimension() == 6);
  REQUIRE(table.orbital_count() == 2);
  CHECK(table.name(0) == "I0");
  CHECK(table.name(1) == "I1");
  CHECK(table.block(1) == std::pair(1, 1));
  CHECK(gram(table, 0, 0) == 3.0);
  CHECK(gram(table, 1, 1) == 4.0);
  CHECK(gram(table, 0, 1) == 0.0);
  CHECK(centred_value(table, 0, 2, 2) == 0.75);
  CHECK(centred_value(table, 0, 2, 1) == -0.25);
  CHECK(centred_value(table, 0, 2, 5) == 0.0);
}

TEST_CASE("a directed matching has an identity on each side and a relation in each direction") {
  const orbital_table table(6, directed_matching);
  REQUIRE(table.orbital_count() == 4);
  CHECK(table.name(table.orbital(0, 0)) == "I0");
  CHECK(table.name(table.orbital(1, 1)) == "I1");
  CHECK(table.name(table.orbital(0, 1)) == "R2");
  CHECK(table.name(table.orbital(1, 0)) == "R1");
  CHECK(table.block(table.orbital(0, 1)) == std::pair(0, 1));
  CHECK(table.block(table.orbital(1, 0)) == std::pair(1, 0));
}

TEST_CASE("the trivial group leaves every vector fixed, so that nothing centred remains") {
  const orbital_table table(4, {});
  CHECK(table.orbital_count() == 0);
  CHECK(table.orbit_count() == 4);
  CHECK(table.commutant_dimension() == 16);
}

TEST_CASE("tables of no points, too many points or invalid generators are refused") {
  CHECK_THROWS_AS(orbital_table(0, {}), lindyn::argument_error);
  CHECK_THROWS_AS(orbital_table(-3, {}), lindyn::argument_error);
  CHECK_THROWS_AS(orbital_table(8193, {}), lindyn::argument_error);
  CHECK_THROWS_AS(orbital_table(3, {{0, 1, 1}}), lindyn::argument_error);
  CHECK_THROWS_AS(orbital_table(3, {identity(4)}), lindyn::shape_error);
  CHECK_THROWS_AS((void)commutant({{0, 1, 3}}, 3), lindyn::argument_error);
}

}  // namespace
