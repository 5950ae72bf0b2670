// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <lindyn/model/attention_only.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/train/descent.hpp>
#include <lindyn/train/law_objective.hpp>
#include <lindyn/train/trainer.hpp>

#include "../counted_allocations.hpp"
#include "noisy_bowl.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using optimizer::decay_mode;
using train::trainer_options;

template <class Work>
std::string message(const Work& work) {
  try {
    work();
  } catch (const error& fault) {
    return fault.what();
  }
  return "nothing was thrown";
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class Scalar>
auto adam_for_bowl() {
  return optimizer::adam<Scalar>(bowl_table().size(), {.beta2 = 0.98});
}

const optimizer::parameter_group matrices{"matrices", 1, {"weight"}}, others{"others", 0.5, {"embedding", "bias"}};

TEST_CASE(
    "step t decays and moves the weights at the rates of schedules at t, at the gradient of weights not decayed") {
  const trainer_options options{.learning_rate = 0.1,
                                .learning_rate_schedule = schedule::warmup{4},
                                .decay_schedule = schedule::window{2, 5, 0.3},
                                .groups = {matrices, others},
                                .clip_norm = 2};
  for (const decay_mode mode :
       {decay_mode::lr_scaled, decay_mode::absolute, decay_mode::ratio, decay_mode::coupled_l2}) {
    trainer_options with_mode = options;
    with_mode.decay_mode = mode;
    auto weights = bowl_start<double>();
    noisy_bowl<double>::workspace memory;
    train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>(), with_mode);
    trainer.run(7, memory);
    CHECK(trainer.steps() == 7);

    auto expected = bowl_start<double>();
    std::vector<double> gradient(expected.size());
    auto rule = adam_for_bowl<double>();
    optimizer::grouped_decay decay(bowl_table(), options.groups);
    for (index t = 0; t < 7; ++t) {
      const double rate = 0.1 * std::min(1.0, static_cast<double>(t + 1) / 4), lambda = t >= 2 && t < 5 ? 0.3 : 0;
      CHECK(trainer.learning_rate(t) == rate);
      CHECK(trainer.decay(t) == lambda);
      (void)noisy_bowl<double>().loss_and_gradient(t, expected, gradient, memory);
      optimizer::clip_by_global_norm(std::span(gradient), 2.0);
      rule.step(expected, gradient, rate, decay.at({.rate = lambda, .mode = mode, .base_learning_rate = 0.1}, rate, t));
    }
    CHECK(weights == expected);
    CHECK(trainer.rule() == rule);
  }
}

TEST_CASE("without a decay schedule, the optimiser's own decay acts; both at once are refused") {
  auto weights = bowl_start<double>(), expected = weights;
  const optimizer::sgd_options own{.decay = {.rate = 0.5}};
  optimizer::sgd<double> rule(bowl_table().size(), own);
  train::trainer trainer(noisy_bowl<double>{}, weights, rule, {.learning_rate = 0.1});
  noisy_bowl<double>::workspace memory;
  trainer.step(memory);
  std::vector<double> gradient(expected.size());
  (void)noisy_bowl<double>().loss_and_gradient(0, expected, gradient, memory);
  rule.step(expected, gradient, 0.1);
  CHECK(weights == expected);
  CHECK(message([&] {
          train::trainer(noisy_bowl<double>{}, weights, rule, {.decay_schedule = 0.1});
        }).find("decay_schedule = constant(0.1)") == 0);
}

TEST_CASE("observers hear of the steps that they chose, once each, however the steps are divided over runs") {
  using steps = std::vector<index>;
  const auto told = [](const std::vector<index>& ends) {
    auto weights = bowl_start<float>();
    noisy_bowl<float>::workspace memory;
    train::trainer trainer(noisy_bowl<float>{}, weights, adam_for_bowl<float>());
    std::vector<steps> heard(4);
    std::vector<double> losses;
    for (const index end : ends)
      trainer.run(
          end, memory,
          [&](const auto& here) {
            heard[0].push_back(here.step);
            losses.push_back(here.evaluation.loss);
            CHECK(here.evaluation.correct == here.step);
            CHECK(here.weights.data() == weights.data());
            CHECK(here.gradient.size() == weights.size());
            CHECK(here.learning_rate == 1e-3);
            CHECK(here.decay == 0);
          },
          train::every(3, [&](const auto& here) { heard[1].push_back(here.step); }),
          train::at({5, 0, 4}, [&](const auto& here) { heard[2].push_back(here.step); }),
          train::when([](index step) { return step > 4; }, [&](const auto& here) { heard[3].push_back(here.step); }));
    CHECK(heard[0] == steps{0, 1, 2, 3, 4, 5, 6});
    CHECK(heard[1] == steps{0, 3, 6});
    CHECK(heard[2] == steps{0, 4, 5});
    CHECK(heard[3] == steps{5, 6});
    return losses;
  };
  const auto losses = told({6});
  CHECK(told({0, 2, 2, 3, 1, 6}) == losses);
}

TEST_CASE("an observer that returns false ends the run behind the others, and the next run goes on from there") {
  auto weights = bowl_start<double>(), whole = weights;
  noisy_bowl<double>::workspace memory;
  train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>());
  int others_heard = 0;
  const auto stop = [](const auto& here) { return here.step != 4; };
  CHECK(trainer.run(9, memory, stop, [&](const auto&) { ++others_heard; }) == train::run_end::observed);
  CHECK(trainer.steps() == 4);
  CHECK(others_heard == 5);
  CHECK(trainer.run(9, memory, stop) == train::run_end::reached);
  train::trainer unobserved(noisy_bowl<double>{}, whole, adam_for_bowl<double>());
  unobserved.run(9, memory);
  CHECK(weights == whole);
}

TEST_CASE("a run stops behind the step at which it is asked to, and tells its progress") {
  auto weights = bowl_start<double>();
  noisy_bowl<double>::workspace memory;
  int asked = 0;
  std::vector<double> done;
  train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>(),
                         {.tell =
                              [&](const progress_report& report) {
                                CHECK(report.total == 8);
                                done.push_back(report.done);
                              },
                          .stop = [&] { return ++asked == 3; }});
  CHECK(trainer.run(8, memory) == train::run_end::stopped);
  CHECK(trainer.steps() == 3);
  CHECK(trainer.run(8, memory) == train::run_end::reached);
  CHECK(done.front() == 1);
  CHECK(done.back() == 8);
}

TEST_CASE("the cost of observers is measured apart from that of training") {
  auto weights = bowl_start<double>();
  noisy_bowl<double>::workspace memory;
  train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>());
  const std::chrono::milliseconds pause(100);
  trainer.run(2, memory, train::every(2, [&](const auto&) { std::this_thread::sleep_for(pause); }));
  CHECK(trainer.observer_seconds() >= 0.2);
  CHECK(trainer.seconds() > 0);
  CHECK(trainer.seconds() < 0.2);
}

TEST_CASE("numbers that aren't finite are found with their step and tensor, and the state before stays") {
  auto weights = bowl_start<float>();
  noisy_bowl<float>::workspace memory;
  weights[20] = std::numeric_limits<float>::infinity();
  CHECK(mentions(message([&] { train::trainer(noisy_bowl<float>{}, weights, adam_for_bowl<float>()); }),
                 "weights weight[4] at step 0"));

  weights = bowl_start<float>();
  train::trainer trainer(noisy_bowl<float>{.height = 1e38}, weights, adam_for_bowl<float>());
  const std::string gradient = message([&] { trainer.run(50, memory); });
  INFO(gradient);
  CHECK(trainer.steps() == 0);  // the first gradient is finite in float, but not its square, which Adam remembers
  CHECK(mentions(gradient, "second_moment embedding["));
  CHECK(mentions(gradient, " at step 0"));
  CHECK(weights == bowl_start<float>());
  CHECK(trainer.rule() == adam_for_bowl<float>());

  train::trainer steep(noisy_bowl<float>{.height = 1e39}, weights, adam_for_bowl<float>());
  try {
    steep.step(memory);
    FAIL("nothing was thrown");
  } catch (const train::divergence_error& fault) {
    CHECK(mentions(fault.tensor(), "gradient embedding["));
    CHECK(fault.step() == 0);
  }
  CHECK(weights == bowl_start<float>());
}

TEST_CASE("where a step makes weights overflow, weights and optimiser are as they were before it") {
  auto weights = bowl_start<float>(), before = weights;
  noisy_bowl<float>::workspace memory;
  const optimizer::momentum<float> rule(bowl_table().size());
  train::trainer trainer(noisy_bowl<float>{}, weights, rule);
  trainer.run(3, memory);
  before = weights;
  const auto remembered = trainer.rule();
  train::trainer absurd(noisy_bowl<float>{.height = 1e35}, weights, remembered, {.learning_rate = 1e6});
  const std::string text = message([&] { absurd.step(memory); });
  INFO(text);
  CHECK(mentions(text, "weights embedding["));
  CHECK(mentions(text, " at step 0"));
  CHECK(weights == before);
  CHECK(absurd.rule() == remembered);
  train::trainer steep(noisy_bowl<float>{.height = 1e20}, weights, remembered);  // leaves weights that are finite
  CHECK(message([&] { steep.step(memory); }) == "nothing was thrown");
  CHECK(weights != before);
}

TEST_CASE("an update that fails leaves observers the gradient that isn't clipped") {
  auto weights = bowl_start<float>();
  noisy_bowl<float>::workspace memory;
  train::trainer trainer(noisy_bowl<float>{.height = 1e30}, weights, adam_for_bowl<float>(), {.clip_norm = 1e28});
  CHECK(mentions(message([&] { trainer.step(memory); }), "second_moment embedding["));
  float largest = 0;
  trainer.run(0, memory, [&](const auto& here) {
    for (const float slope : here.gradient) largest = std::max(largest, std::abs(slope));
  });
  CHECK(largest > 1e30F);
  CHECK(weights == bowl_start<float>());
}

TEST_CASE("weights that an observer changes get a step of their own gradient, and an optimiser that has forgotten") {
  auto weights = bowl_start<double>(), by_hand = weights;
  noisy_bowl<double>::workspace memory;
  auto rule = adam_for_bowl<double>();
  train::trainer trainer(noisy_bowl<double>{}, weights, rule);
  int heard = 0;
  trainer.run(4, memory, train::at({2}, [&](const auto&) {
                ++heard;
                for (double& weight : weights) weight *= 3;
                trainer.weights_changed();
                trainer.replace_rule(adam_for_bowl<double>());
              }));
  std::vector<double> gradient(by_hand.size());
  for (index step = 0; step < 4; ++step) {
    if (step == 2) {
      for (double& weight : by_hand) weight *= 3;
      rule = adam_for_bowl<double>();
    }
    (void)noisy_bowl<double>().loss_and_gradient(step, by_hand, gradient, memory);
    rule.step(by_hand, gradient, 1e-3);
  }
  CHECK(heard == 1);
  CHECK(weights == by_hand);
  CHECK(trainer.rule() == rule);

  weights[20] = std::numeric_limits<double>::quiet_NaN();
  CHECK(mentions(message([&] { trainer.weights_changed(); }), "weights weight[4] at step 4"));
  CHECK(mentions(message([&] { trainer.step(memory); }), "weights weight[4] at step 4"));
}

TEST_CASE("observers get the workspace of evaluations where they take one, chosen ones too") {
  auto weights = bowl_start<double>();
  noisy_bowl<double>::workspace memory;
  train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>());
  std::vector<const void*> given;
  const auto end = trainer.run(
      4, memory, [&](const auto&, auto& reused) { given.push_back(&reused); },
      train::every(2, [&](const train::observation<double>& here, noisy_bowl<double>::workspace& reused) {
        given.push_back(&reused);
        return here.step < 2;
      }));
  CHECK(end == train::run_end::observed);
  CHECK(given == std::vector<const void*>(5, &memory));
}

/// An optimiser that can be resumed, but has no decay of its own, nor options.
struct plain_steps {
  static constexpr bool linear = true;
  using array = optimizer::state_array<double>;
  using seen_array = optimizer::state_array<const double>;

  void step(std::span<double> weights, std::span<const double> gradient, double rate,
            std::span<const optimizer::range_decay> ranges = {}, optimizer::one_thread = {}) {
    for (const auto& [begin, end, factors] : ranges)
      for (index i = begin; i < end; ++i) weights[static_cast<std::size_t>(i)] *= factors.keep;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradient[i];
  }
  [[nodiscard]] std::vector<array> state() { return {}; }
  [[nodiscard]] std::vector<seen_array> state() const { return {}; }
  [[nodiscard]] std::int64_t steps() const { return 0; }
  void restore(std::span<const seen_array>, std::int64_t) {}
  bool operator==(const plain_steps&) const = default;
};

TEST_CASE("an optimiser of your own needs no options, and decays by schedule") {
  static_assert(optimizer::resumable_optimizer<plain_steps, double>);
  noisy_bowl<double>::workspace memory;
  const auto behind_two = [&](auto rule, const trainer_options& options) {
    auto weights = bowl_start<double>();
    train::trainer trainer(noisy_bowl<double>{}, weights, rule, options);
    trainer.run(2, memory);
    return weights;
  };
  for (const trainer_options& options :
       {trainer_options{}, trainer_options{.decay_schedule = 0.5, .decay_mode = decay_mode::absolute}}) {
    const auto ours = behind_two(optimizer::sgd<double>(bowl_table().size()), options);
    const auto own = behind_two(plain_steps(), options);
    for (std::size_t i = 0; i < ours.size(); ++i) CHECK(own[i] == doctest::Approx(ours[i]).epsilon(1e-14));
  }
}

TEST_CASE("settings tell apart laws of probabilities that differ by a hundredth, whatever the size of a batch") {
  const model::attention_only<> net({.vocabulary = 8, .positions = 8, .layers = 1, .heads = 1});
  const auto digest_of = [&](double within_class, index size) {
    const population::recall_law<task::associative_recall<block<2>, stored_association>> law(
        {.pairs = 2, .vocabulary = 8, .within_class = within_class});
    train::settings all;
    train::law_objective(net, law, {.size = size, .seed = static_cast<std::uint64_t>(size)}).describe(all);
    return std::ranges::find(all, "law.digest", &train::settings::value_type::first)->second;
  };
  CHECK(digest_of(0.1, 2) == digest_of(0.1, 3));
  CHECK(digest_of(0.1, 2) != digest_of(0.11, 2));
}

TEST_CASE("after the first step nothing is allocated, with decay by groups, clipping and observers") {
  auto weights = bowl_start<float>();
  noisy_bowl<float>::workspace memory;
  train::trainer trainer(
      noisy_bowl<float>{}, weights, adam_for_bowl<float>(),
      {.decay_schedule = schedule::window{5, 10, 0.1}, .groups = {matrices, others}, .clip_norm = 1});
  double sum = 0;
  trainer.step(memory);
  const long before = allocations;
  trainer.run(20, memory, [&](const auto& here) { sum += here.evaluation.loss; });
  CHECK(allocations.load() == before);
  CHECK(before > 0);
}

TEST_CASE(
    "attention_only learns a law by the trainer's steps, those that are written down here, and allocates nothing") {
  using recall = task::associative_recall<block<2>>;
  const population::recall_law<recall> law({.pairs = 2, .vocabulary = 5});
  const auto sizes = law.sizes();
  const model::attention_only<> net(
      {.vocabulary = sizes.vocabulary, .positions = sizes.positions, .layers = 2, .heads = 1});
  std::vector<double> start(static_cast<std::size_t>(net.parameters().size()));
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = 0.1 * std::sin(static_cast<double>(i));

  auto weights = start, by_descend = start, by_hand = start;
  model::attention_only<>::workspace memory;
  const optimizer::adam<double> adam(net.parameters().size());
  train::trainer trainer(train::law_objective(net, law, {.size = 16, .seed = 7}), weights, adam,
                         {.learning_rate = 0.01});
  trainer.step(memory);
  const long before = allocations;
  trainer.run(6, memory);
  CHECK(allocations.load() == before);

  auto rule = adam;
  train::descend(
      net, law, std::span(by_descend), {.steps = 6, .learning_rate = 0.01, .batch = 16, .seed = 7}, [](const auto&) {},
      rule);
  CHECK(by_descend == weights);
  CHECK(rule == trainer.rule());

  auto other_rule = adam;
  population::sampler draw(law, 7);
  population::minibatch batch;
  std::vector<double> gradient(start.size());
  for (index step = 0; step < 6; ++step) {
    draw.draw(step * 16, 16, batch);
    net.loss_and_gradient(by_hand, batch, task::loss::cross_entropy, gradient);
    other_rule.step(by_hand, gradient, 0.01);
  }
  CHECK(by_hand == weights);
}

TEST_CASE("a learning rate that is 0 throughout is warned of") {
  auto weights = bowl_start<double>();
  const train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>(), {.learning_rate_schedule = 0.0});
  const auto sentences = trainer.warnings(80);
  REQUIRE(sentences.size() == 1);
  CHECK(mentions(sentences[0], "learning_rate_schedule: constant(0)"));
}

TEST_CASE("schedules that reach behind the run are warned of") {
  auto weights = bowl_start<double>();
  const train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>(),
                               {.decay_schedule = schedule::window{50, 100, 0.1}});
  CHECK(trainer.warnings(100).empty());
  const auto sentences = trainer.warnings(80);
  REQUIRE(sentences.size() == 1);
  CHECK(mentions(sentences[0], "decay_schedule: window(50, 100, 0.1) goes on behind"));
}

TEST_CASE("a group may have a schedule of its own, which settings and warnings name") {
  const auto frozen = [](double level) { return schedule::schedule(schedule::window{2, 4, level}); };
  trainer_options options{.learning_rate = 0.1, .groups = {matrices, others}};
  options.groups[1].decay_schedule = frozen(0.5);  // times .5
  options.decay_mode = decay_mode::absolute;
  auto weights = bowl_start<double>(), without = weights;
  noisy_bowl<double>::workspace memory;
  train::trainer trainer(noisy_bowl<double>{}, weights, optimizer::sgd<double>(bowl_table().size()), options);
  train::trainer plain(noisy_bowl<double>{}, without, optimizer::sgd<double>(bowl_table().size()),
                       {.learning_rate = 0.1});
  trainer.run(2, memory);
  plain.run(2, memory);
  CHECK(weights == without);
  const auto before = weights;
  trainer.step(memory);
  plain.step(memory);
  for (const parameter& which : trainer.parameters())
    for (index place = which.offset; place < which.offset + which.size(); ++place) {
      const auto i = static_cast<std::size_t>(place);
      const double decayed = which.name == "weight" ? 0 : 0.25 * before[i];
      CHECK(weights[i] == doctest::Approx(without[i] - decayed).epsilon(1e-12));
    }
  CHECK(std::ranges::count(
            trainer.describe(),
            std::pair<std::string, std::string>(
                "groups.1", "others, base_decay 0.5, decay_schedule window(2, 4, 0.5): embedding bias")) == 1);
  REQUIRE(trainer.warnings(3).size() == 1);
  CHECK(mentions(trainer.warnings(3)[0], "decay_schedule of group 'others': window(2, 4, 0.5) goes on behind"));
}

TEST_CASE("rates of later steps that make no sense are found before the first step") {
  auto weights = bowl_start<double>();
  const auto complaint = [&](const trainer_options& options) {
    return message([&] { train::trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>(), options); });
  };
  trainer_options late{.decay_schedule = schedule::window{5000, 6000, 1.5}, .decay_mode = decay_mode::absolute};
  CHECK(complaint(late).find("decay.rate of group 'decayed' at step 5000 = 1.5") == 0);
  late = {.decay_mode = decay_mode::absolute, .groups = {matrices, others}};
  late.groups[0].decay_schedule = schedule::linear{{{0, 0}, {80, 2}}};
  CHECK(complaint(late).find("decay.rate of group 'matrices' at step 79 = 1.975") == 0);
  CHECK(complaint({.learning_rate_schedule = schedule::steps{1, {{30, 1e10}}}}).find("learning_rate at step 30") == 0);
}

TEST_CASE("bad options are refused by name") {
  auto weights = bowl_start<double>();
  const auto complaint = [&](const trainer_options& options) {
    return message([&] { train::trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>(), options); });
  };
  CHECK(complaint({.learning_rate = 0}).find("learning_rate = 0") == 0);
  CHECK(complaint({.learning_rate = std::numeric_limits<double>::quiet_NaN()}).find("learning_rate = nan") == 0);
  CHECK(complaint({.clip_norm = -1}).find("clip_norm = -1") == 0);
  CHECK(mentions(complaint({.groups = {matrices}}), "embedding"));
  std::vector<double> shorter(5);
  CHECK_THROWS_AS(train::trainer(noisy_bowl<double>{}, shorter, adam_for_bowl<double>()), shape_error);

  train::trainer trainer(noisy_bowl<double>{}, weights, adam_for_bowl<double>());
  CHECK_THROWS_AS(trainer.update(), argument_error);
  CHECK_THROWS_AS((void)train::every(0, [](const auto&) {}), argument_error);
}

}  // namespace
