// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <lindyn/compare/confinement.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/conditional_retrieval_tokens.hpp>
#include <lindyn/population/indirect_object_tokens.hpp>
#include <lindyn/population/j_hop_tokens.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/population/permutation_inversion_tokens.hpp>
#include <lindyn/reduced/plain_model.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "../population/relations.hpp"
#include "../reduced/values.hpp"
#include "any_law.hpp"

// What certifies a law of the library: its gradient is confined, its symmetry is what it promises, its types stand for
// all its sequences, and a law that is nearly the same but isn't invariant is refused.

namespace {
using namespace lindyn;
using namespace lindyn::population;
using namespace lindyn::testing;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// One-hot embeddings where they suffice.
model::embedding embedding_for(const symmetry::stream_structure& structure, task::loss loss) {
  const bool one_hot = loss == task::loss::cross_entropy && structure.tokens.orbit_count() == 1;
  return one_hot ? model::embedding::one_hot : model::embedding::centred;
}

/// The exact gradient of all the law's sequences stays on the manifold of two layers (or as many as are named).
void check_confined_by_enumeration(const any_law& law, const manifold::basis& basis, task::loss loss) {
  const auto certificate = compare::confinement(basis, law,
                                                {.method = compare::confinement_method::enumerate,
                                                 .loss = loss,
                                                 .embedding = embedding_for(basis.structure(), loss),
                                                 .throw_on_failure = false});
  CAPTURE(certificate.statement);
  CHECK(certificate.residual_max.value() <= 1e-12);
}

/// The generators leave the probabilities as they are, and the manifold is the centred commutant.
void check_confined_by_symmetry(const any_law& law, const manifold::basis& basis) {
  const auto certificate =
      compare::confinement(basis, law,
                           {.method = compare::confinement_method::symmetry,
                            .embedding = embedding_for(basis.structure(), task::loss::cross_entropy),
                            .throw_on_failure = false});
  CAPTURE(certificate.statement);
  CHECK(certificate.holds);
}

/// The full network's loss over all sequences, and its gradient along the manifold, are those of the reduced models
/// over the types.
void check_types_stand_for_sequences(const any_law& law, const manifold::basis& basis, task::loss loss) {
  const auto types = population::enumerate_types(law).types;
  const auto sequences = enumerated(law);
  REQUIRE(types.size() < sequences.size());
  const model::attention_only<> net(basis.shape());
  for (const std::uint64_t seed : {1, 2}) {
    const auto coordinates = normal_numbers(basis.dimension(), seed, 0.5);
    std::vector<double> full(static_cast<std::size_t>(basis.parameters().size()));
    std::vector<double> expected(coordinates.size()), gradient(coordinates.size());
    const double expected_loss = net.loss_and_gradient(basis.embed(coordinates), sequences, loss, full);
    basis.inner_products(full, expected);
    const auto compare_with = [&](auto&& reduced) {
      const double value = reduced.loss_and_gradient(coordinates, gradient);
      CHECK(std::abs(value - expected_loss) <= 1e-12 * expected_loss);
      CHECK(relative_difference(gradient, expected) <= 1e-12);
    };
    compare_with(reduced::plain_model(basis, types, loss));
    if (basis.structure().tokens.orbit_count() == 1) compare_with(reduced::relational_model(basis, types, loss));
  }
}

/// All of the above, with both losses.
void certify(const any_law& law, int layers = 2) {
  CAPTURE(layers);
  const manifold::basis basis(layers, 1, law.structure());
  check_confined_by_symmetry(law, basis);
  for (const auto loss : {task::loss::cross_entropy, task::loss::squared_error}) {
    CAPTURE(loss == task::loss::cross_entropy);
    check_confined_by_enumeration(law, basis, loss);
    check_types_stand_for_sequences(law, basis, loss);
  }
}

/// The same sequences with a little more weight on one of them are refused: by enumeration with the block that leaks,
/// by symmetry with the generator that carries a sequence into one of another weight.
void check_refused(const any_law& uneven) {
  const manifold::basis basis(2, 1, uneven.structure());
  const auto certificate = [&](compare::confinement_method method) {
    return compare::confinement(basis, uneven,
                                {.method = method,
                                 .embedding = embedding_for(basis.structure(), task::loss::cross_entropy),
                                 .throw_on_failure = false});
  };
  const auto leak = certificate(compare::confinement_method::enumerate);
  CAPTURE(leak.statement);
  CHECK_FALSE(leak.holds);
  CHECK(leak.residual_max.value() > 1e-6);
  CHECK(leak.worst_block.starts_with("W_"));
  CHECK(contains(leak.worst_block, " part"));
  CHECK(contains(leak.statement, "it leaks most in " + leak.worst_block));
  const auto fault = certificate(compare::confinement_method::symmetry);
  CAPTURE(fault.statement);
  CHECK_FALSE(fault.holds);
  CHECK(contains(fault.statement, " of the law's symmetry carries a sequence of probability"));
  CHECK_THROWS_AS(compare::confinement(basis, uneven), invariance_error);
}

/// The law with one of its sequences a tenth more frequent.
any_law disturbed(const any_law& law) {
  const auto table = enumerated(law);
  std::vector<task::sequence> sequences(table.begin(), table.end());
  sequences[sequences.size() / 3].weight *= 1.1;
  return population::listed_law(sequences, law.structure());
}

/// A token law on slots, one more than there are blocks to place, or on a ring, one place longer than a sequence.
template <class TokenLaw>
any_law on_slots(const TokenLaw& tokens) {
  return law(tokens, slot_positions(tokens.list(), tokens.list().pairs + 1));
}
template <class TokenLaw>
any_law on_ring(const TokenLaw& tokens) {
  return law(tokens, ring_positions(tokens.list(), tokens.list().length() + 1));
}

TEST_CASE("j-hop recall is certified") {
  const j_hop_tokens tokens({2, 4}, 2);
  certify(on_slots(tokens));
  certify(on_ring(tokens));
  certify(on_ring(tokens), 3);
  check_refused(disturbed(on_ring(tokens)));
}
TEST_CASE("the indirect object law is certified") {
  const indirect_object_tokens tokens({2, 4});
  certify(on_slots(tokens));
  certify(on_ring(tokens));
  check_refused(disturbed(on_ring(tokens)));
}
TEST_CASE("conditional retrieval is certified") {
  const conditional_retrieval_tokens tokens({2, 5, 3}, 2);
  certify(on_ring(tokens));
  check_refused(disturbed(on_ring(tokens)));
}
TEST_CASE("permutation inversion is certified") {
  certify(on_slots(permutation_inversion_tokens({2, 4})));
  const permutation_inversion_tokens tokens({3, 3});
  certify(on_ring(tokens));
  check_refused(disturbed(on_ring(tokens)));
}

}  // namespace
