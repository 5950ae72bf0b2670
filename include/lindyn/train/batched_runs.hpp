// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The states of runs that train in one pass of a backend: how all of them are evaluated, and make a step.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <exception>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/optimizer/placed_rules.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/sequence_set.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/step_rates.hpp>

namespace lindyn::train {

/// An objective of which one pass evaluates several runs: the loss and gradient of each, at its own step. Weights and
/// gradients of all stand one behind the other in the memory of the workspace's backend; up to `threads` threads of the host
/// prepare the batches. Losses that aren't finite are returned, not thrown.
template <class O>
concept batched_objective = objective<O> &&
    requires(std::span<O> runs, std::span<const index> steps, std::span<const typename O::scalar> weights,
             std::span<typename O::scalar> gradients, std::span<task::evaluation> evaluations,
             typename O::workspace& memory, int threads) {
  O::losses_and_gradients(runs, steps, weights, gradients, evaluations, memory, threads);
  { memory.on().runs() } -> std::convertible_to<int>;
};

namespace detail {

/// Runs of one shape. Weights, gradients and what the optimiser remembers are arrays [run][total] in the memory of the
/// workspace's backend; on the host there is one run's worth of each at a time.
template <batched_objective Objective, class Options>
class batched_runs {
public:
  using scalar = typename Objective::scalar;
  using workspace = typename Objective::workspace;
  using rule_type = optimizer::rule_of<Options, scalar>;
  using rates_type = step_rates<rule_type, scalar>;

  /// A run among others.
  struct state {
    rates_type rates;                         ///< of its steps
    index steps = 0;                          ///< made so far
    bool observed = false;                    ///< whether observers have been told the present state
    bool live = false;                        ///< whether it takes part in this pass
    std::optional<std::string> failure = {};  ///< how it diverged

    double largest_gradient = 0, largest_weight = 0;  ///< magnitudes so far, with moments, and now
    std::vector<scalar> weights_before = {};          ///< of a step that may overflow
    std::optional<rule_type> rule_before = {};        ///< likewise
  };

  batched_runs(index total, const Options& rule, workspace memory)
      : total_(total), memory_(std::move(memory)), rules_(on(), total, rule), copy_(size(total)) {
    const index runs = on().runs();
    weights_.resize(size(runs * total));
    gradients_.resize(size(runs * total));
    evaluations_.resize(size(runs));
    numbers_.resize(size(runs));
    moves_.resize(size(runs));
    objectives_.reserve(size(runs));
    states_.reserve(size(runs));
  }

  /// One more run.
  void add(Objective objective, trainer_options options, std::span<const scalar> weights) {
    require_extent("objective.parameters().size()", objective.parameters().size(), total_);
    require(std::ranges::any_of(weights, [](scalar weight) { return weight != 0; }), "weights", "all 0",
            "filled by make with those of the start");
    objectives_.push_back(std::move(objective));
    states_.push_back({.rates = rates_type(std::move(options), parameters(), rules_.without_weights())});
    restart(count() - 1, 0, weights, rule_type(total_, rules_.without_weights().options()), false);
    confine(count() - 1, false);
  }

  [[nodiscard]] auto& on() noexcept { return memory_.on(); }
  [[nodiscard]] index count() const noexcept { return static_cast<index>(states_.size()); }
  [[nodiscard]] const parameter_table& parameters() const noexcept { return objectives_.front().parameters(); }
  [[nodiscard]] state& operator[](index run) { return states_[size(run)]; }
  [[nodiscard]] const state& operator[](index run) const { return states_[size(run)]; }
  [[nodiscard]] const Objective& objective_of(index run) const { return objectives_[size(run)]; }
  [[nodiscard]] const task::evaluation& evaluation(index run) const { return evaluations_[size(run)]; }

  /// Copies on the host.
  void copy_weights(index run, std::span<scalar> to) { on().to_host(weights_.data() + run * total_, to); }
  void copy_gradient(index run, std::span<scalar> to) { on().to_host(gradients_.data() + run * total_, to); }
  [[nodiscard]] rule_type rule(index run) { return rules_.rule(on(), run); }

  /// See trainer.
  [[nodiscard]] settings describe(index run) {
    return (*this)[run].rates.describe(objectives_[size(run)], rules_.without_weights());
  }
  void restart(index run, index steps, std::span<const scalar> weights, const rule_type& rule, bool observed) {
    require(steps >= 0, "steps", steps, "not negative");
    require_extent("weights.size()", weights.size(), total_);
    require(rule.options() == rules_.without_weights().options(), "rule.options()", "others", "those of the ensemble");
    state& which = (*this)[run];
    which.largest_weight = largest_finite("weights", parameters(), weights, steps);
    for (const auto& [name, values] : rule.state())
      which.largest_gradient = std::max(which.largest_gradient, largest_finite(name, parameters(), values, steps));
    on().from_host(weights, weights_.data() + run * total_);
    rules_.assign(on(), run, rule);
    which.steps = steps;
    which.observed = observed;
  }

  /// Evaluates all live runs, each at its own step; others, whose results nobody reads, at that of one of these, so that
  /// their batches are of the same size. Live ones diverge if loss or gradient aren't finite.
  void evaluate(int threads) {
    const auto first = std::ranges::find_if(states_, &state::live);
    if (first == states_.end()) return;
    steps_.clear();
    for (const state& which : states_) steps_.push_back(which.live ? which.steps : first->steps);
    const std::size_t all = size(count() * total_);
    Objective::losses_and_gradients(
        std::span(objectives_), std::span<const index>(steps_), std::span<const scalar>(weights_.data(), all),
        std::span<scalar>(gradients_.data(), all), std::span(evaluations_), memory_, threads);
    on().largest_magnitude(runs_of(gradients_), total_, std::span(numbers_));
    for_each_live([&](index run, state& which) {
      const double loss = evaluation(run).loss, largest = numbers_[size(run)];
      if (std::isfinite(loss) && std::isfinite(largest)) {
        which.largest_gradient = std::max(which.largest_gradient, largest);
        return;
      }
      copy_gradient(run, copy_);
      (void)largest_finite("gradient", parameters(), std::span<const scalar>(copy_), which.steps);
      throw divergence_error("loss", which.steps, lindyn::detail::to_text(loss),
                             "finite; take a smaller learning_rate");
    });
  }

  /// Loss and right answers of all runs on the sets set_of(run), `block` sequences of each in one pass.
  template <class SetOf>
  [[nodiscard]] std::vector<task::evaluation> losses(const SetOf& set_of, int threads, index block) {
    const auto& net = objectives_.front().net();
    using net_type = std::remove_cvref_t<decltype(net)>;
    std::vector<typename net_type::run_batch> batches;
    index most = 0;
    for (index run = 0; run < count(); ++run) {
      batches.emplace_back(&set_of(run), std::span<const int>());
      require(batches.back().first->count() >= 1, "set.count()", 0, "at least 1");
      most = std::max(most, batches.back().first->count());
    }
    std::vector<int> numbers(size(most));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<task::evaluation> result(batches.size());
    for (index begin = 0; begin < most; begin += block) {
      const auto block_of =
          [&](const task::sequence_set& set) {  // of a set that is at its end, something that isn't added
            const index first = std::min(begin, set.count() - 1);
            return std::span<const int>(numbers).subspan(size(first), size(std::min(block, set.count() - first)));
          };
      for (auto& [set, which] : batches) which = block_of(*set);
      net.losses(runs_of(weights_), batches, memory_, threads, evaluations_);
      for (std::size_t run = 0; run < batches.size(); ++run)
        if (begin < batches[run].first->count()) result[run] += evaluations_[run];
    }
    return result;
  }

  /// A step of all live runs. Those diverge that it overflows: their states stay.
  /// \return number of steps made
  /// Throws run_error for decay that would turn the weights' sign; no run has made its step then.
  index update() {
    for (index run = 0; run < count(); ++run) try {
        prepare(run);
      } catch (...) {
        rethrow_as_run_error(run, std::current_exception());
      }
    if (std::ranges::none_of(states_, &state::live)) return 0;
    clip();
    rules_.step(on(), {weights_.data(), total_}, {gradients_.data(), total_},
                std::span<const optimizer::run_move>(moves_));
    for (index run = 0; run < count(); ++run)
      if ((*this)[run].live) confine(run, rule_type::linear);
    on().largest_magnitude(runs_of(weights_), total_, std::span(numbers_));
    index made = 0;
    for_each_live([&](index run, state& which) {
      look_behind(run);
      ++which.steps;
      which.observed = false;
      ++made;
    });
    return made;
  }

  /// The runs that have diverged since the last call, and how.
  [[nodiscard]] std::vector<std::pair<index, std::exception_ptr>> take_divergences() {
    return std::exchange(divergences_, {});
  }

private:
  using backend_type = std::remove_cvref_t<decltype(std::declval<workspace&>().on())>;
  using array = typename backend_type::template array<scalar>;

  [[nodiscard]] static std::size_t size(index count) noexcept { return static_cast<std::size_t>(count); }
  [[nodiscard]] backend::run_vector<const scalar> runs_of(const array& values) const noexcept {
    return {values.data(), total_};
  }

  /// Calls use(run, state) for those that take part; those that throw divergence_error take part no more.
  template <class Use>
  void for_each_live(const Use& use) {
    for (index run = 0; run < count(); ++run) {
      state& which = (*this)[run];
      if (!which.live) continue;
      try {
        use(run, which);
      } catch (const divergence_error& reason) {
        which.live = false;
        which.failure = reason.what();
        divergences_.emplace_back(run, std::current_exception());
      }
    }
  }

  /// The rates of a run's next step; where it might overflow, a copy of what it changes.
  void prepare(index run) {
    state& which = (*this)[run];
    which.rule_before.reset();
    moves_[size(run)] = {.live = which.live};
    if (!which.live) return;
    const double rate = which.rates.learning_rate(which.steps);
    const auto ranges = which.rates.decay(rules_.without_weights(), which.steps);
    moves_[size(run)] = {.live = true, .learning_rate = rate, .ranges = ranges};
    double coupled = 0;
    for (const auto& range : ranges) coupled = std::max(coupled, range.factors.coupled);
    if (!may_overflow<scalar>(rate, coupled, which.largest_gradient, which.largest_weight)) return;
    which.weights_before.resize(size(total_));
    copy_weights(run, which.weights_before);
    which.rule_before = rule(run);
  }

  /// Shortens the gradients of live runs that are longer than their options say.
  void clip() {
    const auto clips = [](const state& which) { return which.live && which.rates.options().clip_norm > 0; };
    if (std::ranges::none_of(states_, clips)) return;
    on().sum_of_squares(runs_of(gradients_), total_, std::span(numbers_));
    for_each_live([&](index run, state& which) {
      if (!clips(which)) return;
      optimizer::run_move& move = moves_[size(run)];
      const double norm = std::sqrt(numbers_[size(run)]), limit = which.rates.options().clip_norm;
      move.live = std::isfinite(norm);
      if (!move.live) throw divergence_error("norm of the gradient", which.steps, "inf", "finite");
      if (norm > limit) move.gradient_scale = limit / norm;
    });
  }

  /// Puts a run's weights where its objective needs them.
  void confine([[maybe_unused]] index run, [[maybe_unused]] bool linear) {
    const std::span<scalar> weights(weights_.data() + run * total_, size(total_));
    if constexpr (requires { objectives_.front().confine(weights, linear, memory_); })
      objectives_[size(run)].confine(weights, linear, memory_);
  }

  /// Throws divergence_error if the step overflowed; the run is as it was before then.
  void look_behind(index run) {
    state& which = (*this)[run];
    which.largest_weight = numbers_[size(run)];
    if (std::isfinite(which.largest_weight) && !which.rule_before) return;
    try {
      copy_weights(run, copy_);
      which.largest_weight = largest_finite("weights", parameters(), std::span<const scalar>(copy_), which.steps);
      const rule_type now = rule(run);
      for (const auto& [name, values] : now.state())
        which.largest_gradient =
            std::max(which.largest_gradient, largest_finite(name, parameters(), values, which.steps));
    } catch (const divergence_error&) {
      if (which.rule_before) restart(run, which.steps, which.weights_before, *which.rule_before, which.observed);
      throw;
    }
  }

  index total_;
  workspace memory_;
  array weights_, gradients_;
  optimizer::placed_rules<rule_type, backend_type> rules_;
  std::vector<Objective> objectives_;
  std::vector<state> states_;
  std::vector<index> steps_;                   // of each run
  std::vector<task::evaluation> evaluations_;  // likewise
  std::vector<double> numbers_;                // that a kernel found of each run
  std::vector<optimizer::run_move> moves_;     // of the next step
  std::vector<std::pair<index, std::exception_ptr>> divergences_;
  std::vector<scalar> copy_;  // of one run, on the host
};

}  // namespace detail

}  // namespace lindyn::train
