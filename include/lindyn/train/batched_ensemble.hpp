// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs of one shape that train together in one pass of a backend with several runs.

#include <algorithm>
#include <cmath>
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

#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/clip.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/description.hpp>
#include <lindyn/train/ensemble.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/observer.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/trainer_options.hpp>

namespace lindyn::train {

/// An objective of which one pass evaluates several runs. Weights and gradients stand run by run, [run][total], in the memory
/// of the workspace's backend.
template <class O>
concept batched_objective = objective<O> &&
    requires(std::span<O> runs, std::span<const index> steps, const typename O::scalar* weights,
             typename O::scalar* gradients, typename O::workspace& memory, std::span<task::evaluation> evaluations) {
  // Of each run: the loss and gradient of its own step's batch. Losses that aren't finite are returned, not thrown.
  O::losses_and_gradients(runs, steps, weights, gradients, memory, evaluations);
};

/// What a run of a batched ensemble is, but for its weights.
template <class Objective>
struct batched_run {
  Objective objective;           ///< what it minimises: its batches, drawn by its own seed
  trainer_options options = {};  ///< its rates, schedules, decay and clipping; `tell` and `stop` aren't asked
};

/// R trainings of one shape, one optimiser and one network that train in one pass: their weights, gradients and what the
/// optimiser remembers are single arrays, [run][total], in the memory of a backend with R runs. They may differ in batches,
/// initial weights, learning rates, decay, schedules and clipping. Each of them comes out as it would alone, up to the
/// order of sums. A run that diverges stays as it was before that step, and the others go on without it.
///
///     using net_type = model::prenorm_transformer<float, backend::thrust_device>;
///     net_type::workspace memory(backend::thrust_device(210));
///     auto runs = train::make_batched_ensemble<float>(
///         210, net.parameters().size(), optimizer::adam_options{.beta2 = 0.98},
///         [&](index run, std::span<float> weights) {
///           std::ranges::copy(model::initial_weights<float>(net.shape(), {.seed = seeds[run]}), weights.begin());
///           return train::batched_run{train::set_objective(net, data.training, {.size = 512, .seed = seeds[run]}),
///                                     {.learning_rate = 1e-3, .decay_schedule = lambdas[run]}};
///         },
///         memory);
///     runs.run(50'000, {.threads = 8}, [&](index run) {  // makes the observer of each run
///       return train::every(100, [&, run](const auto& here) { losses[run].push_back(here.evaluation.loss); });
///     });
///
/// Observers hear as those of a trainer do; weights and gradient are copies on the host, made for those who hear. They get no
/// workspace, which is that of all runs.
/// \tparam Objective  what is minimised; see batched_objective
/// \tparam Options    of the optimiser, which all runs share: adam_options, ..
template <batched_objective Objective, optimizer::optimizer_options<typename Objective::scalar> Options>
class batched_ensemble {
public:
  using scalar = typename Objective::scalar;              ///< of weights and gradients
  using workspace = typename Objective::workspace;        ///< memory of the evaluations of all runs
  using rule_type = optimizer::rule_of<Options, scalar>;  ///< the optimiser of one run

  /// \param runs    R, as many as the workspace's backend has
  /// \param total   entries of the flat buffer of a run, at least 1
  /// \param rule    options of the optimiser
  /// \param make    make(run, weights) fills the weights of the start, and returns the batched_run
  /// \param memory  of the evaluations of all runs
  /// Throws argument_error for other numbers of runs or weights; for what `make` throws, for a run's bad options or
  /// parameters, and for weights that are all zero or aren't finite, run_error, in which that is nested.
  template <class Make>
  batched_ensemble(index runs, index total, const Options& rule, Make&& make, workspace memory = workspace());

  /// R.
  [[nodiscard]] index count() const noexcept;
  /// Where each matrix lies in the flat buffer of a run.
  [[nodiscard]] const parameter_table& parameters() const noexcept;
  /// \{
  /// Of a run, whose number isn't checked: how it was made, the number of its steps, and whether its observers have been
  /// told its present state.
  [[nodiscard]] const batched_run<Objective>& made(index run) const;
  [[nodiscard]] index steps(index run) const;
  [[nodiscard]] bool observed(index run) const;
  /// \}
  /// How a run diverged, if it did. It makes no more steps then, until that is cleared.
  [[nodiscard]] const std::optional<std::string>& failure(index run) const;
  /// Lets a run that has diverged try again, from the state that it has by now.
  void clear_failure(index run);

  /// A copy of a run's weights.
  [[nodiscard]] std::vector<scalar> weights(index run) const;
  /// A copy of a run's optimiser, with what it remembers.
  [[nodiscard]] rule_type rule(index run) const;
  /// All that a run's result depends on, but for the start and the number of steps: that of a trainer alone.
  [[nodiscard]] settings describe(index run);
  /// A run goes on from another state, as a trainer does; its failure stays.
  void restart(index run, index steps, std::span<const scalar> weights, const rule_type& rule, bool observed = false);

  /// Makes steps of all runs until each has made `until` of them, but for those that have diverged. A run that an observer
  /// ended goes on in the next call. Parameters, result and errors are those of ensemble::run; `threads` draw batches and
  /// plan them.
  template <std::invocable<index>... ObserversOf>
  std::vector<std::optional<run_end>> run(index until, const ensemble_options& options, ObserversOf&&... observers_of);
};

/// An ensemble of the runs that `make` returns.
/// \tparam Scalar  float or double, of the weights
/// \param runs    R
/// \param total   entries of the flat buffer of a run
/// \param rule    options of the optimiser
/// \param make    make(run, weights), see batched_ensemble
/// \param memory  of the evaluations of all runs
template <class Scalar, class Options, class Make>
[[nodiscard]] auto make_batched_ensemble(index runs, index total, const Options& rule, Make&& make, auto memory) {
  using run_type = std::invoke_result_t<Make&, index, std::span<Scalar>>;
  using objective_type = std::remove_cvref_t<decltype(std::declval<run_type>().objective)>;
  return batched_ensemble<objective_type, Options>(runs, total, rule, std::forward<Make>(make), std::move(memory));
}

}  // namespace lindyn::train
