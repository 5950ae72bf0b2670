// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>

using lindyn::sweep::axis;
using lindyn::sweep::grid;

TEST_CASE("a linear axis has both ends, and equal distances between") {
  CHECK(axis::linear("x", -1, 1, 5).values() == std::vector<double>{-1, -0.5, 0, 0.5, 1});
  const auto odd = axis::linear("x", 0.1, 0.7, 12);
  CHECK(odd.name() == "x");
  CHECK(odd.count() == 12);
  CHECK(odd.at(0) == 0.1);
  CHECK(odd.at(11) == 0.7);
  CHECK(axis::linear("x", 2, 2, 1).values() == std::vector<double>{2});
  CHECK(axis::linear("x", 1, -1, 3).values() == std::vector<double>{1, 0, -1});
}

TEST_CASE("a logarithmic axis has both ends exactly, and equal ratios between") {
  const auto decades = axis::logarithmic("rate", 1e-3, 10, 5);
  CHECK(decades.at(0) == 1e-3);
  CHECK(decades.at(4) == 10);
  for (lindyn::index i = 1; i < 5; ++i) CHECK(decades.at(i) / decades.at(i - 1) == doctest::Approx(10).epsilon(1e-14));
}

TEST_CASE("axes that make no sense are refused") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS((void)axis::linear("x", 0, 1, 0), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::linear("x", 0, 1, 1), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::linear("x", 0, infinity, 2), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::linear("x", std::nan(""), 1, 2), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::logarithmic("x", 0, 1, 2), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::logarithmic("x", 1, -1, 2), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::listed("x", {}), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::listed("x", {1, infinity}), lindyn::non_finite_error);
  CHECK_THROWS_AS((void)axis::listed("", {1}), lindyn::argument_error);
  CHECK_THROWS_AS((void)axis::listed("x\ny", {1}), lindyn::argument_error);
}

TEST_CASE("cells are numbered row by row, and their numbers found again from their places") {
  const grid cells({axis::listed("a", {10, 20}), axis::listed("b", {1, 2, 3}), axis::listed("c", {5, 6})});
  CHECK(cells.size() == 12);
  std::vector<std::vector<double>> values;
  for (lindyn::index number = 0; number < cells.size(); ++number) {
    const auto cell = cells.at(number);
    CHECK(cell.number == number);
    CHECK(cells.number(cell.places) == number);
    values.push_back(cell.values);
  }
  CHECK(values[0] == std::vector<double>{10, 1, 5});
  CHECK(values[1] == std::vector<double>{10, 1, 6});
  CHECK(values[2] == std::vector<double>{10, 2, 5});
  CHECK(values[6] == std::vector<double>{20, 1, 5});
  CHECK(values[11] == std::vector<double>{20, 3, 6});
}

TEST_CASE("grids and cells that make no sense are refused") {
  const auto x = axis::listed("x", {1, 2});
  CHECK_THROWS_AS(grid({}), lindyn::argument_error);
  CHECK_THROWS_AS(grid({x, axis::listed("x", {3})}), lindyn::argument_error);
  std::vector<axis> many;
  for (int i = 0; i < 64; ++i) many.push_back(axis::listed(std::to_string(i), {1, 2}));
  CHECK_THROWS_AS(grid{many}, lindyn::argument_error);
  const grid cells({x});
  CHECK_THROWS_AS((void)cells.at(2), lindyn::argument_error);
  CHECK_THROWS_AS((void)cells.at(-1), lindyn::argument_error);
  CHECK_THROWS_AS((void)cells.number(std::vector<lindyn::index>{2}), lindyn::argument_error);
  CHECK_THROWS_AS((void)cells.number(std::vector<lindyn::index>{0, 0}), lindyn::shape_error);
}
