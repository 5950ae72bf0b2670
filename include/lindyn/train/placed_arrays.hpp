// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The arrays of a training in the memory of a backend that the host can't read.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/placed_rules.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/guard.hpp>
#include <lindyn/train/training_arrays.hpp>

namespace lindyn::train::detail {

/// Whether the arrays that evaluations read and write lie in memory of their own.
template <class Workspace>
concept placed_workspace = requires(Workspace& memory) {
  memory.on();
  requires !std::remove_cvref_t<decltype(memory.on())>::host_memory;
};

/// How a trainer's weights are evaluated and moved in a backend's memory. Weights, gradient and optimiser have images on the
/// host, which are brought up to date when somebody looks at them: so everything else handles them as it does those of
/// training_arrays. Like that, members throw divergence_error and leave the state before.
template <class Objective, class Rule>
class placed_arrays {
  static_assert(
      optimizer::placeable_rule<Rule>,
      "lindyn: on a backend with a memory of its own, the optimiser must be one of its formulas: sgd, momentum, "
      "or adam.");

public:
  using scalar = typename Objective::scalar;
  using workspace = typename Objective::workspace;
  using backend_type = std::remove_cvref_t<decltype(std::declval<workspace&>().on())>;

  placed_arrays(std::span<scalar> weights, Rule rule)
      : weights_(weights), rule_(std::move(rule)), gradient_(weights.size()) {}

  [[nodiscard]] std::span<const scalar> weights() const {
    fetch();
    return weights_;
  }
  [[nodiscard]] const Rule& rule() const {
    fetch();
    return rule_;
  }
  [[nodiscard]] std::span<const scalar> gradient() const {
    if (std::exchange(gradient_is_old_, false)) on().to_host(placed_gradient_.data(), std::span<scalar>(gradient_));
    return gradient_;
  }
  [[nodiscard]] std::span<const scalar> placed_weights() const noexcept {
    return {placed_weights_.data(), weights_.size()};
  }
  [[nodiscard]] const Rule& rule_options() const noexcept { return rule_; }

  void fetch() const {
    if (!std::exchange(images_are_old_, false)) return;
    on().to_host(placed_weights_.data(), weights_);
    rule_ = rules_->rule(on(), 0);
  }
  void weights_changed() {
    if (images_are_old_) rule_ = rules_->rule(on(), 0);
    images_are_old_ = false;
    images_are_new_ = true;
  }
  void replace(std::span<const scalar> weights, Rule rule) {
    std::ranges::copy(weights, weights_.begin());
    rule_ = std::move(rule);
    images_are_old_ = false;
    images_are_new_ = true;
  }
  void replace(Rule rule) {
    fetch();
    rule_ = std::move(rule);
    images_are_new_ = true;
  }

  void look_at_state(const parameter_table& table, index step) {
    fetch();
    largest_weight_ = largest_finite("weights", table, std::span<const scalar>(weights_), step);
    for (const auto& [name, values] : std::as_const(rule_).state())
      largest_gradient_ = std::max(largest_gradient_, largest_finite(name, table, values, step));
  }
  void look_at_gradient(const parameter_table& table, index step) {
    largest_gradient_ =
        std::max(largest_gradient_, checked("gradient", table, {placed_gradient_.data(), size()}, step));
  }

  task::evaluation evaluate(Objective& objective, index step, workspace& memory) {
    place(memory);
    gradient_is_old_ = true;
    return objective.loss_and_gradient(step, placed_weights(), {placed_gradient_.data(), weights_.size()}, memory);
  }

  void confine([[maybe_unused]] Objective& objective, [[maybe_unused]] bool linear) {
    if constexpr (requires { objective.confine(weights_, linear, *memory_); }) {
      if (images_are_old_) return objective.confine({placed_weights_.data(), weights_.size()}, linear, *memory_);
    }
    if constexpr (requires { objective.confine(weights_, linear); }) {
      fetch();
      objective.confine(weights_, linear);
      images_are_new_ = true;
    }
  }

  void before_step(double rate, std::span<const optimizer::range_decay> ranges) {
    weights_before_.clear();
    rule_before_.reset();
    if (!may_overflow<scalar>(rate, largest_coupled(ranges), largest_gradient_, largest_weight_)) return;
    fetch();
    weights_before_.assign(weights_.begin(), weights_.end());
    rule_before_ = rule_;
  }
  template <class Workers>
  void move(double rate, std::span<const optimizer::range_decay> ranges, double clip_norm, Workers&&) {
    const optimizer::range_decay whole{0, size(), {}};
    optimizer::run_move how{.live = true, .learning_rate = rate, .ranges = ranges};
    if (ranges.empty()) how.ranges = {&whole, 1};
    if (clip_norm > 0) how.gradient_scale = clip_scale(clip_norm);
    rules_->step(on(), run(placed_weights_), run(placed_gradient_), {&how, 1});
    images_are_old_ = true;
  }
  void behind_step(const parameter_table& table, index step) {
    try {
      largest_weight_ = checked("weights", table, run(placed_weights_), step);
      for (std::size_t which = 0; rule_before_ && which < Rule::remembered; ++which)
        largest_gradient_ = std::max(largest_gradient_, checked(std::as_const(rule_).state()[which].name, table,
                                                                rules_->remembered(which), step));
    } catch (const divergence_error&) {
      if (rule_before_) replace(weights_before_, std::move(*rule_before_));
      throw;
    }
  }

private:
  using run_of_weights = backend::run_vector<const scalar>;
  using array = typename backend_type::template array<scalar>;

  [[nodiscard]] backend_type& on() const noexcept { return memory_->on(); }
  [[nodiscard]] index size() const noexcept { return static_cast<index>(weights_.size()); }
  [[nodiscard]] backend::run_vector<scalar> run(array& values) const noexcept { return {values.data(), size()}; }

  /// Brings what is new on the host into the memory of evaluations.
  void place(workspace& memory) {
    if (memory_ != &memory) {
      require(memory.on().runs() == 1, "memory.on().runs()", memory.on().runs(),
              "1; several train as a batched_ensemble");
      fetch();
      memory_ = &memory;
      placed_weights_.resize(weights_.size());
      placed_gradient_.resize(weights_.size());
      rules_.emplace(on(), size(), rule_.options());
      images_are_new_ = true;
    }
    if (!std::exchange(images_are_new_, false)) return;
    on().from_host(std::span<const scalar>(weights_), placed_weights_.data());
    rules_->assign(on(), 0, rule_);
  }

  /// The largest magnitude. Throws divergence_error, naming the first entry that isn't finite.
  [[nodiscard]] double checked(std::string_view kind, const parameter_table& table, run_of_weights values, index step) {
    double largest = 0;
    on().largest_magnitude(values, size(), std::span(&largest, 1));
    if (std::isfinite(largest)) return largest;
    std::vector<scalar> copy(weights_.size());
    on().to_host(values.data, std::span(copy));
    return largest_finite(kind, table, std::span<const scalar>(copy), step);
  }

  /// What shortens the gradient to that norm. Throws non_finite_error where its squares overflow.
  [[nodiscard]] double clip_scale(double limit) {
    double squares = 0;
    on().sum_of_squares(run_of_weights(run(placed_gradient_)), size(), std::span(&squares, 1));
    if (!std::isfinite(squares)) throw non_finite_error("norm of the gradient", "inf", "finite");
    const double norm = std::sqrt(squares);
    return norm > limit ? limit / norm : 1;
  }

  std::span<scalar> weights_;  // the images
  mutable Rule rule_;
  mutable std::vector<scalar> gradient_;
  mutable bool images_are_old_ = false;   // weights and optimiser are newer in the backend's memory
  mutable bool gradient_is_old_ = false;  // likewise
  bool images_are_new_ = true;            // weights and optimiser are newer on the host
  workspace* memory_ = nullptr;           // of the last evaluation
  array placed_weights_, placed_gradient_;
  std::optional<optimizer::placed_rules<Rule, backend_type>> rules_;
  double largest_gradient_ = 0, largest_weight_ = 0;  // so far, and now
  std::vector<scalar> weights_before_;                // of a step that may overflow
  std::optional<Rule> rule_before_;                   // likewise; none for others
};

/// The arrays of a training.
template <class Objective, class Rule>
struct arrays_type {
  using type = training_arrays<Objective, Rule>;  ///< on the host
};
template <class Objective, class Rule>
requires placed_workspace<typename Objective::workspace>
struct arrays_type<Objective, Rule> {
  using type = placed_arrays<Objective, Rule>;  ///< elsewhere
};

}  // namespace lindyn::train::detail
