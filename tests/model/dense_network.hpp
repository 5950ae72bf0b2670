// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What holds for model::dense_attention_only on every backend.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <lindyn/model/attention_only_plain.hpp>
#include <lindyn/model/dense_attention_only.hpp>

#include "random_network.hpp"

namespace lindyn::testing {

using model::attention_only_plain;
using model::attention_shape;
using model::dense_attention_only;
using task::loss;

template <class Scalar, class Backend>
using dense_network = dense_attention_only<layers<dynamic>, heads<dynamic>, Scalar, Backend>;

/// max |a - b| over max |b|.
template <class A, class B>
double relative_error(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, largest = 0;
  for (std::size_t place = 0; place < a.size(); ++place) {
    const double error = std::abs(static_cast<double>(a[place]) - static_cast<double>(b[place]));
    difference = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(difference, error);
    largest = std::max(largest, std::abs(static_cast<double>(b[place])));
  }
  return difference / largest;
}

struct dense_size {
  attention_shape shape;
  index count, length, block;
};

/// One to four layers and one to three heads, one place, counts that blocks don't divide.
inline const std::vector<dense_size> dense_sizes = {
    {{5, 6, 1, 1}, 7, 1, 0}, {{4, 5, 1, 3}, 20, 6, 6}, {{5, 7, 2, 1}, 7, 5, 0}, {{5, 7, 2, 2}, 9, 7, 4},
    {{3, 4, 2, 3}, 5, 3, 2}, {{4, 5, 3, 1}, 11, 5, 4}, {{3, 4, 3, 2}, 5, 4, 0}, {{2, 2, 4, 1}, 4, 5, 3},
};

/// Asks that all that the network computes is what the plain one does.
template <class Backend, class Scalar>
void compare_with_plain(double tolerance, const Backend& on = Backend()) {
  counter_generator generator(7);
  for (const dense_size& chosen : dense_sizes) {
    const auto& shape = chosen.shape;
    CAPTURE(shape.layers);
    CAPTURE(shape.heads);
    const dense_network<Scalar, Backend> net(shape);
    const attention_only_plain exact(shape);
    typename dense_network<Scalar, Backend>::workspace memory(on, chosen.block);
    const auto weights = random_weights<Scalar>(generator, net.parameters().size(), 0.7);
    const std::vector<double> exact_weights(weights.begin(), weights.end());
    const random_batch batch(generator, chosen.count, chosen.length, shape.vocabulary, shape.positions);
    for (const loss kind : {loss::cross_entropy, loss::squared_error})
      for (const bool weighted : {true, false}) {
        std::vector<Scalar> gradient(weights.size(), std::numeric_limits<Scalar>::quiet_NaN());
        std::vector<double> expected(weights.size());
        const double wanted = exact.loss_and_gradient(exact_weights, batch.view(weighted), kind, expected);
        const double found = net.loss_and_gradient(weights, batch.view(weighted), kind, gradient, memory);
        CHECK(found == doctest::Approx(wanted).epsilon(tolerance));
        CHECK(net.loss(weights, batch.view(weighted), kind, memory) == found);
        CHECK(relative_error(gradient, expected) < tolerance);
      }
    CHECK(relative_error(net.logits(weights, batch.view(), memory), exact.logits(exact_weights, batch.view())) <
          tolerance);
    const auto found = net.attention(weights, batch.view(), memory);
    const auto expected = exact.attention(exact_weights, batch.view());
    REQUIRE(found.size() == expected.size());
    for (std::size_t layer = 0; layer < found.size(); ++layer)
      CHECK(relative_error(found[layer], expected[layer]) < tolerance);
  }
}

/// Asks that every run of a backend of three gets the losses and gradients that it has alone.
template <class Backend>
void compare_runs_with_plain(const Backend& three) {
  counter_generator generator(8);
  constexpr index runs = 3;
  for (const attention_shape& shape : {attention_shape{5, 7, 2, 2}, attention_shape{4, 5, 1, 1}}) {
    CAPTURE(shape.layers);
    const dense_network<double, Backend> net(shape);
    const attention_only_plain exact(shape);
    typename decltype(net)::workspace memory(three, 4);
    const auto size = static_cast<std::size_t>(net.parameters().size());
    const auto weights = random_weights<double>(generator, net.parameters().size() * runs, 0.7);
    std::vector<random_batch> batches;
    std::vector<task::batch_view> views;
    for (index run = 0; run < runs; ++run) batches.emplace_back(generator, 7, 5, shape.vocabulary, shape.positions);
    for (const random_batch& batch : batches) views.push_back(batch.view());
    for (const loss kind : {loss::cross_entropy, loss::squared_error}) {
      std::vector<double> gradient(weights.size()), losses(runs);
      net.loss_and_gradient(weights, views, kind, gradient, losses, memory);
      for (std::size_t run = 0; run < runs; ++run) {
        std::vector<double> expected(size);
        const double wanted =
            exact.loss_and_gradient(std::span(weights).subspan(run * size, size), views[run], kind, expected);
        CHECK(losses[run] == doctest::Approx(wanted).epsilon(1e-12));
        CHECK(relative_error(std::span(gradient).subspan(run * size, size), expected) < 1e-12);
      }
    }
    views.back() = views.back().slice(0, 6);
    std::vector<double> gradient(weights.size()), losses(runs);
    CHECK_THROWS_WITH_AS(net.loss_and_gradient(weights, views, loss::cross_entropy, gradient, losses, memory),
                         doctest::Contains("batch.count()"), shape_error);
  }
}

}  // namespace lindyn::testing
