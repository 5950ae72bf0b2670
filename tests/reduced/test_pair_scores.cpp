// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/reduced/compile_relations.hpp>
#include <lindyn/reduced/pair_scores.hpp>

#include "attention_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using reduced::detail::pair_scores;
using reduced::detail::row_block;

struct setting {
  manifold::basis basis;
  population::sequence_table sequences;
  reduced::relation_plan plan;
  std::vector<double> coordinates;  // of one block, tokens first

  explicit setting(const symmetry::structure& tokens, const symmetry::structure& positions)
      : basis(1, 1, symmetry::product(tokens, positions)),
        sequences(random_sequences(3, 1, trunk + 1, tokens.size(), positions.size())),
        plan(reduced::compile_relations(basis, sequences)),
        coordinates(normal_numbers(basis.layout().selections(), 4, 1)) {}

  /// The score of two places, centred, less what centring takes from the row's score of the first place's classes.
  [[nodiscard]] double score(int row, int column) const {
    const auto of = [&](const manifold::selection_set& set, std::span<const int> points, int first) {
      const auto at = [&](int place) { return points[static_cast<std::size_t>(place)]; };
      const auto orbit = [&](int place) { return set.structure().orbit(at(place)); };
      double result = 0;
      for (int s = 0; s < set.count(); ++s) {
        const double coordinate = coordinates[static_cast<std::size_t>(first + s)];
        if (set.between(at(row), at(column)) == s) result += coordinate;
        if (set.block(s) == std::pair(orbit(row), orbit(column))) result -= coordinate * set.mean(s);
        if (set.block(s) == std::pair(orbit(row), orbit(0))) result += coordinate * set.mean(s);
      }
      return result;
    };
    const task::sequence sequence = sequences[0];
    return of(basis.tokens(), sequence.tokens, 0) + of(basis.positions(), sequence.positions, basis.tokens().count());
  }
};

const std::vector<setting>& settings() {
  static const std::vector<setting> result{
      setting(symmetry::matching(8), symmetry::slot_phase(3, 2)),
      setting(symmetry::direct_sum({{symmetry::matching(4), "c"}, {symmetry::full_symmetric(4), "r"}}),
              symmetry::direct_sum({{symmetry::slot_phase(2, 2), "a"}, {symmetry::cyclic(4), "b"}}))};
  return result;
}

/// Checks relate and its adjoint on one block, of `rows` of the identity if copy 0, else any rows.
void check(const setting& of, const row_block& block, int copy, const std::vector<std::vector<double>>& identity) {
  const auto& context = of.plan.contexts.front();
  const int width = block.width();
  pair_scores scores(of.plan);
  scores.load(of.coordinates, 0);
  auto x = random_rows(1, width);
  if (copy == 0)
    for (std::size_t j = 0; j < x.size(); ++j)
      for (int lane = 0; lane < lanes::count; ++lane) x[j][lane] = identity[static_cast<std::size_t>(lane)][j];
  const auto start = random_rows(2, width), dy = random_rows(5, width);
  auto y = start, dx = start;
  scores.relate(context, block, copy, x.data(), y.data());
  scores.relate_backward(context, block, copy, x.data(), dy.data(), dx.data());
  double error = 0, back_error = 0, total = 0;
  const int lane_count = block.queries ? block.queries->count : std::min<int>(lanes::count, trunk - block.first);
  for (int lane = 0; lane < lane_count; ++lane)
    for (int j = 0; j < width; ++j) {
      double product = 0, back = 0;
      for (int i = 0; i < width; ++i) {
        product += x[static_cast<std::size_t>(i)][lane] * of.score(i, j);
        back += dy[static_cast<std::size_t>(i)][lane] * of.score(j, i);
      }
      const auto place = static_cast<std::size_t>(j);
      error = std::max(error, std::abs(y[place][lane] - start[place][lane] - product));
      if (copy > 0) back_error = std::max(back_error, std::abs(dx[place][lane] - start[place][lane] - back));
      total += product * dy[place][lane];
    }
  CHECK(error < 1e-12);
  CHECK(back_error < 1e-12);
  // Scores are linear in the coordinates, and so is <dY, X R>, whose gradient by them is this.
  std::vector<double> gradient(of.coordinates.size());
  scores.store(gradient, 0);
  double sum = 0;
  for (std::size_t place = 0; place < gradient.size(); ++place) sum += gradient[place] * of.coordinates[place];
  if (lane_count == lanes::count) CHECK(sum == doctest::Approx(total).epsilon(1e-12));
}

TEST_CASE("rows are multiplied by the centred relations, but for constants of a row: the trunk's rows") {
  for (const setting& of : settings()) {
    row_block block;
    block.columns = lanes::count;
    std::vector<std::vector<double>> identity(lanes::count, std::vector<double>(lanes::count));
    for (std::size_t i = 0; i < identity.size(); ++i) identity[i][i] = 1;
    for (const int copy : {0, 1}) check(of, block, copy, identity);
  }
}

TEST_CASE("and a query's row, which has a column of its own") {
  for (const setting& of : settings()) {
    row_block block;
    block.columns = trunk;
    auto queries = of.plan.contexts.front().queries.front();
    REQUIRE(queries.count == 1);
    block.queries = &queries;
    std::vector<std::vector<double>> identity(lanes::count, std::vector<double>(trunk + 1));
    identity.front().back() = 1;
    for (const int copy : {0, 1}) check(of, block, copy, identity);
  }
}

}  // namespace
