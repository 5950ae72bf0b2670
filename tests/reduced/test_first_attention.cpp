// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/reduced/compile_relations.hpp>
#include <lindyn/reduced/first_attention.hpp>

#include "attention_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using reduced::detail::first_attention;

/// A trunk of random tokens and positions, some related, in one class and in several.
const reduced::relation_plan& plan_of(bool classes) {
  const auto plan = [](const symmetry::stream_structure& structure) {
    return reduced::compile_relations(manifold::basis(1, 1, structure), random_sequences(3, 1, trunk + 1, 8, 12));
  };
  static const reduced::relation_plan one = plan(symmetry::product(symmetry::matching(8), symmetry::slot_phase(6, 2)));
  static const reduced::relation_plan several =
      plan(symmetry::product(symmetry::direct_sum({{symmetry::matching(4), "c"}, {symmetry::full_symmetric(4), "r"}}),
                             symmetry::direct_sum({{symmetry::slot_phase(3, 2), "a"}, {symmetry::cyclic(6), "b"}})));
  return classes ? several : one;
}

std::vector<double> scores(const reduced::relation_plan& plan, double size) {
  return normal_numbers(static_cast<index>(plan.kinds.size()), 4, size);
}

/// Attention by softmax of the scores one by one.
std::vector<std::vector<double>> softmax(const reduced::relation_context& context, const std::vector<double>& scores) {
  std::vector<std::vector<double>> result(trunk, std::vector<double>(trunk));
  for (int i = 0; i < trunk; ++i) {
    auto& row = result[static_cast<std::size_t>(i)];
    const auto class_of = [&](int place) { return context.classes[static_cast<std::size_t>(place)]; };
    for (int j = 0; j <= i; ++j) {
      const int kind = context.class_kinds[static_cast<std::size_t>(class_of(i) * context.class_count + class_of(j))];
      REQUIRE((kind < 0) == (class_of(j) == 0));
      if (kind >= 0) row[static_cast<std::size_t>(j)] = scores[static_cast<std::size_t>(kind)];
    }
    for (const auto& pair : context.causal)
      if (pair.row == i) row[static_cast<std::size_t>(pair.column)] += scores[static_cast<std::size_t>(pair.kind)];
    const double top = *std::max_element(row.begin(), row.begin() + i + 1);
    double total = 0;
    for (int j = 0; j < trunk; ++j) {
      double& entry = row[static_cast<std::size_t>(j)];
      total += entry = j <= i ? std::exp(entry - top) : 0.0;
    }
    for (double& entry : row) entry /= total;
  }
  return result;
}

TEST_CASE("the first layer's attention is the softmax of its scores, in one class of places and in several") {
  for (const bool classes : {false, true}) {
    const auto& plan = plan_of(classes);
    const auto& context = plan.contexts.front();
    REQUIRE(context.class_count == (classes ? 3 : 1));
    REQUIRE(context.causal.size() >= 10);
    for (const double size : {0.0, 1.0, 30.0, 400.0}) {
      CAPTURE(size);
      CAPTURE(classes);
      first_attention attention;
      attention.resize(context);
      attention.assign(scores(plan, size));
      const auto matrix = dense(attention), expected = softmax(context, scores(plan, size));
      double error = 0;
      for (std::size_t i = 0; i < trunk; ++i) error = std::max(error, difference(matrix[i], expected[i]));
      CHECK(error < 1e-14);
      check_adjoint(attention);

      std::vector<lanes> rows(trunk);
      attention.read_rows(8, rows.data(), trunk);
      for (int lane = 0; lane < 3; ++lane)
        for (std::size_t j = 0; j < trunk; ++j)
          CHECK(rows[j][lane] == doctest::Approx(matrix[static_cast<std::size_t>(8 + lane)][j]).epsilon(1e-14));
    }
  }
}

TEST_CASE("the first layer's gradient is that of finite differences, by either way in") {
  for (const bool classes : {false, true}) {
    const auto& plan = plan_of(classes);
    const auto& context = plan.contexts.front();
    const auto left = random_rows(5, trunk), right = random_rows(6, trunk);
    const auto kind_scores = scores(plan, 1);
    first_attention attention;
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
}

}  // namespace
