// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lindyn/backend/plain.hpp>
#include <lindyn/backend/thrust_device.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/dense_attention_only.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/train/batched_ensemble.hpp>
#include <lindyn/train/law_objective.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/trainer.hpp>

namespace {
namespace model = lindyn::model;
namespace train = lindyn::train;
using lindyn::index;
using lindyn::backend::thrust_device;
using lindyn::optimizer::adam;
using lindyn::optimizer::adam_options;
using lindyn::optimizer::decay_mode;

constexpr index count = 3;
constexpr adam_options of_rule{.beta2 = 0.98};

/// Of each run: they differ in rates, windows, modes of decay and groups.
train::trainer_options options_of(index run, const lindyn::parameter_table& table) {
  const decay_mode modes[] = {decay_mode::coupled_l2, decay_mode::absolute, decay_mode::lr_scaled};
  train::trainer_options options{
      .learning_rate = 1e-2 / static_cast<double>(1 + run),
      .decay_schedule = lindyn::schedule::window{.begin = 2, .end = 9 + 4.0 * static_cast<double>(run), .level = 0.02},
      .decay_mode = modes[run],
      .clip_norm = run == 1 ? 0.5 : 0.0};
  if (run == 2) options.groups = lindyn::optimizer::groups(lindyn::optimizer::group_preset::matrices_only, table);
  return options;
}

/// max |a - b| over max |b|.
double difference(std::span<const double> left, std::span<const double> right) {
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::abs(right[i]));
    error = std::max(error, std::abs(left[i] - right[i]));
  }
  return error / largest;
}

const auto nobody = [](index) { return [](const auto&) {}; };

/// A transformer's runs, each with data, batches and a start of its own.
template <class Backend>
struct transformers {
  using net_type = model::prenorm_transformer<double, Backend>;
  // Without biases of keys: their gradient is exactly zero, and Adam would follow its rounding errors.
  net_type net{{.vocabulary = 7,
                .outputs = 7,
                .context = 3,
                .width = 8,
                .heads = 2,
                .layers = 2,
                .hidden = 12,
                .key_bias = false}};
  std::vector<lindyn::population::split_set> data;

  transformers() {
    for (index run = 0; run < count; ++run)
      data.push_back(lindyn::population::anchor_composition({.keys = 4,
                                                             .anchors = 3,
                                                             .training_pairs = 6 - static_cast<int>(run),
                                                             .seed = static_cast<std::uint64_t>(run),
                                                             .split_seed = static_cast<std::uint64_t>(run)}));
  }
  [[nodiscard]] index total() const { return net.parameters().size(); }
  [[nodiscard]] auto made(index run, std::span<double> weights) const {
    const auto seed = static_cast<std::uint64_t>(run);
    std::ranges::copy(model::initial_weights<double>(net.shape(), {.gamma = 0.6, .seed = seed}), weights.begin());
    return train::batched_run{
        train::set_objective(net, data[static_cast<std::size_t>(run)].training, {.size = 8 + run, .seed = seed}),
        options_of(run, net.parameters())};
  }
};

TEST_CASE(
    "transformers of different seeds, data, starts, rates and decay train in one pass as each of them would alone") {
  const transformers<thrust_device> many;
  const transformers<lindyn::backend::plain> alone;
  for (const model::savings& use : {model::savings{}, model::no_savings}) {
    auto runs = train::make_batched_ensemble<double>(
        count, many.total(), of_rule, [&](index run, std::span<double> weights) { return many.made(run, weights); },
        decltype(many.net)::workspace(thrust_device(count), use));
    std::vector<std::vector<double>> losses(count);
    runs.run(15, {.threads = 2}, [&](index run) {
      return [&, run](const auto& here) { losses[static_cast<std::size_t>(run)].push_back(here.evaluation.loss); };
    });
    const auto held_out = [&](index run) -> const auto& { return many.data[static_cast<std::size_t>(run)].test; };
    const auto tests = runs.losses(held_out, 2, 5);
    for (index run = 0; run < count; ++run) {
      std::vector<double> weights(static_cast<std::size_t>(alone.total())), expected;
      auto [objective, options] = alone.made(run, weights);
      train::trainer trainer(objective, weights, adam<double>(alone.total(), of_rule), options);
      decltype(alone.net)::workspace memory;
      trainer.run(15, memory, [&](const auto& here) { expected.push_back(here.evaluation.loss); });
      CHECK(difference(losses[static_cast<std::size_t>(run)], expected) < 1e-12);
      CHECK(difference(runs[run].weights(), weights) < 1e-12);
      CHECK(difference(runs[run].rule().second_moment(), trainer.rule().second_moment()) < 1e-12);
      CHECK(runs[run].describe() == trainer.describe());
      const auto test = alone.net.loss(weights, alone.data[static_cast<std::size_t>(run)].test, memory);
      CHECK(tests[static_cast<std::size_t>(run)].loss == doctest::Approx(test.loss).epsilon(1e-12));
      CHECK(tests[static_cast<std::size_t>(run)].correct == test.correct);
      CHECK(tests[static_cast<std::size_t>(run)].total == test.total);
    }
  }
}

TEST_CASE("a transformer that diverges doesn't touch the others") {
  const transformers<thrust_device> many;
  const auto make = [&] {
    return train::make_batched_ensemble<double>(
        count, many.total(), of_rule, [&](index run, std::span<double> weights) { return many.made(run, weights); },
        decltype(many.net)::workspace(thrust_device(count)));
  };
  auto whole = make(), broken = make();
  whole.run(8, {}, nobody);
  broken.run(4, {}, nobody);
  auto weights = broken[1].weights();
  const auto first = static_cast<std::size_t>(many.net.parameters().find("pos_emb").offset);
  weights[first] = weights[first + 1] = 1.5e308;  // their sum overflows in a mean
  broken[1].restart(4, weights, broken[1].rule());
  CHECK_FALSE(broken.run(8, {}, nobody)[1].has_value());
  REQUIRE(broken.failure(1).has_value());
  CHECK(broken.failure(1)->find("at step 4") != std::string::npos);
  CHECK(broken[1].weights() == weights);
  for (const index run : {0, 2}) CHECK(broken[run].weights() == whole[run].weights());  // bit for bit
}

TEST_CASE("attention-only networks on a law train in one pass, too") {
  using lindyn::heads;
  using lindyn::layers;
  const lindyn::population::recall_law<lindyn::task::associative_recall<lindyn::block<2>>> law(
      {.pairs = 2, .vocabulary = 6});
  const model::attention_shape shape{.vocabulary = 6, .positions = law.sizes().positions, .layers = 2, .heads = 1};
  const model::dense_attention_only<layers<lindyn::dynamic>, heads<lindyn::dynamic>, double, thrust_device> net(shape);
  const model::attention_only<> host_net(shape);
  const auto made = [&](const auto& of, index run, std::span<double> weights) {
    lindyn::counter_generator generator(static_cast<std::uint64_t>(run));
    for (double& weight : weights) weight = 0.3 * lindyn::standard_normal(generator);
    return train::batched_run{
        train::law_objective(
            of, law, {.size = 6, .seed = static_cast<std::uint64_t>(run), .embedding = model::embedding::centred}),
        options_of(run, of.parameters())};
  };
  auto runs = train::make_batched_ensemble<double>(
      count, net.parameters().size(), of_rule,
      [&](index run, std::span<double> weights) { return made(net, run, weights); },
      decltype(net)::workspace(thrust_device(count)));
  runs.run(12, {}, nobody);
  for (index run = 0; run < count; ++run) {
    std::vector<double> weights(static_cast<std::size_t>(host_net.parameters().size()));
    auto [objective, options] = made(host_net, run, weights);
    train::trainer trainer(objective, weights, adam<double>(host_net.parameters().size(), of_rule), options);
    decltype(host_net)::workspace memory;
    trainer.run(12, memory);
    CHECK(difference(runs[run].weights(), weights) < 1e-12);
  }
}

}  // namespace
