// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/population/law.hpp>
#include <lindyn/population/type_sample.hpp>
#include <lindyn/reduced/sampled_loss.hpp>

#include "../compare/confinement_laws.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name

/// Estimates are within five of their standard errors of the exact loss, and on average about one.
template <class Law>
void check_estimates(const Law& law, task::loss loss) {
  const manifold::basis basis(2, 1, law.structure());
  const auto coordinates = normal_numbers(basis.dimension(), 4, 1.0);
  const auto types = population::enumerate_types(law).types;
  const double exact = reduced::relational_model(basis, types, loss).loss(coordinates);
  double squares = 0, errors[2] = {};
  const int seeds = 40;
  for (const index contexts : {100, 400})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto sample = population::sample_types(law, contexts, seed);
      const auto estimate = reduced::sampled_loss(basis, sample, loss)(coordinates);
      const double deviation = (estimate.mean - exact) / estimate.standard_error;
      CHECK(std::abs(deviation) < 5);
      squares += deviation * deviation / (2 * seeds);
      errors[contexts == 400] += estimate.standard_error / seeds;
      if (seed > 3) continue;
      reduced::relational_model merged(basis, sample.sequences, loss);
      CHECK(merged.loss(coordinates) == doctest::Approx(estimate.mean).epsilon(1e-12));
    }
  CHECK(squares > 0.6);
  CHECK(squares < 1.5);
  CHECK(errors[1] / errors[0] == doctest::Approx(0.5).epsilon(0.1));
}

TEST_CASE("a sample of types estimates the loss, and its own error") {
  check_estimates(stored_on_slots({.pairs = 3, .vocabulary = 12, .block = 2}, 0.4), task::loss::cross_entropy);
  check_estimates(stored_on_slots({.pairs = 2, .vocabulary = 12, .block = 3}, 0.4), task::loss::squared_error);
}

TEST_CASE("so it does where there are four pairs") {
  const auto law = stored_on_slots({.pairs = 4, .vocabulary = 16, .block = 2}, 0.5);
  const manifold::basis basis(2, 1, law.structure());
  const auto types = population::enumerate_types(law).types;
  reduced::relational_model exact(basis, types);
  MESSAGE("types: " << types.size() << ", distinct ones: " << exact.plan().types());
  reduced::sampled_loss sampled(basis, population::sample_types(law, 500, 1));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto coordinates = normal_numbers(basis.dimension(), seed, 1.0);
    const auto estimate = sampled(coordinates);
    CHECK(std::abs(estimate.mean - exact.loss(coordinates)) < 5 * estimate.standard_error);
    CHECK(estimate.standard_error < 0.1 * estimate.mean);
  }
}

TEST_CASE("so it does where tokens are of two classes, and which of them a pair has is a chance") {
  const population::block_list list{.pairs = 3, .vocabulary = 14, .block = 2};
  const population::law law(population::recall_tokens(list, {0.3, 6}), population::slot_positions(list));
  const manifold::basis basis(2, 1, law.structure());
  REQUIRE(basis.tokens().structure().orbit_count() == 2);
  for (const auto loss : {task::loss::cross_entropy, task::loss::squared_error}) {
    reduced::relational_model exact(basis, population::enumerate_types(law).types, loss);
    reduced::sampled_loss sampled(basis, population::sample_types(law, 200, 1), loss);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto coordinates = normal_numbers(basis.dimension(), seed, 1.0);
      const auto estimate = sampled(coordinates);
      CHECK(std::abs(estimate.mean - exact.loss(coordinates)) < 5 * estimate.standard_error);
      CHECK(estimate.standard_error < 0.1 * estimate.mean);
    }
  }
}

TEST_CASE("without chances all contexts are alike, and the estimate is exact") {
  const auto law = on_slots({.pairs = 5, .vocabulary = 16, .block = 2});
  const manifold::basis basis(2, 1, law.structure());
  const auto coordinates = normal_numbers(basis.dimension(), 4, 1.0);
  const auto estimate = reduced::sampled_loss(basis, population::sample_types(law, 10, 1))(coordinates);
  CHECK(estimate.mean ==
        doctest::Approx(reduced::relational_model(basis, population::enumerate_types(law).types).loss(coordinates))
            .epsilon(1e-13));
  CHECK(estimate.standard_error < 1e-14);
}

}  // namespace
