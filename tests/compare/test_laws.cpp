// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <lindyn/compare/confinement.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/listed_law.hpp>
#include <lindyn/reduced/plain_model.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/symmetry/group.hpp>

#include "../population/relations.hpp"
#include "../reduced/values.hpp"
#include "any_law.hpp"

// What certifies a law of the library: its gradient is confined, its symmetry is what it promises, its types stand for
// all its sequences, and a law that is nearly the same but isn't invariant is refused.

namespace {
using namespace lindyn;
using namespace lindyn::population;
using namespace lindyn::testing;

template <class Task>
using two_layers = manifold::imir<Task, model::attention_only<layers<2>, heads<1>>>;
static_assert(two_layers<task::j_hop<2>>::dimension == 19);
static_assert(two_layers<task::indirect_object>::dimension == 19);
static_assert(two_layers<task::conditional_retrieval<2>>::dimension == 24);  // three phases of a slot instead of two
static_assert(two_layers<task::permutation_inversion>::dimension == 19);

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
  const auto coordinates = normal_numbers(basis.dimension(), loss == task::loss::cross_entropy ? 2 : 3, 0.5);
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
  compare_with(reduced::relational_model(basis, types, loss));
}

/// All of the above.
void certify(const any_law& law, int layers = 2,
             std::initializer_list<task::loss> losses = {task::loss::cross_entropy, task::loss::squared_error}) {
  CAPTURE(layers);
  const manifold::basis basis(layers, 1, law.structure());
  check_confined_by_symmetry(law, basis);
  for (const auto loss : losses) {
    CAPTURE(loss == task::loss::cross_entropy);
    check_confined_by_enumeration(law, basis, loss);
    check_types_stand_for_sequences(law, basis, loss);
  }
}

/// The same with cross-entropy alone, for laws of many sequences.
void certify_large(const any_law& law) { certify(law, 2, {task::loss::cross_entropy}); }

/// The law is refused: by enumeration with the block that leaks,
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
  CHECK_THROWS_AS(compare::confinement(basis, uneven, {.method = compare::confinement_method::symmetry}),
                  invariance_error);
}

/// The law with one of its sequences twice as frequent.
any_law disturbed(const any_law& law) {
  const auto table = enumerated(law);
  std::vector<task::sequence> sequences(table.begin(), table.end());
  sequences[sequences.size() / 3].weight *= 2;
  return population::listed_law(sequences, law.structure());
}

/// A token law on slots, one more than there are blocks before the query, or on a ring, one place longer than a sequence.
template <class TokenLaw>
any_law on_slots(const TokenLaw& tokens) {
  return law(tokens, slot_positions(tokens.list(), tokens.list().blocks() + 1));
}
template <class TokenLaw>
any_law on_ring(const TokenLaw& tokens) {
  return law(tokens, ring_positions(tokens.list(), tokens.list().length() + 1));
}

/// The law is certified on a ring, and refused with one of its sequences twice as frequent.
template <class TokenLaw>
void certify_on_ring(const TokenLaw& tokens) {
  const any_law law = on_ring(tokens);
  certify(law);
  check_refused(disturbed(law));
}

TEST_CASE("recall is certified") {
  certify(on_slots(recall_tokens({2, 4})));
  certify_on_ring(recall_tokens({2, 5}));
}
TEST_CASE("in-context trigrams are certified") {
  certify(on_slots(ngram_tokens(3, 1, 4)));
  certify_on_ring(ngram_tokens(3, 1, 5));
  certify_large(on_ring(ngram_tokens(3, 2, 6)));
}
TEST_CASE("a stored association is certified at every share of varied labels") {
  certify(on_slots(stored_association_tokens({1, 6}, 0.3)));
  for (const double within_class : {0.0, 0.3, 1.0}) certify_on_ring(stored_association_tokens({2, 6}, within_class));
}
TEST_CASE("rare tokens are certified") {
  certify(on_slots(recall_tokens({1, 7}, {0.3, 3})));
  certify_on_ring(recall_tokens({2, 8}, {0.3, 4}));
}
TEST_CASE("rare tokens beside a stored association are certified on a manifold of 37 dimensions") {
  const stored_association_tokens one({1, 7}, 0.3, {0.4, 3}), two({2, 10}, 0.3, {0.4, 4});
  CHECK(manifold::basis(2, 1, on_slots(one).structure()).dimension() == 37);
  certify(on_slots(one));
  certify_on_ring(one);
  certify_large(on_ring(two));
}
TEST_CASE("burstiness is certified") {
  certify_on_ring(recall_tokens({3, 4, 2, 2}));
  certify_on_ring(stored_association_tokens({2, 6, 2, 2}, 0.3));
}
TEST_CASE("distractors are certified") {
  certify(on_slots(recall_tokens({1, 4, 2, 1, 1})));
  certify_on_ring(recall_tokens({1, 4, 2, 1, 1}));
  certify_on_ring(stored_association_tokens({1, 6, 2, 1, 1}, 0.3));
}
TEST_CASE("a directed association is certified, without and with rare tokens") {
  certify(on_slots(directed_association_tokens({1, 6}, 0.3)));
  certify_on_ring(directed_association_tokens({2, 6}, 0.3));
  certify_on_ring(directed_association_tokens({1, 9}, 0.3, {0.4, 3}));
}
TEST_CASE("j-hop recall is certified, with three layers too") {
  certify(on_slots(j_hop_tokens({2, 4}, 2)));
  certify(on_ring(j_hop_tokens({2, 4}, 2)), 3);
  certify_on_ring(j_hop_tokens({3, 5}, 2));
}
TEST_CASE("the indirect object law is certified") {
  certify(on_slots(indirect_object_tokens({1, 4})));
  certify_on_ring(indirect_object_tokens({2, 4}));
}
TEST_CASE("conditional retrieval is certified") { certify_on_ring(conditional_retrieval_tokens({2, 5, 3}, 2)); }
TEST_CASE("conditional retrieval of two keys is certified") {
  const conditional_retrieval_tokens tokens({4, 8, 3}, 2);
  const law all(tokens, ring_positions(tokens.list(), 14));
  check_confined_by_symmetry(all, manifold::basis(2, 1, all.structure()));

  // It has 13,547,520 sequences. Those of a smaller symmetry are enumerated: one sequence of each type and its images
  // under the rotations and the affine maps x -> a x + b of the field of eight tokens, whose bits are coefficients
  // modulo t^3 + t + 1. The maps carry any two tokens into any two, as all permutations do: the manifold is the same.
  symmetry::permutation plus_one, times_t;
  for (int x = 0; x < 8; ++x) {
    plus_one.push_back(x ^ 1);
    times_t.push_back((x << 1) ^ (x < 4 ? 0 : 0b1011));
  }
  const symmetry::permutation rotation = symmetry::cyclic(14).generators().front();
  std::vector<image> images;
  for (const auto& of_tokens : symmetry::enumerate(std::vector{plus_one, times_t}))
    for (const auto& of_positions : symmetry::enumerate(std::span(&rotation, 1)))
      for (const task::sequence& type : enumerate_types(all).types)
        images.emplace_back(type, symmetry::generator{of_tokens, of_positions});
  CHECK(images.size() == 56 * 14 * 24);
  const any_law affine = listed_law(
      images, 8, 14,
      {{plus_one, symmetry::identity(14)}, {times_t, symmetry::identity(14)}, {symmetry::identity(8), rotation}});
  CHECK(affine.structure().tokens.orbital_count() == 1);
  certify_large(affine);
}
TEST_CASE("permutation inversion is certified") {
  certify(on_slots(permutation_inversion_tokens({2, 4})));
  certify_on_ring(permutation_inversion_tokens({3, 3}));
}

/// The law's sequences, with another symmetry claimed for its tokens.
template <class TokenLaw>
any_law claimed(const TokenLaw& tokens, const symmetry::structure& of_tokens) {
  const law drawn(tokens, ring_positions(tokens.list(), tokens.list().length() + 1));
  return listed_law(enumerated(drawn), symmetry::product(of_tokens, drawn.structure().positions));
}

TEST_CASE("a law that claims more symmetry than it has is refused") {
  check_refused(claimed(stored_association_tokens({2, 6}, 0.3), symmetry::full_symmetric(6)));
  check_refused(claimed(directed_association_tokens({2, 6}, 0.3), symmetry::matching(6)));
  check_refused(claimed(recall_tokens({1, 7}, {0.3, 3}), symmetry::full_symmetric(7)));
}

}  // namespace
