// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs of one shape that train together in one pass of a backend with several runs.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/batched_runs.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/trainer.hpp>
#include <lindyn/train/trainer_options.hpp>

namespace lindyn::train {

/// What a run of a batched ensemble is, but for its weights.
template <class Objective>
struct batched_run {
  Objective objective;           ///< what it minimises: its batches, drawn by its own seed
  trainer_options options = {};  ///< its rates, schedules, decay and clipping; `tell` and `stop` aren't asked
};

/// That of an objective. Other compilers than g++ want it said.
template <class Objective>
batched_run(Objective, trainer_options) -> batched_run<Objective>;

/// R trainings of one shape and one optimiser that train in one pass: their weights, gradients and what the optimiser
/// remembers are arrays of all runs, [run][total], in the memory of a backend with R runs. They may differ in batches,
/// initial weights, learning rates, decay, schedules and clipping. Each of them comes out as it would alone on that
/// backend, up to the order of sums. A run that diverges stays as it was before that step, and the others go on.
///
///     using net_type = model::prenorm_transformer<float, backend::thrust_device>;
///     auto runs = train::make_batched_ensemble<float>(
///         210, net.parameters().size(), optimizer::adam_options{.beta2 = 0.98},
///         [&](index run, std::span<float> weights) {
///           std::ranges::copy(model::initial_weights<float>(net.shape(), {.seed = seeds[run]}), weights.begin());
///           return train::batched_run{train::set_objective(net, data.training, {.size = 512, .seed = seeds[run]}),
///                                     {.learning_rate = 1e-3, .decay_schedule = lambdas[run]}};
///         },
///         net_type::workspace(backend::thrust_device(210)));
///     runs.run(50'000, {.threads = 8}, [&](index run) {  // makes the observer of each run
///       return train::every(100, [&, run](const auto& here) { losses[run].push_back(here.evaluation.loss); });
///     });
///
/// Observers hear as those of a trainer do. Weights and gradients that they get are copies on the host, which are made where
/// somebody hears. They don't get the workspace, which is that of all runs.
/// \tparam Objective  what is minimised
/// \tparam Options    of the optimiser, which all runs share: adam_options, ..
template <class Objective, class Options>
class batched_ensemble {
  static_assert(batched_objective<Objective>,
                "lindyn: a batched ensemble's first parameter must model train::batched_objective.");
  static_assert(optimizer::optimizer_options<Options, typename Objective::scalar>,
                "lindyn: a batched ensemble's second parameter must be the options of an optimiser.");
  using all_runs = detail::batched_runs<Objective, Options>;

public:
  using scalar = typename Objective::scalar;              ///< of weights and gradients
  using workspace = typename Objective::workspace;        ///< memory of the evaluations of all runs
  using rule_type = optimizer::rule_of<Options, scalar>;  ///< the optimiser of one run

  /// The training of one run, as a trainer shows it. Arrays are copies on the host.
  class training {
  public:
    using scalar = typename Objective::scalar;  ///< of weights

    /// Where each matrix lies in the flat buffers.
    [[nodiscard]] const parameter_table& parameters() const { return runs_->parameters(); }
    /// What is minimised.
    [[nodiscard]] const Objective& minimised() const { return runs_->objective_of(run_); }
    /// As they were given.
    [[nodiscard]] const trainer_options& options() const { return state().rates.options(); }
    /// The weights behind the steps made so far.
    [[nodiscard]] std::vector<scalar> weights() const {
      std::vector<scalar> result(static_cast<std::size_t>(parameters().size()));
      runs_->copy_weights(run_, result);
      return result;
    }
    /// The optimiser, with what it remembers.
    [[nodiscard]] rule_type rule() const { return runs_->rule(run_); }
    /// Number of steps made.
    [[nodiscard]] index steps() const { return state().steps; }
    /// Whether observers have been told the present state.
    [[nodiscard]] bool observed() const { return state().observed; }
    /// Sentences on schedules that a run of so many steps may not have been meant to have.
    [[nodiscard]] std::vector<std::string> warnings(index steps) const { return detail::warnings(options(), steps); }
    /// All that the result depends on, but for the start and the number of steps: what a trainer alone says.
    [[nodiscard]] settings describe() const { return runs_->describe(run_); }
    /// Goes on from another state, as a trainer does; a failure stays. Throws as trainer::restart does, and argument_error
    /// for an optimiser of other options than those of the ensemble.
    void restart(index steps, std::span<const scalar> weights, const rule_type& rule, bool observed = false) {
      runs_->restart(run_, steps, weights, rule, observed);
    }

  private:
    friend batched_ensemble;
    training(all_runs& runs, index run) : runs_(&runs), run_(run) {}
    [[nodiscard]] const typename all_runs::state& state() const { return (*runs_)[run_]; }

    all_runs* runs_;
    index run_;
  };

  /// \param runs    R, as many as the workspace's backend has
  /// \param total   entries of the flat buffer of a run, at least 1
  /// \param rule    options of the optimiser
  /// \param make    make(run, weights) fills the weights of the start, and returns the batched_run
  /// \param memory  of the evaluations of all runs
  /// Throws argument_error or shape_error for other numbers of runs or weights; for what `make` throws, for a run's bad
  /// options, and for weights that are all zero or aren't finite, run_error, in which that is nested.
  template <class Make>
  batched_ensemble(index runs, index total, const Options& rule, Make&& make, workspace memory = workspace())
      : runs_(total, rule, std::move(memory)) {
    require_extent("runs", runs, runs_.on().runs());
    std::vector<scalar> weights(static_cast<std::size_t>(total));
    for (index run = 0; run < runs; ++run) {
      std::ranges::fill(weights, scalar(0));
      try {
        auto [objective, options] = make(run, std::span(weights));
        runs_.add(std::move(objective), std::move(options), weights);
      } catch (...) {
        detail::rethrow_as_run_error(run, std::current_exception());
      }
    }
  }

  /// R.
  [[nodiscard]] index count() const noexcept { return runs_.count(); }
  /// Where each matrix lies in the flat buffer of a run.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return runs_.parameters(); }
  /// The training of a run, whose number isn't checked, as long as the ensemble is where it is.
  [[nodiscard]] training operator[](index run) { return {runs_, run}; }
  /// How a run diverged, if it did. It makes no more steps then, until that is cleared.
  [[nodiscard]] const std::optional<std::string>& failure(index run) const { return runs_[run].failure; }
  /// Lets a run that has diverged try again, from the state that it has by now.
  void clear_failure(index run) { runs_[run].failure.reset(); }

  /// Loss and right answers of every run on a set, such as the one that is held out from it, at its present weights. Between
  /// two calls of `run`, that is far quicker than observers that evaluate runs one by one.
  /// \param set_of   set_of(run) returns a const task::sequence_set&, which may be the same for all
  /// \param threads  of the host, which plan batches
  /// \param block    sequences of each run in one pass, which bounds the memory
  /// Throws argument_error for empty sets, and as the network does for those that don't fit; a loss that isn't finite is
  /// returned.
  template <std::invocable<index> SetOf, class Of = Objective>
  requires evaluates_runs<std::remove_cvref_t<decltype(std::declval<const Of&>().net())>>
  [[nodiscard]] std::vector<task::evaluation> losses(SetOf&& set_of, int threads = 1, index block = 512) {
    require(threads >= 1, "threads", threads, "at least 1");
    require(block >= 1, "block", block, "at least 1");
    return runs_.losses(set_of, threads, block);
  }

  /// Makes steps of all runs until each has made `until` of them, but for those that have diverged. All go on together, a step
  /// each in every pass. A run that an observer ended goes on in the next call.
  /// \param until         steps in all
  /// \param options       see ensemble_options; its threads plan the batches
  /// \param observers_of  each is called, here, with the number of each run, and returns an observer of it
  /// \return why each run ended; nothing for those that have diverged
  /// Throws argument_error for bad options; for the error that ended all runs, run_error, in which it is nested (of several,
  /// that of the first run).
  template <std::invocable<index>... ObserversOf>
  std::vector<std::optional<run_end>> run(index until, const ensemble_options& options, ObserversOf&&... observers_of) {
    require(options.threads >= 1, "threads", options.threads, "at least 1");
    require(options.stride >= 1, "stride", options.stride, "at least 1");
    std::vector<std::tuple<std::invoke_result_t<ObserversOf&, index>...>> observers;
    observers.reserve(static_cast<std::size_t>(count()));
    ends_.assign(static_cast<std::size_t>(count()), run_end::stopped);
    double done = 0, all = 0;
    for (index run = 0; run < count(); ++run) {
      observers.emplace_back(observers_of(run)...);
      if (failure(run)) {
        end_of(run).reset();
        continue;
      }
      done += static_cast<double>(std::min(until, runs_[run].steps));
      all += static_cast<double>(until);
    }
    progress tell(options.tell);
    for (index pass = 1; choose(until, observers); ++pass) {
      runs_.evaluate(options.threads);
      end_diverged(options);
      observe(until, observers);
      done += static_cast<double>(runs_.update());
      end_diverged(options);
      tell("ensemble", done, all);
      if (pass % options.stride == 0 && options.stop && options.stop()) break;
    }
    return ends_;
  }

private:
  [[nodiscard]] std::optional<run_end>& end_of(index run) { return ends_[static_cast<std::size_t>(run)]; }

  /// Whether a run's observers want to hear of its state.
  template <class Observers>
  [[nodiscard]] bool wanted(index run, const Observers& observers) const {
    const auto wants = [&](const auto&... each) { return (false || ... || detail::wants(each, runs_[run].steps)); };
    return !runs_[run].observed && std::apply(wants, observers);
  }

  /// Which runs take part in the next pass, and those that have reached their end; whether any takes part.
  template <class Observers>
  [[nodiscard]] bool choose(index until, const std::vector<Observers>& observers) {
    bool any = false;
    for (index run = 0; run < count(); ++run) {
      auto& state = runs_[run];
      state.live = end_of(run) == run_end::stopped;
      if (!state.live) continue;
      state.live =
          state.steps < until || (state.steps == until && wanted(run, observers[static_cast<std::size_t>(run)]));
      if (!state.live) end_of(run) = run_end::reached;
      any |= state.live;
    }
    return any;
  }

  /// Tells the observers of live runs; those stay live that go on.
  template <class Observers>
  void observe(index until, std::vector<Observers>& observers) {
    for (index run = 0; run < count(); ++run) {
      auto& state = runs_[run];
      auto& hear = observers[static_cast<std::size_t>(run)];
      if (!state.live) continue;
      try {
        if (wanted(run, hear) && !tell(run, hear)) {
          end_of(run) = run_end::observed;
          state.live = false;
        }
      } catch (...) {
        detail::rethrow_as_run_error(run, std::current_exception());
      }
      state.live = state.live && state.steps < until;
    }
  }

  /// Tells all observers of a run; whether all of them want to go on.
  template <class... Observers>
  [[nodiscard]] bool tell(index run, std::tuple<Observers...>& observers) {
    auto& state = runs_[run];
    const auto size = static_cast<std::size_t>(parameters().size());
    weights_.resize(size);
    gradient_.resize(size);
    runs_.copy_weights(run, weights_);
    runs_.copy_gradient(run, gradient_);
    const observation<scalar> here{state.steps,
                                   runs_.evaluation(run),
                                   weights_,
                                   gradient_,
                                   state.rates.learning_rate(state.steps),
                                   state.rates.options().decay_schedule.value(state.steps)};
    detail::no_memory none;
    bool go_on = true;
    std::apply([&](auto&... each) { ((go_on = detail::tell(each, here, none) && go_on), ...); }, observers);
    state.observed = true;
    return go_on;
  }

  /// Runs that diverged in this pass have no end, or end all.
  void end_diverged(const ensemble_options& options) {
    for (index run = 0; run < count(); ++run)
      if (failure(run)) end_of(run).reset();
    const auto diverged = runs_.take_divergences();
    if (options.on_divergence == divergence::stops && !diverged.empty())
      detail::rethrow_as_run_error(diverged.front().first, diverged.front().second);
  }

  all_runs runs_;
  std::vector<std::optional<run_end>> ends_;
  std::vector<scalar> weights_, gradient_;  // that observers see
};

/// An ensemble of the runs that `make` returns.
/// \tparam Scalar  float or double, of the weights
/// \param runs    R
/// \param total   entries of the flat buffer of a run
/// \param rule    options of the optimiser
/// \param make    make(run, weights), see batched_ensemble
/// \param memory  of the evaluations of all runs
template <class Scalar, class Options, class Make, class Memory>
[[nodiscard]] auto make_batched_ensemble(index runs, index total, const Options& rule, Make&& make, Memory memory) {
  using run_type = std::invoke_result_t<Make&, index, std::span<Scalar>>;
  using objective_type = decltype(run_type::objective);
  return batched_ensemble<objective_type, Options>(runs, total, rule, std::forward<Make>(make), std::move(memory));
}

}  // namespace lindyn::train
