// SPDX-License-Identifier: MIT

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <lindyn/backend/host.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_hessian.hpp>
#include <lindyn/model/linearised_masses.hpp>
#include <lindyn/population/finite/vector_composition.hpp>
#include <lindyn/task/vector_composition.hpp>

#include "../complaint.hpp"
#include "../difference.hpp"

using namespace lindyn;
using lindyn::testing::complaint;
using lindyn::testing::difference;
using lindyn::testing::larger;

namespace {

using network = model::linearised_attention<>;

/// Vectors without any relation, answers that aren't separable.
task::vector_composition any_vectors() {
  task::vector_composition result{.width = 5, .pairs = {{0, 1}, {1, 0}, {2, 3}, {3, 3}, {1, 3}}};
  counter_generator generator(7);
  const auto draw = [&](std::vector<double>& to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to.push_back(standard_normal(generator));
  };
  draw(result.keys, 3 * 5);
  draw(result.anchors, 4 * 5);
  draw(result.answers, 5 * 5 * 3);
  return result;
}

std::vector<double> any_weights(const network& net) {
  return model::initial_weights(net, {.gamma = 0.8, .memorising_gamma = 0.5, .seed = 3});
}

/// The same as its formula reads.
struct plain {
  const network& net;
  const std::vector<double>& weights;

  [[nodiscard]] double entry(const std::string& name, lindyn::index row, lindyn::index column) const {
    return net.parameters().view(name, weights)(row, column);
  }
  [[nodiscard]] double coupling(const task::anchor_pair& pair) const {
    double sum = 0;
    for (lindyn::index row = 0; row < net.data().width; ++row)
      for (lindyn::index column = 0; column < net.data().width; ++column)
        sum += net.data().anchor_vectors()(pair.second, row) * entry("W2", row, column) *
               net.data().anchor_vectors()(pair.first, column);
    return sum;
  }
  [[nodiscard]] double image(const std::string& name, lindyn::index row, lindyn::index key) const {
    double sum = 0;
    for (lindyn::index column = 0; column < net.data().width; ++column)
      sum += entry(name, row, column) * net.data().key_vectors()(key, column);
    return sum;
  }
  [[nodiscard]] double output(const task::anchor_pair& pair, lindyn::index row, lindyn::index key) const {
    const std::string name = "M." + std::to_string(pair.first) + "." + std::to_string(pair.second);
    return image(name, row, key) + coupling(pair) * image("W1", row, key);
  }
};

/// The gradient by central differences: exact for a loss that is quadratic in each entry, up to rounding.
std::vector<double> gradient_by_differences(const network& net, std::vector<double> weights) {
  network::workspace memory;
  std::vector<double> result;
  for (double& weight : weights) {
    const double kept = weight;
    weight = kept + 0.5;
    const double above = net.loss(weights, memory);
    weight = kept - 0.5;
    result.push_back(above - net.loss(weights, memory));
    weight = kept;
  }
  return result;
}

/// A block of the Hessian by central differences of the gradient, exact likewise.
std::vector<double> block_by_differences(const network& net, std::vector<double> weights, const std::string& name) {
  network::workspace memory;
  const parameter& which = net.parameters().find(name);
  std::vector<double> above(weights.size()), below(weights.size()), result;
  for (lindyn::index i = which.offset; i < which.offset + which.size(); ++i) {
    double& weight = weights[static_cast<std::size_t>(i)];
    const double kept = weight;
    weight = kept + 0.5;
    net.loss_and_gradient(weights, above, memory);
    weight = kept - 0.5;
    net.loss_and_gradient(weights, below, memory);
    weight = kept;
    for (lindyn::index j = which.offset; j < which.offset + which.size(); ++j)
      result.push_back(above[static_cast<std::size_t>(j)] - below[static_cast<std::size_t>(j)]);
  }
  return result;
}

}  // namespace

TEST_CASE("outputs and loss are what the formula says") {
  for (const auto reduction : {task::pair_reduction::mean, task::pair_reduction::sum}) {
    const network net(any_vectors(), reduction);
    const auto weights = any_weights(net);
    network::workspace memory;
    const auto& data = net.data();
    std::vector<double> expected;
    double loss = 0;
    for (const auto& pair : data.pairs)
      for (lindyn::index row = 0; row < data.width; ++row)
        for (lindyn::index key = 0; key < data.key_count(); ++key) {
          expected.push_back(plain{net, weights}.output(pair, row, key));
          const double error = expected.back() - data.answers[expected.size() - 1];
          loss += error * error / 2 / static_cast<double>(data.key_count());
        }
    if (reduction == task::pair_reduction::mean) loss /= static_cast<double>(data.pair_count());
    CHECK(difference(net.outputs(weights, memory), expected) < 1e-14);
    CHECK(net.loss(weights, memory) == doctest::Approx(loss).epsilon(1e-14));
  }
}

TEST_CASE("the gradient is the loss's derivative, and the same on two threads") {
  for (const auto reduction : {task::pair_reduction::mean, task::pair_reduction::sum}) {
    const network net(any_vectors(), reduction);
    const auto weights = any_weights(net);
    network::workspace memory, two(backend::host(2));
    std::vector<double> gradient(weights.size(), 1e9), other(weights.size());
    const double loss = net.loss_and_gradient(weights, gradient, memory);
    CHECK(loss == net.loss(weights, memory));
    CHECK(difference(gradient, gradient_by_differences(net, weights)) < 1e-12);
    CHECK(net.loss_and_gradient(weights, other, two) == loss);
    CHECK(other == gradient);
  }
}

TEST_CASE("in float it is the same to rounding") {
  const network net(any_vectors());
  const model::linearised_attention<float> single(any_vectors());
  const auto weights = model::initial_weights(net, {.gamma = 0.8, .seed = 3});
  const auto rounded = model::initial_weights(single, {.gamma = 0.8, .seed = 3});
  CHECK(difference(rounded, weights) < 1e-7);
  network::workspace memory;
  model::linearised_attention<float>::workspace float_memory;
  std::vector<double> gradient(weights.size());
  std::vector<float> float_gradient(weights.size());
  const double loss = net.loss_and_gradient(weights, gradient, memory);
  CHECK(single.loss_and_gradient(rounded, float_gradient, float_memory) == doctest::Approx(loss).epsilon(1e-6));
  CHECK(difference(float_gradient, gradient) < 1e-6);
}

TEST_CASE("blocks of the Hessian are those of the formulas, to 1e-12") {
  for (const auto reduction : {task::pair_reduction::mean, task::pair_reduction::sum}) {
    const network net(any_vectors(), reduction);
    const auto weights = any_weights(net);
    network::workspace memory;
    const auto& data = net.data();
    const double pairs = static_cast<double>(data.pair_count()), keys = static_cast<double>(data.key_count());
    const double w = reduction == task::pair_reduction::mean ? 1 / pairs : 1;
    double coupling_square = 0, rule_square = 0;  // S and mean |W1 e_k|^2
    for (const auto& pair : data.pairs) coupling_square += std::pow(plain{net, weights}.coupling(pair), 2) / pairs;
    for (lindyn::index key = 0; key < data.key_count(); ++key)
      for (lindyn::index row = 0; row < data.width; ++row)
        rule_square += std::pow(plain{net, weights}.image("W1", row, key), 2) / keys;
    const auto gram = [&](lindyn::index one, lindyn::index other) {
      double sum = 0;
      for (lindyn::index key = 0; key < data.key_count(); ++key)
        sum += data.key_vectors()(key, one) * data.key_vectors()(key, other) / keys;
      return sum;
    };
    std::vector<double> memorising, rule, coupling;
    for (lindyn::index row = 0; row < data.width; ++row)
      for (lindyn::index column = 0; column < data.width; ++column)
        for (lindyn::index row2 = 0; row2 < data.width; ++row2)
          for (lindyn::index column2 = 0; column2 < data.width; ++column2) {
            const double same = row == row2 ? gram(column, column2) : 0;
            memorising.push_back(w * same);
            rule.push_back(w * pairs * coupling_square * same);
            double sum = 0;
            for (const auto& [i, j] : data.pairs)
              sum += data.anchor_vectors()(j, row) * data.anchor_vectors()(i, column) * data.anchor_vectors()(j, row2) *
                     data.anchor_vectors()(i, column2);
            coupling.push_back(w * rule_square * sum);
          }
    CHECK(difference(model::hessian_block(net, std::span(weights), "M.2.3", memory), memorising) < 1e-12);
    CHECK(difference(model::hessian_block(net, std::span(weights), "W1", memory), rule) < 1e-12);
    CHECK(difference(model::hessian_block(net, std::span(weights), "W2", memory), coupling) < 1e-12);
    CHECK(difference(block_by_differences(net, weights, "M.2.3"), memorising) < 1e-12);
    CHECK(difference(block_by_differences(net, weights, "W1"), rule) < 1e-12);
    CHECK(difference(block_by_differences(net, weights, "W2"), coupling) < 1e-12);
  }
}

TEST_CASE("H_W1 over H_M is |P| c_r gamma^2 on average over W2, 45 times what is printed, within 3 standard errors") {
  constexpr int draws = 60;
  constexpr double gamma = 0.8;
  for (const auto vectors : {population::token_vectors::one_hot, population::token_vectors::gaussian}) {
    const network net(population::vector_composition({.keys = 4, .width = 12, .vectors = vectors}));
    network::workspace memory;
    double sum = 0, squares = 0, expected = 0;
    for (int draw = 0; draw < draws; ++draw) {
      const auto weights = model::initial_weights(net, {.gamma = gamma, .seed = static_cast<std::uint64_t>(draw)});
      const auto curvature = model::curvature(net, std::span<const double>(weights), memory);
      const double ratio = curvature.rule_over_memory();
      sum += ratio;
      squares += ratio * ratio;
      expected = 45 * curvature.anchor_scale * gamma * gamma;
    }
    const double mean = sum / draws, deviation = std::sqrt((squares / draws - mean * mean) / (draws - 1));
    if (vectors == population::token_vectors::one_hot) CHECK(expected == doctest::Approx(45 * gamma * gamma / 12));
    CHECK(std::abs(mean - expected) < 3 * deviation);  // of seeds that are fixed
    CHECK(deviation < 0.05 * expected);                // so that a factor of 45 would be seen
  }
}

TEST_CASE("masses are projections on the answers, and norms") {
  const network net(population::vector_composition({.keys = 4, .anchors = 3, .training_pairs = 5, .width = 7}));
  const auto weights = any_weights(net);
  network::workspace memory;
  const auto& data = net.data();
  const auto found = model::masses(net, std::span<const double>(weights), memory);
  const auto outputs = net.outputs(weights, memory);
  double product = 0, square = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    product += outputs[i] * data.answers[i];
    square += data.answers[i] * data.answers[i];
  }
  CHECK(found.memorising + found.reasoning == doctest::Approx(product / square).epsilon(1e-13));
  REQUIRE(found.rule);
  REQUIRE(found.coupling);
  CHECK(*found.rule * *found.coupling == doctest::Approx(found.reasoning).epsilon(1e-13));
  const auto norm = [&](const std::string& name) {
    double sum = 0;
    for (const double entry : net.parameters().view(name, weights)) sum += entry * entry;
    return std::sqrt(sum);
  };
  CHECK(found.reasoning_norm == doctest::Approx(norm("W1") * norm("W2")).epsilon(1e-14));
  double norms = 0;
  for (const auto& [i, j] : data.pairs) norms += norm("M." + std::to_string(i) + "." + std::to_string(j)) / 5;
  CHECK(found.memorising_norm == doctest::Approx(norms).epsilon(1e-14));

  // What is memorised alone, by hand: W1 = 0, and M_ij turns keys into their answers.
  std::vector<double> memory_alone(weights.size());
  for (std::size_t pair = 0; pair < data.pairs.size(); ++pair) {
    const auto matrix = net.parameters().view(net.parameters()[static_cast<lindyn::index>(pair) + 2], memory_alone);
    for (lindyn::index row = 0; row < 4; ++row)  // one-hot keys: column k of M is the answer to key k
      for (lindyn::index key = 0; key < 4; ++key) matrix(row, key) = data.rule[static_cast<std::size_t>(row * 4 + key)];
  }
  const auto memorised = model::masses(net, std::span<const double>(memory_alone), memory);
  CHECK(memorised.memorising == 1);
  CHECK(memorised.reasoning == 0);
  CHECK(memorised.memorising_norm == doctest::Approx(2));  // a permutation of 4
  CHECK(net.loss(memory_alone, memory) == 0);

  const network other(any_vectors());
  CHECK_FALSE(model::masses(other, std::span<const double>(any_weights(other)), memory).rule);
}

TEST_CASE("what makes no sense is refused by name") {
  const auto refused = [](auto change) {
    auto data = population::vector_composition({.keys = 3, .anchors = 2, .training_pairs = 3, .width = 5});
    change(data);
    return complaint([&] { return network(data); });
  };
  CHECK(refused([](auto&) {}).empty());
  CHECK(refused([](auto& data) { data.width = 0; }).starts_with("width = 0 "));
  CHECK(refused([](auto& data) { data.keys.pop_back(); }).starts_with("keys = 14 "));
  CHECK(refused([](auto& data) { data.anchors[1] = NAN; }).starts_with("anchors[1] = nan "));
  CHECK(refused([](auto& data) { data.pairs[1] = {0, 2}; }).starts_with("pairs = 2 "));
  CHECK(refused([](auto& data) { data.pairs[1] = data.pairs[0]; }).find("each pair once") != std::string::npos);
  CHECK(refused([](auto& data) { data.answers.pop_back(); }).starts_with("answers.size() = 44 "));
  CHECK(refused([](auto& data) { data.answers[0] += 1; }).find("couplings x rule") != std::string::npos);
  CHECK(refused([](auto& data) { data.couplings.pop_back(); }).starts_with("couplings.size() = 2 "));
  CHECK(
      complaint([] { return network(any_vectors(), static_cast<task::pair_reduction>(2)); }).starts_with("reduction "));

  const network net(any_vectors());
  network::workspace memory;
  std::vector<double> weights = any_weights(net), less(weights.size() - 1);
  CHECK(complaint([&] { return net.loss(less, memory); }).starts_with("weights.size() = 174 "));
  CHECK(complaint([&] { return net.loss_and_gradient(weights, less, memory); }).starts_with("gradient.size() = 174 "));
  CHECK(
      complaint([&] { return model::initial_weights(net, {.gamma = -1}); }).starts_with("initialisation.gamma = -1 "));
  CHECK(complaint([&] {
          return model::hessian_block(net, std::span<const double>(weights), "M.0.0", memory);
        }).starts_with("name = M.0.0 "));
  weights[0] = 1e200;
  CHECK_THROWS_AS((void)net.loss(weights, memory), non_finite_error);
}
