// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/attention_only_plain.hpp>

#include "random_network.hpp"

using lindyn::dynamic;
using lindyn::heads;
using lindyn::layers;
using lindyn::model::attention_only;
using lindyn::model::attention_only_plain;
using lindyn::model::attention_shape;
using lindyn::task::loss;
using lindyn::testing::random_batch;
using lindyn::testing::random_weights;

namespace {

/// max |a - b| over max |b|.
template <class A, class B>
double relative_error(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, largest = 0;
  for (std::size_t place = 0; place < a.size(); ++place) {
    difference = std::max(difference, std::abs(static_cast<double>(a[place]) - static_cast<double>(b[place])));
    largest = std::max(largest, std::abs(static_cast<double>(b[place])));
  }
  return difference / largest;
}

struct size {
  attention_shape shape;
  lindyn::index count, length;
};

/// Every length up to 10 (so that tiles have all remainders), counts off any number of lanes, several blocks.
const std::vector<size> sizes = {
    {{5, 6, 1, 1}, 7, 1},    {{5, 6, 1, 2}, 3, 4},  {{4, 5, 1, 3}, 300, 6}, {{5, 7, 2, 1}, 7, 5},
    {{6, 4, 2, 1}, 1, 1},    {{6, 4, 2, 1}, 2, 2},  {{5, 7, 2, 2}, 19, 7},  {{3, 4, 2, 3}, 21, 3},
    {{9, 11, 2, 1}, 500, 9}, {{4, 5, 3, 1}, 37, 5}, {{5, 4, 3, 1}, 40, 10}, {{3, 4, 3, 2}, 5, 8},
    {{2, 3, 3, 3}, 9, 4},    {{3, 3, 4, 1}, 11, 6}, {{2, 2, 4, 2}, 2, 5},
};

template <class Scalar>
void compare_with_plain(double tolerance) {
  lindyn::counter_generator generator(7);
  for (const size& chosen : sizes) {
    const auto& shape = chosen.shape;
    const lindyn::index count = chosen.count, length = chosen.length;
    CAPTURE(shape.layers);
    CAPTURE(shape.heads);
    CAPTURE(count);
    CAPTURE(length);
    const attention_only<layers<dynamic>, heads<dynamic>, Scalar> net(shape);
    const attention_only_plain plain(shape);
    const auto weights = random_weights<Scalar>(generator, net.parameters().size(), 0.7);
    const std::vector<double> exact_weights(weights.begin(), weights.end());
    const random_batch batch(generator, count, length, shape.vocabulary, shape.positions);
    for (const loss kind : {loss::cross_entropy, loss::squared_error})
      for (const bool weighted : {true, false}) {
        std::vector<Scalar> gradient(weights.size(), std::numeric_limits<Scalar>::quiet_NaN());
        std::vector<double> expected(weights.size());
        const double exact = plain.loss_and_gradient(exact_weights, batch.view(weighted), kind, expected);
        const double found = net.loss_and_gradient(weights, batch.view(weighted), kind, gradient);
        CHECK(found == doctest::Approx(exact).epsilon(tolerance));
        CHECK(net.loss(weights, batch.view(weighted), kind) == found);
        CHECK(relative_error(gradient, expected) < tolerance);
      }
    CHECK(relative_error(net.logits(weights, batch.view()), plain.logits(exact_weights, batch.view())) < tolerance);
    const auto attention = net.attention(weights, batch.view());
    const auto expected = plain.attention(exact_weights, batch.view());
    REQUIRE(attention.size() == expected.size());
    for (std::size_t layer = 0; layer < attention.size(); ++layer)
      CHECK(relative_error(attention[layer], expected[layer]) < tolerance);
  }
}

}  // namespace

TEST_CASE("in double, losses, gradients, logits and attention are those of the plain network") {
  compare_with_plain<double>(1e-12);
}

// Scores of a few units lose about 1e-6 in float, and up to four layers pass it on.
TEST_CASE("in float, losses, gradients, logits and attention are those of the plain network") {
  compare_with_plain<float>(2e-5);
}

TEST_CASE("the gradient is the derivative of the loss") {
  lindyn::counter_generator generator(3);
  const attention_only<layers<3>, heads<2>> net({.vocabulary = 4, .positions = 5});
  auto weights = random_weights<double>(generator, net.parameters().size(), 0.5);
  const random_batch batch(generator, 6, 5, 4, 5);
  std::vector<double> gradient(weights.size());
  for (const loss kind : {loss::cross_entropy, loss::squared_error}) {
    net.loss_and_gradient(weights, batch.view(), kind, gradient);
    const double largest = *std::ranges::max_element(gradient);
    for (int trial = 0; trial < 50; ++trial) {
      const auto place = static_cast<std::size_t>(uniform_index(generator, net.parameters().size()));
      const double at = weights[place], step = 1e-4;
      weights[place] = at + step;
      const double above = net.loss(weights, batch.view(), kind);
      weights[place] = at - step;
      const double below = net.loss(weights, batch.view(), kind);
      weights[place] = at;
      CHECK(std::abs(gradient[place] - (above - below) / (2 * step)) < 1e-6 * largest);
    }
  }
}

TEST_CASE("the reference files are reproduced to 1e-9") {
  const auto array = [](const nlohmann::json& json) { return json.at("data").get<std::vector<double>>(); };
  for (const std::string name : {"1head", "2head", "3layer"}) {
    CAPTURE(name);
    std::ifstream file(std::string(LINDYN_TEST_DATA) + "/reference/attention_only_" + name + ".json");
    const auto json = nlohmann::json::parse(file);
    const auto& config = json.at("config");
    const attention_only net({.vocabulary = config.at("vocab"),
                              .positions = config.at("positions"),
                              .layers = config.at("layers"),
                              .heads = config.at("heads")});
    std::vector<double> weights, expected;
    for (const auto& parameter : net.parameters()) {
      const auto values = array(json.at("params").at(parameter.name));
      REQUIRE(static_cast<lindyn::index>(values.size()) == parameter.size());
      weights.insert(weights.end(), values.begin(), values.end());
      const auto slopes = array(json.at("expected").at("grads").at(parameter.name));
      expected.insert(expected.end(), slopes.begin(), slopes.end());
    }
    const auto& inputs = json.at("inputs");
    const auto tokens = inputs.at("tokens").at("data").get<std::vector<int>>();
    const auto offsets = inputs.at("offsets").at("data").get<std::vector<int>>();
    const auto answers = inputs.at("targets").at("data").get<std::vector<int>>();
    const lindyn::index count = static_cast<lindyn::index>(answers.size()), length = config.at("context").get<int>();
    std::vector<int> positions;
    for (const int offset : offsets)
      for (int i = 0; i < length; ++i) positions.push_back((offset + i) % config.at("positions").get<int>());
    const lindyn::task::batch_view batch{{tokens.data(), count, length}, {positions.data(), count, length}, answers};

    std::vector<double> gradient(weights.size());
    const double found = net.loss_and_gradient(weights, batch, loss::cross_entropy, gradient);
    CHECK(found == doctest::Approx(json.at("expected").at("loss").get<double>()).epsilon(1e-9));
    CHECK(relative_error(gradient, expected) < 1e-9);
    CHECK(relative_error(net.logits(weights, batch), array(json.at("expected").at("logits"))) < 1e-9);
    const auto attention = net.attention(weights, batch);
    for (std::size_t layer = 0; layer < attention.size(); ++layer)
      CHECK(relative_error(attention[layer], array(json.at("expected").at("attention").at(layer))) < 1e-9);
  }
}

TEST_CASE("results are the same bits for any number of threads, and whatever the workspace did before") {
  lindyn::counter_generator generator(4);
  const attention_shape shape{.vocabulary = 7, .positions = 8, .layers = 3, .heads = 1};
  const attention_only<layers<3>, heads<1>, float> net(shape);
  const auto weights = random_weights<float>(generator, net.parameters().size(), 0.6);
  const random_batch batch(generator, 5001, 5, 7, 8);
  const auto run = [&](attention_only<layers<3>, heads<1>, float>::workspace& memory) {
    std::vector<float> gradient(weights.size());
    const double value = net.loss_and_gradient(weights, batch.view(), loss::cross_entropy, gradient, memory);
    return std::pair(value, gradient);
  };
  lindyn::model::attention_workspace<float> one, three(3), eight(8);
  const auto expected = run(one);
  CHECK(run(one) == expected);
  CHECK(run(three) == expected);
  CHECK(run(eight) == expected);
  const attention_only<layers<dynamic>, heads<dynamic>, float> other(
      {.vocabulary = 9, .positions = 9, .layers = 2, .heads = 3});
  const auto other_weights = random_weights<float>(generator, other.parameters().size(), 0.6);
  const random_batch other_batch(generator, 50, 12, 9, 9);
  CHECK(other.loss(other_weights, other_batch.view(), loss::cross_entropy, three) > 0);
  CHECK(run(three) == expected);
  CHECK(net.logits(weights, batch.view(), three) == net.logits(weights, batch.view()));
}

TEST_CASE("sequences count with their weights, and the average is their default") {
  lindyn::counter_generator generator(5);
  const attention_only<layers<2>, heads<1>> net({.vocabulary = 5, .positions = 6});
  const auto weights = random_weights<double>(generator, net.parameters().size(), 0.6);
  random_batch batch(generator, 40, 4, 5, 6);
  double sum = 0;
  for (lindyn::index place = 0; place < 40; ++place)
    sum += net.loss(weights, batch.view().slice(place, place + 1), loss::cross_entropy);
  CHECK(net.loss(weights, batch.view(), loss::cross_entropy) == doctest::Approx(sum).epsilon(1e-13));
  const double average = net.loss(weights, batch.view(false), loss::cross_entropy);
  std::ranges::fill(batch.weights, 1.0 / 40);
  CHECK(net.loss(weights, batch.view(), loss::cross_entropy) == average);
}

TEST_CASE("logits that differ by hundreds still give a finite loss and gradient") {
  const attention_only<layers<1>, heads<1>, float> net({.vocabulary = 3, .positions = 1});
  std::vector<float> weights(static_cast<std::size_t>(net.parameters().size())), gradient(weights.size());
  net.parameters().view("W_out", std::span(weights))(0, 0) = 400;
  const std::vector<int> tokens{0}, positions{0}, answers{2};
  const lindyn::task::batch_view batch{{tokens.data(), 1, 1}, {positions.data(), 1, 1}, answers};
  CHECK(net.loss_and_gradient(weights, batch, loss::cross_entropy, gradient) == doctest::Approx(400));
  CHECK(std::ranges::all_of(gradient, [](float entry) { return std::isfinite(entry); }));
}

TEST_CASE("sizes come from the type, from the shape, or from both where they agree") {
  using fixed = attention_only<layers<2>, heads<1>>;
  static_assert(fixed::layers == 2 && fixed::heads == 1);
  static_assert(attention_only<>::layers == dynamic && attention_only<>::heads == dynamic);
  CHECK(fixed({.vocabulary = 5, .positions = 6}).shape() == attention_shape{5, 6, 2, 1});
  CHECK(fixed({.vocabulary = 5, .positions = 6, .layers = 2}).shape() == attention_shape{5, 6, 2, 1});
  CHECK_THROWS_WITH_AS(fixed({.vocabulary = 5, .positions = 6, .layers = 3}),
                       "shape.layers = 3 is not allowed: it must be 2, as in the network's type",
                       lindyn::argument_error);
  CHECK_THROWS_AS(fixed({.vocabulary = 0, .positions = 6}), lindyn::argument_error);
  CHECK_THROWS_AS(fixed({.vocabulary = 5, .positions = 0}), lindyn::argument_error);
  CHECK_THROWS_AS(attention_only<>({.vocabulary = 5, .positions = 6}), lindyn::argument_error);
  CHECK_THROWS_AS(attention_only<>({.vocabulary = 5, .positions = 6, .layers = 60, .heads = 2}),
                  lindyn::argument_error);
}

TEST_CASE("arguments that don't fit are refused by name") {
  lindyn::counter_generator generator(6);
  const attention_only<layers<2>, heads<1>> net({.vocabulary = 4, .positions = 5});
  auto weights = random_weights<double>(generator, net.parameters().size(), 0.5);
  std::vector<double> gradient(weights.size());
  random_batch batch(generator, 3, 4, 4, 5);
  const auto run = [&] { return net.loss_and_gradient(weights, batch.view(), loss::cross_entropy, gradient); };
  CHECK_NOTHROW(run());

  gradient.pop_back();
  CHECK_THROWS_AS(run(), lindyn::shape_error);
  gradient.push_back(0);
  weights.push_back(0);
  CHECK_THROWS_AS(run(), lindyn::shape_error);
  weights.pop_back();

  batch.token_table[2] = 4;
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("batch.tokens"), lindyn::argument_error);
  batch.token_table[2] = -1;
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("batch.tokens"), lindyn::argument_error);
  batch.token_table[2] = 0;
  batch.position_table[3] = 5;
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("batch.positions"), lindyn::argument_error);
  batch.position_table[3] = 0;
  batch.answers[1] = 4;
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("batch.answers"), lindyn::argument_error);
  batch.answers[1] = 0;
  batch.weights[0] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("batch.weights[0]"), lindyn::non_finite_error);
  batch.weights[0] = 1;

  const auto& second = net.parameters().find("W_KQ.1.0");
  weights[static_cast<std::size_t>(second.offset + 3)] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(run(), doctest::Contains("W_KQ.1.0[3] = nan"), lindyn::non_finite_error);
  weights[static_cast<std::size_t>(second.offset + 3)] = 0;
  CHECK_NOTHROW(run());

  std::ranges::fill(weights, 1e200);
  CHECK_THROWS_WITH_AS(net.loss_and_gradient(weights, batch.view(), loss::squared_error, gradient),
                       doctest::Contains("loss"), lindyn::non_finite_error);
  CHECK_THROWS_AS(lindyn::model::attention_workspace<double>(0), lindyn::argument_error);
}
