// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/symmetry/permutation.hpp>

namespace {
using namespace lindyn::symmetry;

TEST_CASE("a composition applies its second argument first") {
  const permutation p{1, 2, 0, 3}, q{0, 1, 3, 2};
  CHECK(compose(p, q) == permutation{1, 2, 3, 0});
  CHECK(compose(q, p) == permutation{1, 3, 0, 2});
}

TEST_CASE("an inverse undoes its permutation from both sides") {
  const permutation p{3, 0, 4, 1, 2};
  CHECK(compose(p, inverse(p)) == identity(5));
  CHECK(compose(inverse(p), p) == identity(5));
  CHECK(inverse(p) == permutation{1, 3, 4, 0, 2});
}

TEST_CASE("the identity keeps every point, also of none") {
  CHECK(identity(3) == permutation{0, 1, 2});
  CHECK(identity(0).empty());
}

TEST_CASE("images that are no permutation are refused, with the entry named") {
  CHECK_NOTHROW(require_permutation("p", permutation{2, 0, 1}));
  const auto entry = [](const permutation& images) {
    try {
      require_permutation("p", images);
    } catch (const lindyn::argument_error& e) {
      return e.argument() + "=" + e.value();
    }
    return std::string("accepted");
  };
  CHECK(entry({0, 1, 1}) == "p[2]=1");
  CHECK(entry({0, 3, 1}) == "p[1]=3");
  CHECK(entry({-1, 0}) == "p[0]=-1");
}

TEST_CASE("sizes that don't fit are refused") {
  CHECK_THROWS_AS((void)compose(identity(3), identity(4)), lindyn::shape_error);
  CHECK_THROWS_AS((void)identity(-1), lindyn::argument_error);
  const std::vector<permutation> generators{identity(3), identity(4)};
  CHECK_THROWS_AS(require_permutations("generators", generators, 3), lindyn::shape_error);
}

}  // namespace
