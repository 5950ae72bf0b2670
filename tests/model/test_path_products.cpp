// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include <Eigen/Core>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only/path_products.hpp>

using lindyn::model::detail::group_state;
using lindyn::model::detail::lane_memory;
using lindyn::model::detail::lanes;
using lindyn::model::detail::path_start;

namespace {

using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int layers = 2, heads = 2;
constexpr lindyn::index n = 5, copies = lindyn::copies(layers, heads), top = lindyn::copies(layers - 1, heads);

void randomise(lindyn::counter_generator& generator, lindyn::model::detail::lane_entry<double>* to,
               lindyn::index count) {
  for (lindyn::index place = 0; place < count; ++place)
    for (int lane = 0; lane < lanes<double>::count; ++lane) to[place][lane] = lindyn::standard_normal(generator);
}

matrix lane_matrix(const lindyn::model::detail::lane_entry<double>* from, lindyn::index rows, lindyn::index columns,
                   int lane) {
  matrix result(rows, columns);
  for (lindyn::index i = 0; i < rows; ++i)
    for (lindyn::index j = 0; j < columns; ++j) result(i, j) = from[i * columns + j][lane];
  return result;
}

/// Two layers of two heads with random causal patterns, and their derivatives at zero.
struct example {
  lindyn::counter_generator generator{5};
  group_state<double> state{nullptr, n, heads, layers};
  lane_memory<double> memory;

  example() {
    memory.reserve(state.size());
    state.data = memory.data();
    for (int layer = 0; layer < layers; ++layer)
      for (int head = 0; head < heads; ++head) {
        randomise(generator, state.pattern(layer, head), n * n);
        for (lindyn::index i = 0; i < n; ++i)
          for (lindyn::index j = i + 1; j < n; ++j)
            state.pattern(layer, head)[i * n + j] -= state.pattern(layer, head)[i * n + j];
        std::fill_n(state.d_pattern(layer, head), n * n, lindyn::model::detail::lane_entry<double>{});
      }
  }
  example(const example&) = delete;
  example& operator=(const example&) = delete;

  /// P_c by definition: the digits h_1, h_2 of c name the heads, the pattern of layer 2 stands on the left.
  [[nodiscard]] matrix path(lindyn::index c, int lane) const {
    matrix result = matrix::Identity(n, n);
    for (int layer = 0; layer < layers; ++layer, c /= heads + 1)
      if (const auto head = static_cast<int>(c % (heads + 1)); head > 0)
        result = lane_matrix(state.pattern(layer, head - 1), n, n, lane) * result;
    return result;
  }
};

/// Compares the derivatives by the patterns with differences of objective(lane).
template <class Objective>
void check_pattern_derivatives(example& given, int below, const Objective& objective) {
  constexpr double step = 1e-5;
  for (int layer = 0; layer < below; ++layer)
    for (int head = 0; head < heads; ++head)
      for (lindyn::index i = 0; i < n; ++i)
        for (lindyn::index j = 0; j <= i; ++j) {
          auto& entry = given.state.pattern(layer, head)[i * n + j];
          const auto start = entry;
          for (const int lane : {0, lanes<double>::count - 1}) {
            entry = start + step;
            const double above = objective(lane);
            entry = start - step;
            const double difference = (above - objective(lane)) / (2 * step);
            entry = start;
            const double found = given.state.d_pattern(layer, head)[i * n + j][lane];
            CHECK(found == doctest::Approx(difference).epsilon(1e-6).scale(1));
          }
        }
}

}  // namespace

TEST_CASE("pushed rows are p_0 P_c, a folded row is sum_c P_c u_c") {
  example given;
  lane_memory<double> pushed, unit, folded;
  for (auto* rows : {&pushed, &unit, &folded}) {
    rows->reserve(copies * n);
    randomise(given.generator, rows->data(), copies * n);
  }
  lane_memory<double> u = folded;
  push_rows(given.state, pushed.data(), path_start::row);
  push_rows(given.state, unit.data(), path_start::last_place);
  fold_rows(given.state, folded.data());
  for (int lane = 0; lane < lanes<double>::count; ++lane) {
    const matrix start = lane_matrix(pushed.data(), 1, n, lane);
    matrix sum = matrix::Zero(n, 1);
    for (lindyn::index c = 0; c < copies; ++c) {
      const matrix path = given.path(c, lane);
      CHECK((lane_matrix(pushed.data() + c * n, 1, n, lane) - start * path).cwiseAbs().maxCoeff() <= 1e-13);
      if (c > 0) CHECK((lane_matrix(unit.data() + c * n, 1, n, lane) - path.row(n - 1)).cwiseAbs().maxCoeff() <= 1e-13);
      sum += path * lane_matrix(u.data() + c * n, n, 1, lane);
    }
    CHECK((lane_matrix(folded.data(), n, 1, lane) - sum).cwiseAbs().maxCoeff() <= 1e-13);
  }
}

TEST_CASE("the backward passes of rows are the derivatives by rows and patterns") {
  lane_memory<double> rows, slopes;
  rows.reserve(copies * n);
  slopes.reserve(copies * n);
  for (const auto start : {path_start::row, path_start::last_place}) {
    example given;
    randomise(given.generator, rows.data(), copies * n);
    randomise(given.generator, slopes.data(), copies * n);
    push_rows(given.state, rows.data(), start);
    lane_memory<double> d = slopes;
    push_rows_backward(given.state, rows.data(), d.data(), start);
    check_pattern_derivatives(given, layers, [&](int lane) {
      const matrix first = lane_matrix(rows.data(), 1, n, lane), last = matrix::Identity(n, n).bottomRows(1);
      double sum = 0;
      for (lindyn::index c = 0; c < copies; ++c)
        sum += ((start == path_start::row ? first : last) * given.path(c, lane))
                   .cwiseProduct(lane_matrix(slopes.data() + c * n, 1, n, lane))
                   .sum();
      return sum;
    });
    if (start == path_start::row) {
      matrix expected = matrix::Zero(n, 1);
      for (lindyn::index c = 0; c < copies; ++c)
        expected += given.path(c, 0) * lane_matrix(slopes.data() + c * n, n, 1, 0);
      CHECK((lane_matrix(d.data(), n, 1, 0) - expected).cwiseAbs().maxCoeff() <= 1e-13);
    }
  }
  example given;
  randomise(given.generator, rows.data(), copies * n);
  lane_memory<double> folded = rows, d = slopes;
  fold_rows(given.state, folded.data());
  fold_rows_backward(given.state, folded.data(), d.data());
  check_pattern_derivatives(given, layers, [&](int lane) {
    matrix sum = matrix::Zero(n, 1);
    for (lindyn::index c = 0; c < copies; ++c)
      sum += given.path(c, lane) * lane_matrix(rows.data() + c * n, n, 1, lane);
    return sum.cwiseProduct(lane_matrix(slopes.data(), n, 1, lane)).sum();
  });
  for (lindyn::index c = 0; c < copies; ++c) {
    const matrix expected = lane_matrix(slopes.data(), 1, n, 0) * given.path(c, 0);
    CHECK((lane_matrix(d.data() + c * n, 1, n, 0) - expected).cwiseAbs().maxCoeff() <= 1e-13);
  }
}

TEST_CASE("folded relations are sum_cd P_c F_cd P_d', and their backward pass is its derivative") {
  example given;
  const auto f = given.state.relations(1, 0);
  lane_memory<double> start, others;
  start.reserve(f.count * f.count * f.size);
  others.reserve(f.count * f.count * f.size);
  randomise(given.generator, start.data(), f.count * f.count * f.size);
  std::copy_n(start.data(), f.count * f.count * f.size, f.first);
  const auto scores = [&](int lane) {
    matrix sum = matrix::Zero(n, n);
    for (lindyn::index c = 0; c < top; ++c)
      for (lindyn::index d = 0; d < top; ++d)
        sum += given.path(c, lane) * lane_matrix(start.data() + (c * f.count + d) * f.size, n, n, lane) *
               given.path(d, lane).transpose();
    return matrix(sum.triangularView<Eigen::Lower>());
  };
  fold_relations(given.state, 1, f);
  for (int lane = 0; lane < lanes<double>::count; ++lane) {
    const matrix found = lane_matrix(f(0, 0), n, n, lane).triangularView<Eigen::Lower>();
    CHECK((found - scores(lane)).cwiseAbs().maxCoeff() <= 1e-13);
  }

  lane_memory<double> slopes;
  slopes.reserve(n * n);
  randomise(given.generator, slopes.data(), n * n);
  for (lindyn::index i = 0; i < n; ++i)
    for (lindyn::index j = i + 1; j < n; ++j) slopes.data()[i * n + j] -= slopes.data()[i * n + j];
  const auto d_f = [&](lindyn::index c, lindyn::index d) {
    return c + d == 0 ? slopes.data() : others.data() + (c * f.count + d) * f.size;
  };
  fold_relations_backward(given.state, 1, f, d_f);
  check_pattern_derivatives(
      given, 1, [&](int lane) { return scores(lane).cwiseProduct(lane_matrix(slopes.data(), n, n, lane)).sum(); });
  for (lindyn::index c = 0; c < top; ++c)
    for (lindyn::index d = 0; d < top; ++d) {
      matrix difference = given.path(c, 0).transpose() * lane_matrix(slopes.data(), n, n, 0) * given.path(d, 0) -
                          lane_matrix(d_f(c, d), n, n, 0);
      if (c == 0) difference = difference.triangularView<Eigen::Lower>();
      CHECK(difference.cwiseAbs().maxCoeff() <= 1e-13);
    }
}
