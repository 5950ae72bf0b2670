// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/manifold/selection.hpp>

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using namespace lindyn::manifold;
using symmetry::permutation;
using symmetry::structure;

/// Three items, their three partners and four tokens without partner; items and partners are moved together.
structure directed_matching_with_rest() {
  return symmetry::orbital_table(
      10, {permutation{1, 0, 2, 4, 3, 5, 6, 7, 8, 9}, permutation{1, 2, 0, 4, 5, 3, 6, 7, 8, 9},
           permutation{0, 1, 2, 3, 4, 5, 7, 6, 8, 9}, permutation{0, 1, 2, 3, 4, 5, 7, 8, 9, 6}});
}

/// Structures of one and of several orbits.
std::vector<structure> structures() {
  return {symmetry::full_symmetric(5), symmetry::matching(6),      symmetry::cyclic(7),
          symmetry::slot_phase(3, 2),  symmetry::slot_phase(2, 4), directed_matching_with_rest()};
}

/// The matrix of selection s: a row-major n x n array.
std::vector<double> matrix_of(const selection_set& set, int s) {
  std::vector<double> coefficients(static_cast<std::size_t>(set.count()), 0.0);
  coefficients[static_cast<std::size_t>(s)] = 1;
  std::vector<double> matrix(static_cast<std::size_t>(set.size() * set.size()), 0.0);
  set.add(coefficients, matrix_view<double>{matrix.data(), set.size(), set.size()}, 0, 0);
  return matrix;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double result = 0;
  for (std::size_t place = 0; place < a.size(); ++place) result += a[place] * b[place];
  return result;
}

TEST_CASE("a selection's matrix is 1 where it holds, less a constant in its block, and orthogonal to every orbit") {
  for (const structure& points : structures()) {
    const selection_set set(points, {}, centring::orbit_mean);
    CHECK(set.count() == points.orbital_count());
    const int n = set.size();
    for (int s = 0; s < set.count(); ++s) {
      const std::vector<double> matrix = matrix_of(set, s);
      double difference = 0;
      // sums over each orbit of columns, row by row, and of rows, column by column
      std::vector<double> rows(static_cast<std::size_t>(n * points.orbit_count())), columns(rows.size());
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const double value = matrix[static_cast<std::size_t>(i * n + j)];
          const bool inside = set.block(s) == std::pair(points.orbit(i), points.orbit(j));
          const double expected = (set.between(i, j) == s ? 1.0 : 0.0) - (inside ? set.mean(s) : 0.0);
          difference = std::max(difference, std::abs(value - expected));
          rows[static_cast<std::size_t>(i * points.orbit_count() + points.orbit(j))] += value;
          columns[static_cast<std::size_t>(j * points.orbit_count() + points.orbit(i))] += value;
        }
      CHECK(difference < 1e-15);
      for (const double sum : rows) CHECK(std::abs(sum) < 1e-14);
      for (const double sum : columns) CHECK(std::abs(sum) < 1e-14);
    }
  }
}

TEST_CASE("the Gram matrix holds the products of the matrices, and its inverse undoes it") {
  for (const structure& points : structures())
    for (const centring centred : {centring::orbit_mean, centring::none}) {
      std::vector<std::vector<int>> choices{{}};
      if (points.orbital_count() > 2) choices.push_back({2, 0});  // a part of the orbitals, in another order
      for (const auto& chosen : choices) {
        const selection_set set(points, chosen, centred);
        const int count = set.count();
        for (int s = 0; s < count; ++s) {
          for (int t = 0; t < count; ++t)
            CHECK(std::abs(set.gram()(s, t) - product(matrix_of(set, s), matrix_of(set, t))) < 1e-13);
          std::vector<double> unit(static_cast<std::size_t>(count), 0.0), image(unit), back(unit);
          unit[static_cast<std::size_t>(s)] = 1;
          CHECK(set.transform(unit.data(), image.data(), false) == count);
          set.transform(image.data(), back.data(), true);
          for (int t = 0; t < count; ++t) {
            CHECK(std::abs(image[static_cast<std::size_t>(t)] - set.gram()(t, s)) < 1e-14);
            CHECK(std::abs(back[static_cast<std::size_t>(t)] - (s == t ? 1.0 : 0.0)) < 1e-14);
          }
        }
      }
    }
}

TEST_CASE("the named selections have the norms and products of permutation matrices, centred") {
  const selection_set tokens(symmetry::matching(16), {}, centring::orbit_mean);
  CHECK(tokens.gram()(0, 0) == 15);
  CHECK(tokens.gram()(1, 1) == 15);
  CHECK(tokens.gram()(0, 1) == -1);
  const selection_set shifts(symmetry::slot_phase(4, 3), {}, centring::orbit_mean);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) CHECK(shifts.gram()(a, b) == (a == b ? 11 : -1));
}

TEST_CASE("adding a combination and taking products with each selection are adjoint") {
  counter_generator generator(1);
  for (const structure& points : structures()) {
    const selection_set set(points, {}, centring::orbit_mean);
    const index rows = set.size() + 3, columns = set.size() + 5;
    std::vector<double> weights(static_cast<std::size_t>(rows * columns)), embedded(weights.size(), 0.0);
    for (double& weight : weights) weight = standard_normal(generator);
    std::vector<double> coefficients(static_cast<std::size_t>(set.count())), products(coefficients.size());
    for (double& coefficient : coefficients) coefficient = standard_normal(generator);
    set.add(coefficients, matrix_view<double>{embedded.data(), rows, columns}, 2, 4);
    set.inner_products(matrix_view<const double>{weights.data(), rows, columns}, 2, 4, products);
    CHECK(std::abs(product(weights, embedded) - product(coefficients, products)) < 1e-12);
    // nothing is written beside the block
    double beside = 0;
    for (index i = 0; i < rows; ++i)
      for (index j = 0; j < columns; ++j)
        if (i < 2 || i >= 2 + set.size() || j < 4 || j >= 4 + set.size())
          beside += std::abs(embedded[static_cast<std::size_t>(i * columns + j)]);
    CHECK(beside == 0);
  }
}

TEST_CASE("selections can be chosen, and pairs of the others belong to none") {
  const selection_set shift(symmetry::slot_phase(3, 3), {1}, centring::orbit_mean);
  CHECK(shift.count() == 1);
  CHECK(shift.name(0) == "M");
  CHECK(shift.between(4, 3) == 0);  // row = query: one place after the key
  CHECK(shift.between(3, 4) == -1);
  CHECK(shift.between(3, 3) == -1);
  CHECK(shift.between(0, 5) == -1);
}

TEST_CASE("points without any symmetry leave no centred selection") {
  const selection_set none(symmetry::orbital_table(4, {}), {}, centring::orbit_mean);
  CHECK(none.count() == 0);
  CHECK(none.gram().size() == 0);
  std::vector<double> matrix(16, 0.5);
  none.add({}, matrix_view<double>{matrix.data(), 4, 4}, 0, 0);
  CHECK(matrix == std::vector<double>(16, 0.5));
}

TEST_CASE("orbitals that don't exist or are named twice are refused") {
  const auto complaint = [](std::vector<int> selected) -> std::string {
    try {
      const selection_set set(symmetry::slot_phase(3, 2), std::move(selected), centring::orbit_mean);
    } catch (const argument_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint({0, 1}) == "");
  CHECK(complaint({2}) == "selection = 2 is not allowed: it must be an orbital in [0, 2) (shift powers end there)");
  CHECK(complaint({-1}).starts_with("selection = -1 is not allowed"));
  CHECK(complaint({1, 1}) == "selection = 1 is not allowed: it must be named once");
}

TEST_CASE("classes too small for independent selections are refused where their symmetry is named") {
  CHECK_THROWS_AS(symmetry::full_symmetric(2), argument_error);
  CHECK_THROWS_AS(symmetry::matching(2), argument_error);
  CHECK_THROWS_AS(symmetry::slot_phase(1, 2), argument_error);
  CHECK_THROWS_AS(symmetry::cyclic(2), argument_error);
}

}  // namespace
