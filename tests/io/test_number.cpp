// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <lindyn/io/number.hpp>

using lindyn::io::number_from_text;
using lindyn::io::number_text;

TEST_CASE("numbers come back from their texts as the same bits") {
  constexpr std::numeric_limits<double> limits;
  for (const double value : {1.0 / 3, -0.0, 5e-324, limits.max(), 0.1, limits.infinity(), -limits.infinity()}) {
    const auto back = number_from_text<double>(number_text(value));
    REQUIRE(back.has_value());
    CHECK(std::bit_cast<std::uint64_t>(*back) == std::bit_cast<std::uint64_t>(value));
  }
  CHECK(std::isnan(*number_from_text<double>(number_text(limits.quiet_NaN()))));
  CHECK(number_from_text<float>(number_text(0.1f)) == 0.1f);
  CHECK(number_from_text<std::int64_t>(number_text(std::int64_t{-9007199254740993})) == -9007199254740993);
}

TEST_CASE("texts are as short as they can be") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(0.1f) == "0.1");
  CHECK(number_text(1e300) == "1e+300");
  CHECK(number_text(17) == "17");
}

TEST_CASE("a text that isn't a number from end to end is none") {
  for (const char* text : {"", "x", "1x", " 1", "1 ", "+1", "1,5"}) CHECK_FALSE(number_from_text<double>(text));
  CHECK_FALSE(number_from_text<int>("1.5"));
  CHECK_FALSE(number_from_text<int>("3000000000"));
  CHECK_FALSE(number_from_text<unsigned>("-1"));
  CHECK_FALSE(number_from_text<double>("1e999"));
}
