// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include <lindyn/manifold/layout.hpp>

namespace {
using namespace lindyn::manifold;

// dim S = sum_l H (H+1)^(2(l-1)) (|T|+|P|) + |T| (H+1)^L
static_assert(layout(2, 1, 1, 2).dimension() == 19);  // T = {I}, P = {I, M}
static_assert(layout(2, 1, 2, 2).dimension() == 28);  // T = {I, C}
static_assert(layout(3, 1, 2, 2).dimension() == 100);
static_assert(layout(5, 1, 2, 2).dimension() == 1428);
static_assert(layout(2, 1, 2, 3).dimension() == 33);  // k = 3
static_assert(layout(2, 1, 3, 2).dimension() == 37);  // two classes of tokens: T = {I_c, C, I_r}
static_assert(layout(3, 1, 1, 2).dimension() == 71);
static_assert(layout(1, 2, 1, 2).dimension() == 2 * 3 + 3);
static_assert(layout(2, 2, 1, 2).dimension() == 2 * 3 + 2 * 9 * 3 + 9);

constexpr bool inverse(const layout& of) {
  for (lindyn::index place = 0; place < of.dimension(); ++place)
    if (of.place(of.at(place)) != place) return false;
  return true;
}
static_assert(inverse(layout(2, 1, 2, 2)));
static_assert(inverse(layout(2, 3, 1, 4)));

TEST_CASE("every coordinate has one place, and every place one coordinate, in the documented order") {
  for (const int layers : {1, 2, 3})
    for (const int heads : {1, 2, 3})
      for (const int tokens : {1, 2, 3})
        for (const int positions : {0, 1, 6}) {
          const layout of(layers, heads, tokens, positions);
          lindyn::index place = 0;
          bool alike = true;
          const auto expect = [&](const coordinate& which) {
            alike = alike && of.at(place) == which && of.place(which) == place;
            ++place;
          };
          int number = 1;
          for (int layer = 1; layer <= layers; ++layer, number *= heads + 1) {
            alike = alike && of.layer_begin(layer) == place && of.copies(layer) == number;
            for (int head = 0; head < heads; ++head)
              for (int query = 0; query < number; ++query)
                for (int key = 0; key < number; ++key) {
                  alike = alike && of.block(layer, head, query, key) == place;
                  for (int s = 0; s < tokens + positions; ++s) expect({layer, head, query, key, s});
                }
          }
          for (int key = 0; key < number; ++key) {
            alike = alike && of.readout(key) == place;
            for (int s = 0; s < tokens; ++s) expect({layers + 1, 0, 0, key, s});
          }
          CHECK(alike);
          CHECK(place == of.dimension());
          CHECK(of.selections() == tokens + positions);
        }
}

TEST_CASE("layouts that name no network are refused with the argument and its range") {
  const auto complaint = [](int layers, int heads, int tokens, int positions) -> std::string {
    try {
      (void)layout(layers, heads, tokens, positions);
    } catch (const lindyn::argument_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint(0, 1, 1, 2) == "layers = 0 is not allowed: it must be in [1, 12]");
  CHECK(complaint(13, 1, 1, 2) == "layers = 13 is not allowed: it must be in [1, 12]");
  CHECK(complaint(2, 0, 1, 2) == "heads = 0 is not allowed: it must be in [1, 64]");
  CHECK(complaint(2, 65, 1, 2) == "heads = 65 is not allowed: it must be in [1, 64]");
  CHECK(complaint(2, 1, 0, 2) == "token_selections = 0 is not allowed: it must be at least 1");
  CHECK(complaint(2, 1, 1, -1) == "position_selections = -1 is not allowed: it must be not negative");
  CHECK(complaint(8, 7, 1, 2) == "");
  CHECK(complaint(9, 7, 1, 2) ==
        "layers = 9 is not allowed: it must be so few that (heads + 1)^layers is at most 2^24");
  CHECK(complaint(12, 64, 1, 2).starts_with("layers = 12"));
}

}  // namespace
