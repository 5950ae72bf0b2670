// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who watches a training, and at which steps.

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/task/evaluation.hpp>

namespace lindyn::train {

/// The state before a step, as observers see it. Spans live until the observer returns.
template <class Scalar>
struct observation {
  index step = 0;                    ///< updates made
  task::evaluation evaluation;       ///< of this step's batch, before its update
  std::span<const Scalar> weights;   ///< laid out by the objective's parameters()
  std::span<const Scalar> gradient;  ///< of the step's batch at these weights, not clipped
  double learning_rate = 0;          ///< lr_t of the update to come
  double decay = 0;                  ///< lambda_t of the update to come
};

/// Called with an observation; one that returns a bool ends the training by returning false. An observer with a member
/// `wants(step)` hears of those steps alone, others of every step.
template <class O, class Scalar>
concept observer = std::invocable < O&,
        const observation<Scalar>
& > ;

/// An observer of chosen steps.
/// \tparam Wants  predicate of a step
/// \tparam Tell   observer
template <class Wants, class Tell>
class chosen_observer {
public:
  /// Tells `tell` of the steps for which `wants` returns true.
  chosen_observer(Wants wants, Tell tell) : wants_(std::move(wants)), tell_(std::move(tell)) {}
  /// Whether it hears of that step.
  [[nodiscard]] bool wants(index step) const { return std::invoke(wants_, step); }
  /// Hears of a step.
  template <class Scalar>
  decltype(auto) operator()(const observation<Scalar>& here) {
    return std::invoke(tell_, here);
  }

private:
  Wants wants_;
  Tell tell_;
};

/// Tells of the steps for which `wants` returns true.
template <std::predicate<index> Wants, class Tell>
[[nodiscard]] auto when(Wants wants, Tell tell) {
  return chosen_observer<Wants, Tell>(std::move(wants), std::move(tell));
}

/// Tells of every `stride`-th step, from 0. Throws argument_error unless stride is positive.
template <class Tell>
[[nodiscard]] auto every(index stride, Tell tell) {
  require(stride >= 1, "stride", stride, "at least 1");
  return when([stride](index step) { return step % stride == 0; }, std::move(tell));
}

/// Tells of the listed steps, which may be in any order.
template <class Tell>
[[nodiscard]] auto at(std::vector<index> steps, Tell tell) {
  std::ranges::sort(steps);
  return when([steps = std::move(steps)](index step) { return std::ranges::binary_search(steps, step); },
              std::move(tell));
}

namespace detail {

/// Whether an observer hears of a step.
template <class Observer>
[[nodiscard]] bool wants(const Observer& who, index step) {
  if constexpr (requires {
                  { who.wants(step) } -> std::convertible_to<bool>;
                })
    return who.wants(step);
  else
    return true;
}

/// Tells an observer, if it wants to hear; whether the training goes on.
template <class Observer, class Scalar>
[[nodiscard]] bool tell(Observer& who, const observation<Scalar>& here) {
  if (!wants(who, here.step)) return true;
  if constexpr (std::convertible_to<std::invoke_result_t<Observer&, const observation<Scalar>&>, bool>) {
    return std::invoke(who, here);
  } else {
    std::invoke(who, here);
    return true;
  }
}

}  // namespace detail

}  // namespace lindyn::train
