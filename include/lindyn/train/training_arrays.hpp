// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The arrays of a training in the host's memory: weights, gradient, and what the optimiser remembers.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/clip.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/guard.hpp>

namespace lindyn::train::detail {

/// The most that joins the gradient, of the weights.
[[nodiscard]] inline double largest_coupled(std::span<const optimizer::range_decay> ranges) noexcept {
  double result = 0;
  for (const auto& range : ranges) result = std::max(result, range.factors.coupled);
  return result;
}

/// How a trainer's weights are evaluated and moved, where the host reads and writes them. placed_arrays does the same
/// elsewhere.
template <class Objective, class Rule>
class training_arrays {
public:
  using scalar = typename Objective::scalar;
  using workspace = typename Objective::workspace;

  training_arrays(std::span<scalar> weights, Rule rule)
      : weights_(weights), rule_(std::move(rule)), gradient_(weights.size()) {}

  /// \{
  /// On the host.
  [[nodiscard]] std::span<const scalar> weights() const noexcept { return weights_; }
  [[nodiscard]] std::span<const scalar> gradient() const noexcept { return gradient_; }
  [[nodiscard]] const Rule& rule() const noexcept { return rule_; }
  /// \}
  /// The weights where evaluations take them.
  [[nodiscard]] std::span<const scalar> placed_weights() const noexcept { return weights_; }
  /// An optimiser with the options of `rule()`, whatever it remembers.
  [[nodiscard]] const Rule& rule_options() const noexcept { return rule_; }

  /// Weights and optimiser have been brought to the host.
  void fetch() const noexcept {}
  /// The weights on the host have been changed.
  void weights_changed() noexcept {}
  /// Another state, on the host.
  void replace(std::span<const scalar> weights, Rule rule) {
    std::ranges::copy(weights, weights_.begin());
    rule_ = std::move(rule);
  }
  /// Another optimiser.
  void replace(Rule rule) { rule_ = std::move(rule); }

  /// Throws divergence_error unless the state is finite.
  void look_at_state(const parameter_table& table, index step) { guard_.look_at_state(table, weights_, rule_, step); }
  /// Throws divergence_error unless the gradient is.
  void look_at_gradient(const parameter_table& table, index step) {
    guard_.look_at_gradient(table, std::span<const scalar>(gradient_), step);
  }

  /// Loss and gradient.
  task::evaluation evaluate(Objective& objective, index step, workspace& memory) {
    return objective.loss_and_gradient(step, weights_, gradient_, memory);
  }

  /// Puts the weights where the objective needs them.
  void confine([[maybe_unused]] Objective& objective, [[maybe_unused]] bool linear) {
    if constexpr (requires { objective.confine(weights_, linear); }) objective.confine(weights_, linear);
  }

  /// Before a step.
  void before_step(double rate, std::span<const optimizer::range_decay> ranges) {
    guard_.before_step(weights_, rule_, rate, largest_coupled(ranges));
  }
  /// Moves the weights.
  template <class Workers>
  void move(double rate, std::span<const optimizer::range_decay> ranges, double clip_norm, Workers&& workers) {
    if (clip_norm > 0) optimizer::clip_by_global_norm(std::span(gradient_), clip_norm, workers);
    const std::span<const scalar> gradient(gradient_);
    if constexpr (optimizer::resumable_optimizer<Rule, scalar>)
      if (!ranges.empty()) return rule_.step(weights_, gradient, rate, ranges, workers);
    rule_.step(weights_, gradient, rate);
  }
  /// Behind a step. If it overflowed, brings back the state before and throws divergence_error.
  void behind_step(const parameter_table& table, index step) { guard_.behind_step(table, weights_, rule_, step); }

private:
  std::span<scalar> weights_;
  Rule rule_;
  std::vector<scalar> gradient_;
  guard<scalar, Rule> guard_;
};

}  // namespace lindyn::train::detail
