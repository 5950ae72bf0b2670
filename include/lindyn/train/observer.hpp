// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who watches a training, and at which steps.

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
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
  /// The weights where evaluations take them, for further ones in their workspace: elsewhere than `weights` on a backend
  /// whose memory the host can't read. Empty for observers that get no workspace.
  std::span<const Scalar> placed_weights = {};
};

namespace detail {

/// How an observer is called where it doesn't ask for memory.
struct no_memory {};

/// Whether it is called with an observation and the memory.
template <class O, class Scalar, class Memory>
concept takes_memory = std::invocable < O&,
        const observation<Scalar>
&, Memory& > ;

}  // namespace detail

/// Called with an observation, or with an observation and the workspace of evaluations,
/// `(const auto& here, auto& memory)`: there it may read what the evaluation left, if that was made in it and no observer
/// before has used it, and may make evaluations of its own. One that returns a bool ends the training by returning false.
/// An observer with a member `wants(step)` hears of those steps alone, others of every step.
template <class O, class Scalar, class Memory = detail::no_memory>
concept observer = detail::takes_memory<O, Scalar, Memory> || std::invocable < O&,
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
  template <class Scalar, class... Memory>
  requires std::invocable < Tell&, const observation<Scalar>
  &, Memory&... > decltype(auto) operator()(const observation<Scalar>& here, Memory&... memory) {
    return std::invoke(tell_, here, memory...);
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
template <class Observer, class Scalar, class Memory>
[[nodiscard]] bool tell(Observer& who, const observation<Scalar>& here, Memory& memory) {
  if (!wants(who, here.step)) return true;
  const auto hear = [&]() -> decltype(auto) {
    if constexpr (takes_memory<Observer, Scalar, Memory>)
      return std::invoke(who, here, memory);
    else
      return std::invoke(who, here);
  };
  if constexpr (std::convertible_to<decltype(hear()), bool>) {
    return hear();
  } else {
    hear();
    return true;
  }
}

}  // namespace detail

}  // namespace lindyn::train
