// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include <Eigen/Core>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only/one_hot_block.hpp>

#include "random_network.hpp"

using lindyn::model::detail::lane_memory;
using lindyn::model::detail::lanes;
using lindyn::model::detail::one_hot_block;

namespace {

constexpr int vocabulary = 6, positions = 5, width = vocabulary + positions;
constexpr lindyn::index n = 7, stride = width + 2, lane_count = lanes<double>::count;
/// Sequences [first, last) of the batch: one whole group and one lane of another.
constexpr lindyn::index first = 2, last = first + lane_count + 1;

using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct example {
  lindyn::counter_generator generator{3};
  lindyn::testing::random_batch batch{generator, last + 1, n, vocabulary, positions};
  lindyn::task::batch_view view = batch.view();
  one_hot_block<double> input{view, first, last, vocabulary};

  /// X_0 of the sequence in a lane; lanes behind the last sequence repeat it.
  [[nodiscard]] matrix one_hot(lindyn::index group, lindyn::index lane) const {
    const lindyn::index sequence = std::min(first + group * lane_count + lane, last - 1);
    matrix x = matrix::Zero(n, width);
    for (lindyn::index i = 0; i < n; ++i)
      x(i, view.tokens(sequence, i)) = x(i, vocabulary + view.positions(sequence, i)) = 1;
    return x;
  }
  [[nodiscard]] matrix random(lindyn::index rows, lindyn::index columns) {
    matrix result(rows, columns);
    for (double& value : result.reshaped()) value = lindyn::standard_normal(generator);
    return result;
  }
  /// Random entries of a group, and those of one lane as a matrix.
  lane_memory<double> entries(lindyn::index count) {
    lane_memory<double> memory;
    memory.reserve(count);
    for (lindyn::index place = 0; place < count; ++place)
      for (lindyn::index lane = 0; lane < lane_count; ++lane)
        memory.data()[place][lane] = lindyn::standard_normal(generator);
    return memory;
  }
};

matrix lane_matrix(lane_memory<double>& memory, lindyn::index rows, lindyn::index columns, lindyn::index lane) {
  matrix result(rows, columns);
  for (lindyn::index i = 0; i < rows; ++i)
    for (lindyn::index j = 0; j < columns; ++j) result(i, j) = memory.data()[i * columns + j][lane];
  return result;
}

}  // namespace

TEST_CASE("lanes behind the block's last sequence repeat it with weight zero") {
  const example given;
  CHECK(given.input.count() == lane_count + 1);
  CHECK(given.input.groups() == 2);
  CHECK(given.input.weight(1, 0) == given.view.weight(last - 1));
  CHECK(given.input.answer(0, 1) == given.view.answers[first + 1]);
  CHECK(given.input.query_token(1) == given.view.tokens(first + 1, n - 1));
  CHECK(given.input.query_position(1) == given.view.positions(first + 1, n - 1));
  for (lindyn::index lane = 1; lane < lane_count; ++lane) {
    CHECK_FALSE(given.input.valid(1, lane));
    CHECK(given.input.weight(1, lane) == 0);
    CHECK(given.input.answer(1, lane) == given.input.answer(1, 0));
    CHECK(given.input.query_token(lane_count + lane) == given.input.query_token(lane_count));
  }
}

TEST_CASE("a gather is X_0 W X_0', a scatter adds X_0' R X_0 of the sequences that the block has") {
  example given;
  const matrix w = given.random(width, stride);
  for (const bool lower : {false, true})
    for (const lindyn::index group : {0, 1}) {
      CAPTURE(lower);
      CAPTURE(group);
      lane_memory<double> gathered = given.entries(n * n), relation = given.entries(n * n);
      given.input.gather(group, w.data(), stride, gathered.data(), lower);
      matrix expected = w, scattered = w;
      given.input.scatter(group, relation.data(), scattered.data(), stride, lower);
      for (lindyn::index lane = 0; lane < lane_count; ++lane) {
        const matrix x = given.one_hot(group, lane);
        matrix difference = x * w.leftCols(width) * x.transpose() - lane_matrix(gathered, n, n, lane);
        if (lower) difference = difference.triangularView<Eigen::Lower>();
        CHECK(difference.cwiseAbs().maxCoeff() <= 1e-14);
        matrix slopes = lane_matrix(relation, n, n, lane);
        if (lower) slopes = slopes.triangularView<Eigen::Lower>();
        if (given.input.valid(group, lane)) expected.leftCols(width) += x.transpose() * slopes * x;
      }
      CHECK((scattered - expected).cwiseAbs().maxCoeff() <= 1e-13);
    }
}

TEST_CASE("rows of places go to the input space and back by X_0") {
  example given;
  const matrix start = given.random(2 * lane_count, stride);
  for (const lindyn::index group : {0, 1}) {
    CAPTURE(group);
    lane_memory<double> row = given.entries(n), back = given.entries(n);
    matrix found = start, expected = start;
    given.input.to_input(group, row.data(), found.data(), stride);
    given.input.from_input(group, start.data(), stride, back.data());
    for (lindyn::index lane = 0; lane < lane_count; ++lane) {
      const matrix x = given.one_hot(group, lane);
      const lindyn::index place = group * lane_count + lane;
      expected.row(place).head(width) += lane_matrix(row, 1, n, lane) * x;
      const matrix projected = start.row(place).head(width) * x.transpose();
      CHECK((projected - lane_matrix(back, 1, n, lane)).cwiseAbs().maxCoeff() <= 1e-14);
    }
    CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-14);
  }
}
