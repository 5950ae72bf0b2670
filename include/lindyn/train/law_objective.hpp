// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention-only network on a data law: on minibatches, or on the exact population loss.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/digest.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/embedding.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/population/whole_population.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/loss.hpp>
#include <lindyn/train/description.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

/// Options of law_objective.
struct law_batches {
  index size = 512;                                        ///< sequences a step; 0: all, the exact population loss
  std::uint64_t seed = 1;                                  ///< of the minibatches
  task::loss loss = task::loss::cross_entropy;             ///< how answers are scored
  model::embedding embedding = model::embedding::one_hot;  ///< `centred` keeps weights and gradients centred
  index bound = 2'000'000;                                 ///< size = 0: largest number of sequences
};

/// The loss of model::attention_only, or of model::dense_attention_only on a backend of one run, on a law. Step s draws
/// the sequences s x size .. (s + 1) x size - 1 of the seed's stream. Right answers aren't counted: the evaluation has a
/// total of 0.
template <class Net, population::data_law Law>
class law_objective {
public:
  using scalar = typename Net::scalar;        ///< of weights and gradients
  using workspace = typename Net::workspace;  ///< memory that evaluations reuse

  /// Whether the network evaluates several runs in one pass.
  static constexpr bool evaluates_runs =
      requires(const Net& net, std::span<const scalar> weights, std::span<const task::batch_view> batches,
               std::span<scalar> gradients, std::span<double> losses, workspace& memory) {
    net.loss_and_gradient(weights, batches, task::loss::cross_entropy, gradients, losses, memory);
  };

  /// \param net      outlives the objective
  /// \param law      copied; it has the network's vocabulary and positions
  /// \param options  see law_batches
  /// Throws argument_error for bad options, shape_error for a law that doesn't fit, too_many_error (size = 0).
  law_objective(const Net& net, const Law& law, const law_batches& options)
      : net_(&net), options_(options), draw_(law, options.seed), centre_(law.structure()) {
    require(options.size >= 0, "batch", options.size, "not negative (0: the whole population)");
    const auto sizes = law.sizes();
    require_extent("net.shape().vocabulary", net.shape().vocabulary, sizes.vocabulary);
    require_extent("net.shape().positions", net.shape().positions, sizes.positions);
    if (whole())
      population_ = std::make_shared<const population::sequence_table>(population::whole_population(
          law, options.bound,
          "the exact gradient visits all of them at every step; take fewer pairs, tokens or positions (2 pairs of 5 "
          "tokens on 3 slots have 11520), or minibatches"));
  }

  /// The network.
  [[nodiscard]] const Net& net() const noexcept { return *net_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return net_->parameters(); }
  /// Whether each step visits the whole population.
  [[nodiscard]] bool whole() const noexcept { return options_.size == 0; }

  /// The loss of that step's batch; `gradient` becomes its derivative. Throws as the network does.
  task::evaluation loss_and_gradient(index step, std::span<const scalar> weights, std::span<scalar> gradient,
                                     workspace& memory) {
    const double loss = net_->loss_and_gradient(weights, batch(step), options_.loss, gradient, memory);
    if (centred()) centre(gradient, memory);
    return {.loss = loss};
  }

  /// The same of several runs in one pass, see batched_objective, where the network evaluates several. Their batches are of one
  /// size, and scored alike.
  static void losses_and_gradients(std::span<law_objective> runs, std::span<const index> steps,
                                   std::span<const scalar> weights, std::span<scalar> gradients,
                                   std::span<task::evaluation> evaluations, workspace& memory,
                                   int threads) requires(evaluates_runs) {
    const Net& net = runs.front().net();
    const task::loss kind = runs.front().options_.loss;
    std::vector<task::batch_view> batches(runs.size());
    std::vector<double> losses(runs.size());
    parallel_chunks(static_cast<index>(runs.size()), 1, threads, [&](index run, index, index, int) {
      const auto which = static_cast<std::size_t>(run);
      require(runs[which].options_.loss == kind, "loss", "another one", "that of all runs");
      batches[which] = runs[which].batch(steps[which]);
    });
    net.loss_and_gradient(weights, batches, kind, gradients, losses, memory);
    const std::size_t total = weights.size() / runs.size();
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (runs[run].centred()) runs[run].centre(gradients.subspan(run * total, total), memory);
      evaluations[run] = {.loss = losses[run]};
    }
  }

  /// \{
  /// Centres the weights, if the embedding is and they can have left: in the host's memory, or in that of evaluations.
  void confine(std::span<scalar> weights, bool linear) {
    if (centred() && !linear) centre_(parameters(), weights);
  }
  void confine(std::span<scalar> weights, bool linear, workspace& memory) {
    if (centred() && !linear) centre(weights, memory);
  }
  /// \}

  /// Appends the network's shape, the law, by its sizes and the digest of 4,096 sequences, and how batches are drawn and
  /// scored. Laws that differ in what none of those sequences shows, such as probabilities by less than one in some
  /// thousands, aren't told apart.
  void describe(settings& to) const {
    const auto sizes = draw_.law().sizes();
    population::minibatch seen;
    population::sampler<Law>(draw_.law(), 1).draw(0, 4096, seen);
    const task::batch_view some = seen.view();
    detail::describe(to, net_->shape());
    detail::append(to, "law.length", sizes.length);
    detail::append(to, "law.digest",
                   io::digest().integers(some.tokens).integers(some.positions).integers(some.answers).text());
    detail::append(to, "batch.size", options_.size);
    detail::append(to, "batch.seed", options_.seed);
    detail::append(to, "loss", options_.loss == task::loss::cross_entropy ? "cross_entropy" : "squared_error");
    detail::append(to, "embedding", centred() ? "centred" : "one_hot");
  }

private:
  [[nodiscard]] bool centred() const noexcept { return options_.embedding == model::embedding::centred; }

  /// Where the host can't read the network's memory, a copy is centred.
  void centre(std::span<scalar> values, workspace& memory) {
    if constexpr (requires { requires !std::remove_cvref_t<decltype(memory.on())>::host_memory; }) {
      copy_.resize(values.size());
      memory.on().to_host(static_cast<const scalar*>(values.data()), std::span<scalar>(copy_));
      centre_(parameters(), std::span<scalar>(copy_));
      memory.on().from_host(std::span<const scalar>(copy_), values.data());
    } else {
      centre_(parameters(), values);
    }
  }

  [[nodiscard]] task::batch_view batch(index step) {
    if (whole()) return population_->view();
    draw_.draw(step * options_.size, options_.size, drawn_);
    return drawn_.view();
  }

  const Net* net_;
  law_batches options_;
  population::sampler<Law> draw_;
  population::minibatch drawn_;
  std::shared_ptr<const population::sequence_table> population_;  // of copies, too
  model::centred_stream centre_;
  std::vector<scalar> copy_;  // of what is centred, where the host can't read it
};

}  // namespace lindyn::train
