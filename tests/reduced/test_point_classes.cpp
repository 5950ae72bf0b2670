// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <utility>

#include <lindyn/manifold/selection.hpp>
#include <lindyn/reduced/point_classes.hpp>

namespace {
using namespace lindyn;
using reduced::pair_kind;
using reduced::detail::point_classes;

manifold::selection_set selections(const symmetry::structure& structure, std::vector<int> selected = {}) {
  return {structure, std::move(selected), manifold::centring::orbit_mean};
}

TEST_CASE("a group with one orbit has one class") {
  const auto set = selections(symmetry::matching(6));
  const point_classes classes(set);
  CHECK(classes.count() == 1);
  CHECK(classes.size(0) == 6);
  CHECK(classes.of(5) == 0);
  CHECK(classes.block(1) == std::pair(0, 0));
}

TEST_CASE("orbits in which nothing is selected are one class, the last") {
  const auto table = symmetry::commutant({{0, 1, 3, 4, 2, 5}}, 6);  // 2, 3, 4 turn
  const auto set = selections(table);
  const point_classes classes(set);
  CHECK(classes.count() == 2);
  CHECK(classes.size(0) == 3);
  CHECK(classes.size(1) == 3);
  for (const int fixed : {0, 1, 5}) CHECK(classes.of(fixed) == 1);
  for (const int turned : {2, 3, 4}) CHECK(classes.of(turned) == 0);

  const auto sum = symmetry::direct_sum({{symmetry::matching(4), "c"}, {symmetry::full_symmetric(3), "r"}});
  const auto some = selections(sum, {2});
  CHECK(point_classes(some).of(6) == 0);
  CHECK(point_classes(some).of(0) == 1);
}

TEST_CASE("a score is shifted by the means of its block, against those of the reference's") {
  const auto set = selections(symmetry::directed_matching(8));  // Ia, Ib, C (row b, column a), C' (row a, column b)
  const point_classes classes(set);
  CHECK(classes.count() == 2);
  const int a = classes.of(0), b = classes.of(1);
  const auto shift = [&](int row, int column, int reference) {
    pair_kind result;
    classes.append_shift(result, 10, row, column, reference);
    return result;
  };
  CHECK(shift(a, a, a).empty());
  CHECK(shift(a, b, a) == pair_kind{{10, 0.25}, {13, -0.25}});
  CHECK(shift(b, b, a) == pair_kind{{11, -0.25}, {12, 0.25}});
  CHECK(shift(b, a, b) == pair_kind{{11, 0.25}, {12, -0.25}});
}

}  // namespace
