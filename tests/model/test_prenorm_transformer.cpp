// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/plain.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>

#include "../difference.hpp"
#include "../counted_allocations.hpp"

using lindyn::argument_error;
using lindyn::non_finite_error;
using lindyn::shape_error;
using lindyn::backend::activation;
using lindyn::backend::host;
using lindyn::backend::plain;
using lindyn::model::fixed_sizes;
using lindyn::model::no_savings;
using lindyn::model::prenorm_shape;
using lindyn::model::prenorm_transformer;
using lindyn::model::savings;
using lindyn::task::no_answer;
using lindyn::task::sequence_set;
using lindyn::testing::allocations;
using lindyn::testing::difference;
using lindyn::testing::larger;

namespace {

constexpr prenorm_shape small{
    .vocabulary = 5, .outputs = 4, .context = 3, .width = 6, .heads = 2, .layers = 2, .hidden = 5};

using fixed = prenorm_transformer<double, host, fixed_sizes<small>>;
static_assert(fixed::parameter_count == lindyn::model::parameter_count(small));
static_assert(prenorm_transformer<double, host>::parameter_count == lindyn::dynamic);

prenorm_shape with(auto change) {
  prenorm_shape shape = small;
  change(shape);
  return shape;
}

/// Shapes that take all branches: both activations and masks, tied, without biases, one layer and three.
const std::vector<prenorm_shape> shapes = {
    small,
    with([](auto& s) { s.activation = activation::relu, s.causal = false; }),
    with([](auto& s) { s.layers = 1, s.key_bias = false; }),
    with([](auto& s) { s.layers = 1, s.causal = false, s.biases = false; }),
    with([](auto& s) { s.layers = 3, s.activation = activation::relu, s.biases = false; }),
    with([](auto& s) { s.outputs = s.vocabulary, s.tied_head = true; }),
};

/// Sequences that share a lot, asked at the last place or at chosen ones, where equal sequences may be asked different
/// things, and nothing behind different places.
sequence_set random_set(const prenorm_shape& shape, int count, bool last_place, std::uint64_t seed = 1) {
  lindyn::counter_generator generator(seed);
  const auto draw = [&](int size) { return static_cast<int>(lindyn::uniform_index(generator, size)); };
  std::vector<int> tokens, answers;
  for (int sequence = 0; sequence < count; ++sequence)
    for (int place = 0; place < shape.context; ++place) {
      tokens.push_back(draw(place == 0 ? 2 : 3) + place);
      const bool asked = last_place || place == sequence % shape.context || draw(3) == 0;
      if (place + 1 == shape.context || !last_place) answers.push_back(asked ? draw(shape.outputs) : no_answer);
    }
  return {{shape.vocabulary, shape.outputs, shape.context}, tokens, answers};
}

/// No parameter is zero, or one.
template <class Scalar>
std::vector<Scalar> random_weights(const prenorm_shape& shape) {
  auto weights = lindyn::model::initial_weights<Scalar>(shape, {.gamma = 1.2, .embedding_scale = 0.7, .seed = 4});
  lindyn::counter_generator generator(11);
  for (const auto& which : lindyn::model::prenorm_parameters(shape))
    if (which.vector)
      for (auto i = which.offset; i < which.offset + which.size(); ++i)
        weights[static_cast<std::size_t>(i)] += static_cast<Scalar>(0.3 * lindyn::standard_normal(generator));
  return weights;
}

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

template <class Scalar>
struct results {
  lindyn::task::evaluation score;
  std::vector<Scalar> gradient, logits;
  std::vector<std::vector<Scalar>> attention;
  friend bool operator==(const results&, const results&) = default;
};

template <class Scalar, class Backend>
results<Scalar> evaluate(const prenorm_shape& shape, const sequence_set& set, const std::vector<int>& which,
                         const savings& use, Backend on) {
  const prenorm_transformer<Scalar, Backend> net(shape);
  const auto weights = random_weights<Scalar>(shape);
  typename decltype(net)::workspace memory(on, use);
  results<Scalar> found;
  found.gradient.assign(weights.size(), std::numeric_limits<Scalar>::quiet_NaN());
  found.score = net.loss_and_gradient(weights, set, which, found.gradient, memory);
  CHECK(net.loss(weights, set, which, memory) == found.score);
  found.logits = net.logits(weights, set, which, memory);
  found.attention = net.attention(weights, set, which, memory);
  return found;
}

template <class Scalar>
void compare(const results<Scalar>& found, const results<double>& expected, double tolerance) {
  CHECK(found.score.loss == doctest::Approx(expected.score.loss).epsilon(tolerance));
  CHECK(found.score.correct == expected.score.correct);
  CHECK(found.score.total == expected.score.total);
  CHECK(difference(found.gradient, expected.gradient) <= tolerance);
  CHECK(difference(found.logits, expected.logits) <= tolerance);
  REQUIRE(found.attention.size() == expected.attention.size());
  for (std::size_t layer = 0; layer < found.attention.size(); ++layer)
    CHECK(difference(found.attention[layer], expected.attention[layer]) <= tolerance);
}

template <class Error>
std::string refused(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.argument();
  }
  return "nothing";
}

}  // namespace

TEST_CASE(
    "all combinations of savings on both backends give the results of the plain dense computation, to 1e-12 in "
    "double") {
  for (const bool last_place : {true, false})
    for (const prenorm_shape& shape : shapes) {
      const sequence_set set = random_set(shape, 12, last_place);
      std::vector<int> which = numbers(12);
      which.push_back(3);  // twice
      const auto expected = evaluate<double>(shape, set, which, no_savings, plain());
      CHECK(expected.score.total >= 13);
      for (int choice = 0; choice < 8; ++choice) {
        CAPTURE(choice);
        CAPTURE(&shape - shapes.data());
        const savings use{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
        compare(evaluate<double>(shape, set, which, use, plain()), expected, 1e-12);
        compare(evaluate<double>(shape, set, which, use, host()), expected, 1e-12);
      }
      // Float rounds by 6e-8; sums of tens of terms over three layers make some of it.
      compare(evaluate<float>(shape, set, which, {}, host()), expected, 5e-6);
    }
}

TEST_CASE("gradients agree with central differences of the loss in every entry of every tensor, to 1e-6") {
  for (const auto& shape : {shapes[0], shapes[1], shapes[5]}) {
    const prenorm_transformer<double, host> net(shape);
    decltype(net)::workspace memory;
    const sequence_set set = random_set(shape, 3, false);
    const std::vector<int> which = numbers(3);
    auto weights = random_weights<double>(shape);
    std::vector<double> gradient(weights.size());
    net.loss_and_gradient(weights, set, which, gradient, memory);
    for (const auto& parameter : net.parameters()) {
      double error = 0;
      for (auto i = static_cast<std::size_t>(parameter.offset);
           i < static_cast<std::size_t>(parameter.offset + parameter.size()); ++i) {
        constexpr double step = 1e-5;
        const double weight = weights[i];
        weights[i] = weight + step;
        const double above = net.loss(weights, set, which, memory).loss;
        weights[i] = weight - step;
        const double below = net.loss(weights, set, which, memory).loss;
        weights[i] = weight;
        error = larger(error, std::abs((above - below) / (2 * step) - gradient[i]));
      }
      CAPTURE(parameter.name);
      CHECK(error <= 1e-6);
    }
  }
}

TEST_CASE("one, two and four threads give the same bits, and entries between the tensors are zero") {
  const prenorm_shape shape{
      .vocabulary = 5, .outputs = 19, .context = 3, .width = 24, .heads = 3, .layers = 2, .hidden = 40};
  const sequence_set set = random_set(shape, 200, false);
  for (const savings& use : {savings{}, no_savings}) {
    const auto expected = evaluate<float>(shape, set, numbers(200), use, host(1));
    CHECK(evaluate<float>(shape, set, numbers(200), use, host(2)) == expected);
    CHECK(evaluate<float>(shape, set, numbers(200), use, host(4)) == expected);
    lindyn::index end = 0;
    for (const auto& which : lindyn::model::prenorm_parameters(shape)) {
      for (; end < which.offset; ++end) CHECK(expected.gradient[static_cast<std::size_t>(end)] == 0);
      end = which.offset + which.size();
    }
  }
}

TEST_CASE("steps allocate nothing after the first one, whatever sequences a batch of that size has") {
  const prenorm_shape shape = small;
  for (const bool last_place : {true, false})
    for (const auto& [use, threads] : {std::pair{savings{}, 1}, std::pair{savings{}, 2}, std::pair{no_savings, 1}}) {
      const sequence_set set = random_set(shape, 60, last_place);
      const prenorm_transformer<float, host> net(shape);
      decltype(net)::workspace memory(host(threads), use);
      const auto weights = random_weights<float>(shape);
      std::vector<float> gradient(weights.size());
      std::vector<int> which(40, 0);  // all the same: the smallest plan
      net.loss_and_gradient(weights, set, which, gradient, memory);
      const long before = allocations;
      for (int step = 0; step < 5; ++step) {
        for (int i = 0; i < 40; ++i) which[static_cast<std::size_t>(i)] = (step * i + i) % 60;
        net.loss_and_gradient(weights, set, which, gradient, memory);
      }
      CHECK(allocations == before);
    }
}

TEST_CASE("the loss of a whole set is that of all of its sequences in one batch, however it is cut") {
  const sequence_set set = random_set(small, 30, false);
  const fixed net;
  fixed::workspace memory;
  const auto weights = random_weights<double>(small);
  const auto expected = net.loss(weights, set, numbers(30), memory);
  for (const lindyn::index block : {1, 7, 30, 1000}) {
    const auto found = net.loss(weights, set, memory, block);
    CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-13));
    CHECK(found.correct == expected.correct);
    CHECK(found.total == expected.total);
  }
  CHECK(expected.accuracy() == static_cast<double>(expected.correct) / static_cast<double>(expected.total));
}

TEST_CASE("shorter sequences than the context leave later places alone, and a smaller vocabulary its tokens") {
  const prenorm_shape wider = with([](auto& s) { s.context = 5, s.vocabulary = 9; });
  const sequence_set set = random_set(small, 10, true);
  const auto found = evaluate<double>(wider, set, numbers(10), {}, host());
  const auto table = lindyn::model::prenorm_parameters(wider);
  const auto places = table.view("pos_emb", std::span<const double>(found.gradient));
  const auto tokens = table.view("tok_emb", std::span<const double>(found.gradient));
  CHECK(std::ranges::all_of(places.row(2), [](double x) { return x != 0; }));
  CHECK(std::ranges::all_of(places.row(3), [](double x) { return x == 0; }));
  CHECK(std::ranges::all_of(tokens.row(4), [](double x) { return x != 0; }));
  CHECK(std::ranges::all_of(tokens.row(5), [](double x) { return x == 0; }));
}

TEST_CASE(
    "a weight that isn't finite is named by the loss, in every tensor; so is the first activation that overflows") {
  const sequence_set set = random_set(small, 20, true);
  for (const activation kind : {activation::gelu, activation::relu}) {
    const prenorm_transformer<double, host> net(with([&](auto& s) { s.activation = kind; }));
    decltype(net)::workspace memory;
    for (const auto& which : net.parameters()) {
      auto weights = random_weights<double>(small);
      weights[static_cast<std::size_t>(which.offset)] = NAN;
      const std::string expected =
          "loss = nan is not allowed: it must be finite; not finite is first: weights " + which.name + "[0]";
      CHECK_THROWS_WITH_AS(net.loss(weights, set, numbers(20), memory), expected.c_str(), non_finite_error);
    }
    auto weights = random_weights<double>(small);
    std::vector<double> gradient(weights.size());
    net.parameters().view("blocks.1.attn.v.weight", std::span(weights))(0, 0) = 1e200;
    net.parameters().view("blocks.1.attn.o.weight", std::span(weights))(0, 0) = 1e200;
    const auto evaluate_all = [&] { net.loss_and_gradient(weights, set, numbers(20), gradient, memory); };
    CHECK_THROWS_AS(evaluate_all(), non_finite_error);
    CHECK(net.first_non_finite(weights, gradient, memory) == "activations blocks.1.attn.o");

    weights = random_weights<double>(small);
    evaluate_all();
    CHECK(net.first_non_finite(weights, gradient, memory).empty());
    net.parameters().view("blocks.0.ln2.bias", std::span(gradient))(0, 3) = INFINITY;
    CHECK(net.first_non_finite(weights, gradient, memory) == "gradient blocks.0.ln2.bias[3]");
  }
}

TEST_CASE("arguments that don't fit are refused by name, and a type's sizes are those of its shape") {
  const fixed net;
  CHECK(net.shape() == small);
  CHECK(refused<argument_error>([] { fixed(with([](auto& s) { s.layers = 3; })); }) == "shape");
  fixed::workspace memory;
  auto weights = random_weights<double>(small);
  std::vector<double> gradient(weights.size());
  const sequence_set set = random_set(small, 4, true);
  CHECK(refused<shape_error>([&] { net.loss(std::span(weights).first(9), set, numbers(4), memory); }) ==
        "weights.size()");
  CHECK(refused<shape_error>([&] {
          net.loss_and_gradient(weights, set, numbers(4), std::span(gradient).first(9), memory);
        }) == "gradient.size()");
  CHECK(refused<argument_error>([&] { net.loss(weights, set, std::vector<int>{4}, memory); }) == "which");
  CHECK(refused<argument_error>([&] { net.loss(weights, set, std::vector<int>{}, memory); }) == "which.size()");
  CHECK(refused<argument_error>([&] { net.loss(weights, set, memory, 0); }) == "block");
  const auto other = [&](lindyn::task::sequence_sizes sizes) {
    const sequence_set empty(sizes, {}, {});
    const std::string whole = refused<argument_error>([&] { net.loss(weights, empty, memory); });
    CHECK(whole == "set.count()");
    return refused<argument_error>([&] { net.loss(weights, empty, std::vector<int>{0}, memory); });
  };
  CHECK(other({6, 4, 3}) == "set.sizes().vocabulary");
  CHECK(other({5, 5, 3}) == "set.sizes().outputs");
  CHECK(other({5, 4, 4}) == "set.sizes().length");
}
