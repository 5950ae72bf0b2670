// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is minimised: an objective gives every step of a training its loss and gradient.

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/digest.hpp>
#include <lindyn/population/finite/batches.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/sequence_set.hpp>
#include <lindyn/train/description.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

/// The loss of step t as a function of the weights, whose layout `parameters()` describes. It depends on nothing but
/// the step and the weights, so that a training can be resumed, and its steps be evaluated in any order. `workspace` is
/// memory that evaluations reuse; objectives of one type may share it one after the other. `describe` appends what the
/// losses depend on.
///
/// An objective may have a member `confine(weights, linear)`: the trainer calls it with the weights at the start and
/// behind each step, and it puts them back where the objective needs them. `linear` says that they can have left by
/// rounding errors alone, as sums of confined weights and gradients.
template <class O>
concept objective = requires(O& of, index step, std::span<const typename O::scalar> weights,
                             std::span<typename O::scalar> gradient, typename O::workspace& memory, settings& to) {
  requires std::same_as<typename O::scalar, float> || std::same_as<typename O::scalar, double>;
  { of.parameters() } -> std::convertible_to<const parameter_table&>;
  { of.loss_and_gradient(step, weights, gradient, memory) } -> std::convertible_to<task::evaluation>;
  of.describe(to);
};

/// A network that evaluates several runs in one pass, such as model::prenorm_transformer on a backend of several runs.
template <class Net>
concept evaluates_runs = requires(const Net& net, backend::run_vector<const typename Net::scalar> weights,
                                  std::span<const typename Net::run_batch> batches,
                                  backend::run_vector<typename Net::scalar> gradients, typename Net::workspace& memory,
                                  int threads, std::span<task::evaluation> evaluations) {
  net.losses(weights, batches, memory, threads, evaluations);
  net.losses_and_gradients(weights, batches, gradients, memory, threads, evaluations);
};

/// Batches of a finite set, which a network such as model::prenorm_transformer answers.
///
///     train::set_objective objective(net, data.training, {.size = 128, .seed = 1});
///     decltype(objective)::workspace memory;
template <class Net>
class set_objective {
public:
  using scalar = typename Net::scalar;        ///< of weights and gradients
  using workspace = typename Net::workspace;  ///< memory that evaluations reuse

  /// \param net       outlives the objective
  /// \param training  outlives the objective, and isn't empty
  /// \param draw      which sequences each step sees
  set_objective(const Net& net, const task::sequence_set& training, const population::batches& draw)
      : net_(&net), training_(&training), draw_(training.count(), draw) {}

  /// The network.
  [[nodiscard]] const Net& net() const noexcept { return *net_; }
  /// What is learnt from.
  [[nodiscard]] const task::sequence_set& training() const noexcept { return *training_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return net_->parameters(); }

  /// The mean loss over the batch of that step; `gradient` becomes its derivative. Throws as the network does, and
  /// non_finite_error with the name of the first tensor that isn't finite, if the network knows it.
  task::evaluation loss_and_gradient(index step, std::span<const scalar> weights, std::span<scalar> gradient,
                                     workspace& memory) {
    try {
      return net_->loss_and_gradient(weights, *training_, draw_(step), gradient, memory);
    } catch (const non_finite_error&) {
      if constexpr (requires { net_->first_non_finite(weights, gradient, memory); })
        if (const std::string first = net_->first_non_finite(weights, {}, memory); !first.empty())
          throw non_finite_error(first, "NaN or infinite", "finite");
      throw;
    }
  }

  /// The same of several runs in one pass, see batched_objective: each with its own data, batches and weights. Sequences of
  /// all runs are of one length.
  static void losses_and_gradients(std::span<set_objective> runs, std::span<const index> steps,
                                   std::span<const scalar> weights, std::span<scalar> gradients,
                                   std::span<task::evaluation> evaluations, workspace& memory,
                                   int threads) requires(evaluates_runs<Net>) {
    const Net& net = runs.front().net();
    std::vector<typename Net::run_batch> batches(runs.size());
    parallel_chunks(static_cast<index>(runs.size()), 1, threads, [&](index run, index, index, int) {
      const auto which = static_cast<std::size_t>(run);
      batches[which] = {&runs[which].training(), runs[which].draw_(steps[which])};
    });
    const index total = net.parameters().size();
    net.losses_and_gradients({weights.data(), total}, batches, {gradients.data(), total}, memory, threads, evaluations);
  }

  /// Appends the network's shape, the data, by their digest, and how batches are drawn.
  void describe(settings& to) const {
    if constexpr (requires { net_->shape(); }) detail::describe_if_known(to, net_->shape());
    const task::sequence_sizes& sizes = training_->sizes();
    io::digest data;
    for (index sequence = 0; sequence < training_->count(); ++sequence)
      data.integers(training_->tokens(sequence)).integers(training_->answers(sequence));
    detail::append(to, "data.vocabulary", sizes.vocabulary);
    detail::append(to, "data.outputs", sizes.outputs);
    detail::append(to, "data.length", sizes.length);
    detail::append(to, "data.sequences", training_->count());
    detail::append(to, "data.digest", data.text());
    const population::batches& draw = draw_.options();
    detail::append(to, "batch.size", draw.size);
    detail::append(to, "batch.seed", draw.seed);
    detail::append(to, "batch.draw",
                   draw.draw == population::sampling::with_replacement ? "with_replacement"
                   : draw.draw == population::sampling::epochs         ? "epochs"
                                                                       : "whole");
  }

private:
  const Net* net_;
  const task::sequence_set* training_;
  population::batch_sampler draw_;
};

}  // namespace lindyn::train
