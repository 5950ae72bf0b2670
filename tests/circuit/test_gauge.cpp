// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/LU>

#include <lindyn/circuit/detection/gauge.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::circuit;
using lindyn::index;
using recall = task::associative_recall<block<2>>;
using directed = task::associative_recall<block<2>, directed_association>;

/// Checks that the loss doesn't change along any direction, at a point of its own, and that there are no others; returns
/// the labels of the invisible coordinates.
std::string checked(reduced::relational_model& model, const std::vector<gauge_direction>& gauge) {
  std::string invisible;
  counter_generator generator(11);
  std::vector<double> point(static_cast<std::size_t>(model.dimension()));
  for (double& entry : point) entry = standard_normal(generator);
  const double loss = model.loss(point);
  for (const auto& direction : gauge) {
    auto moved = point;
    for (std::size_t k = 0; k < direction.places.size(); ++k)
      moved[static_cast<std::size_t>(direction.places[k])] += 3 * direction.coefficients[k];
    CHECK(model.loss(moved) == doctest::Approx(loss).epsilon(1e-11));
    if (direction.invisible()) invisible += model.basis().label(direction.places.front()) + " ";
  }
  // None takes part in several blocks: all gradients together have the rank that these directions leave.
  Eigen::MatrixXd gradients =
      circuit::detail::random_gradients(model.basis(), model, model.dimension() + 10).transpose();
  for (auto column : gradients.colwise()) column /= std::max(column.norm(), 1e-6);  // rounding stays below 1e-9
  Eigen::FullPivLU<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(1e-9);
  CHECK(decomposition.compute(gradients).rank() == model.dimension() - std::ssize(gauge));
  return invisible;
}

TEST_CASE("a query opens its block, so that the last layer's previous place of the query changes nothing") {
  const population::recall_law<recall> law{{.pairs = 3, .vocabulary = 12}};
  const manifold::basis basis(2, 2, law.structure());
  reduced::relational_model model(basis, population::enumerate_types(law).types);
  const auto gauge = find_gauge(basis, model);
  CHECK(checked(model, gauge) == "L2a[x,x]M L2a[x,1a]M L2a[x,1b]M L2b[x,x]M L2b[x,1a]M L2b[x,1b]M ");
  CHECK(gauge.size() == 6);
  CHECK(gauge.front().sentence == "L2a[x,x]M changes nothing: the loss doesn't depend on it");
}

TEST_CASE("items aren't labels: relations of labels that only the query could show change nothing") {
  const population::recall_law<directed> law{{.pairs = 2, .vocabulary = 12, .within_class = 0.3}};
  const manifold::basis basis(2, 1, law.structure());
  reduced::relational_model model(basis, population::enumerate_types(law).types);
  CHECK(checked(model, find_gauge(basis, model)) ==
        "L2[x,x]Ib L2[x,x]C L2[x,x]M L2[x,1]Ib L2[x,1]C L2[x,1]M out:x Ib out:x C' ");
}

TEST_CASE("shifts of a ring: those beyond the sequence change nothing, of the others only differences count") {
  const population::recall_law<recall, positions::ring<9>> law{{.pairs = 3, .vocabulary = 12}};
  const manifold::basis basis(1, 1, law.structure());
  reduced::relational_model model(basis, population::enumerate_types(law).types);
  const auto gauge = find_gauge(basis, model);
  CHECK(checked(model, gauge) == "L1[x,x]M7 ");
  REQUIRE(gauge.size() == 2);
  CHECK(gauge[1].sentence ==
        "only differences count: adding a multiple of L1[x,x]Ip + L1[x,x]M + L1[x,x]M2 + L1[x,x]M3 + L1[x,x]M4 + "
        "L1[x,x]M5 + L1[x,x]M6 changes nothing");
  for (const double c : gauge[1].coefficients) CHECK(c == doctest::Approx(1).epsilon(1e-9));

  // All but one of the shifts have the same strength, and so are zero in the simplest gauge.
  std::vector<double> coordinates{0.4, -0.3, 2, -0.3, -0.3, -0.3, -0.3, -0.3, 5, 1, 2};
  REQUIRE(std::ssize(coordinates) == basis.dimension());
  const double before = model.loss(coordinates);
  fix_gauge(gauge, std::vector<double>(coordinates.size(), 1.0), coordinates);
  const std::vector<double> expected{0.4, 0, 2.3, 0, 0, 0, 0, 0, 0, 1, 2};
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(coordinates[k] == doctest::Approx(expected[k]).epsilon(1e-9));
  CHECK(coordinates[1] == 0);
  CHECK(model.loss(coordinates) == doctest::Approx(before).epsilon(1e-12));
}

TEST_CASE("on a ring with two layers too no direction takes part in several blocks") {
  const population::recall_law<recall, positions::ring<5>> law{{.pairs = 2, .vocabulary = 12}};
  const manifold::basis basis(2, 1, law.structure());
  reduced::relational_model model(basis, population::enumerate_types(law).types);
  CHECK(checked(model, find_gauge(basis, model)) == "");
}

TEST_CASE("the simplest gauge has the least sum of norms") {
  const std::vector<gauge_direction> gauge{{{0, 1, 2}, {1, -0.5, 1}, ""}};
  std::vector<double> coordinates{1, 4, -2};
  const std::vector<double> norms{1, 1, 5};
  const auto sum = [&](double t) { return std::abs(1 + t) + std::abs(4 - 0.5 * t) + 5 * std::abs(-2 + t); };
  fix_gauge(gauge, norms, coordinates);
  CHECK(coordinates == std::vector<double>{3, 3, 0});
  for (double t = -10; t < 10; t += 0.25) CHECK(sum(2) <= sum(t));
}

}  // namespace
