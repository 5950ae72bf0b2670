// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <lindyn/reduced/later_attention.hpp>

#include "attention_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;

TEST_CASE("later layers' attention is the matrix that was written, and its gradient the product") {
  reduced::relation_context context;
  context.trunk = trunk;
  reduced::detail::later_attention attention;
  attention.resize(context);
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
