// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/plain.hpp>

#include "random_matrix.hpp"

namespace {

using backend_test::matrix;
using lindyn::index;
using lindyn::backend::host;
using lindyn::backend::strided_matrix;
using lindyn::backend::update;

/// Asks that the entries agree up to the rounding of sums of `terms` products of normal numbers; gaps exactly.
template <class S>
void check_close(const std::vector<S>& found, const std::vector<S>& expected, index terms) {
  const double bound = 4 * std::sqrt(static_cast<double>(terms) + 1) * std::numeric_limits<S>::epsilon();
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double scale = std::sqrt(static_cast<double>(terms) + 1);
    const double error = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])) / scale;
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  CHECK(worst <= bound);
}

struct sizes {
  index rows, inputs, outputs, gaps;
};

}  // namespace

TEST_CASE_TEMPLATE("products of any size are those of plain, and the same bits for 1, 2 and 4 threads", S, float,
                   double) {
  lindyn::backend::plain oracle;
  host backends[]{host(1), host(2), host(4)};
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{1, 1, 1, 0}, sizes{2, 3, 5, 1}, sizes{5, 17, 33, 0}, sizes{7, 64, 16, 3},
                           sizes{97, 31, 65, 2}, sizes{13, 65, 129, 0}, sizes{259, 9, 101, 5}, sizes{128, 8, 4, 0}}) {
    CAPTURE(size.rows);
    CAPTURE(size.inputs);
    CAPTURE(size.outputs);
    const matrix<S> x(size.rows, size.inputs, size.gaps, seed++), w(size.outputs, size.inputs, size.gaps, seed++),
        dy(size.rows, size.outputs, size.gaps, seed++);
    const matrix<S> bias(1, size.outputs, 0, seed++);
    for (const update how : {update::assign, update::add}) {
      const bool biased = (how == update::add) == (size.gaps > 0);
      const S* const offset = biased ? bias.entries.data() : nullptr;
      const matrix<S> y(size.rows, size.outputs, size.gaps, seed++), dx(size.rows, size.inputs, size.gaps, seed++),
          dw(size.outputs, size.inputs, size.gaps, seed++), dbias(1, size.outputs, 0, seed++);
      auto plain_y = y, plain_dx = dx, plain_dw = dw, plain_dbias = dbias;
      oracle.linear(x.input(), w.input(), offset, plain_y.view(), how);
      oracle.linear_backward_input(dy.input(), w.input(), plain_dx.view(), how);
      oracle.linear_backward_weights(dy.input(), x.input(), plain_dw.view(),
                                     biased ? plain_dbias.entries.data() : nullptr);
      std::vector<std::vector<S>> first;
      for (host& on : backends) {
        auto found_y = y, found_dx = dx, found_dw = dw, found_dbias = dbias;
        on.linear(x.input(), w.input(), offset, found_y.view(), how);
        on.linear_backward_input(dy.input(), w.input(), found_dx.view(), how);
        on.linear_backward_weights(dy.input(), x.input(), found_dw.view(),
                                   biased ? found_dbias.entries.data() : nullptr);
        const std::vector all{found_y.entries, found_dx.entries, found_dw.entries, found_dbias.entries};
        if (first.empty()) {
          first = all;
          check_close(found_y.entries, plain_y.entries, size.inputs);
          check_close(found_dx.entries, plain_dx.entries, size.outputs);
          check_close(found_dw.entries, plain_dw.entries, size.rows);
          check_close(found_dbias.entries, plain_dbias.entries, size.rows);
        }
        CHECK(first == all);
      }
    }
  }
}

TEST_CASE("a gradient over no rows is zero, and a product of no rows writes nothing") {
  host on;
  std::vector<float> dw(6, 1.0f), dbias(2, 1.0f), nothing;
  const strided_matrix<const float> dy{nothing.data(), 0, 2, 2}, x{nothing.data(), 0, 3, 3};
  on.linear_backward_weights<float>(dy, x, {dw.data(), 2, 3, 3}, dbias.data());
  CHECK(dw == std::vector<float>(6));
  CHECK(dbias == std::vector<float>(2));
  on.linear<float>(x, {dw.data(), 2, 3, 3}, nullptr, {nothing.data(), 0, 2, 2}, update::assign);
}

TEST_CASE("numbers that aren't finite come out of a product as such, and spoil no other row") {
  host on;
  matrix<float> x(9, 5, 0, 1), y(9, 3, 0, 2);
  const matrix<float> w(3, 5, 0, 3);
  x.view()(4, 2) = std::numeric_limits<float>::quiet_NaN();
  on.linear<float>(x.input(), w.input(), nullptr, y.view(), update::assign);
  for (int r = 0; r < 9; ++r)
    for (int c = 0; c < 3; ++c) CHECK(std::isnan(y.view()(r, c)) == (r == 4));
}
