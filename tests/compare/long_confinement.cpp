// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/compare/confinement.hpp>

#include "confinement_laws.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using model::embedding;
using enum compare::confinement_method;
using task::loss;

/// Checks the exact gradient at a random point of every manifold with 2 or 3 layers and 1 or 2 heads, for both losses.
template <class Law>
void check(const Law& law) {
  for (const int layers : {2, 3})
    for (const int heads : {1, 2})
      for (const loss kind : {loss::cross_entropy, loss::squared_error}) {
        CAPTURE(layers);
        CAPTURE(heads);
        CAPTURE(kind == loss::cross_entropy);
        const auto certificate =
            compare::confinement(manifold::basis(layers, heads, law.structure()), law,
                                 {.method = enumerate,
                                  .loss = kind,
                                  .embedding = kind == loss::cross_entropy ? embedding::one_hot : embedding::centred,
                                  .throw_on_failure = false});
        CAPTURE(certificate.statement);
        CHECK(certificate.residual_max.value() <= 1e-12);
      }
}

TEST_CASE("the exact gradient stays on the manifold: two tokens a block on slots") { check(on_slots({2, 5, 2}, 3)); }
TEST_CASE("the exact gradient stays on the manifold: three tokens a block on slots") { check(on_slots({1, 5, 3})); }
TEST_CASE("the exact gradient stays on the manifold: two tokens a block on a ring") { check(on_ring({2, 6, 2}, 7)); }
TEST_CASE("the exact gradient stays on the manifold: three tokens a block on a ring") { check(on_ring({2, 6, 3}, 8)); }
TEST_CASE("the exact gradient stays on the manifold: a stored association on slots") {
  check(stored_on_slots({2, 6, 2}, 0.3, 3));
}
TEST_CASE("the exact gradient stays on the manifold: a stored association on a ring") {
  check(stored_on_ring({2, 6, 2}, 0.3, 6));
}
TEST_CASE("the exact gradient stays on the manifold: a stored association of three tokens a block on slots") {
  check(stored_on_slots({1, 6, 3}, 0.3));
}
TEST_CASE("the exact gradient stays on the manifold: a stored association of three tokens a block on a ring") {
  check(stored_on_ring({1, 8, 3}, 0.3, 6));
}
TEST_CASE("the exact gradient of 230,000 sequences stays on the manifold: three tokens a block on slots") {
  const auto law = on_slots({2, 6, 3}, 3);
  const auto certificate = compare::confinement(manifold::basis(2, 1, law.structure()), law,
                                                {.method = enumerate, .throw_on_failure = false});
  CHECK(certificate.sequences == 233280);
  CHECK(certificate.residual_max.value() <= 1e-12);
}

}  // namespace
