// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Training of a full network by any optimiser: on minibatches of a law, or on its exact population gradient.

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/embedding.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/train/law_objective.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/trainer.hpp>

namespace lindyn::train {

/// Options of `descend` and `run`.
struct descent_options {
  index steps = 10'000;        ///< updates of the weights
  double learning_rate = 0.1;  ///< of every step
  index batch = 512;           ///< sequences a step, drawn from the law; 0: all of them, the exact population gradient
  std::uint64_t seed = 1;      ///< of the minibatches (and of the weights, where `run` draws them)
  task::loss loss = task::loss::cross_entropy;             ///< how answers are scored
  model::embedding embedding = model::embedding::one_hot;  ///< `centred` needs the law's structure, see `descend`
  int threads = 1;                                         ///< results don't depend on it
  double scale = 0.1;                                      ///< `run`: standard deviation of the weights at the start
  index bound = 2'000'000;                                 ///< batch = 0: largest number of sequences
  progress::callback tell = {};                            ///< hears of the progress
};

/// Told the state before each step, and the one behind the last: the loss of the step's batch and the weights. For the
/// last state, no batch is drawn and the loss is that of the step before, unless the batch is the whole population.
template <class Scalar>
struct descent_point {
  index step = 0;                   ///< steps behind
  double loss = 0;                  ///< of the step's batch
  std::span<const Scalar> weights;  ///< which live until the observer returns
};

/// Leaves weights and gradients as they are.
struct unconstrained {
  /// Does nothing.
  template <class Scalar>
  void operator()(std::span<Scalar>) const noexcept {}
};

/// Confines training to a set of weights: called with the weights at the start and behind each step, and with each
/// gradient before the optimiser sees it. Where the set is a subspace, it projects orthogonally; see
/// compare::manifold_constraint.
template <class C, class Scalar>
concept constraint = std::invocable<C&, std::span<Scalar>>;

namespace detail {

/// A law's objective, whose gradients and weights a constraint confines.
template <class Objective, class Constraint>
struct confined_objective {
  using scalar = typename Objective::scalar;
  using workspace = typename Objective::workspace;

  [[nodiscard]] const parameter_table& parameters() const noexcept { return of.parameters(); }
  task::evaluation loss_and_gradient(index step, std::span<const scalar> weights, std::span<scalar> gradient,
                                     workspace& memory) {
    const task::evaluation result = of.loss_and_gradient(step, weights, gradient, memory);
    (*constrain)(gradient);
    return result;
  }
  void confine(std::span<scalar> weights, bool linear) {
    of.confine(weights, linear);
    (*constrain)(weights);
  }
  void describe(settings& to) const { of.describe(to); }

  Objective of;
  Constraint* constrain;
};

/// Hands the optimiser of a training back to whom it belongs, at the end, however it ends.
template <class Trainer, class Optimizer>
struct rule_returned {
  rule_returned(const Trainer& training, Optimizer& to) noexcept : from(training), owner(to) {}
  rule_returned(const rule_returned&) = delete;
  rule_returned& operator=(const rule_returned&) = delete;
  ~rule_returned() { owner = from.rule(); }

  const Trainer& from;
  Optimizer& owner;
};

}  // namespace detail

/// Trains `weights` in place: a `trainer` on a `law_objective`, at a constant rate, whose observer hears of every step.
/// Step s draws the sequences s x batch .. (s + 1) x batch - 1 of the seed's stream, whatever the number of threads.
///
///     optimizer::adam<double> adam(net.parameters().size(), {.beta2 = 0.98});
///     train::descend(net, law, std::span(weights), {.learning_rate = 1e-3}, [](const auto&) {}, adam);
///
/// \param net        model::attention_only
/// \param law        where the sequences come from
/// \param weights    laid out by net.parameters()
/// \param options    see descent_options
/// \param observe    called with a descent_point before each step and behind the last; one that returns a bool ends the
///                   training by returning false
/// \param rule       the optimiser, which remembers: handed over again, it goes on. It changes when the training ends; of
///                   one that diverges, it is as it was before the step that did
/// \param constrain  what the weights are confined to
/// \return seconds that the steps took, without the observer
/// Throws argument_error for bad options, too_many_error (batch = 0), divergence_error naming the step.
template <class Net, population::data_law Law, class Observe, optimizer::optimizer<typename Net::scalar> Optimizer,
          constraint<typename Net::scalar> Constraint = unconstrained>
double descend(const Net& net, const Law& law, std::span<typename Net::scalar> weights, const descent_options& options,
               Observe&& observe, Optimizer& rule, Constraint&& constrain = {}) {
  using scalar = typename Net::scalar;
  using confined = detail::confined_objective<law_objective<Net, Law>, std::remove_reference_t<Constraint>>;
  require(options.steps >= 0, "steps", options.steps, "not negative");
  const law_objective<Net, Law> on_law(net, law,
                                       {.size = options.batch,
                                        .seed = options.seed,
                                        .loss = options.loss,
                                        .embedding = options.embedding,
                                        .bound = options.bound});
  typename Net::workspace memory(options.threads);
  trainer train(confined{on_law, &constrain}, weights, rule, {.learning_rate = options.learning_rate});
  const detail::rule_returned at_the_end(train, rule);
  progress tell(options.tell);
  descent_point<scalar> here{0, 0, weights};
  for (;; ++here.step) {
    const bool last = here.step == options.steps;
    const double seconds = train.seconds();
    if (!last || on_law.whole()) here.loss = train.evaluate(memory).loss;
    if constexpr (std::same_as<std::invoke_result_t<Observe&, const descent_point<scalar>&>, bool>) {
      if (!observe(std::as_const(here))) return train.seconds();
    } else {
      observe(std::as_const(here));
    }
    if (last) return seconds;
    train.update();
    tell("full network", static_cast<double>(here.step + 1), static_cast<double>(options.steps));
  }
}

/// The same by plain gradient descent, w <- w - learning_rate dL/dw.
template <class Net, population::data_law Law, class Observe>
double descend(const Net& net, const Law& law, std::span<typename Net::scalar> weights, const descent_options& options,
               Observe&& observe) {
  optimizer::sgd<typename Net::scalar> rule(static_cast<index>(weights.size()));
  return descend(net, law, weights, options, observe, rule);
}

/// What `run` returns.
template <class Scalar>
struct run_result {
  model::attention_shape shape;  ///< of the network
  std::vector<Scalar> weights;   ///< laid out by model::attention_parameters(shape)
  std::vector<double> losses;    ///< before each step, of its batch
  double seconds = 0;            ///< that the steps took
};

/// Trains a network from normal random weights of standard deviation options.scale:
/// `train::run<net>(law, {.steps = 10'000, .batch = 512, .seed = 1})`, by plain gradient descent, or
/// `train::run<net>(law, {.learning_rate = 1e-3}, optimizer::adam_options{.beta2 = 0.98})`.
/// \param law        where the sequences come from
/// \param options    see descent_options
/// \param rule       options of the optimiser
/// \param constrain  what the weights are confined to
template <class Net, population::data_law Law,
          optimizer::optimizer_options<typename Net::scalar> Rule = optimizer::sgd_options,
          constraint<typename Net::scalar> Constraint = unconstrained>
[[nodiscard]] run_result<typename Net::scalar> run(const Law& law, const descent_options& options,
                                                   const Rule& rule = {}, Constraint&& constrain = {}) {
  const auto sizes = law.sizes();
  const Net net({.vocabulary = sizes.vocabulary, .positions = sizes.positions});
  run_result<typename Net::scalar> result{net.shape(), {}, {}, 0};
  counter_generator generator(options.seed, ~std::uint64_t{0});  // the minibatches' streams are counted from zero
  for (index i = 0; i < net.parameters().size(); ++i)
    result.weights.push_back(static_cast<typename Net::scalar>(options.scale * standard_normal(generator)));
  optimizer::rule_of<Rule, typename Net::scalar> optimizer(net.parameters().size(), rule);
  result.seconds = descend(
      net, law, std::span(result.weights), options, [&](const auto& point) { result.losses.push_back(point.loss); },
      optimizer, constrain);
  result.losses.pop_back();
  return result;
}

}  // namespace lindyn::train
