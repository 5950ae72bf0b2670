// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The training of a network: an objective, an optimiser and schedules, step by step.

#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/placed_arrays.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/step_rates.hpp>
#include <lindyn/train/trainer_options.hpp>
#include <lindyn/train/training_arrays.hpp>

namespace lindyn::train {

/// Why a run ended.
enum class run_end {
  reached,   ///< all its steps are made
  observed,  ///< an observer returned false
  stopped,   ///< trainer_options::stop returned true
};

/// Trains weights in place. Step t, from 0, takes the rates of schedules at t, the loss and gradient of the objective's
/// batch t, and moves the weights: so the state behind t steps is a function of the start and t alone, however the
/// steps are divided over runs, whoever watches, and on any number of threads.
///
///     std::vector<float> weights = ..;
///     train::trainer trainer(objective, weights, optimizer::adam<float>(objective.parameters().size()),
///                            {.learning_rate = 3e-3});
///     model::prenorm_transformer<>::workspace memory;
///     trainer.run(15'000, memory, train::every(100, [](const auto& at) { print(at.step, at.evaluation.loss); }));
///
/// On a backend whose memory the host can't read, weights, gradient and what the optimiser remembers live there. The host's
/// are brought up to date when an observer hears, when `run` returns, and when `weights()` or `rule()` are asked for, for which
/// the workspace of the last evaluation has to be there still: so programs, checkpoints and observers are the same.
///
/// \tparam Objective  what is minimised
/// \tparam Rule       the optimiser
template <class Objective, class Rule>
class trainer {
  static_assert(objective<Objective>, "lindyn: a trainer's first parameter must model train::objective.");
  static_assert(optimizer::optimizer<Rule, typename Objective::scalar>,
                "lindyn: a trainer's second parameter must be an optimiser of the objective's scalar.");

public:
  using scalar = typename Objective::scalar;        ///< of weights and gradients
  using workspace = typename Objective::workspace;  ///< memory that evaluations reuse

  /// \param objective  what is minimised
  /// \param weights    laid out by objective.parameters(), in memory that outlives the trainer
  /// \param rule       the optimiser, made for that number of weights
  /// \param options    see trainer_options
  /// Throws argument_error for bad options, shape_error for another number of weights, divergence_error for weights
  /// that aren't finite.
  trainer(Objective objective, std::span<scalar> weights, Rule rule, trainer_options options = {})
      : objective_(std::move(objective)),
        arrays_(weights, std::move(rule)),
        rates_(std::move(options), parameters(), arrays_.rule_options()) {
    require_extent("weights.size()", weights.size(), parameters().size());
    arrays_.confine(objective_, false);
    begin(0, false);
  }

  /// What is minimised.
  [[nodiscard]] const Objective& minimised() const noexcept { return objective_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return objective_.parameters(); }
  /// As they were given.
  [[nodiscard]] const trainer_options& options() const noexcept { return rates_.options(); }
  /// The weights behind the steps made so far.
  [[nodiscard]] std::span<const scalar> weights() const { return arrays_.weights(); }
  /// The optimiser, with what it remembers.
  [[nodiscard]] const Rule& rule() const { return arrays_.rule(); }
  /// Number of steps made.
  [[nodiscard]] index steps() const noexcept { return steps_; }
  /// Whether observers have been told the present state.
  [[nodiscard]] bool observed() const noexcept { return observed_; }
  /// Seconds that evaluations and updates took.
  [[nodiscard]] double seconds() const noexcept { return seconds_of(training_); }
  /// Seconds that observers took.
  [[nodiscard]] double observer_seconds() const noexcept { return seconds_of(observing_); }
  /// lr_t.
  [[nodiscard]] double learning_rate(index step) const noexcept { return rates_.learning_rate(step); }
  /// lambda_t, which each group's base decay multiplies, of groups without a schedule of their own.
  [[nodiscard]] double decay(index step) const noexcept { return options().decay_schedule.value(step); }
  /// Sentences on schedules that a run of so many steps may not have been meant to have, as a window past its end.
  [[nodiscard]] std::vector<std::string> warnings(index steps) const { return detail::warnings(options(), steps); }

  /// Loss and gradient of the batch that the next step takes, at the present weights; once for each step, however often
  /// it is called. Throws divergence_error if they aren't finite: the state stays.
  const task::evaluation& evaluate(workspace& memory) {
    if (evaluated_) return evaluation_;
    const auto begin = clock::now();
    try {
      evaluation_ = arrays_.evaluate(objective_, steps_, memory);
    } catch (const non_finite_error& fault) {
      arrays_.look_at_state(parameters(), steps_);
      throw divergence_error(fault.argument(), steps_, fault.value(),
                             fault.allowed() + "; take a smaller learning_rate");
    }
    if (!std::isfinite(evaluation_.loss)) {
      arrays_.look_at_state(parameters(), steps_);
      throw divergence_error("loss", steps_, lindyn::detail::to_text(evaluation_.loss),
                             "finite; take a smaller learning_rate");
    }
    arrays_.look_at_gradient(parameters(), steps_);
    evaluated_ = true;
    training_ += clock::now() - begin;
    return evaluation_;
  }

  /// Moves the weights by the gradient of the last evaluation: decays, and steps, at the rates of this step.
  /// Throws argument_error unless there is an evaluation of this step, and for decay that would turn the weights' sign;
  /// divergence_error if weights or what the optimiser remembers would overflow: the state stays.
  void update() { update_by(optimizer::one_thread()); }

  /// The same by the threads of evaluations, if they have a backend of several; not a bit depends on it.
  void update(workspace& memory) {
    if constexpr (requires { memory.on().workers(); })
      update_by(memory.on().workers());
    else
      update();
  }

  /// Evaluates and updates. Returns the evaluation, at the weights before the update.
  task::evaluation step(workspace& memory) {
    evaluate(memory);
    update(memory);
    return evaluation_;
  }

  /// To be called when the weights have been changed from outside, by an observer or between two runs: the next step takes
  /// their gradient. What observers hear at this step after that is of the weights before.
  /// Throws divergence_error, naming the first entry, for weights that aren't finite.
  void weights_changed() {
    arrays_.weights_changed();
    arrays_.confine(objective_, false);
    begin(steps_, observed_);
  }
  /// Takes another optimiser, such as one that remembers nothing, from the next update on.
  /// Throws divergence_error if what it remembers isn't finite.
  void replace_rule(Rule rule) {
    arrays_.replace(std::move(rule));
    begin(steps_, observed_);
  }

  /// Makes steps until `until` have been made in all. Observers hear of the states that they want to, before each step
  /// and behind the last, each once: a run that goes on from where another ended doesn't tell that state again.
  /// \param until      steps in all; a run of fewer than are made does nothing
  /// \param memory     of evaluations
  /// \param observers  see the concept; all hear of a state, in their order, before one of them ends the run
  /// Throws as evaluate and update do.
  template <observer<scalar, workspace>... Observers>
  run_end run(index until, workspace& memory, Observers&&... observers) {
    const run_end end = run_on(until, memory, observers...);
    arrays_.fetch();
    return end;
  }

  /// All that the result depends on, but for the start and the number of steps.
  [[nodiscard]] settings describe() { return rates_.describe(objective_, arrays_.rule_options()); }

  /// Goes on from a state that was kept: `weights` become the trainer's, in its memory.
  /// \param steps     number of steps made
  /// \param weights   as many as the trainer has
  /// \param rule      takes the place of the trainer's
  /// \param observed  whether observers have been told the state
  /// Throws as the constructor, and argument_error for a negative number of steps.
  void restart(index steps, std::span<const scalar> weights, Rule rule, bool observed = false) {
    require(steps >= 0, "steps", steps, "not negative");
    require_extent("weights.size()", weights.size(), parameters().size());
    arrays_.replace(weights, std::move(rule));
    begin(steps, observed);
  }

private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] static double seconds_of(clock::duration spent) noexcept {
    return std::chrono::duration<double>(spent).count();
  }

  void begin(index steps, bool observed) {
    arrays_.look_at_state(parameters(), steps);
    steps_ = steps;
    evaluated_ = false;
    observed_ = observed;
  }

  template <class... Observers>
  run_end run_on(index until, workspace& memory, Observers&... observers) {
    progress tell(options().tell);
    while (steps_ <= until) {
      if (!observed_ && (false || ... || detail::wants(observers, steps_)) && !observe(memory, observers...))
        return run_end::observed;
      if (steps_ == until) break;
      step(memory);
      tell("training", static_cast<double>(steps_), static_cast<double>(until));
      if (options().stop && options().stop()) return run_end::stopped;
    }
    return run_end::reached;
  }

  template <class Workers>
  void update_by(Workers&& workers) {
    require(evaluated_, "step", steps_, "evaluated before its update");
    const auto begin = clock::now();
    const double rate = learning_rate(steps_);
    const auto ranges = rates_.decay(arrays_.rule_options(), steps_);
    arrays_.before_step(rate, ranges);
    evaluated_ = false;  // whatever fails from here on: what observers are told isn't clipped
    arrays_.move(rate, ranges, options().clip_norm, workers);
    arrays_.confine(objective_, Rule::linear);
    arrays_.behind_step(parameters(), steps_);
    ++steps_;
    observed_ = false;
    training_ += clock::now() - begin;
  }

  /// Tells all observers; whether all of them want to go on.
  template <class... Observers>
  [[nodiscard]] bool observe(workspace& memory, Observers&... observers) {
    evaluate(memory);
    const auto begin = clock::now();
    const observation<scalar> here{steps_,
                                   evaluation_,
                                   weights(),
                                   arrays_.gradient(),
                                   learning_rate(steps_),
                                   decay(steps_),
                                   arrays_.placed_weights()};
    bool go_on = true;
    ((go_on = detail::tell(observers, here, memory) && go_on), ...);
    observed_ = true;
    observing_ += clock::now() - begin;
    return go_on;
  }

  Objective objective_;
  typename detail::arrays_type<Objective, Rule>::type arrays_;
  detail::step_rates<Rule, scalar> rates_;
  task::evaluation evaluation_;
  index steps_ = 0;
  bool evaluated_ = false, observed_ = false;
  clock::duration training_{}, observing_{};
};

}  // namespace lindyn::train
