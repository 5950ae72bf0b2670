// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/model/attention_only_plain.hpp>

#include "random_network.hpp"

using lindyn::task::loss;
using lindyn::testing::random_batch;
using lindyn::testing::random_weights;

TEST_CASE("the plain gradient is the derivative of the plain loss") {
  lindyn::counter_generator generator(1);
  for (const loss kind : {loss::cross_entropy, loss::squared_error})
    for (const int layers : {1, 2, 3})
      for (const int heads : {1, 2}) {
        const lindyn::model::attention_only_plain net(
            {.vocabulary = 4, .positions = 5, .layers = layers, .heads = heads});
        auto weights = random_weights<double>(generator, net.parameters().size(), 0.5);
        const random_batch batch(generator, 3, 4, 4, 5);
        std::vector<double> gradient(weights.size());
        net.loss_and_gradient(weights, batch.view(), kind, gradient);
        for (int trial = 0; trial < 20; ++trial) {
          const auto place = static_cast<std::size_t>(uniform_index(generator, net.parameters().size()));
          const double at = weights[place];
          const double step = 1e-4;
          weights[place] = at + step;
          const double above = net.loss(weights, batch.view(), kind);
          weights[place] = at - step;
          const double below = net.loss(weights, batch.view(), kind);
          weights[place] = at;
          CHECK(gradient[place] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-5).scale(1e-2));
        }
      }
}

TEST_CASE("with zero weights attention is uniform over the visible keys and all answers are equally likely") {
  const lindyn::model::attention_only_plain net({.vocabulary = 4, .positions = 3, .layers = 2, .heads = 1});
  const std::vector<double> weights(static_cast<std::size_t>(net.parameters().size()));
  lindyn::counter_generator generator(2);
  const random_batch batch(generator, 2, 3, 4, 3);
  const auto attention = net.attention(weights, batch.view());
  REQUIRE(attention.size() == 2);
  REQUIRE(attention[1].size() == 2 * 3 * 3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(attention[1][3 * i + j] == doctest::Approx(j <= i ? 1.0 / static_cast<double>(i + 1) : 0.0));
  CHECK(net.loss(weights, batch.view(false), loss::cross_entropy) == doctest::Approx(std::log(4.0)));
  CHECK(net.loss(weights, batch.view(false), loss::squared_error) == doctest::Approx(0.5));
}
