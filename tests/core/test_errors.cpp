// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <lindyn/core/errors.hpp>

using namespace lindyn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("every exception has the one base class, and that is a std::runtime_error") {
  static_assert(std::is_base_of_v<std::runtime_error, error>);
  static_assert(std::is_base_of_v<error, argument_error>);
  static_assert(std::is_base_of_v<argument_error, shape_error>);
  static_assert(std::is_base_of_v<argument_error, non_finite_error>);
  static_assert(std::is_base_of_v<error, invariance_error>);
  static_assert(std::is_base_of_v<error, too_many_error>);
  static_assert(std::is_base_of_v<error, file_error>);
  static_assert(std::is_base_of_v<error, solver_error>);
}

TEST_CASE("an argument error names argument, value and what is allowed") {
  try {
    require(false, "pairs", 0, "at least 1");
    FAIL("nothing thrown");
  } catch (const argument_error& refused) {
    CHECK(std::string(refused.what()) == "pairs = 0 is not allowed: it must be at least 1");
    CHECK(refused.argument() == "pairs");
    CHECK(refused.value() == "0");
    CHECK(refused.allowed() == "at least 1");
  }
}

TEST_CASE("what is allowed passes") {
  require(true, "pairs", 4, "at least 1");
  require_extent("rows", 3, std::size_t{3});
  require_finite("weights", std::vector<float>{0, -1, 1e30f});
  require_finite("weights", std::vector<double>{});
  for (const double value : {0.0, 0.5, 1.0}) require_probability("within_class", value);
}

TEST_CASE("values are written with the digits they need") {
  CHECK(detail::to_text(0.1) == "0.1");
  CHECK(detail::to_text(1.1f) == "1.1");
  CHECK(detail::to_text(100000.0) == "100000");
  CHECK(detail::to_text(12345678.0) == "12345678");
  CHECK(detail::to_text(1.0 / 3) == "0.3333333333333333");
  CHECK(detail::to_text(not_a_number) == "nan");
  CHECK(detail::to_text(-infinity) == "-inf");
  CHECK(detail::to_text(true) == "true");
  CHECK(detail::to_text(-7) == "-7");
  CHECK(detail::to_text(0.00025) == "0.00025");
  CHECK(detail::to_text(-12345678.25) == "-12345678.25");
  CHECK(detail::to_text(1e15) == "1e+15");
  CHECK(detail::to_text(0.0) == "0");
  CHECK(detail::to_text("words") == "words");
}

TEST_CASE("a wrong extent is a shape error with both numbers") {
  CHECK_THROWS_WITH_AS(require_extent("rows", std::size_t{4}, 3), "rows = 4 is not allowed: it must be 3", shape_error);
}

TEST_CASE("the first number that is not finite is named with its place") {
  CHECK_THROWS_WITH_AS(require_finite("weights", std::vector<double>{0, infinity, not_a_number}),
                       "weights[1] = inf is not allowed: it must be finite", non_finite_error);
  CHECK_THROWS_WITH_AS(require_finite("weights", std::vector<float>{std::numeric_limits<float>::quiet_NaN()}),
                       "weights[0] = nan is not allowed: it must be finite", non_finite_error);
}

TEST_CASE("probabilities outside [0, 1] and NaN are refused by name") {
  for (const double value : {-1e-9, 1.1, infinity, not_a_number})
    CHECK_THROWS_AS(require_probability("within_class", value), argument_error);
  CHECK_THROWS_WITH(require_probability("within_class", 1.1),
                    "within_class = 1.1 is not allowed: it must be a probability in [0, 1]");
}

TEST_CASE("too many things to visit are counted, with the bound and what is feasible") {
  const too_many_error refused("sequences", 1e20, 1e6, "use fewer pairs");
  CHECK(std::string(refused.what()) == "1e+20 sequences are too many to enumerate (at most 1000000): use fewer pairs");
  CHECK(refused.count() == 1e20);
  CHECK(refused.bound() == 1e6);
}
