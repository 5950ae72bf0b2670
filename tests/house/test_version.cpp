// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include <lindyn/version.hpp>

TEST_CASE("the version's text consists of its numbers") {
  CHECK(LINDYN_VERSION_STRING == std::to_string(LINDYN_VERSION_MAJOR) + "." + std::to_string(LINDYN_VERSION_MINOR) +
                                     "." + std::to_string(LINDYN_VERSION_PATCH));
}
