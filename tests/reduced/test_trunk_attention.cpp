// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/reduced/trunk_attention.hpp>

#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using reduced::lanes;

constexpr int trunk = 11;

/// A trunk of random tokens and positions, some related.
const reduced::relation_plan plan = reduced::compile_relations(
    manifold::basis(1, 1, symmetry::product(symmetry::matching(8), symmetry::slot_phase(6, 2))),
    random_sequences(3, 1, trunk + 1, 8, 12));

std::vector<lanes> random_rows(std::uint64_t seed, int count) {
  const auto numbers = normal_numbers(index{count} * lanes::count, seed, 1);
  std::vector<lanes> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i)
    for (int lane = 0; lane < lanes::count; ++lane)
      result[i][lane] = numbers[i * lanes::count + static_cast<std::size_t>(lane)];
  return result;
}

double dot(const std::vector<lanes>& a, const std::vector<lanes>& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result += (a[i] * b[i]).sum();
  return result;
}

/// Row i, column j of an attention matrix, by reading the rows back.
template <class Attention>
std::vector<std::vector<double>> dense(const Attention& attention) {
  std::vector<std::vector<double>> result(trunk, std::vector<double>(trunk));
  for (int i = 0; i < trunk; ++i) {
    std::vector<lanes> unit(trunk), row(trunk);
    unit[static_cast<std::size_t>(i)] = lanes::all(1);
    attention.push(unit.data(), row.data(), trunk);
    for (int j = 0; j < trunk; ++j)
      result[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = row[static_cast<std::size_t>(j)][0];
  }
  return result;
}

template <class Attention>
void check_adjoint(const Attention& attention) {
  for (const int columns : {1, 4, 7, 8, trunk}) {
    const auto x = random_rows(1, columns), y = random_rows(2, columns);
    auto pushed = x, folded = y;
    attention.push(x.data(), pushed.data(), columns);
    attention.fold(y.data(), folded.data(), columns);
    CHECK(dot(pushed, y) == doctest::Approx(dot(x, folded)).epsilon(1e-12));
  }
}

std::vector<double> scores(double size) { return normal_numbers(static_cast<index>(plan.kinds.size()), 4, size); }

TEST_CASE("the first layer's attention is the softmax of its sparse scores") {
  const auto& context = plan.contexts.front();
  REQUIRE(plan.kinds.size() >= 3);
  for (const double size : {0.0, 1.0, 30.0, 400.0}) {
    CAPTURE(size);
    const auto kind_scores = scores(size);
    reduced::detail::first_attention attention;
    attention.resize(context);
    attention.assign(kind_scores);
    const auto matrix = dense(attention);
    double error = 0;
    for (int i = 0; i < trunk; ++i) {
      std::vector<double> row(static_cast<std::size_t>(i) + 1);
      for (const auto& pair : context.causal)
        if (pair.row == i)
          row[static_cast<std::size_t>(pair.column)] = kind_scores[static_cast<std::size_t>(pair.kind)];
      const double top = *std::ranges::max_element(row);
      double total = 0;
      for (double& score : row) total += score = std::exp(score - top);
      for (int j = 0; j < trunk; ++j) {
        const auto column = static_cast<std::size_t>(j);
        const double expected = j <= i ? row[column] / total : 0;
        error = std::max(error, std::abs(matrix[static_cast<std::size_t>(i)][column] - expected));
      }
    }
    CHECK(error < 1e-14);
    check_adjoint(attention);

    std::vector<lanes> rows(trunk);
    attention.read_rows(8, rows.data(), trunk);
    for (int lane = 0; lane < 3; ++lane)
      for (std::size_t j = 0; j < trunk; ++j)
        CHECK(rows[j][lane] == doctest::Approx(matrix[static_cast<std::size_t>(8 + lane)][j]).epsilon(1e-14));
  }
}

TEST_CASE("the first layer's gradient is that of finite differences, by either way in") {
  const auto& context = plan.contexts.front();
  const auto left = random_rows(5, trunk), right = random_rows(6, trunk);
  const auto kind_scores = scores(1);
  reduced::detail::first_attention attention;
  attention.resize(context);
  // F = left' fold(right), and G = the sum of rows 8 .. 10 weighted by `right`.
  const auto value = [&](const std::vector<double>& at) {
    attention.assign(at);
    std::vector<lanes> folded(trunk), rows(trunk);
    attention.fold(right.data(), folded.data(), trunk);
    attention.read_rows(8, rows.data(), trunk);
    return std::pair(dot(left, folded), dot(rows, right));
  };
  std::vector<double> by_product(kind_scores.size()), by_rows(kind_scores.size());
  attention.assign(kind_scores);
  std::vector<lanes> folded(trunk), rows(trunk);
  attention.fold(right.data(), folded.data(), trunk);
  attention.accumulate(left.data(), right.data(), folded.data(), trunk);
  attention.finish(by_product);
  attention.assign(kind_scores);  // clears the gradient
  attention.read_rows(8, rows.data(), trunk);
  attention.accumulate_rows(8, rows.data(), right.data(), trunk);
  attention.finish(by_rows);
  const double h = 1e-5;
  for (std::size_t kind = 0; kind < kind_scores.size(); ++kind) {
    auto above = kind_scores, below = kind_scores;
    above[kind] += h;
    below[kind] -= h;
    const auto [product_above, rows_above] = value(above);
    const auto [product_below, rows_below] = value(below);
    CHECK(std::abs(by_product[kind] - (product_above - product_below) / (2 * h)) < 1e-8);
    CHECK(std::abs(by_rows[kind] - (rows_above - rows_below) / (2 * h)) < 1e-8);
  }
}

TEST_CASE("later layers' attention is the matrix that was written, and its gradient the product") {
  reduced::detail::later_attention attention;
  attention.resize(plan.contexts.front());
  std::vector<std::vector<double>> matrix(trunk, std::vector<double>(trunk));
  const auto numbers = normal_numbers(trunk * trunk, 7, 1);
  for (std::size_t i = 0; i < trunk; ++i)
    for (std::size_t j = 0; j <= i; ++j) matrix[i][j] = numbers[i * trunk + j];
  for (int first = 0; first < trunk; first += lanes::count) {
    const int columns = std::min(trunk, first + lanes::count);
    std::vector<lanes> rows(static_cast<std::size_t>(columns));
    for (int lane = 0; first + lane < trunk && lane < lanes::count; ++lane)
      for (std::size_t j = 0; j < rows.size(); ++j) rows[j][lane] = matrix[static_cast<std::size_t>(first + lane)][j];
    attention.write_rows(first, rows.data(), columns);
  }
  CHECK(dense(attention) == matrix);
  check_adjoint(attention);

  const auto left = random_rows(8, trunk), right = random_rows(9, trunk);
  for (int twice = 0; twice < 2; ++twice) attention.accumulate(left.data(), right.data(), nullptr, trunk);
  for (int first = 0; first < trunk; first += lanes::count) {
    const int columns = std::min(trunk, first + lanes::count);
    std::vector<lanes> rows(static_cast<std::size_t>(columns));
    attention.read_gradient(first, rows.data(), columns);
    for (int lane = 0; first + lane < trunk && lane < lanes::count; ++lane)
      for (int j = 0; j <= first + lane; ++j) {
        const double product =
            (left[static_cast<std::size_t>(first + lane)] * right[static_cast<std::size_t>(j)]).sum();
        CHECK(rows[static_cast<std::size_t>(j)][lane] == doctest::Approx(2 * product).epsilon(1e-12));
      }
  }
  attention.clear_gradient();
  std::vector<lanes> rows(lanes::count);
  attention.read_gradient(0, rows.data(), lanes::count);
  CHECK(rows[0][7] == 0);
}

}  // namespace
