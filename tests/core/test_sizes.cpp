// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/core/sizes.hpp>

using lindyn::copies;

TEST_CASE("sizes are types that carry their number, or leave it to run time") {
  static_assert(lindyn::layers<3>::value == 3);
  static_assert(lindyn::heads<2>::value == 2);
  static_assert(lindyn::block<2>::value == 2);
  static_assert(lindyn::layers<lindyn::dynamic>::value == lindyn::dynamic);
  static_assert(lindyn::heads<lindyn::dynamic>::value == lindyn::dynamic);
}

TEST_CASE("every layer multiplies the copies in the stream by one more than its heads") {
  static_assert(copies(0, 4) == 1);
  CHECK(copies(1, 1) == 2);
  CHECK(copies(3, 1) == 8);
  CHECK(copies(2, 3) == 16);
}
