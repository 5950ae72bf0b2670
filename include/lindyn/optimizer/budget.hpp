// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a decay schedule does to the weights over a whole run, by mode.

#include <cmath>
#include <optional>

#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/schedule/budget.hpp>
#include <lindyn/schedule/schedule.hpp>

namespace lindyn::optimizer {

/// Three sums over the updates of a run. Two decay schedules may share one of them and differ in the others: which one
/// is meant by "the same budget" has to be said.
struct decay_budget {
  double rates = 0;         ///< sum of lambda_t
  double scaled_rates = 0;  ///< sum of lr_t lambda_t
  /// Sum of -ln(keep_t), by whose exponential weights without gradient would have shrunk; infinite if keep_t is 0
  /// somewhere. None in the mode coupled_l2, in which the optimiser decides how far weights shrink.
  std::optional<double> log_shrink = {};
};

/// The budget of a decay schedule over the updates [0, updates).
/// \param decay          its mode and base_learning_rate; the schedule stands in for its rate
/// \param lambda         decay rate by update
/// \param learning_rate  learning rate by update
/// \param updates        of the run
/// Throws argument_error as `factors` does.
[[nodiscard]] inline decay_budget budget(weight_decay decay, const schedule::schedule& lambda,
                                         const schedule::schedule& learning_rate, index updates) {
  decay_budget result{schedule::budget(lambda, updates), schedule::budget(lambda, learning_rate, updates), 0.0};
  if (decay.mode == decay_mode::coupled_l2) result.log_shrink.reset();
  for (index t = 0; t < updates && result.log_shrink; ++t) {
    decay.rate = lambda.value(t);
    *result.log_shrink -= std::log1p(-shrinkage(decay, learning_rate.value(t)));
  }
  return result;
}

}  // namespace lindyn::optimizer
