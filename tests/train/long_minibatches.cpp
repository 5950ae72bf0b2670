// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/train/descent.hpp>

#include "../compare/confinement_laws.hpp"
#include "../reduced/values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name

// A short version of what the example off_the_manifold measures (part sgd: 200 steps, batches up to 4096, 8 seeds).
TEST_CASE("of 16 pairs among 64 tokens, minibatches carry a share of batch^(-1/2) off the manifold") {
  const auto law = on_slots({.pairs = 16, .vocabulary = 64, .block = 2});
  const manifold::basis basis(2, 1, law.structure());
  const model::attention_only<layers<2>, heads<1>, float> net(basis.shape());
  const auto share = [&](index batch) {
    double result = 0;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const auto start = basis.embed(normal_numbers(basis.dimension(), seed, 0.3));
      std::vector<float> weights(start.begin(), start.end());
      train::descend(net, law, std::span(weights), {.steps = 50, .learning_rate = 1, .batch = batch, .seed = seed},
                     [](const auto&) {});
      result += basis.project(std::vector<double>(weights.begin(), weights.end())).relative_residual() / 2;
    }
    return result;
  };
  const double few = share(64), more = share(256), many = share(1024);
  CHECK(few < 0.2);  // the weights' norm is that of the start, so that the share measures the noise alone
  for (const double exponent : {std::log(more / few) / std::log(4.0), std::log(many / more) / std::log(4.0)}) {
    CHECK(exponent > -0.6);
    CHECK(exponent < -0.4);
  }
}

}  // namespace
