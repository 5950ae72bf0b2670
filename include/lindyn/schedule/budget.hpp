// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Budgets: what a schedule adds up to over a run, and windows of a given budget.

#include <cmath>
#include <concepts>
#include <limits>

#include <lindyn/core/views.hpp>
#include <lindyn/schedule/schedule.hpp>

namespace lindyn::schedule {

namespace detail {

/// term(0) + .. + term(updates - 1), in this order. Throws argument_error for a negative number of updates.
template <std::invocable<index> Term>
[[nodiscard]] double sum(index updates, Term&& term) {
  require(updates >= 0, "updates", updates, "not negative");
  double result = 0;
  for (index t = 0; t < updates; ++t) result += term(t);
  return result;
}

/// Throws argument_error unless something can have such a budget.
inline void require_budget(double budget) {
  require(budget >= 0 && budget <= 1e30, "budget", budget, "not negative, and at most 1e30");
}

}  // namespace detail

/// sum over t in [0, updates) of lambda_t.
[[nodiscard]] inline double budget(const schedule& lambda, index updates) {
  return detail::sum(updates, [&](index t) { return lambda.value(t); });
}

/// sum over t in [0, updates) of lr_t lambda_t: what `lr_scaled` decay takes from the weights, to first order.
[[nodiscard]] inline double budget(const schedule& lambda, const schedule& learning_rate, index updates) {
  return detail::sum(updates, [&](index t) { return learning_rate.value(t) * lambda.value(t); });
}

/// The window of these ends whose level makes its values add up to `budget`.
/// Throws argument_error unless begin and end are finite, and the window holds an update or the budget is zero.
[[nodiscard]] inline window window_of_budget(double begin, double end, double budget) {
  detail::require_budget(budget);
  detail::require_interval(begin, end, 1e15);
  const double updates = std::ceil(end) - std::ceil(begin);
  require(updates > 0 || budget == 0, "end", end, "behind begin: an empty window has no budget");
  return {begin, end, updates > 0 ? budget / updates : 0};
}

/// The window from `begin` on whose level is `level` and whose values add up to `budget`. If no whole number of updates
/// does, it has the next larger number, and a level lower by as much.
/// Throws argument_error unless begin is whole and level positive, and the end is at most 1e15.
[[nodiscard]] inline window window_of_level(double begin, double level, double budget) {
  detail::require_budget(budget);
  detail::require_level("level", level);
  require(begin == std::floor(begin), "begin", begin, "a whole number");
  require(level > 0, "level", level, "positive");
  const double exact = budget / level, nearest = std::round(exact);
  const bool whole = std::abs(exact - nearest) <= 4 * std::numeric_limits<double>::epsilon() * exact;
  const double updates = whole ? nearest : std::ceil(exact);
  detail::require_interval(begin, begin + updates, 1e15);
  return {begin, begin + updates, whole ? level : budget / updates};
}

/// The schedule times the number that makes its values over [0, updates) add up to `budget`.
/// Throws argument_error if they are all zero.
[[nodiscard]] inline schedule scaled_to_budget(const schedule& lambda, index updates, double budget) {
  detail::require_budget(budget);
  const double sum = lindyn::schedule::budget(lambda, updates);
  require(sum > 0, "lambda", sum, "positive at some update: nothing makes zero add up to a budget");
  return constant{budget / sum} * lambda;
}

}  // namespace lindyn::schedule
