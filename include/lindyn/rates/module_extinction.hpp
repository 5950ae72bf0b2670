// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Modules under an optimiser, from many random starts: which of them decay lets live, and what is learnt.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/rates/module_system.hpp>
#include <lindyn/schedule/schedule.hpp>

namespace lindyn::rates {

/// How modules are trained.
struct module_training {
  index starts = 256;       ///< weights drawn independently, none left out; more starts leave those before as they are
  double deviation = 0.08;  ///< standard deviation of the normal distribution of all weights at the start
  index steps = 3'000;      ///< updates
  double learning_rate = 3e-3;                                     ///< of every update
  schedule::schedule decay = 0.0;                                  ///< lambda_t
  optimizer::decay_mode mode = optimizer::decay_mode::coupled_l2;  ///< what it means
  std::uint64_t seed = 1;                                          ///< of starts and noise
  int threads = 1;                                                 ///< results don't depend on it
};

/// One start's modules after some updates.
struct module_state {
  std::vector<double> masses;  ///< y, of each module
  std::vector<double> rms;     ///< root mean square of each module's weights
};

namespace detail {

/// Starts that are trained together: their weights and what belongs to them stay in the processor's cache.
inline constexpr index starts_together = 64;

/// The states of a batch of modules.
inline void append_states(module_batch& batch, std::span<const float> weights, std::vector<module_state>& to) {
  const std::vector<double> masses = batch.masses(weights);
  const std::size_t modules = batch.system().modules.size();
  for (index start = 0; start < batch.starts(); ++start) {
    module_state state;
    for (std::size_t i = 0; i < modules; ++i) {
      state.masses.push_back(masses[static_cast<std::size_t>(start) * modules + i]);
      state.rms.push_back(batch.rms(weights, i, start));
    }
    to.push_back(std::move(state));
  }
}

}  // namespace detail

/// Trains modules from random starts, and returns their states before the updates that are asked for, and in the end those
/// behind the last: an element for each such moment, of the states of all starts.
///
///     const auto ends = rates::train_modules(system, optimizer::adam_options{.beta2 = 0.98},
///                                            {.decay = schedule::window{0, 5000, 4e-3}}).back();
///
/// \param system    its weights and noise are drawn anew for every start
/// \param options   the optimiser, without a decay of its own: sgd_options at a small rate is gradient flow
/// \param training  throws argument_error for what makes no sense
/// \param at        updates before which states are taken, in order, from 0
template <optimizer::optimizer_options<float> RuleOptions>
[[nodiscard]] std::vector<std::vector<module_state>> train_modules(const module_system& system,
                                                                   const RuleOptions& options,
                                                                   const module_training& training,
                                                                   const std::vector<index>& at = {}) {
  require(training.starts >= 1 && training.starts <= 1 << 24, "starts", training.starts, "in [1, 2^24]");
  require(training.deviation >= 0 && training.deviation <= 1e6, "deviation", training.deviation, "in [0, 1e6]");
  require(training.steps >= 0, "steps", training.steps, "not negative");
  for (std::size_t i = 0; i < at.size(); ++i)
    require(at[i] >= (i > 0 ? at[i - 1] + 1 : 0) && at[i] < training.steps, "at", at[i],
            "in increasing order, from 0, and below steps");
  require(options.decay.rate == 0, "options.decay.rate", options.decay.rate, "0: decay is the training's");
  require_valid(system);

  const index chunks = (training.starts + detail::starts_together - 1) / detail::starts_together;
  std::vector<std::vector<std::vector<module_state>>> found(static_cast<std::size_t>(chunks));
  parallel_chunks(
      training.starts, detail::starts_together, training.threads, [&](index chunk, index begin, index end, int) {
        auto& moments = found[static_cast<std::size_t>(chunk)];
        moments.resize(at.size() + 1);
        module_batch batch(system, end - begin);
        std::vector<float> weights(static_cast<std::size_t>(batch.size())), gradient(weights.size());
        const auto first_stream = static_cast<std::uint64_t>(chunk) << 32;
        counter_generator draw(training.seed, first_stream);
        for (index row = 0; row < batch.size(); row += batch.starts())
          for (index start = 0; start < detail::starts_together;
               ++start) {  // as many draws, however many starts there are
            const double drawn = training.deviation * standard_normal(draw);
            if (start < batch.starts()) weights[static_cast<std::size_t>(row + start)] = static_cast<float>(drawn);
          }
        optimizer::rule_of<RuleOptions, float> rule(batch.size(), options);
        std::size_t moment = 0;
        for (index step = 0; step < training.steps; ++step) {
          if (moment < at.size() && at[moment] == step) detail::append_states(batch, weights, moments[moment++]);
          counter_generator signs(training.seed, first_stream + 1 + static_cast<std::uint64_t>(step));
          batch.gradient(weights, gradient, signs);
          const optimizer::weight_decay decay{
              .rate = training.decay.value(step), .mode = training.mode, .base_learning_rate = training.learning_rate};
          const optimizer::range_decay whole{0, batch.size(), optimizer::factors(decay, training.learning_rate)};
          rule.step(weights, gradient, training.learning_rate, {&whole, 1});
        }
        detail::append_states(batch, weights, moments.back());
      });

  auto result = std::move(found.front());
  for (std::size_t chunk = 1; chunk < found.size(); ++chunk)
    for (std::size_t moment = 0; moment < result.size(); ++moment)
      for (module_state& state : found[chunk][moment]) result[moment].push_back(std::move(state));
  return result;
}

/// A share of independent trials, with its uncertainty. The members throw argument_error unless there are trials.
struct observed_share {
  index count = 0;   ///< trials that did
  index trials = 0;  ///< all of them

  /// count / trials.
  [[nodiscard]] double value() const {
    require(trials >= 1, "trials", trials, "at least 1");
    return static_cast<double>(count) / static_cast<double>(trials);
  }
  /// Wilson's interval at z standard errors (1927): its centre isn't the value, and it is open at neither 0 nor 1.
  [[nodiscard]] std::pair<double, double> interval(double z = 1) const {
    const double p = value(), n = static_cast<double>(trials), widened = 1 + z * z / n;
    const double centre = (p + z * z / (2 * n)) / widened;
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / widened;
    return {centre - half, centre + half};
  }
};

/// What became of modules, over all starts. Starts whose masses aren't finite any more are in `diverged` alone.
struct module_outcomes {
  observed_share extinct;      ///< at least one module is
  observed_share all_extinct;  ///< every module is
  observed_share reasoning;    ///< most of the task is learnt, and r > m
  observed_share memorising;   ///< most of the task is learnt, and r <= m
  observed_share diverged;     ///< as by gradient descent at too large a rate
};

/// What became of modules.
/// \param system  of the states
/// \param states  of all starts at a moment
/// \param dead    a module is extinct where its mass is smaller than this in size; not negative
/// Throws shape_error for states of another number of modules, argument_error for another `dead`.
[[nodiscard]] inline module_outcomes outcomes(const module_system& system, std::span<const module_state> states,
                                              double dead = 0.02) {
  require(dead >= 0, "dead", dead, "not negative");
  for (std::size_t i = 0; i < states.size(); ++i)
    require_extent("states[" + std::to_string(i) + "].masses.size()", states[i].masses.size(), system.modules.size());
  const auto finite = [](const module_state& state) {
    return std::ranges::all_of(state.masses, [](double mass) { return std::isfinite(mass); });
  };
  const auto share_of = [&](const auto& holds) {
    observed_share share{0, static_cast<index>(states.size())};
    for (const module_state& state : states) share.count += holds(state) ? 1 : 0;
    return share;
  };
  const auto extinct = [&](const module_state& state) {
    return std::ranges::count_if(state.masses, [&](double mass) { return std::abs(mass) < dead; });
  };
  const auto learnt = [&](const module_state& state, bool reasoning) {
    const double m = system.memorised(state.masses), r = system.reasoned(state.masses);
    return m + r > 0.5 && (r > m) == reasoning;
  };
  const auto modules = static_cast<index>(system.modules.size());
  return {.extinct = share_of([&](const auto& state) { return finite(state) && extinct(state) > 0; }),
          .all_extinct = share_of([&](const auto& state) { return extinct(state) == modules; }),
          .reasoning = share_of([&](const auto& state) { return finite(state) && learnt(state, true); }),
          .memorising = share_of([&](const auto& state) { return finite(state) && learnt(state, false); }),
          .diverged = share_of([&](const auto& state) { return !finite(state); })};
}

}  // namespace lindyn::rates
