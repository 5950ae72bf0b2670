// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/compare/confinement.hpp>

#include <limits>
#include <string>
#include <vector>

#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/listed_law.hpp>

#include "confinement_laws.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using compare::confinement;
using model::embedding;
using enum compare::confinement_method;
using task::loss;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The largest residual over the weights, by enumeration.
template <class Law>
double exact_residual(const Law& law, int layers, int heads, loss kind = loss::cross_entropy, int points = 1) {
  const auto certificate =
      confinement(manifold::basis(layers, heads, law.structure()), law,
                  {.method = enumerate,
                   .loss = kind,
                   .embedding = kind == loss::cross_entropy ? embedding::one_hot : embedding::centred,
                   .throw_on_failure = false,
                   .points = points});
  CHECK(certificate.holds == (certificate.residual_max <= 1e-12));
  CHECK(certificate.weights.size() == static_cast<std::size_t>(layers * heads + 1));
  return certificate.residual_max.value();
}

/// A certificate that doesn't throw.
template <class Law>
auto find_out(const manifold::basis& basis, const Law& law, compare::confinement_options options) {
  options.throw_on_failure = false;
  return confinement(basis, law, options);
}

TEST_CASE("the exact gradient stays on the manifold: slots") {
  for (const loss kind : {loss::cross_entropy, loss::squared_error}) {
    CHECK(exact_residual(on_slots({2, 4, 2}, 3), 2, 1, kind) <= 1e-12);
    CHECK(exact_residual(on_slots({1, 4, 2}), 3, 2, kind, 3) <= 1e-12);
    CHECK(exact_residual(on_slots({1, 4, 3}), 2, 2, kind, 2) <= 1e-12);
    CHECK(exact_residual(stored_on_slots({1, 6, 2}, 0.3), 2, 1, kind, 3) <= 1e-12);
  }
}

TEST_CASE("the exact gradient stays on the manifold: ring") {
  for (const loss kind : {loss::cross_entropy, loss::squared_error}) {
    CHECK(exact_residual(on_ring({2, 4, 2}, 6), 2, 2, kind) <= 1e-12);
    CHECK(exact_residual(on_ring({1, 4, 2}, 4), 3, 1, kind, 3) <= 1e-12);
    CHECK(exact_residual(on_ring({1, 4, 3}, 6), 2, 1, kind, 3) <= 1e-12);
    CHECK(exact_residual(stored_on_ring({1, 6, 2}, 0.3, 4), 2, 1, kind, 3) <= 1e-12);
  }
}

TEST_CASE("the certificate says what was done") {
  using recall = task::associative_recall<block<2>>;
  using net = model::attention_only<layers<2>, heads<1>>;
  using imir = manifold::imir<recall, net>;
  const population::recall_law<recall> law{{.pairs = 2, .vocabulary = 4, .slots = 3}};
  double told = 0;
  const auto certificate = confinement<imir>(law, {.tell = [&](const progress_report& report) { told = report.done; }});
  CHECK(certificate.holds);
  CHECK(certificate.method == enumerate);
  CHECK(certificate.sequences == 4 * 3 * 2 * 2 * 6 * 8);
  CHECK(told == certificate.sequences);
  CHECK(certificate.dimension == 19);
  CHECK(certificate.tolerance == 1e-12);
  REQUIRE(certificate.weights.size() == 3);
  CHECK(certificate.weights[1].weight == "W_KQ.1.0");
  CHECK(certificate.residual_max.value() ==
        std::max({certificate.weights[0].residual, certificate.weights[1].residual, certificate.weights[2].residual}));
  CHECK(contains(certificate.worst_block, certificate.worst_weight));
  CHECK(contains(certificate.statement, "confined (method enumerate): the exact gradient of 2304 sequences"));
}

TEST_CASE("an uncentred basis leaks") {
  const auto law = on_slots({2, 4, 2}, 3);
  const manifold::basis raw(2, 1, law.structure(), {.centring = manifold::centring::none});
  const auto leak = find_out(raw, law, {.method = enumerate});
  CHECK_FALSE(leak.holds);
  CHECK(leak.residual_max.value() >= 0.1);
  CHECK_THROWS_AS(confinement(raw, law), invariance_error);
  CHECK(contains(find_out(raw, law, {.method = symmetry}).statement, "aren't centred"));

  const auto sixteen = on_slots({1, 16, 2});
  const manifold::basis raw_sixteen(2, 1, sixteen.structure(), {.centring = manifold::centring::none});
  CHECK(find_out(raw_sixteen, sixteen, {}).residual_max.value() >= 0.1);
}

TEST_CASE("independent offsets of blocks need every shift of the ring, and the leaking block is named") {
  const population::block_list list{2, 4, 2};
  const population::law law(population::recall_tokens(list), independent_offsets{list, 6});
  const manifold::basis truncated(2, 1, law.structure(), {.positions = {0, 1}});
  const auto leak = find_out(truncated, law, {.method = enumerate});
  CHECK_FALSE(leak.holds);
  CHECK(leak.residual_max.value() >= 0.005);
  CHECK(contains(leak.worst_block, "position x position part"));
  CHECK(contains(leak.worst_block, leak.worst_weight + ", query copy "));
  CHECK(contains(leak.statement, leak.worst_block));
  CHECK_THROWS_AS(confinement(truncated, law, {.method = enumerate}), invariance_error);
  CHECK(contains(find_out(truncated, law, {.method = symmetry}).statement, "2 of 5 orbitals of positions"));

  CHECK(exact_residual(law, 2, 1) <= 1e-12);
}

TEST_CASE("one token twice as frequent as the others leaks, and is refused by default") {
  const population::block_list list{2, 4, 2};
  const population::law law(frequent_token{list}, population::ring_positions(list, 5));
  const manifold::basis basis(2, 1, law.structure());
  const auto leak = find_out(basis, law, {.method = enumerate});
  CHECK_FALSE(leak.holds);
  CHECK(leak.residual_max.value() >= 1e-3);
  CHECK(contains(leak.worst_block, "token"));
  CHECK_THROWS_AS(confinement(basis, law), invariance_error);
  CHECK_THROWS_AS(confinement(basis, law, {.method = symmetry}), invariance_error);
  const auto broken = find_out(basis, law, {.method = symmetry});
  CHECK(contains(broken.statement, "carries a sequence of probability"));
  CHECK_FALSE(broken.residual_max.has_value());
  CHECK_FALSE(find_out(basis, law, {.method = sample}).holds);
}

TEST_CASE("the message of the exception names weight, block and numbers") {
  const auto law = on_slots({1, 4, 2});
  const manifold::basis raw(2, 1, law.structure(), {.centring = manifold::centring::none});
  std::string message;
  try {
    confinement(raw, law);
  } catch (const invariance_error& error) {
    message = error.what();
  }
  CHECK(contains(message, "not confined (method enumerate)"));
  CHECK(contains(message, "more than the 1e-12 allowed"));
  CHECK(contains(message, "token x token part"));
}

TEST_CASE("squared error on one-hot embeddings leaks in the readout, on centred ones it doesn't") {
  const auto law = on_ring({2, 4, 2}, 5);
  const manifold::basis basis(2, 1, law.structure());
  for (const auto method : {enumerate, sample}) {
    const auto leak = find_out(basis, law, {.method = method, .loss = loss::squared_error});
    CHECK_FALSE(leak.holds);
    CHECK(leak.worst_weight == "W_out");
    CHECK(contains(leak.worst_block, "W_out, copy "));
    CHECK(contains(leak.statement, "squared error moves the readout"));
  }
  CHECK_FALSE(find_out(basis, law, {.method = symmetry, .loss = loss::squared_error}).holds);
  for (const auto method : {enumerate, sample, symmetry})
    CHECK(find_out(basis, law, {.method = method, .loss = loss::squared_error, .embedding = embedding::centred}).holds);
}

TEST_CASE("a user's law with two classes of tokens, given by generators, is confined on centred embeddings") {
  const population::block_list list{2, 6, 2};
  const population::law law(two_classes{list}, population::ring_positions(list, 5));
  const manifold::basis basis(2, 1, law.structure());
  CHECK(basis.layout().token_selections() == 2);
  const auto certificate = confinement(basis, law, {.method = enumerate, .embedding = embedding::centred, .points = 2});
  CHECK(certificate.residual_max.value() <= 1e-12);
  CHECK(confinement(basis, law, {.method = symmetry, .embedding = embedding::centred}).holds);
  // One-hot embeddings also say of which class a token is.
  const auto leak = find_out(basis, law, {.method = enumerate});
  CHECK(leak.residual_max.value() > 0.1);
  CHECK(contains(leak.statement, "several orbits of tokens or positions apart; centred ones are needed"));
  CHECK(contains(find_out(basis, law, {.method = symmetry}).statement, "several orbits"));
  // Where both methods find it, it is said once.
  const auto both = find_out(basis, law, {.method = symmetry_and_sample}).statement;
  CHECK(contains(both, "leaks most in"));
  CHECK(both.find("several orbits") == both.rfind("several orbits"));
  // A leak that centred embeddings don't mend isn't put down to the embeddings.
  const manifold::basis raw(2, 1, law.structure(), {.centring = manifold::centring::none});
  const auto raw_leak = find_out(raw, law, {.method = enumerate, .embedding = embedding::centred});
  CHECK_FALSE(raw_leak.holds);
  CHECK_FALSE(contains(raw_leak.statement, "several orbits"));
}

TEST_CASE("a list of sequences is certified, and refused once one of its weights is changed") {
  const auto drawn = on_ring({1, 4, 2}, 4);
  population::sequence_table table(3);
  population::enumerate(drawn, [&](const task::sequence& sequence) { table.append(sequence); });
  const population::listed_law listed(table, 4, 4, drawn.structure().generators);
  const manifold::basis basis(2, 1, listed.structure());
  for (const auto method : {automatic, sample, symmetry}) CHECK(confinement(basis, listed, {.method = method}).holds);

  std::vector<task::sequence> changed(table.begin(), table.end());
  changed[5].weight *= 1.5;
  const population::listed_law uneven(changed, listed.structure());
  for (const auto method : {automatic, symmetry})
    CHECK_THROWS_AS(confinement(basis, uneven, {.method = method}), invariance_error);
  CHECK(find_out(basis, uneven, {}).residual_max.value() > 1e-3);
}

TEST_CASE("the symmetry method proves confinement without a residual") {
  const auto law = stored_on_slots({2, 6, 2}, 0.5, 3);
  const auto certificate = confinement(manifold::basis(2, 2, law.structure()), law, {.method = symmetry});
  CHECK(certificate.holds);
  CHECK_FALSE(certificate.residual_max.has_value());
  CHECK(certificate.weights.empty());
  CHECK(certificate.worst_block.empty());
  CHECK(contains(certificate.statement, "6 generators"));
}

TEST_CASE("the symmetry method refuses a basis of other orbitals than the law's generators have") {
  const auto law = on_slots({2, 4, 2}, 3);
  // Too few symmetries: the matching has the selections I and C, of which C isn't invariant under all permutations.
  const manifold::basis larger(2, 1, symmetry::product(symmetry::matching(4), symmetry::slot_phase(3, 2)));
  CHECK(contains(find_out(larger, law, {.method = symmetry}).statement, "other orbitals"));
  // Too many: I alone is invariant, but the stored association needs C.
  const auto stored = stored_on_slots({2, 6, 2}, 0, 3);
  const manifold::basis smaller(2, 1, symmetry::product(symmetry::full_symmetric(6), symmetry::slot_phase(3, 2)));
  CHECK(contains(find_out(smaller, stored, {.method = symmetry}).statement, "dimension 19"));
  CHECK(find_out(smaller, stored, {.method = enumerate}).residual_max.value() > 0.01);
}

TEST_CASE("sampled leaks agree with the exact ones within their error bars") {
  const population::block_list list{2, 4, 2};
  const population::law law(frequent_token{list}, population::ring_positions(list, 5));
  const manifold::basis basis(2, 1, law.structure());
  const auto exact = find_out(basis, law, {.method = enumerate});
  const auto sampled = find_out(basis, law, {.method = sample, .batches = 16});
  REQUIRE(sampled.weights.size() == exact.weights.size());
  for (std::size_t w = 0; w < exact.weights.size(); ++w) {
    const double truth = exact.weights[w].residual, estimate = sampled.weights[w].residual;
    const double bound = sampled.weights[w].bound;
    CHECK(sampled.weights[w].standard_error > 0);
    CHECK(bound == doctest::Approx(std::sqrt(5.0) * sampled.weights[w].standard_error));
    CHECK(std::abs(truth * truth - estimate * estimate) <= bound * bound);
  }
  CHECK(sampled.sequences == 16 * 2048);
}

TEST_CASE("samples of an invariant law show no leak, and the error bar shrinks with their number") {
  const auto law = on_ring({2, 4, 2}, 5);
  const manifold::basis basis(2, 1, law.structure());
  const auto few = confinement(basis, law, {.method = sample, .batches = 8, .batch = 32});
  const auto many = confinement(basis, law, {.method = sample, .batches = 8, .batch = 512});
  CHECK(few.holds);
  CHECK(many.holds);
  for (std::size_t w = 0; w < few.weights.size(); ++w) CHECK(many.weights[w].bound < 0.5 * few.weights[w].bound);
  const auto again = confinement(basis, law, {.method = sample, .batches = 8, .batch = 32, .threads = 2});
  CHECK(again.weights[0].residual == few.weights[0].residual);
  CHECK(again.weights[0].bound == few.weights[0].bound);
}

TEST_CASE("a large law is certified by symmetry and sampling") {
  using stored = task::associative_recall<block<2>, stored_association>;
  using net = model::attention_only<layers<2>, heads<1>>;
  using imir = manifold::imir<stored, net>;
  const population::recall_law<stored> law{{.pairs = 16, .vocabulary = 64, .within_class = 0.1}};
  const auto certificate = confinement<imir>(law, {.batches = 4, .batch = 32, .samples = 100});
  CHECK(certificate.holds);
  CHECK(certificate.method == symmetry_and_sample);
  CHECK(certificate.dimension == 28);
  CHECK(certificate.residual_max.has_value());
  CHECK(contains(certificate.statement, "100 sampled sequences"));
  CHECK(contains(certificate.statement, "manifold of dimension 28"));
}

TEST_CASE("too many sequences are counted, not visited") {
  const auto law = on_slots({16, 64, 2});
  const manifold::basis basis(2, 1, law.structure());
  double count = 0;
  std::string message;
  try {
    confinement(basis, law, {.method = enumerate});
  } catch (const too_many_error& error) {
    count = error.count();
    message = error.what();
  }
  double expected = 16;  // queries
  for (int place = 0; place < 32; ++place) expected *= 64 - place;
  for (int block = 0; block < 17; ++block) expected *= 2 * (18 - block);
  CHECK(count == doctest::Approx(expected));
  CHECK(contains(message, "symmetry and sample"));
  CHECK_THROWS_AS(confinement(manifold::basis(2, 1, on_ring({2, 4, 2}, 5).structure()), on_ring({2, 4, 2}, 5),
                              {.method = enumerate, .bound = 100}),
                  too_many_error);
}

TEST_CASE("bad options and misfits are refused") {
  const auto law = on_ring({1, 4, 2}, 4);
  const manifold::basis basis(2, 1, law.structure());
  const auto names = [&](const char* argument, const compare::confinement_options& options) {
    try {
      confinement(basis, law, options);
    } catch (const argument_error& fault) {
      return fault.argument() == argument;
    }
    return false;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, nan, infinity}) {
    CHECK(names("tolerance", {.tolerance = bad}));
    CHECK(names("scale", {.scale = bad}));
    CHECK(names("deviations", {.deviations = bad}));
  }
  for (const double large : {10.0, 1e200}) CHECK(names("scale", {.scale = large}));
  for (const double bad : {-1.0, nan}) {
    CHECK(names("bound", {.bound = bad}));
    CHECK(names("few", {.few = bad}));
    CHECK(names("compared", {.compared = bad}));
  }
  CHECK(names("method", {.method = static_cast<compare::confinement_method>(5)}));
  CHECK_THROWS_AS(confinement(basis, law, {.points = 0}), argument_error);
  CHECK_THROWS_AS(confinement(basis, law, {.method = sample, .batches = 2}), argument_error);
  CHECK_THROWS_AS(confinement(basis, law, {.batch = 0}), argument_error);
  CHECK_THROWS_AS(confinement(basis, law, {.samples = 0}), argument_error);
  CHECK_THROWS_AS(confinement(basis, law, {.threads = 0}), argument_error);
  CHECK_THROWS_AS(confinement(basis, on_ring({1, 5, 2}, 4)), shape_error);
  CHECK_THROWS_AS(confinement(basis, on_ring({1, 4, 2}, 5)), shape_error);
}

TEST_CASE("of an invariant law, rounding stays below the tolerance at the largest scale") {
  const auto law = on_ring({1, 4, 2}, 4);
  const manifold::basis basis(2, 1, law.structure());
  CHECK(confinement(basis, law, {.method = enumerate, .points = 20, .scale = 1}).residual_max.value() <= 1e-12);
}

TEST_CASE("methods have names") {
  CHECK(compare::name(symmetry_and_sample) == "symmetry and sample");
  CHECK(compare::name(enumerate) == "enumerate");
}

}  // namespace
