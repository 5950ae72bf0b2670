// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/core/random.hpp>
#include <lindyn/symmetry/reynolds.hpp>

#include <Eigen/LU>

namespace {
using namespace lindyn::symmetry;

Eigen::MatrixXd random_matrix(int rows, int columns) {
  lindyn::counter_generator random(11);
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return standard_normal(random); });
}

Eigen::MatrixXd matrix_of(const permutation& p) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(p.size(), p.size());
  for (std::size_t i = 0; i < p.size(); ++i) matrix(p[i], i) = 1.0;
  return matrix;
}

std::vector<structure> groups() {
  return {
      full_symmetric(5),
      matching(6),
      cyclic(5),
      slot_phase(2, 3),
      orbital_table(6, {{1, 2, 3, 4, 5, 0}, {0, 5, 4, 3, 2, 1}}),
      orbital_table(7, {{1, 0, 2, 3, 4, 5, 6}, {1, 2, 0, 3, 4, 5, 6}, {0, 1, 2, 4, 3, 5, 6}, {0, 1, 2, 4, 5, 6, 3}}),
      orbital_table(7, {{1, 2, 0, 4, 5, 3, 6}})};
}

TEST_CASE("the Reynolds average is the mean over the enumerated group") {
  for (const structure& group : groups()) {
    const int n = group.size();
    CAPTURE(n);
    const Eigen::MatrixXd matrix = random_matrix(n, n);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
    const auto elements = enumerate(group.generators());
    for (const permutation& p : elements) sum += matrix_of(p) * matrix * matrix_of(p).transpose();
    const Eigen::MatrixXd average = reynolds(matrix, group);
    CHECK((average - sum / static_cast<double>(elements.size())).cwiseAbs().maxCoeff() <= 1e-14);
    CHECK((reynolds(average, group) - average).cwiseAbs().maxCoeff() <= 1e-15);
    for (const permutation& p : group.generators())
      CHECK(average == Eigen::MatrixXd(matrix_of(p) * average * matrix_of(p).transpose()));
  }
}

TEST_CASE("the Reynolds average is the orthogonal projection on the commutant") {
  const orbital_table group(7, {{1, 2, 0, 4, 5, 3, 6}});
  const Eigen::MatrixXd matrix = random_matrix(7, 7);
  const Eigen::MatrixXd rest = matrix - reynolds(matrix, group);
  const Eigen::MatrixXd other = reynolds(Eigen::MatrixXd(random_matrix(7, 7).transpose()), group);
  CHECK(std::abs(rest.cwiseProduct(other).sum()) <= 1e-13);
}

TEST_CASE("a rectangular average is the mean over both groups") {
  const structure rows = orbital_table(5, {{1, 0, 2, 3, 4}, {0, 1, 3, 4, 2}}), columns = cyclic(4);
  const Eigen::MatrixXd matrix = random_matrix(5, 4);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(5, 4);
  double count = 0;
  for (const permutation& p : enumerate(rows.generators()))
    for (const permutation& q : enumerate(columns.generators())) {
      sum += matrix_of(p) * matrix * matrix_of(q).transpose();
      ++count;
    }
  CHECK((reynolds(matrix, rows, columns) - sum / count).cwiseAbs().maxCoeff() <= 1e-14);
}

TEST_CASE("the average of stream weights is the mean over the joint group") {
  const int v = 5, p = 4;
  // two classes of tokens beside a ring, and a joint generator that turns both
  const stream_structure stream =
      from_generators(v, p, {{{1, 0, 2, 3, 4}, identity(p)}, {{0, 1, 3, 4, 2}, {1, 2, 3, 0}}});
  std::vector<permutation> joint;
  for (const generator& g : stream.generators) {
    permutation both = g.tokens;
    for (const int image : g.positions) both.push_back(v + image);
    joint.push_back(both);
  }
  const Eigen::MatrixXd matrix = random_matrix(v + p, v + p);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(v + p, v + p);
  const auto elements = enumerate(joint);
  for (const permutation& g : elements) sum += matrix_of(g) * matrix * matrix_of(g).transpose();
  CHECK((reynolds(matrix, stream) - sum / static_cast<double>(elements.size())).cwiseAbs().maxCoeff() <= 1e-14);
}

TEST_CASE("centred coordinates solve the Gram system") {
  for (const structure& group : groups()) {
    const int n = group.size();
    CAPTURE(n);
    const Eigen::MatrixXd matrix = random_matrix(n, n);
    Eigen::VectorXd products(group.orbital_count());
    for (int s = 0; s < group.orbital_count(); ++s) products(s) = centred_matrix(group, s).cwiseProduct(matrix).sum();
    const Eigen::VectorXd solved = gram_matrix(group).fullPivLu().solve(products);
    CHECK((centred_coordinates(matrix, group) - solved).cwiseAbs().maxCoeff() <= 1e-13);
  }
}

TEST_CASE("centred coordinates are read back from the matrix that they make, whatever constants its blocks carry") {
  for (const structure& group : groups()) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(group.size(), group.size(), 3.0);
    const Eigen::VectorXd coordinates = random_matrix(group.orbital_count(), 1);
    for (int s = 0; s < group.orbital_count(); ++s) matrix += coordinates(s) * centred_matrix(group, s);
    CHECK((centred_coordinates(matrix, group) - coordinates).cwiseAbs().maxCoeff() <= 1e-13);
  }
}

TEST_CASE("float and row-major matrices are averaged in double") {
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix =
      random_matrix(4, 4).cast<float>();
  const Eigen::MatrixXd average = reynolds(matrix, matching(4));
  CHECK(average == reynolds(Eigen::MatrixXd(matrix.cast<double>()), matching(4)));
}

TEST_CASE("matrices of other shapes are refused") {
  CHECK_THROWS_AS((void)reynolds(random_matrix(4, 5), full_symmetric(5)), lindyn::shape_error);
  CHECK_THROWS_AS((void)reynolds(random_matrix(5, 4), structure(full_symmetric(5))), lindyn::shape_error);
  CHECK_THROWS_AS((void)centred_coordinates(random_matrix(4, 4), full_symmetric(5)), lindyn::shape_error);
  CHECK_THROWS_AS((void)reynolds(random_matrix(5, 4), full_symmetric(4), cyclic(4)), lindyn::shape_error);
  CHECK_THROWS_AS((void)reynolds(random_matrix(8, 8), product(full_symmetric(5), cyclic(4))), lindyn::shape_error);
}

}  // namespace
