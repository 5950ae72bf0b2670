// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/random.hpp>
#include <lindyn/manifold/basis.hpp>

/// Manifolds of tokens in several classes, and of directed couples: structures with several orbits.

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using manifold::basis;
using symmetry::stream_structure;

constexpr int common = 6, rare = 4, slots = 3;

/// Common tokens in couples, rare tokens without partners: T = {Ic, C, Ir}.
stream_structure classes() {
  return symmetry::product(
      symmetry::direct_sum({{symmetry::matching(common), "c"}, {symmetry::full_symmetric(rare), "r"}}),
      symmetry::slot_phase(slots, 2));
}
stream_structure couples() {
  return symmetry::product(symmetry::directed_matching(common), symmetry::slot_phase(slots, 2));
}
stream_structure nested_slots() {
  return symmetry::product(symmetry::full_symmetric(4),
                           symmetry::wreath(symmetry::cyclic(3), symmetry::full_symmetric(3)));
}

std::vector<double> random_numbers(counter_generator& generator, index count) {
  std::vector<double> result(static_cast<std::size_t>(count));
  for (double& number : result) number = standard_normal(generator);
  return result;
}

Eigen::VectorXd element(const basis& of, index place) {
  std::vector<double> unit(static_cast<std::size_t>(of.dimension()), 0.0);
  unit[static_cast<std::size_t>(place)] = 1;
  const std::vector<double> weights = of.embed(unit);
  return Eigen::Map<const Eigen::VectorXd>(weights.data(), static_cast<Eigen::Index>(weights.size()));
}

TEST_CASE("two layers have 37 dimensions with common and rare tokens, 46 with directed couples") {
  CHECK(basis(2, 1, classes()).dimension() == 37);
  CHECK(basis(2, 1, couples()).dimension() == 6 + 4 * 6 + 4 * 4);
  CHECK(basis(2, 1, nested_slots()).dimension() == 19 + 5);  // as slots of three phases
}

TEST_CASE("labels name the classes and the sides") {
  const basis of(2, 1, classes());
  CHECK(of.label(0) == "L1[x,x]Ic");
  CHECK(of.label(1) == "L1[x,x]C");
  CHECK(of.label(2) == "L1[x,x]Ir");
  CHECK(of.label(3) == "L1[x,x]Ip");
  CHECK(of.label(of.dimension() - 1) == "out:21 Ir");
  const basis directed(1, 1, couples());
  CHECK(directed.label(0) == "L1[x,x]Ia");
  CHECK(directed.label(3) == "L1[x,x]C'");
  CHECK(of.describe(of.dimension() - 1) == "the answer is the rare token layers 1 then 2 copied");
  CHECK(of.describe(3) == "layer 1 attends to its own place");
  CHECK(directed.describe(directed.layout().readout(0) + 2) == "the answer is the label stored for the last item");
  CHECK_THROWS_AS((void)of.describe(of.dimension()), lindyn::argument_error);
}

TEST_CASE("positions are described by their structure's names, whichever are selected") {
  const std::string query = "layer 1 attends where the query's position ", key = " the key's position";
  const basis shifted(1, 1, symmetry::product(symmetry::full_symmetric(4), symmetry::slot_phase(slots, 3)),
                      {.positions = {1, 2}});
  CHECK(shifted.label(1) == "L1[x,x]M");
  CHECK(shifted.describe(1) == "layer 1 attends to the previous token");
  CHECK(shifted.describe(2, -1) == "layer 1 avoids the token 2 places before");
  const basis two_rings(
      1, 1,
      symmetry::product(symmetry::full_symmetric(4),
                        symmetry::direct_sum({{symmetry::cyclic(3), "a"}, {symmetry::cyclic(4), "b"}})));
  CHECK(two_rings.selection_name(1) == "Ipa");
  CHECK(two_rings.describe(4) == query + "stands in relation Mb to" + key);
  CHECK(two_rings.describe(5) == "layer 1 attends to the token 2 places before");  // the first ring has no such shift
  CHECK_THROWS_AS((void)two_rings.selection_name(6), lindyn::argument_error);
  const basis table(1, 1, symmetry::product(symmetry::full_symmetric(4), symmetry::orbital_table(4, {{1, 2, 3, 0}})));
  CHECK(table.describe(1) == "layer 1 attends to its own place");
  CHECK(table.describe(2) == query + "stands in relation R1 to" + key);
}

TEST_CASE("each class is centred for itself, and nothing stands between classes") {
  const basis of(1, 1, classes());
  const int v = common + rare, d = v + 2 * slots;
  const auto expected = [&](int s) -> Eigen::MatrixXd {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(v, v);
    if (s == 2) {
      matrix.bottomRightCorner(rare, rare) = Eigen::MatrixXd::Identity(rare, rare).array() - 1.0 / rare;
      return matrix;
    }
    for (int token = 0; token < common; ++token) matrix(s == 0 ? token : token ^ 1, token) = 1;
    matrix.topLeftCorner(common, common).array() -= 1.0 / common;
    return matrix;
  };
  using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (int s = 0; s < 3; ++s) {
    CAPTURE(s);
    const Eigen::VectorXd weights = element(of, s);
    row_major matrix = Eigen::Map<const row_major>(weights.data(), d, d);
    matrix.topLeftCorner(v, v) -= expected(s);
    CHECK(matrix.cwiseAbs().maxCoeff() < 1e-15);
    CHECK(weights.tail(weights.size() - d * d).isZero(0));
  }
}

TEST_CASE("the Gram matrix is that of the embedded elements, and solving undoes applying") {
  for (const stream_structure& structure : {classes(), couples(), nested_slots()}) {
    const basis of(2, 1, structure);
    Eigen::MatrixXd all(of.parameters().size(), of.dimension());
    for (index place = 0; place < of.dimension(); ++place) all.col(place) = element(of, place);
    const Eigen::MatrixXd gram = all.transpose() * all;
    double difference = 0, undone = 0;
    std::vector<double> unit(static_cast<std::size_t>(of.dimension()), 0.0), image(unit.size());
    for (std::size_t column = 0; column < unit.size(); ++column) {
      unit[column] = 1;
      of.apply_gram(unit, image);
      for (std::size_t row = 0; row < unit.size(); ++row)
        difference = std::max(difference, std::abs(image[row] - gram(row, column)));
      of.solve_gram(image, image);
      for (std::size_t row = 0; row < unit.size(); ++row) undone = std::max(undone, std::abs(image[row] - unit[row]));
      unit[column] = 0;
    }
    CHECK(difference < 1e-13);
    CHECK(undone < 1e-14);
  }
}

TEST_CASE("coordinates survive embedding and projecting, and the generic table has the same manifold") {
  counter_generator generator(6);
  for (const stream_structure& structure : {classes(), couples(), nested_slots()}) {
    const basis of(2, 1, structure);
    const basis generic(
        2, 1, symmetry::from_generators(structure.tokens.size(), structure.positions.size(), structure.generators));
    const std::vector<double> coordinates = random_numbers(generator, of.dimension());
    const std::vector<double> weights = of.embed(coordinates);
    const manifold::projection found = of.project(weights);
    double difference = 0;
    for (std::size_t place = 0; place < coordinates.size(); ++place)
      difference = std::max(difference, std::abs(found.coordinates[place] - coordinates[place]));
    CHECK(difference < 1e-13);
    CHECK(found.relative_residual() < 1e-15);
    CHECK(generic.dimension() == of.dimension());
    CHECK(generic.project(weights).relative_residual() < 1e-15);
  }
}

TEST_CASE("an identity across all tokens isn't on the manifold of classes alone") {
  // I on all tokens, centred over all of them, as one class would have it: it carries block means
  const basis one_class(1, 1,
                        symmetry::product(symmetry::full_symmetric(common + rare), symmetry::slot_phase(slots, 2)));
  const Eigen::VectorXd identity = element(one_class, 0);
  const basis of(1, 1, classes());
  const manifold::projection found =
      of.project(std::vector<double>(identity.data(), identity.data() + identity.size()));
  CHECK(found.coordinates[0] == doctest::Approx(1).epsilon(1e-14));
  CHECK(found.coordinates[2] == doctest::Approx(1).epsilon(1e-14));
  // ||I - 1/10||^2 = 9 splits into 5 + 3 in the classes and 1 between their means
  CHECK(found.relative_residual() == doctest::Approx(1.0 / 3).epsilon(1e-14));
}

}  // namespace
