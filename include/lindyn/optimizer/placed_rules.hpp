// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One optimiser of all runs of a backend, with what it remembers in the backend's memory.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/optimizer/placed_step.hpp>

namespace lindyn::optimizer {

/// An optimiser that says how it moves an entry, so that a backend can: sgd, momentum and adam.
template <class Rule>
concept placeable_rule = resumable_optimizer<Rule, typename Rule::scalar> &&
    requires(Rule& rule, double learning_rate, std::int64_t t) {
  { rule.numbers(learning_rate, t) } -> std::same_as<step_numbers<typename Rule::scalar>>;
  rule.options();
  rule.set_steps(t);
};

/// How a run moves in a step of all.
struct run_move {
  bool live = false;                         ///< whether it does
  double learning_rate = 0;                  ///< of the step
  double gradient_scale = 1;                 ///< multiplies its gradient
  std::span<const range_decay> ranges = {};  ///< what decay does to its weights, see elementwise_rule::step
};

/// An optimiser for each run of a backend, all with the same options. Weights, gradients and what they remember are
/// arrays [run][total] in the backend's memory; rates and decay of a step may differ from run to run, and go there in one
/// piece. Each run moves as it would by an optimiser of its own on the host, up to the rounding of single operations.
///
///     optimizer::placed_rules<optimizer::adam<float>, backend::thrust_device> rules(on, total, {.beta2 = 0.98});
///     rules.step(on, weights, gradients, moves);
///     const optimizer::adam<float> third = rules.rule(on, 2);  // a copy on the host, for checkpoints
///
/// \tparam Rule     the optimiser of one run
/// \tparam Backend  where arrays live
template <placeable_rule Rule, class Backend>
class placed_rules {
public:
  using scalar = typename Rule::scalar;              ///< of weights and of what is remembered
  using options_type = typename Rule::options_type;  ///< of the optimisers

  /// \param on       where arrays live
  /// \param total    entries of the flat buffer of a run, below 2^31
  /// \param options  of all runs
  /// Throws argument_error as Rule's constructor does.
  placed_rules(Backend& on, index total, const options_type& options)
      : model_(0, options), total_(total), steps_(static_cast<std::size_t>(on.runs())) {
    require(total >= 0 && total <= std::numeric_limits<int>::max(), "total", total, "in [0, 2^31)");
    for (auto& values : remembered_) {
      values.resize(runs() * static_cast<std::size_t>(total));
      on.fill(backend::run_vector<scalar>(values.data()), on.runs() * total, scalar(0));
    }
  }

  /// An optimiser of no weights, with the options of all.
  [[nodiscard]] const Rule& without_weights() const noexcept { return model_; }

  /// A copy of that of a run, finite or not.
  [[nodiscard]] Rule rule(Backend& on, index run) const {
    Rule result(total_, model_.options());
    auto arrays = result.state();
    for (std::size_t which = 0; which < remembered_.size(); ++which)
      on.to_host(remembered_[which].data() + run * total_, arrays[which].values);
    result.set_steps(steps_[static_cast<std::size_t>(run)]);
    return result;
  }

  /// Replaces that of a run. Throws shape_error for another number of weights.
  void assign(Backend& on, index run, const Rule& rule) {
    const auto arrays = rule.state();
    for (std::size_t which = 0; which < remembered_.size(); ++which) {
      require_extent("rule.state().size()", arrays[which].values.size(), total_);
      on.from_host(arrays[which].values, remembered_[which].data() + run * total_);
    }
    steps_[static_cast<std::size_t>(run)] = rule.steps();
  }

  /// Array number `which` of what is remembered, in the backend's memory.
  [[nodiscard]] backend::run_vector<const scalar> remembered(std::size_t which) const {
    return {remembered_[which].data(), total_};
  }

  /// A step of all runs that move. Throws argument_error for rates or ranges that make no sense, shape_error for another
  /// number of moves; and nothing has changed then.
  void step(Backend& on, backend::run_vector<scalar> weights, backend::run_vector<const scalar> gradients,
            std::span<const run_move> moves) {
    require_extent("moves.size()", moves.size(), static_cast<index>(runs()));
    for (const run_move& move : moves) {
      detail::require_learning_rate(move.learning_rate);
      detail::require_ranges(total_, move.ranges);
    }
    const tables now = place(on, moves);
    model_.with_formula([&](const auto& formula) {
      placed_step<std::remove_cvref_t<decltype(formula)>, scalar> all{formula, weights, gradients, {}, now};
      for (std::size_t which = 0; which < remembered_.size(); ++which)
        all.remembered[which] = {remembered_[which].data(), total_};
      move_entries(on, all, total_);
    });
  }

private:
  using tables = step_tables<scalar>;
  template <class T>
  using array = typename Backend::template array<T>;

  [[nodiscard]] std::size_t runs() const noexcept { return steps_.size(); }

  /// Counts the steps, and brings what they differ in to the backend.
  [[nodiscard]] tables place(Backend& on, std::span<const run_move> moves) {
    for (const run_move& move : moves) ranges_ = std::max(ranges_, move.ranges.size());
    const std::size_t width = tables::count + 2 * ranges_;
    bounds_before_.swap(bounds_);
    numbers_.assign(runs() * width, scalar(0));
    bounds_.assign(runs() * 2 * ranges_, static_cast<int>(total_));
    for (std::size_t run = 0; run < runs(); ++run)
      if (moves[run].live)
        enter(model_.numbers(moves[run].learning_rate, ++steps_[run]), moves[run], numbers_.data() + run * width,
              bounds_.data() + run * 2 * ranges_);
    placed_numbers_.resize(numbers_.size());
    on.from_host(std::span<const scalar>(numbers_), placed_numbers_.data());
    if (bounds_ != bounds_before_) {
      placed_bounds_.resize(bounds_.size());
      on.from_host(std::span<const int>(bounds_), placed_bounds_.data());
    }
    return {placed_numbers_.data(), placed_bounds_.data(), static_cast<int>(ranges_)};
  }

  void enter(const step_numbers<scalar>& now, const run_move& move, scalar* numbers, int* bounds) const {
    numbers[tables::live] = 1;
    numbers[tables::rate] = now.rate;
    numbers[tables::correction] = now.correction;
    numbers[tables::gradient_scale] = static_cast<scalar>(move.gradient_scale);
    scalar* factors = numbers + tables::count;
    for (const auto& [begin, end, decay] : move.ranges) {
      bounds[ranges_] = static_cast<int>(end);
      *bounds++ = static_cast<int>(begin);
      *factors++ = static_cast<scalar>(decay.keep);
      *factors++ = static_cast<scalar>(decay.coupled);
    }
  }

  Rule model_;
  index total_;
  std::vector<std::int64_t> steps_;
  std::array<array<scalar>, Rule::remembered> remembered_;
  std::size_t ranges_ = 0;  // the most that a run has had
  std::vector<scalar> numbers_;
  std::vector<int> bounds_, bounds_before_;
  array<scalar> placed_numbers_;
  array<int> placed_bounds_;
};

}  // namespace lindyn::optimizer
