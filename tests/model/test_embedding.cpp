// SPDX-License-Identifier: MIT
#include <lindyn/model/embedding.hpp>

#include <vector>

#include <doctest/doctest.h>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/symmetry/joint.hpp>

using namespace lindyn::model;
using namespace lindyn::symmetry;

namespace {

/// Two orbits of tokens, {0, 1} and {2, 3, 4}, and one of four positions.
const stream_structure two_classes = product(orbital_table(5, {{1, 0, 2, 3, 4}, {0, 1, 3, 4, 2}}), cyclic(4));

std::vector<double> random_weights(const lindyn::parameter_table& table) {
  lindyn::counter_generator generator(3);
  std::vector<double> weights(static_cast<std::size_t>(table.size()));
  for (double& weight : weights) weight = lindyn::standard_normal(generator);
  return weights;
}

}  // namespace

TEST_CASE("centred weights sum to zero over every orbit, along every side that reads the stream") {
  const auto table = attention_parameters({.vocabulary = 5, .positions = 4, .layers = 2, .heads = 1});
  auto weights = random_weights(table);
  centred_stream centre(two_classes);
  centre(table, std::span<double>(weights));
  const auto first = table.view("W_KQ.1.0", std::span<double>(weights));
  for (lindyn::index i = 0; i < first.rows; ++i) {
    CHECK(std::abs(first(i, 0) + first(i, 1)) < 1e-14);
    CHECK(std::abs(first(i, 2) + first(i, 3) + first(i, 4)) < 1e-14);
    CHECK(std::abs(first(i, 14) + first(i, 15) + first(i, 16) + first(i, 17)) < 1e-14);  // positions of copy 1
    CHECK(std::abs(first(9, i) + first(10, i)) < 1e-14);
  }
  const auto readout = table.view("W_out", std::span<double>(weights));
  for (lindyn::index v = 0; v < 5; ++v) CHECK(std::abs(readout(v, 0) + readout(v, 1)) < 1e-14);
  CHECK(std::abs(readout(0, 0) + readout(1, 0)) > 1e-3);  // rows of the readout are answers: not centred

  const auto once = weights;
  centre(table, std::span<double>(weights));
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK(std::abs(weights[i] - once[i]) < 1e-15);
}

TEST_CASE("centred gradients are those of the network with centred embeddings") {
  const attention_only<> net({.vocabulary = 5, .positions = 4, .layers = 2, .heads = 1});
  const std::vector<int> tokens{0, 3, 1, 4}, positions{0, 1, 2, 3}, answers{2};
  const lindyn::task::batch_view batch{{tokens.data(), 1, 4}, {positions.data(), 1, 4}, answers};
  centred_stream centre(two_classes);
  const auto weights = random_weights(net.parameters());
  // L(C W C) at the weights W, and its derivative by finite differences in a random direction
  const auto loss = [&](std::vector<double> at) {
    centre(net.parameters(), std::span<double>(at));
    return net.loss(at, batch, lindyn::task::loss::squared_error);
  };
  auto centred = weights;
  centre(net.parameters(), std::span<double>(centred));
  std::vector<double> gradient(weights.size());
  net.loss_and_gradient(centred, batch, lindyn::task::loss::squared_error, gradient);
  centre(net.parameters(), std::span<double>(gradient));
  lindyn::counter_generator generator(4);
  auto above = weights, below = weights;
  double expected = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double direction = lindyn::standard_normal(generator);
    above[i] += 1e-5 * direction;
    below[i] -= 1e-5 * direction;
    expected += direction * gradient[i];
  }
  CHECK((loss(above) - loss(below)) / 2e-5 == doctest::Approx(expected).epsilon(1e-7));
}
