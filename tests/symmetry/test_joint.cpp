// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/joint.hpp>

#include <string>

namespace {
using namespace lindyn::symmetry;

TEST_CASE("a product pairs the generators of each factor with the identity of the other") {
  const stream_structure stream = product(matching(6), slot_phase(3, 2));
  CHECK(stream.tokens.size() == 6);
  CHECK(stream.positions.size() == 6);
  REQUIRE(stream.generators.size() == matching(6).generators().size() + slot_phase(3, 2).generators().size());
  CHECK(stream.generators.front().tokens == matching(6).generators().front());
  CHECK(stream.generators.front().positions == identity(6));
  CHECK(stream.generators.back().tokens == identity(6));
  CHECK(stream.generators.back().positions == slot_phase(3, 2).generators().back());
}

TEST_CASE("the generators of a product give back its factors") {
  const stream_structure closed = product(full_symmetric(5), slot_phase(2, 3));
  const stream_structure generic = from_generators(5, 6, closed.generators);
  REQUIRE(generic.tokens.orbital_count() == 1);
  REQUIRE(generic.positions.orbital_count() == 3);
  CHECK(generic.generators.size() == closed.generators.size());
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) CHECK(generic.tokens.orbital(i, j) == closed.tokens.orbital(i, j));
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) CHECK((generic.positions.orbital(i, j) < 0) == (closed.positions.orbital(i, j) < 0));
}

TEST_CASE("several classes of tokens beside a ring are covered") {
  std::vector<generator> generators;
  for (const permutation& p : {permutation{1, 0, 2, 3, 4, 5, 6}, permutation{1, 2, 0, 3, 4, 5, 6},
                               permutation{0, 1, 2, 4, 3, 5, 6}, permutation{0, 1, 2, 4, 5, 6, 3}})
    generators.push_back({p, identity(4)});
  generators.push_back({identity(7), {1, 2, 3, 0}});
  const stream_structure stream = from_generators(7, 4, generators);
  CHECK(stream.tokens.orbit_count() == 2);
  CHECK(stream.tokens.orbital_count() == 2);
  CHECK(stream.positions.orbital_count() == 3);
}

TEST_CASE("one generator may act on both sides, as long as all token and position pairs mix") {
  // rotations of 3 tokens and of 4 positions by one generator: 3 and 4 are coprime, so it generates the product
  const stream_structure stream = from_generators(3, 4, {{{1, 2, 0}, {1, 2, 3, 0}}});
  CHECK(stream.tokens.orbital_count() == 2);
  CHECK(stream.positions.orbital_count() == 3);
}

TEST_CASE("coupled symmetries of tokens and positions are refused") {
  // 4 tokens turn exactly as 4 positions do: a token can tell its position
  std::string message;
  try {
    (void)from_generators(4, 4, {{{1, 2, 3, 0}, {1, 2, 3, 0}}});
  } catch (const lindyn::argument_error& error) {
    message = error.what();
  }
  CHECK(message.find("4 orbits of (token, position) pairs") != std::string::npos);
  CHECK(message.find("coupled") != std::string::npos);
  // 2 of 4: the parities are coupled
  CHECK_THROWS_AS((void)from_generators(4, 6, {{{1, 2, 3, 0}, {1, 2, 3, 4, 5, 0}}}), lindyn::argument_error);
}

TEST_CASE("generators that don't fit the stream are refused") {
  CHECK_THROWS_AS((void)from_generators(3, 3, {{identity(3), identity(4)}}), lindyn::shape_error);
  CHECK_THROWS_AS((void)from_generators(3, 3, {{identity(4), identity(3)}}), lindyn::shape_error);
  CHECK_THROWS_AS((void)from_generators(3, 3, {{{0, 0, 1}, identity(3)}}), lindyn::argument_error);
  CHECK_THROWS_AS((void)from_generators(0, 3, {}), lindyn::argument_error);
  CHECK_THROWS_AS((void)from_generators(3, 0, {}), lindyn::argument_error);
}

}  // namespace
