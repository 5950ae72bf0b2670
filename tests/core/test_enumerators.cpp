// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include <lindyn/core/enumerators.hpp>

namespace {

enum class colour { red, green, blue };

constexpr std::string_view name(colour which) noexcept {
  switch (which) {
    case colour::red:
      return "red";
    case colour::green:
      return "green";
    case colour::blue:
      return "blue";
  }
  return {};
}

enum class nameless { one };
static_assert(lindyn::named_enumeration<colour> && !lindyn::named_enumeration<nameless>);

TEST_CASE("an enumeration's texts are its names, and every other is refused with their list") {
  CHECK(lindyn::enumerators<colour>() == std::vector{colour::red, colour::green, colour::blue});
  for (const auto which : lindyn::enumerators<colour>()) CHECK(lindyn::parse<colour>(name(which), "colour") == which);
  for (const char* text : {"Red", "gree", "greens", ""})
    CHECK_THROWS_AS((void)lindyn::parse<colour>(text, "colour"), lindyn::argument_error);
  CHECK_THROWS_WITH_AS((void)lindyn::parse<colour>("pink", "colour"),
                       "colour = pink is not allowed: it must be red, green or blue", lindyn::argument_error);
}

TEST_CASE("a value that is no enumerator is refused with the names") {
  lindyn::require_enumerator("colour", colour::blue);
  for (const int value : {-1, 3})
    CHECK_THROWS_AS(lindyn::require_enumerator("colour", static_cast<colour>(value)), lindyn::argument_error);
  CHECK_THROWS_WITH_AS(lindyn::require_enumerator("colour", static_cast<colour>(3)),
                       "colour = 3 is not allowed: it must be red, green or blue", lindyn::argument_error);
}

}  // namespace
