// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Linearised attention on all its pairs and keys.

#include <span>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/io/digest.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/vector_composition.hpp>
#include <lindyn/train/objective.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

/// The exact loss of model::linearised_attention, the same at every step. Answers are vectors, none of which is right or
/// wrong: the evaluation has a total of 0.
///
///     train::trainer trainer(train::linearised_objective{net}, weights, optimizer::sgd<double>(..),
///                            {.learning_rate = 1, .decay_schedule = schedule::window{5000, 10000, 1e-3}});
template <class Net>
class linearised_objective {
public:
  using scalar = typename Net::scalar;        ///< of weights and gradients
  using workspace = typename Net::workspace;  ///< memory that evaluations reuse

  /// \param net  outlives the objective
  explicit linearised_objective(const Net& net) : net_(&net) {}

  /// The network.
  [[nodiscard]] const Net& net() const noexcept { return *net_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return net_->parameters(); }

  /// The loss; `gradient` becomes its derivative. Throws as the network does.
  task::evaluation loss_and_gradient(index, std::span<const scalar> weights, std::span<scalar> gradient,
                                     workspace& memory) {
    return {.loss = net_->loss_and_gradient(weights, gradient, memory)};
  }

  /// Appends the network's sizes and the digest of its vectors and pairs.
  void describe(settings& to) const {
    const task::vector_composition& data = net_->data();
    std::vector<index> pairs;
    for (const auto& [first, second] : data.pairs) pairs.insert(pairs.end(), {first, second});
    detail::append(to, "shape.width", data.width);
    detail::append(to, "data.keys", data.key_count());
    detail::append(to, "data.anchors", data.anchor_count());
    detail::append(to, "data.pairs", data.pair_count());
    io::digest digest;
    digest.integers(pairs);
    for (const auto* vectors : {&data.keys, &data.anchors, &data.answers}) digest(std::as_bytes(std::span(*vectors)));
    detail::append(to, "data.digest", digest.text());
    detail::append(to, "loss.pair_reduction", name(net_->reduction()));
  }

private:
  const Net* net_;
};

static_assert(objective<linearised_objective<model::linearised_attention<>>>);

}  // namespace lindyn::train
