// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/observe/network_order.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/train/trainer.hpp>

#include "../difference.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::observe;
using lindyn::index;  // POSIX has a function of this name

using network = model::prenorm_transformer<double>;

enum class asked { at_last_place, everywhere, at_different_places };

/// Sequences of four tokens out of three, so that they share beginnings and repeat.
task::sequence_set few_tokens(asked where) {
  counter_generator generator(3);
  std::vector<int> tokens, answers;
  for (int sequence = 0; sequence < 20; ++sequence) {
    for (int place = 0; place < 4; ++place) {
      tokens.push_back(static_cast<int>(uniform_index(generator, 3)));
      const bool here = where != asked::at_different_places || place <= sequence % 4;
      if (where != asked::at_last_place || place == 3)
        answers.push_back(here ? static_cast<int>(uniform_index(generator, 5)) : task::no_answer);
    }
  }
  return {{.vocabulary = 3, .outputs = 5, .length = 4}, std::move(tokens), std::move(answers)};
}

model::prenorm_shape small(int layers, bool causal) {
  return {.vocabulary = 3,
          .outputs = 5,
          .context = 4,
          .width = 8,
          .heads = 2,
          .layers = layers,
          .hidden = 8,
          .causal = causal};
}

double largest_difference(const network_order& one, const network_order& other) {
  double result = 0;
  const auto compare = [&](const order_parameters& ours, const order_parameters& theirs) {
    for (std::size_t which = 0; which < named(ours).size(); ++which)
      result =
          testing::larger(result, std::abs(named(ours)[which].second.value() - named(theirs)[which].second.value()));
  };
  compare(one.mean, other.mean);
  for (std::size_t layer = 0; layer < one.layers.size(); ++layer) compare(one.layers[layer], other.layers[layer]);
  return one.layers.size() == other.layers.size() ? result : INFINITY;
}

/// From the dense arrays of all sequences `which`, evaluated without savings.
network_order dense_order(const network& net, std::span<const double> weights, const task::sequence_set& set,
                          std::span<const int> which) {
  network::workspace memory(backend::host(), model::no_savings);
  const auto attention = net.attention(weights, set, which, memory);
  return network_order_of(std::span(attention),
                          {.heads = net.shape().heads, .length = 4, .causal = net.shape().causal});
}

TEST_CASE("what a training has computed, each distinct row once, has the order parameters of the dense definition") {
  for (const int layers : {1, 2})
    for (const bool causal : {true, false})
      for (const asked where : {asked::at_last_place, asked::everywhere, asked::at_different_places}) {
        CAPTURE(layers);
        CAPTURE(causal);
        CAPTURE(static_cast<int>(where));
        const network net(small(layers, causal));
        const auto set = few_tokens(where);
        const auto weights = model::initial_weights<double>(net.shape(), model::initialisation{.gamma = 2});
        const std::span<const double> seen(weights);
        std::vector<double> gradient(weights.size());
        std::vector<int> which(20);
        std::iota(which.begin(), which.end(), 0);
        which.push_back(7);  // once more
        const network_order expected = dense_order(net, seen, set, which);
        for (const model::savings& use :
             {model::savings{}, model::no_savings, model::savings{.shared_prefixes = false}}) {
          network::workspace memory(backend::host(), use);
          (void)net.loss_and_gradient(seen, set, which, gradient, memory);
          CHECK(largest_difference(network_order_of(net, memory), expected) < 1e-13);
          const auto before = gradient;  // looking changes nothing
          (void)net.loss_and_gradient(seen, set, which, gradient, memory);
          CHECK(gradient == before);
        }
        which.pop_back();
        network::workspace memory;
        const network_order blocks = network_order_of(net, seen, set, memory, 7);
        CHECK(largest_difference(blocks, dense_order(net, seen, set, which)) < 1e-13);
      }
}

TEST_CASE("memory of another evaluation is refused") {
  const network net(small(2, true));
  const auto set = few_tokens(asked::at_last_place);
  const auto weights = model::initial_weights<double>(net.shape(), model::initialisation{});
  network::workspace memory;
  CHECK_THROWS_AS((void)network_order_of(net, memory), argument_error);
  (void)net.loss(std::span<const double>(weights), set, memory);
  CHECK_THROWS_AS((void)network_order_of(net, memory), argument_error);
  CHECK_THROWS_AS((void)network_order_of(net, std::span<const double>(weights), set, memory, 0), argument_error);

  std::vector<double> gradient(weights.size());
  (void)net.loss_and_gradient(weights, set, std::vector<int>{0, 1}, gradient, memory);
  const network deeper(small(3, true));
  CHECK_THROWS_AS((void)network_order_of(deeper, memory), argument_error);
  const network equal(small(2, true));  // weights and memory are all that there is to a network of this shape
  CHECK(network_order_of(equal, memory).mean.s_bar == network_order_of(net, memory).mean.s_bar);
}

TEST_CASE("an observer of a training sees the attention of each step's own batch") {
  const network net(small(2, true));
  const auto set = few_tokens(asked::at_different_places);
  auto weights = model::initial_weights<double>(net.shape(), model::initialisation{});
  const population::batches draw{.size = 6, .seed = 5};
  train::trainer trainer(train::set_objective(net, set, draw), std::span(weights),
                         optimizer::sgd<double>(net.parameters().size()), {.learning_rate = 0.5});
  network::workspace memory;
  population::batch_sampler again(set.count(), draw);
  std::vector<index> steps;
  trainer.run(5, memory, train::every(2, [&](const auto& here) {
                steps.push_back(here.step);
                const network_order expected = dense_order(net, here.weights, set, again(here.step));
                CHECK(largest_difference(network_order_of(net, memory), expected) < 1e-13);
              }));
  CHECK(steps == std::vector<index>{0, 2, 4});
}

}  // namespace
