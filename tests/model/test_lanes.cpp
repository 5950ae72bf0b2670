// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only/lanes.hpp>

using lindyn::model::detail::lane_entry;
using lindyn::model::detail::lane_memory;
using lindyn::model::detail::lane_product;
using lindyn::model::detail::lanes;
using lindyn::model::detail::product_range;
using lindyn::model::detail::tile_end;

namespace {

/// n x n entries; those above the diagonal are zero if `lower`.
void fill(lane_memory<double>& memory, lindyn::index n, bool lower, lindyn::counter_generator& generator) {
  memory.reserve(n * n);
  for (lindyn::index i = 0; i < n; ++i)
    for (lindyn::index j = 0; j < n; ++j)
      for (int lane = 0; lane < lanes<double>::count; ++lane)
        memory.data()[i * n + j][lane] = lower && j > i ? 0.0 : lindyn::standard_normal(generator);
}

}  // namespace

TEST_CASE("products of causal matrices are right at every size, in every lane, whichever terms are left out") {
  lindyn::counter_generator generator(1);
  for (lindyn::index n = 1; n <= 10; ++n) {
    lane_memory<double> a, b, full, out;
    fill(a, n, true, generator);
    fill(b, n, true, generator);
    fill(full, n, false, generator);
    fill(out, n, false, generator);
    const auto entry = [n](lane_memory<double>& of, lindyn::index i, lindyn::index j, int lane) {
      return of.data()[i * n + j][lane];
    };
    // out_rc = sum_k left(r, k) right(c, k), with the ranges that a causal factor permits
    struct product {
      lane_memory<double>*left, *right;
      bool left_transposed, right_transposed;
      product_range range;
    };
    const std::vector<product> products = {
        {&full, &full, false, false, {}},
        {&a, &full, false, true, {.to_row = true}},
        {&a, &full, true, true, {.from_row = true}},
        {&full, &a, false, false, {.to_column = true}},
        {&a, &b, false, false, {.lower = true, .to_row = true, .to_column = true}},
        {&a, &b, false, true, {.lower = true, .from_column = true, .to_row = true}},
        {&a, &full, true, true, {.lower = true, .from_row = true}},
    };
    for (const auto& [left, right, left_transposed, right_transposed, range] : products) {
      lane_memory<double> found;
      found.reserve(n * n);
      lane_product<false>(n, n, n, found.data(), n, {left->data(), left_transposed ? 1 : n, left_transposed ? n : 1},
                          {right->data(), right_transposed ? 1 : n, right_transposed ? n : 1}, range);
      lane_memory<double> added = out;
      lane_product<true>(n, n, n, added.data(), n, {left->data(), left_transposed ? 1 : n, left_transposed ? n : 1},
                         {right->data(), right_transposed ? 1 : n, right_transposed ? n : 1}, range);
      for (lindyn::index r = 0; r < n; ++r)
        for (lindyn::index c = 0; c < (range.lower ? r + 1 : n); ++c)
          for (int lane = 0; lane < lanes<double>::count; ++lane) {
            double expected = 0;
            for (lindyn::index k = 0; k < n; ++k)
              expected += (left_transposed ? entry(*left, k, r, lane) : entry(*left, r, k, lane)) *
                          (right_transposed ? entry(*right, k, c, lane) : entry(*right, c, k, lane));
            CHECK(entry(found, r, c, lane) == doctest::Approx(expected).epsilon(1e-12).scale(1));
            CHECK(entry(added, r, c, lane) ==
                  doctest::Approx(expected + entry(out, r, c, lane)).epsilon(1e-12).scale(1));
          }
    }
  }
}

TEST_CASE("tiles end within the matrix, and single rows behind the last whole tile are their own") {
  CHECK(tile_end(0, 9) == 4);
  CHECK(tile_end(3, 9) == 4);
  CHECK(tile_end(7, 9) == 8);
  CHECK(tile_end(8, 9) == 9);
  CHECK(tile_end(0, 3) == 1);
  CHECK(tile_end(2, 3) == 3);
}

TEST_CASE("the softmax sums to one, is blind to shifts, and its derivative is that of differences") {
  lindyn::counter_generator generator(2);
  constexpr lindyn::index n = 6;
  lane_memory<double> scores, slopes;
  fill(scores, n, false, generator);
  fill(slopes, n, false, generator);
  const auto objective = [&](const lane_memory<double>& at, int lane) {
    lane_memory<double> pattern = at;
    lindyn::model::detail::lane_softmax<double>(pattern.data(), n);
    double sum = 0;
    for (lindyn::index j = 0; j < n; ++j) sum += pattern.data()[j][lane] * slopes.data()[j][lane];
    return sum;
  };
  lane_memory<double> pattern = scores, shifted = scores, derivative = slopes;
  const auto scale = lindyn::model::detail::lane_softmax<double>(pattern.data(), n);
  for (lindyn::index j = 0; j < n; ++j) shifted.data()[j] += 800;
  lindyn::model::detail::lane_softmax<double>(shifted.data(), n);
  lindyn::model::detail::lane_softmax_backward<double>(pattern.data(), derivative.data(), n);
  for (int lane = 0; lane < lanes<double>::count; ++lane) {
    double sum = 0, exponentials = 0;
    for (lindyn::index j = 0; j < n; ++j) {
      sum += pattern.data()[j][lane];
      exponentials += std::exp(scores.data()[j][lane]);
      const double share = pattern.data()[j][lane], shifted_share = shifted.data()[j][lane];
      const double slope = derivative.data()[j][lane];
      CHECK(shifted_share == doctest::Approx(share).epsilon(1e-12));
      lane_memory<double> above = scores, below = scores;
      above.data()[j][lane] += 1e-5;
      below.data()[j][lane] -= 1e-5;
      CHECK(slope == doctest::Approx((objective(above, lane) - objective(below, lane)) / 2e-5).epsilon(1e-6).scale(1));
    }
    CHECK(sum == doctest::Approx(1));
    CHECK(scale.top[lane] + std::log(scale.sum[lane]) == doctest::Approx(std::log(exponentials)));
  }
}
