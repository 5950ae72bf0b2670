// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include <lindyn/core/views.hpp>

using lindyn::matrix_view;

TEST_CASE("a view addresses a row-major matrix, its rows and all of it") {
  std::array<int, 6> entries{0, 1, 2, 3, 4, 5};
  const matrix_view<int> view{entries.data(), 2, 3};
  CHECK(view(1, 0) == 3);
  CHECK(view(0, 2) == 2);
  CHECK(view.size() == 6);
  CHECK(view.row(1).size() == 3);
  CHECK(view.row(1)[2] == 5);
  CHECK(std::equal(view.begin(), view.end(), entries.begin(), entries.end()));
  view(1, 1) = 40;
  CHECK(entries[4] == 40);
}

TEST_CASE("a view of numbers is also a view of constant numbers") {
  std::array<int, 2> entries{7, 8};
  const matrix_view<const int> view = matrix_view<int>{entries.data(), 1, 2};
  CHECK(view.data == entries.data());
  CHECK(view.rows == 1);
  CHECK(view.columns == 2);
}

TEST_CASE("a view works at compile time, and an empty one has no entries") {
  static constexpr std::array<int, 4> entries{1, 2, 3, 4};
  static_assert(matrix_view<const int>{entries.data(), 2, 2}(1, 0) == 3);
  static_assert(matrix_view<const int>{}.size() == 0);
}
