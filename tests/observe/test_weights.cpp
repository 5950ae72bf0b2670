// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/observe/condensation.hpp>
#include <lindyn/observe/neuron_groups.hpp>
#include <lindyn/observe/norms.hpp>
#include <lindyn/observe/subspace_alignment.hpp>

#include "../difference.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::observe;
using lindyn::index;  // POSIX has a function of this name

/// A dense row-major matrix.
struct numbers {
  index rows, columns;
  std::vector<double> data = std::vector<double>(static_cast<std::size_t>(rows * columns));
  double& operator()(index row, index column) { return data[static_cast<std::size_t>(row * columns + column)]; }
  matrix_view<const double> view() const { return {data.data(), rows, columns}; }
};

/// Turns rows, then columns, by reflections, which leave singular values as they are.
void reflect(numbers& matrix) {
  counter_generator generator(2);
  for (const bool rows : {true, false})
    for (int reflection = 0; reflection < 3; ++reflection) {
      const index length = rows ? matrix.rows : matrix.columns, others = rows ? matrix.columns : matrix.rows;
      std::vector<double> normal(static_cast<std::size_t>(length));
      double square = 0;
      for (double& entry : normal) square += std::pow(entry = standard_normal(generator), 2);
      for (index other = 0; other < others; ++other) {
        const auto entry = [&](index i) -> double& { return rows ? matrix(i, other) : matrix(other, i); };
        double along = 0;
        for (index i = 0; i < length; ++i) along += entry(i) * normal[static_cast<std::size_t>(i)];
        for (index i = 0; i < length; ++i) entry(i) -= 2 * along / square * normal[static_cast<std::size_t>(i)];
      }
    }
}

numbers with_singular_values(index rows, index columns, const std::vector<double>& values) {
  numbers result{rows, columns};
  for (index i = 0; i < std::ssize(values); ++i) result(i, i) = values[static_cast<std::size_t>(i)];
  reflect(result);
  return result;
}

/// A table of two layers of two heads of a stream of 6, and weights for it.
struct attention_weights {
  parameter_table table{4};
  std::vector<double> weights;

  attention_weights() {
    for (const std::string layer : {"blocks.0", "blocks.1"}) {
      for (const char* which : {"q", "k", "v", "o"}) table.append(layer + ".attn." + which + ".weight", 6, 6);
      table.append_vector(layer + ".attn.q.bias", 6);
    }
    weights.resize(static_cast<std::size_t>(table.size()));
    counter_generator generator(4);
    for (double& weight : weights) weight = standard_normal(generator);
  }
  matrix_view<double> operator[](const std::string& name) { return table.view(name, std::span(weights)); }
  std::span<const double> view() const { return weights; }
};

TEST_CASE("singular values are right to rounding of the largest, small ones and zeros too") {
  for (const auto& [rows, columns] : {std::pair<index, index>{5, 5}, {9, 5}, {5, 12}}) {
    const std::vector<double> expected{3, 1, 1, 1e-9, 0};
    const auto values = singular_values(with_singular_values(rows, columns, expected).view());
    REQUIRE(values.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(std::abs(values[i] - expected[i]) < 1e-14);
  }
  CHECK(singular_values(numbers{3, 2}.view()) == std::vector<double>{0, 0});
  const float single[] = {3, 4};
  CHECK(singular_values(matrix_view<const float>{single, 1, 2}) == std::vector<double>{5});
}

TEST_CASE("singular values of a matrix whose values are known in closed form") {
  // Second differences: 2 - 2 cos(k pi / 41), from 8.7e-3 ... to nearly 4.
  numbers matrix{40, 40};
  for (index i = 0; i < 40; ++i) {
    matrix(i, i) = 2;
    if (i > 0) matrix(i, i - 1) = matrix(i - 1, i) = -1;
  }
  const auto values = singular_values(matrix.view());
  double sum = 0, squares = 0, error = 0;
  for (int k = 1; k <= 40; ++k) {
    const double expected = 2 - 2 * std::cos((41 - k) * std::acos(-1) / 41);
    error = testing::larger(error, std::abs(values[static_cast<std::size_t>(k - 1)] - expected));
    sum += expected;
    squares += expected * expected;
  }
  CHECK(error < 1e-13);
  CHECK(condensation(matrix.view()) == doctest::Approx(sum * sum / squares).epsilon(1e-12));

  // Powers of two change no digit, as long as there are numbers of that size.
  for (const int exponent : {-950, -600, 600, 1020}) {
    numbers scaled = matrix;
    for (index i = 0; i < 40; ++i)
      for (index j = 0; j < 40; ++j) scaled(i, j) = std::ldexp(matrix(i, j), exponent);
    CHECK(condensation(scaled.view()) == condensation(matrix.view()));
    CHECK(singular_values(scaled.view()).back() == std::ldexp(values.back(), exponent));
  }
  numbers wide{8, 8};  // sizes from 1 to 1e-147, whose squares have no product
  for (index i = 0; i < 8; ++i) wide(i, i) = std::pow(10, -21 * i), wide(i, (i + 1) % 8) = wide(i, i) / 2;
  CHECK(condensation(wide.view()) == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("condensation counts directions") {
  CHECK(condensation(with_singular_values(6, 4, {2, 2, 2, 2}).view()) == doctest::Approx(4).epsilon(1e-13));
  CHECK(condensation(with_singular_values(6, 4, {3}).view()) == doctest::Approx(1).epsilon(1e-13));
  CHECK(condensation(with_singular_values(4, 6, {3, 1}).view()) == doctest::Approx(1.6).epsilon(1e-13));
  CHECK(condensation(numbers{3, 3}.view()) == 0);
  numbers bad{2, 2};
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS((void)condensation(bad.view()), non_finite_error);

  attention_weights net;
  std::ranges::copy(with_singular_values(6, 6, {1}).data, net["blocks.0.attn.v.weight"].begin());
  std::ranges::copy(with_singular_values(6, 6, {1, 1}).data, net["blocks.1.attn.v.weight"].begin());
  CHECK(mean_condensation(net.table, net.view()) == doctest::Approx(1.5).epsilon(1e-12));
  CHECK(mean_condensation(net.table, net.view(), "0.attn.v.weight") == doctest::Approx(1).epsilon(1e-12));
  CHECK_THROWS_AS((void)mean_condensation(net.table, net.view(), "mlp"), argument_error);
}

TEST_CASE("neurons are grouped by direction, through others between them") {
  // At 0, 20, 40 and 100 degrees; opposite to the first; none.
  numbers matrix{6, 2};
  const double degrees[] = {0, 20, 40, 100, 180};
  for (index row = 0; row < 5; ++row) {
    const double angle = degrees[row] * std::acos(-1) / 180, length = 1 + static_cast<double>(row);
    matrix(row, 0) = length * std::cos(angle);
    matrix(row, 1) = length * std::sin(angle);
  }
  const neuron_groups groups = group_neurons(matrix.view(), {.threshold = 0.9});
  CHECK(groups.group == std::vector<int>{0, 0, 0, 1, 0, neuron_groups::silent});
  CHECK(groups.sizes == std::vector<index>{4, 1});
  CHECK(groups.silent_neurons == 1);
  CHECK(groups.condensed_share() == doctest::Approx(0.6));
  CHECK(group_neurons(matrix.view(), {.threshold = 0.9, .opposite = false}).group ==
        std::vector<int>{0, 0, 0, 1, 2, neuron_groups::silent});
  CHECK(group_neurons(matrix.view(), {.threshold = 0.95}).sizes == std::vector<index>{2, 1, 1, 1});
  CHECK(group_neurons(matrix.view(), {.threshold = 1}).sizes == std::vector<index>{2, 1, 1, 1});

  numbers transposed{2, 6};
  for (index row = 0; row < 6; ++row)
    for (index column = 0; column < 2; ++column) transposed(column, row) = matrix(row, column);
  CHECK(group_neurons(transposed.view(), {.of = neurons::columns, .threshold = 0.9}).group == groups.group);
  CHECK(group_neurons(numbers{3, 2}.view()).condensed_share() == 0);
  CHECK_THROWS_AS((void)group_neurons(matrix.view(), {.threshold = 0}), argument_error);
  CHECK_THROWS_AS((void)group_neurons(matrix.view(), {.threshold = 1.1}), argument_error);
}

TEST_CASE("circuits are the products of their heads' matrices") {
  attention_weights net;
  const auto ov = output_value_circuit(net.table, net.view(), {1, 1}, 2);
  const auto qk = query_key_circuit(net.table, net.view(), {1, 1}, 2);
  const auto o = net["blocks.1.attn.o.weight"], v = net["blocks.1.attn.v.weight"], q = net["blocks.1.attn.q.weight"],
             k = net["blocks.1.attn.k.weight"];
  for (index row = 0; row < 6; ++row)
    for (index column = 0; column < 6; ++column) {
      double product = 0, score = 0, ours = 0, our_score = 0;
      for (index unit = 0; unit < 3; ++unit) {
        product += o(row, 3 + unit) * v(3 + unit, column);
        score += q(3 + unit, row) * k(3 + unit, column);
        ours += ov.left(row, unit) * ov.right(column, unit);
        our_score += qk.left(row, unit) * qk.right(column, unit);
      }
      CHECK(ours == doctest::Approx(product).epsilon(1e-14));
      CHECK(our_score == doctest::Approx(score).epsilon(1e-14));
    }
  CHECK_THROWS_AS((void)query_key_circuit(net.table, net.view(), {1, 2}, 2), argument_error);
  CHECK_THROWS_AS((void)query_key_circuit(net.table, net.view(), {2, 0}, 2), argument_error);
  CHECK_THROWS_AS((void)query_key_circuit(net.table, net.view(), {0, 0}, 4), argument_error);
}

TEST_CASE("leading subspaces are those of the product, not of its factors") {
  // left right' = 5 e0 f0' + 2 e1 f1' + 1 e2 f2', but left's largest column is the last.
  head_circuit circuit{Eigen::MatrixXd::Zero(6, 3), Eigen::MatrixXd::Zero(6, 3)};
  const double left[] = {1, 2, 10}, right[] = {5, 1, 0.1};
  for (index unit = 0; unit < 3; ++unit) {
    circuit.left(unit, unit) = left[unit];
    circuit.right(5 - unit, unit) = right[unit];
  }
  const auto written = leading_subspace(circuit, side::left, 2), read = leading_subspace(circuit, side::right, 2);
  CHECK(std::abs(written(0, 0)) == doctest::Approx(1).epsilon(1e-15));
  CHECK(std::abs(written(1, 1)) == doctest::Approx(1).epsilon(1e-15));
  CHECK(std::abs(read(5, 0)) == doctest::Approx(1).epsilon(1e-15));
  CHECK(std::abs(read(4, 1)) == doctest::Approx(1).epsilon(1e-15));

  attention_weights net;
  const auto random = output_value_circuit(net.table, net.view(), {0, 0}, 2);
  const auto space = leading_subspace(random, side::left, 3);
  // An eigenvector of M M' for each singular vector of M.
  const Eigen::MatrixXd product = random.left * random.right.transpose();
  const Eigen::MatrixXd mapped = product * (product.transpose() * space);
  for (index column = 0; column < 3; ++column) {
    const double square = mapped.col(column).norm();
    CHECK((mapped.col(column) - square * space.col(column)).norm() < 1e-12 * square);
  }
  CHECK((space.transpose() * space - Eigen::MatrixXd::Identity(3, 3)).norm() < 1e-14);
}

TEST_CASE("alignment: equal subspaces 1, orthogonal ones 0, in between the cosines of their angles") {
  const auto circuit = [](double angle) {
    head_circuit result{Eigen::MatrixXd::Zero(6, 2), Eigen::MatrixXd::Zero(6, 2)};
    result.left(0, 0) = 3 * std::cos(angle);
    result.left(2, 0) = 3 * std::sin(angle);
    result.left(1, 1) = 2;
    result.right(4, 0) = result.right(5, 1) = 1;
    return result;
  };
  const auto between = alignment(circuit(0), side::left, circuit(0.7), side::left, 2);
  REQUIRE(between.has_value());
  CHECK(between->cosines[0] == doctest::Approx(1).epsilon(1e-15));
  CHECK(between->cosines[1] == doctest::Approx(std::cos(0.7)).epsilon(1e-14));
  CHECK(between->mean_square == doctest::Approx((1 + std::pow(std::cos(0.7), 2)) / 2).epsilon(1e-14));
  CHECK(alignment(circuit(0), side::left, circuit(0), side::right, 2)->mean_square == 0);

  attention_weights net;
  const auto ov = output_value_circuit(net.table, net.view(), {0, 1}, 2);
  const auto qk = query_key_circuit(net.table, net.view(), {1, 0}, 2);
  CHECK(alignment(ov, side::left, ov, side::left, 3)->mean_square == doctest::Approx(1).epsilon(1e-14));
  const double random = alignment(ov, side::left, qk, side::right, 3)->mean_square;
  CHECK(random > 0);
  CHECK(random < 1);
  // Where the key is read for nothing but what the other head writes.
  for (index unit = 0; unit < 3; ++unit)
    for (index place = 0; place < 6; ++place)
      net["blocks.1.attn.k.weight"](unit, place) = net["blocks.0.attn.o.weight"](place, 3 + unit);
  CHECK(alignment(ov, side::left, query_key_circuit(net.table, net.view(), {1, 0}, 2), side::right, 3)->mean_square ==
        doctest::Approx(1).epsilon(1e-12));

  head_circuit extinct = circuit(0);
  extinct.left.setZero();
  CHECK_FALSE(alignment(extinct, side::left, circuit(0), side::left, 1).has_value());
  CHECK_THROWS_AS((void)alignment(circuit(0), side::left, circuit(0), side::left, 3), argument_error);
  CHECK_THROWS_AS((void)alignment(circuit(0), side::left, circuit(0), side::left, 0), argument_error);
}

TEST_CASE("norms of groups leave out what lies between the matrices, and modules are found by name") {
  parameter_table table(16);
  for (const char* name : {"tok_emb", "blocks.0.mlp.fc1.weight", "blocks.0.mlp.fc1.bias", "blocks.0.ln1.weight",
                           "blocks.1.mlp.fc1.weight", "ln_f.weight"})
    table.append(name, 1, 2);
  std::vector<float> weights(static_cast<std::size_t>(table.size()), 100);
  for (const auto& which : table) {
    weights[static_cast<std::size_t>(which.offset)] = 3;
    weights[static_cast<std::size_t>(which.offset + 1)] = 4;
  }
  const auto norms = group_norms(table, std::span<const float>(weights), modules(table));
  REQUIRE(norms.size() == 5);
  CHECK(norms[0].name == "tok_emb");
  CHECK(norms[1].name == "blocks.0.mlp");
  CHECK(norms[1].entries == 4);
  CHECK(norms[1].frobenius == doctest::Approx(std::sqrt(50)).epsilon(1e-15));
  CHECK(norms[1].rms == doctest::Approx(std::sqrt(12.5)).epsilon(1e-15));
  CHECK(norms[2].name == "blocks.0.ln1");
  CHECK(norms[3].name == "blocks.1.mlp");
  CHECK(norms[4].name == "ln_f");
  CHECK(group_norms(table, std::span(weights), std::vector{module_parts{"none", {}}})[0].rms == 0);
  CHECK_THROWS_AS((void)group_norms(table, std::span(weights), std::vector{module_parts{"x", {"y"}}}), argument_error);
}

TEST_CASE("the radial drive of a group is the rate at which its size grows along the negative gradient") {
  parameter_table table(4);
  for (const char* name : {"tok_emb", "blocks.0.mlp.fc1.weight", "blocks.0.mlp.fc2.weight", "ln_f"})
    table.append(name, 1, 3);
  counter_generator generator(5);
  std::vector<double> weights(static_cast<std::size_t>(table.size())), gradient(weights.size()), later(weights.size());
  for (double& weight : weights) weight = standard_normal(generator);
  for (double& slope : gradient) slope = standard_normal(generator);
  for (int entry = 12; entry < 15; ++entry) weights[static_cast<std::size_t>(entry)] = 0;
  constexpr double step = 1e-6;
  for (std::size_t i = 0; i < weights.size(); ++i) later[i] = weights[i] - step * gradient[i];
  const auto groups = modules(table);
  const auto drives = radial_drives(table, weights, gradient, groups);
  const auto before = group_norms(table, weights, groups), after = group_norms(table, later, groups);
  REQUIRE(drives.size() == 3);
  for (std::size_t group = 0; group < 2; ++group) {
    const double growth = std::log(after[group].frobenius / before[group].frobenius) / step;
    CHECK(*drives[group].rate == doctest::Approx(growth).epsilon(1e-5));
  }
  CHECK(drives[1].name == "blocks.0.mlp");
  CHECK(!drives[2].rate);
  CHECK(radial_drives(table, weights, weights, groups)[0].rate == -1);
}

}  // namespace
