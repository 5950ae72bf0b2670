// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a training in a memory of its own must do on every backend: the test cases, to be invoked for each.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/placed_rules.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/train/checkpoint.hpp>
#include <lindyn/train/interventions.hpp>
#include <lindyn/train/trainer.hpp>

#include "noisy_bowl.hpp"

namespace lindyn::testing {
using optimizer::decay_mode;
using train::trainer_options;

inline const optimizer::parameter_group matrices{"matrices", 1, {"weight"}},
    others{"others", 0.5, {"embedding", "bias"}};
inline const std::vector<decay_mode> modes{decay_mode::lr_scaled, decay_mode::absolute, decay_mode::ratio,
                                           decay_mode::coupled_l2};

/// noisy_bowl with weights and gradient in a backend's memory.
template <class Scalar, class Backend>
struct placed_bowl : noisy_bowl<Scalar> {
  class workspace {
  public:
    [[nodiscard]] Backend& on() noexcept { return on_; }

  private:
    Backend on_ = Backend();
  };

  task::evaluation loss_and_gradient(index step, std::span<const Scalar> weights, std::span<Scalar> gradient,
                                     workspace& memory) const {
    std::vector<Scalar> here(weights.size()), slopes(weights.size());
    memory.on().to_host(weights.data(), std::span(here));
    typename noisy_bowl<Scalar>::workspace none;
    const auto result = noisy_bowl<Scalar>::loss_and_gradient(step, here, slopes, none);
    memory.on().from_host(std::span<const Scalar>(slopes), gradient.data());
    return result;
  }
};

inline trainer_options windowed(decay_mode mode) {
  return {.learning_rate = 0.05,
          .learning_rate_schedule = schedule::warmup{4},
          .decay_schedule = schedule::window{20, 90, 0.03},
          .decay_mode = mode,
          .groups = {matrices, others},
          .clip_norm = 4};
}

/// Calls use(options) for all optimisers.
template <class Use>
void for_each_optimizer(const Use& use) {
  use(optimizer::sgd_options{});
  use(optimizer::momentum_options{});
  use(optimizer::momentum_options{.nesterov = true});
  use(optimizer::adam_options{.beta2 = 0.98});
}

template <class Scalar, class Options>
auto rule_of(const Options& options) {
  return optimizer::rule_of<Options, Scalar>(bowl_table().size(), options);
}

/// The largest difference, over the largest entry.
template <class Scalar>
double difference(std::span<const Scalar> a, std::span<const Scalar> b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
    largest = std::max(largest, static_cast<double>(std::abs(b[i])));
  }
  return most / largest;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A scalar, and where arrays of it live.
template <class Scalar, class Backend>
struct numbers {
  using scalar = Scalar;
  using backend = Backend;
};

TEST_CASE_TEMPLATE_DEFINE(
    "200 steps in memory that the host can't touch are those of the host, for all optimisers and modes", Numbers,
    same_steps) {
  using Scalar = typename Numbers::scalar;
  using Backend = typename Numbers::backend;
  const double bound = sizeof(Scalar) == 4 ? 1e-5 : 1e-13;  // operations are joined in other ways
  for_each_optimizer([&](const auto& options) {
    for (const decay_mode mode : modes) {
      auto weights = bowl_start<Scalar>(), expected = weights;
      typename placed_bowl<Scalar, Backend>::workspace memory;
      typename noisy_bowl<Scalar>::workspace none;
      train::trainer placed(placed_bowl<Scalar, Backend>{}, weights, rule_of<Scalar>(options), windowed(mode));
      train::trainer plain(noisy_bowl<Scalar>{}, expected, rule_of<Scalar>(options), windowed(mode));
      placed.run(200, memory);
      plain.run(200, none);
      CHECK(difference<Scalar>(weights, expected) < bound);
      CHECK(weights.data() == placed.weights().data());
      CHECK(weights != bowl_start<Scalar>());
      for (std::size_t which = 0; which < placed.rule().state().size(); ++which)
        CHECK(difference<Scalar>(placed.rule().state()[which].values, plain.rule().state()[which].values) < bound);
      CHECK(placed.rule().steps() == 200);
    }
  });
}

TEST_CASE_TEMPLATE_DEFINE("a run begun in one memory resumes in the other from the same files, with the same bits",
                          Backend, resumed_elsewhere) {
  const auto folder = std::filesystem::temp_directory_path() / "lindyn_placed_training";
  std::filesystem::remove_all(folder);
  const trainer_options options = windowed(decay_mode::coupled_l2);
  const auto rule = rule_of<float>(optimizer::adam_options{});
  typename placed_bowl<float, Backend>::workspace memory;
  noisy_bowl<float>::workspace none;
  auto weights = bowl_start<float>(), resumed = weights, again = weights;
  train::trainer placed(placed_bowl<float, Backend>{}, weights, rule, options);
  for (int step = 0; step < 50; ++step) placed.step(memory);  // the images on the host are old now
  train::save_checkpoint(folder / "placed.json", placed);
  train::trainer plain(noisy_bowl<float>{}, resumed, rule, options);
  train::resume_checkpoint(folder / "placed.json", plain);
  CHECK(plain.steps() == 50);
  CHECK(resumed == weights);
  CHECK(plain.rule() == placed.rule());
  train::save_checkpoint(folder / "plain.json", plain);
  train::trainer back(placed_bowl<float, Backend>{}, again, rule, options);
  train::resume_checkpoint(folder / "plain.json", back);
  back.run(60, memory);
  placed.run(60, memory);
  plain.run(60, none);
  CHECK(again == weights);
  CHECK(back.rule() == placed.rule());
  CHECK(difference<float>(resumed, weights) < 1e-6);

  std::vector<std::string> tensors;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") tensors.push_back(bytes_of(entry.path()));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0] == tensors[1]);
  std::filesystem::remove_all(folder);
}

TEST_CASE_TEMPLATE_DEFINE(
    "observers get copies of weights and gradient, and the weights where further evaluations take them", Backend,
    observed_copies) {
  auto weights = bowl_start<double>(), expected = weights;
  typename placed_bowl<double, Backend>::workspace memory;
  noisy_bowl<double>::workspace none;
  train::trainer placed(placed_bowl<double, Backend>{}, weights, rule_of<double>(optimizer::sgd_options{}),
                        {.learning_rate = 0.1});
  train::trainer plain(noisy_bowl<double>{}, expected, rule_of<double>(optimizer::sgd_options{}),
                       {.learning_rate = 0.1});
  std::vector<double> heard, wanted;
  placed.run(7, memory, train::every(3, [&](const auto& here, auto& its_memory) {
               heard.insert(heard.end(), here.weights.begin(), here.weights.end());
               heard.insert(heard.end(), here.gradient.begin(), here.gradient.end());
               CHECK(here.placed_weights.data() != here.weights.data());
               std::vector<double> copy(here.weights.size());
               its_memory.on().to_host(here.placed_weights.data(), std::span(copy));
               CHECK(copy == weights);
             }));
  plain.run(7, none, train::every(3, [&](const auto& here) {
              wanted.insert(wanted.end(), here.weights.begin(), here.weights.end());
              wanted.insert(wanted.end(), here.gradient.begin(), here.gradient.end());
              CHECK(here.placed_weights.data() == here.weights.data());
            }));
  CHECK(heard.size() == 6 * weights.size());
  CHECK(difference<double>(heard, wanted) < 1e-15);
}

TEST_CASE_TEMPLATE_DEFINE("weights and optimiser that are changed on the host between steps are those of the next step",
                          Backend, changed_between_steps) {
  const auto changed = [](auto objective) {
    auto weights = bowl_start<double>();
    typename decltype(objective)::workspace memory;
    train::trainer training(objective, weights, rule_of<double>(optimizer::adam_options{}), {.learning_rate = 0.1});
    using trainer_type = decltype(training);
    training.run(5, memory);
    train::scale_weights<trainer_type>(5, {"weight"}, 0.5).act(training);
    training.run(7, memory);
    weights[0] += 1;
    training.weights_changed();
    training.step(memory);
    train::forget_moments<trainer_type>(8).act(training);
    training.run(10, memory);
    CHECK(training.rule().steps() == 2);
    return weights;
  };
  CHECK(difference<double>(changed(placed_bowl<double, Backend>{}), changed(noisy_bowl<double>{})) < 1e-14);
}

TEST_CASE_TEMPLATE_DEFINE(
    "a step that overflows in memory of its own is named as on the host, and the state before stays", Backend,
    overflow) {
  const auto failed = [](auto objective, float height) {
    objective.height = height;
    auto weights = bowl_start<float>();
    typename decltype(objective)::workspace memory;
    train::trainer training(objective, weights, rule_of<float>(optimizer::adam_options{.beta2 = 0.98}));
    std::string what = "nothing was thrown";
    try {
      training.run(50, memory);
    } catch (const train::divergence_error& fault) {
      what = fault.what();
    }
    CHECK(training.steps() == 0);
    CHECK(weights == bowl_start<float>());
    CHECK(training.rule() == rule_of<float>(optimizer::adam_options{.beta2 = 0.98}));
    return what;
  };
  const float most = std::numeric_limits<float>::max();
  for (const float height : {1e38F, most}) {
    const std::string what = failed(placed_bowl<float, Backend>{}, height);
    CHECK(what == failed(noisy_bowl<float>{}, height));
    CHECK(what.find(height == most ? "gradient" : "second_moment embedding[") == 0);
  }
}

TEST_CASE_TEMPLATE_DEFINE("several runs of one optimiser move each at its own rate, decay and clipping, or not at all",
                          Backend, several_runs) {
  const index total = 40, stride = 48;
  Backend on(3);
  for_each_optimizer([&](const auto& options) {
    using rule_type = optimizer::rule_of<std::remove_cvref_t<decltype(options)>, double>;
    optimizer::placed_rules<rule_type, Backend> rules(on, total, options);
    std::vector<rule_type> alone(3, rule_type(total, options));
    std::vector<double> weights(3 * stride), gradients(3 * stride);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::cos(static_cast<double>(i));
    typename Backend::template array<double> placed_weights, placed_gradients;
    placed_weights.resize(weights.size());
    placed_gradients.resize(weights.size());
    on.from_host(std::span<const double>(weights), placed_weights.data());
    for (int step = 0; step < 4; ++step) {
      for (std::size_t i = 0; i < weights.size(); ++i) gradients[i] = std::sin(static_cast<double>(i) + step);
      on.from_host(std::span<const double>(gradients), placed_gradients.data());
      const std::vector<optimizer::range_decay> one{{0, total, {.keep = 0.9}}},
          two{{3, 10, {.coupled = 0.2}}, {12, 40, {.keep = 0.8}}};
      const optimizer::run_move moves[] = {
          {.live = true, .learning_rate = 0.1, .ranges = one},
          {.live = step != 1, .learning_rate = 0.2, .gradient_scale = 0.5, .ranges = two},
          {.live = step > 1, .learning_rate = 0.3, .ranges = step > 2 ? one : two}};
      rules.step(on, {placed_weights.data(), stride}, {placed_gradients.data(), stride}, moves);
      for (std::size_t run = 0; run < 3; ++run) {
        if (!moves[run].live) continue;
        const auto part = [&](std::vector<double>& all) { return std::span(all).subspan(run * stride, total); };
        for (double& entry : part(gradients)) entry *= moves[run].gradient_scale;
        alone[run].step(part(weights), part(gradients), moves[run].learning_rate, moves[run].ranges);
      }
    }
    std::vector<double> moved(weights.size());
    on.to_host(placed_weights.data(), std::span(moved));
    CHECK(difference<double>(moved, weights) < 1e-14);
    for (std::size_t run = 0; run < 3; ++run) {
      const rule_type copy = rules.rule(on, static_cast<index>(run));
      CHECK(copy.steps() == alone[run].steps());
      for (std::size_t which = 0; which < copy.state().size(); ++which)
        CHECK(difference<double>(copy.state()[which].values, alone[run].state()[which].values) < 1e-14);
    }
  });
}

}  // namespace lindyn::testing
