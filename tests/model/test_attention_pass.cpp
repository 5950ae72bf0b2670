// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <lindyn/model/attention_only/attention_pass.hpp>
#include <lindyn/model/attention_only_plain.hpp>

#include "random_network.hpp"

using lindyn::model::attention_shape;
using lindyn::model::detail::attention_pass;
using lindyn::task::loss;

TEST_CASE("a pass over part of a batch scores that part, and adds its gradient to what is there") {
  constexpr attention_shape shape{.vocabulary = 6, .positions = 5, .layers = 2, .heads = 2};
  constexpr lindyn::index first = 3, last = 14, n = 5;
  lindyn::counter_generator generator(1);
  const auto table = attention_parameters(shape);
  const auto weights = lindyn::testing::random_weights<double>(generator, table.size(), 0.5);
  const lindyn::testing::random_batch batch(generator, 20, n, shape.vocabulary, shape.positions);
  const lindyn::model::attention_only_plain plain(shape);
  attention_pass<double> pass;
  for (const auto kind : {loss::cross_entropy, loss::squared_error}) {
    std::vector<double> expected(weights.size()), found(weights.size(), 1);
    const double value = plain.loss_and_gradient(weights, batch.view().slice(first, last), kind, expected);
    pass.prepare(shape, table, n, shape.layers - 1);
    REQUIRE(pass.block_rows() >= last - first);
    pass.forward(weights.data(), batch.view(), first, last);
    CHECK(pass.score(kind) == doctest::Approx(value).epsilon(1e-12));
    pass.backward(found.data());
    double worst = 0;
    for (std::size_t place = 0; place < found.size(); ++place)
      worst = std::max(worst, std::abs(found[place] - 1 - expected[place]));
    CHECK(worst <= 1e-13);
  }
}

TEST_CASE("a pass that has served other sizes gives the same bits as a new one") {
  lindyn::counter_generator generator(2);
  attention_pass<float> used;
  for (const int layers : {3, 1, 2}) {
    const attention_shape shape{.vocabulary = 4 + layers, .positions = 6, .layers = layers, .heads = 1};
    const lindyn::index n = 4 + 2 * layers;
    const auto table = attention_parameters(shape);
    const auto weights = lindyn::testing::random_weights<float>(generator, table.size(), 0.5);
    const lindyn::testing::random_batch batch(generator, 9, n, shape.vocabulary, shape.positions);
    const auto gradient = [&](attention_pass<float>& pass) {
      std::vector<float> result(weights.size());
      pass.prepare(shape, table, n, layers - 1);
      pass.forward(weights.data(), batch.view(), 0, 9);
      pass.score(loss::cross_entropy);
      pass.backward(result.data());
      return result;
    };
    attention_pass<float> fresh;
    CHECK(gradient(used) == gradient(fresh));
  }
}
