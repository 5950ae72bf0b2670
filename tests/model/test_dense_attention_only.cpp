// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/plain.hpp>
#include <lindyn/model/dense_attention_only.hpp>

#include "dense_network.hpp"
#include "random_network.hpp"

using lindyn::task::loss;
using lindyn::testing::compare_with_plain;
using lindyn::testing::random_batch;
using lindyn::testing::random_weights;

TEST_CASE("on any backend, losses, gradients, logits and attention are those of the plain network") {
  compare_with_plain<lindyn::backend::plain, double>(1e-12);
  compare_with_plain<lindyn::backend::host, double>(1e-12);
  compare_with_plain<lindyn::backend::host, float>(2e-5);  // as attention_only in float
}

TEST_CASE("arguments that don't fit, and losses that aren't finite, are refused by name") {
  using net_type = lindyn::testing::dense_network<double, lindyn::backend::host>;
  lindyn::counter_generator generator(6);
  const net_type net({.vocabulary = 4, .positions = 5, .layers = 2, .heads = 1});
  net_type::workspace memory;
  auto weights = random_weights<double>(generator, net.parameters().size(), 0.5);
  std::vector<double> gradient(weights.size());
  random_batch batch(generator, 3, 4, 4, 5);
  const auto run = [&] { net.loss_and_gradient(weights, batch.view(), loss::cross_entropy, gradient, memory); };
  CHECK_NOTHROW(run());
  gradient.pop_back();
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("gradient.size()"), lindyn::shape_error);
  gradient.push_back(0);
  weights.push_back(0);
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("weights.size()"), lindyn::shape_error);
  weights.pop_back();
  batch.token_table[2] = 4;
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("batch.tokens"), lindyn::argument_error);
  batch.token_table[2] = 0;
  const auto& readout = net.parameters().find("W_out");
  weights[static_cast<std::size_t>(readout.offset + 3)] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("W_out[3] = nan"), lindyn::non_finite_error);
  std::ranges::fill(weights, 1e200);
  CHECK_THROWS_WITH_AS(static_cast<void>(net.loss(weights, batch.view(), loss::squared_error, memory)),
                       doctest::Contains("loss"), lindyn::non_finite_error);
  CHECK_THROWS_WITH_AS(net_type::workspace(lindyn::backend::host(), -1), doctest::Contains("sequences"),
                       lindyn::argument_error);
}
