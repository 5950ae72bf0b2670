// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/reynolds.hpp>

#include <Eigen/LU>

#include <string>

namespace {
using namespace lindyn::symmetry;

static_assert(gram(full_symmetric(16), 0, 0) == 15.0);
static_assert(gram(matching(16), 0, 1) == -1.0);
static_assert(cyclic(9).orbital(1, 8) == 2);
static_assert(slot_phase(5, 3).orbital(3, 5) == 1);
static_assert(commutant_dimension(slot_phase(5, 3)) == 4);

/// A closed form numbers the orbitals as the table computed from its own generators does, and leaves out the same one.
template <orbital_structure Closed>
void compare_with_table(const Closed& closed) {
  const int n = closed.size();
  CAPTURE(n);
  const orbital_table table(n, closed.generators());
  REQUIRE(table.size() == n);
  REQUIRE(table.orbit_count() == closed.orbit_count());
  REQUIRE(table.orbital_count() == closed.orbital_count());
  for (int i = 0; i < n; ++i) {
    CHECK(table.orbit(i) == closed.orbit(i));
    CHECK(table.orbit_size(table.orbit(i)) == closed.orbit_size(closed.orbit(i)));
    for (int j = 0; j < n; ++j) REQUIRE(closed.orbital(i, j) == table.orbital(i, j));
  }
  for (int s = 0; s < closed.orbital_count(); ++s) {
    CHECK(table.pairs(s) == closed.pairs(s));
    CHECK(table.block(s) == closed.block(s));
    for (int t = 0; t < closed.orbital_count(); ++t) CHECK(gram(table, s, t) == gram(closed, s, t));
    for (int i = 0; i < n; i += 3)
      for (int j = 0; j < n; ++j) CHECK(centred_value(table, s, i, j) == centred_value(closed, s, i, j));
  }
}

/// The Gram matrix is that of the dense centred matrices, n on the diagonal less 1 everywhere, and regular.
template <orbital_structure Closed>
void check_gram(const Closed& closed) {
  CAPTURE(closed.size());
  const Eigen::MatrixXd metric = gram_matrix(closed);
  for (int s = 0; s < closed.orbital_count(); ++s)
    for (int t = 0; t < closed.orbital_count(); ++t) {
      CHECK(metric(s, t) == (s == t ? closed.size() - 1.0 : -1.0));
      CHECK(centred_matrix(closed, s).cwiseProduct(centred_matrix(closed, t)).sum() ==
            doctest::Approx(metric(s, t)).epsilon(1e-13));
    }
  CHECK(Eigen::FullPivLU<Eigen::MatrixXd>(metric).isInvertible());
}

TEST_CASE("the full symmetric group's closed form is the generic one") {
  for (const int n : {3, 4, 7, 16, 33}) compare_with_table(full_symmetric(n));
}
TEST_CASE("the matching's closed form is the generic one") {
  for (const int n : {4, 6, 8, 16, 34}) compare_with_table(matching(n));
}
TEST_CASE("the ring's closed form is the generic one") {
  for (const int n : {3, 4, 5, 8, 13, 20}) compare_with_table(cyclic(n));
}
TEST_CASE("the slots' closed form is the generic one") {
  for (const auto& [slots, phases] : {std::pair{2, 2}, {2, 3}, {2, 5}, {3, 2}, {6, 2}, {4, 3}, {5, 4}, {3, 7}})
    compare_with_table(slot_phase(slots, phases));
}
TEST_CASE("the matching and slots of two phases are one group") {
  compare_with_table(slot_phase(5, 2));
  CHECK(matching(10).generators() == slot_phase(5, 2).generators());
}

TEST_CASE("the Gram matrices are n on the diagonal less one everywhere, and regular at the smallest sizes") {
  for (const int n : {3, 4, 9}) check_gram(full_symmetric(n));
  for (const int n : {4, 6, 10}) check_gram(matching(n));
  for (const int n : {3, 4, 7}) check_gram(cyclic(n));
  for (const auto& [slots, phases] : {std::pair{2, 2}, {2, 3}, {4, 3}}) check_gram(slot_phase(slots, phases));
}

TEST_CASE("relations are oriented so that shifts reach back from the row") {
  const cyclic ring(5);
  CHECK(ring.orbital(3, 2) == 1);
  CHECK(ring.orbital(0, 4) == 1);
  CHECK(ring.orbital(2, 4) == 3);
  CHECK(ring.orbital(2, 3) == -1);
  const slot_phase slots(3, 4);
  CHECK(slots.orbital(6, 5) == 1);
  CHECK(slots.orbital(4, 7) == 1);
  CHECK(slots.orbital(4, 6) == 2);
  CHECK(slots.orbital(4, 3) == -1);
  const matching couples(6);
  CHECK(couples.orbital(2, 3) == 1);
  CHECK(couples.orbital(3, 2) == 1);
  CHECK(couples.orbital(3, 4) == -1);
}

TEST_CASE("orbitals have the names of the literature") {
  CHECK(full_symmetric(5).name(0) == "I");
  CHECK(matching(4).name(0) == "I");
  CHECK(matching(4).name(1) == "C");
  CHECK(cyclic(5).name(0) == "Ip");
  CHECK(cyclic(5).name(1) == "M");
  CHECK(slot_phase(2, 3).name(0) == "Ip");
  CHECK(slot_phase(2, 3).name(2) == "M2");
}

TEST_CASE("large closed forms cost nothing") {
  const slot_phase slots(2048, 2);
  CHECK(slots.size() == 4096);
  CHECK(slots.slots() == 2048);
  CHECK(slots.phases() == 2);
  CHECK(gram(slots, 1, 1) == 4095.0);
  CHECK(gram(full_symmetric(2'000'000'000), 0, 0) == 1'999'999'999.0);
  CHECK(cyclic(4096).orbital(0, 1) == -1);
  CHECK(cyclic(4096).orbital(1, 0) == 1);
}

TEST_CASE("sizes at which the Gram matrix would be singular are refused, with the argument named") {
  for (const int n : {-1, 0, 1, 2}) {
    CHECK_THROWS_AS(full_symmetric{n}, lindyn::argument_error);
    CHECK_THROWS_AS(matching{n}, lindyn::argument_error);
    CHECK_THROWS_AS(cyclic{n}, lindyn::argument_error);
  }
  CHECK_THROWS_AS(matching{7}, lindyn::argument_error);
  CHECK_THROWS_AS((slot_phase{2, 0}), lindyn::argument_error);
  CHECK_THROWS_AS((slot_phase{70'000, 70'000}), lindyn::argument_error);
  CHECK_THROWS_WITH_AS((slot_phase{1, 4}),
                       "slots = 1 is not allowed: it must be at least 2, else the centred Gram matrix is singular",
                       lindyn::argument_error);
  CHECK_THROWS_WITH_AS((slot_phase{4, 1}), "phases = 1 is not allowed: it must be at least 2", lindyn::argument_error);
}

}  // namespace
