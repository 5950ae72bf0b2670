// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using recall = task::associative_recall<block<2>>;
using stored = task::associative_recall<block<2>, stored_association>;
using stored_trigram = task::associative_recall<block<3>, stored_association>;
using rare = task::associative_recall<block<2>, rare_tokens>;
using rare_stored = task::associative_recall<block<2>, rare_tokens, stored_association>;
using directed = task::associative_recall<block<2>, directed_association>;
using rare_directed = task::associative_recall<block<2>, directed_association, rare_tokens>;
template <int L, int H = 1>
using net = model::attention_only<layers<L>, heads<H>>;
using manifold::imir;

static_assert(imir<recall, net<2>>::dimension == 19);
static_assert(imir<stored, net<2>>::dimension == 28);
static_assert(imir<stored, net<2>, lindyn::positions::slots>::dimension == 28);
static_assert(imir<stored, net<3>>::dimension == 100);
static_assert(imir<stored, net<5>>::dimension == 1428);
static_assert(imir<stored_trigram, net<2>>::dimension == 33);
static_assert(imir<recall, net<2, 2>>::dimension == 69);
// Every class of tokens has selections of its own: |T| = 2, 3, 4 and 5 make 9 |T| + 10.
static_assert(imir<rare, net<2>>::dimension == 28);
static_assert(imir<rare_stored, net<2>>::dimension == 37);
static_assert(imir<directed, net<2>>::dimension == 46);
static_assert(imir<rare_directed, net<2>>::dimension == 55);
// A ring needs every circulant but one: |P| = P - 1.
static_assert(imir<recall, net<2>, lindyn::positions::ring<7>>::dimension == 7 + 4 * 7 + 4);

static_assert(imir<stored, net<2>>::label(6) == "L2[x,x]Ip");
static_assert(imir<stored, net<2>>::label(27) == "out:21 C");
static_assert(imir<rare_stored, net<2>>::label(36) == "out:21 Ir");
static_assert(imir<rare, net<2>>::label(0) == "L1[x,x]Ic");
static_assert(imir<directed, net<2>>::label(0) == "L1[x,x]Ia");
static_assert(imir<directed, net<2>>::label(3) == "L1[x,x]C'");
static_assert(imir<rare_directed, net<2>>::label(54) == "out:21 I");
static_assert(imir<stored, net<3>>::place(imir<stored, net<3>>::at(73)) == 73);
static_assert(imir<stored, net<3>>::origin().size() == 100);

/// The compile-time manifold and the basis of a law agree in sizes, places and labels.
template <class Manifold, class Law>
void compare(const Law& law) {
  const manifold::basis basis = Manifold::basis(law);
  CHECK(basis.layout() == Manifold::layout);
  REQUIRE(basis.dimension() == Manifold::dimension);
  CHECK(basis.shape().vocabulary == law.sizes().vocabulary);
  CHECK(basis.shape().positions == law.sizes().positions);
  bool alike = true;
  for (index place = 0; place < Manifold::dimension; ++place)
    alike = alike && basis.label(place) == std::string(Manifold::label(place).view()) &&
            Manifold::at(place) == basis.layout().at(place) && Manifold::place(Manifold::at(place)) == place;
  CHECK(alike);
}

TEST_CASE("what is known at compile time is what a law's basis has at run time") {
  using lindyn::positions::ring;
  using population::recall_law;
  compare<imir<recall, net<2>>>(recall_law<recall>{{.pairs = 2, .vocabulary = 5}});
  compare<imir<stored, net<3>>>(recall_law<stored>{{.pairs = 2, .vocabulary = 6}});
  compare<imir<stored_trigram, net<2, 2>>>(recall_law<stored_trigram>{{.pairs = 2, .vocabulary = 8}});
  compare<imir<rare_stored, net<2>>>(recall_law<rare_stored>{{.pairs = 2, .vocabulary = 10, .rare_vocabulary = 4}});
  compare<imir<rare_directed, net<2>>>(recall_law<rare_directed>{{.pairs = 2, .vocabulary = 12, .rare_vocabulary = 4}});
  compare<imir<recall, net<2>, ring<7>>>(recall_law<recall, ring<7>>{{.pairs = 2, .vocabulary = 5}});
}

TEST_CASE("a coordinate is described with the task's own selections") {
  CHECK(imir<recall, net<2>>::describe(18) == "the answer is what layers 1 then 2 copied");
  CHECK(imir<rare_stored, net<2>>::describe(2) == "layer 1 matches the query's token with the key's rare token");
  CHECK(imir<directed, net<2>>::describe(44) == "the answer is the label stored for the item layers 1 then 2 copied");
}

TEST_CASE("the origin is all zeros") {
  for (const double coordinate : imir<recall, net<2>>::origin()) CHECK(coordinate == 0);
}

TEST_CASE("a law of another task or other positions has no basis on this manifold") {
  using population::recall_law;
  const recall_law<recall> law{{.pairs = 2, .vocabulary = 6}};
  CHECK_THROWS_AS((void)(imir<stored, net<2>>::basis(law)), shape_error);
  CHECK_THROWS_AS((void)(imir<recall, net<2>, lindyn::positions::ring<8>>::basis(law)), shape_error);
}

/// Two selections as `stored` has, under other names.
struct renamed {
  static constexpr int block = 2;
  static constexpr std::array<std::string_view, 2> token_selections{"C", "I"};
};

/// The symmetry of slots as a table, whose relations have no names of their own.
struct relations_of_slots {
  [[nodiscard]] static symmetry::stream_structure structure() {
    return symmetry::product(symmetry::matching(6), symmetry::orbital_table(4, {{1, 0, 2, 3}, {2, 3, 0, 1}}));
  }
};

TEST_CASE("a law whose selections have other names has no basis on this manifold, as labels would be false") {
  const population::recall_law<stored> law{{.pairs = 2, .vocabulary = 6}};
  CHECK_THROWS_WITH_AS((void)(imir<renamed, net<2>>::basis(law)),
                       "the name of selection 0 of law.structure() = I is not allowed: it must be C, as imir has it",
                       argument_error);
  CHECK_THROWS_WITH_AS((void)(imir<stored, net<2>>::basis(relations_of_slots{})),
                       "the name of selection 2 of law.structure() = I is not allowed: it must be Ip, as imir has it",
                       argument_error);
}

}  // namespace
