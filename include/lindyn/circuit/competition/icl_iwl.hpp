// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// In-context learning against in-weights learning: which is first, and what a model can do in the end. By Boost.Odeint.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include <lindyn/circuit/competition/competition_circuit.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/integrate/flow.hpp>

namespace lindyn::circuit {

/// Options of competition_flow and predict. Time is that of gradient flow in the circuit's metric: in the Gram metric
/// t = steps x learning rate of the full weights.
struct competition_options {
  competition_coordinates start{};      ///< (alpha, beta, gamma, delta) at t = 0
  double until = 1e4;                   ///< end of the flow, finite
  double tolerance = 1e-8;              ///< absolute and relative error of a step, in (0, 0.1]
  std::vector<double> times = {};       ///< ascending times at which coordinates are wanted; not of predict
  std::int64_t max_steps = 10'000'000;  ///< accepted and rejected ones together, of each flow
};

/// What a network has learned, to give the answer a probability of 1/2 or more by that alone.
enum class learned {
  nothing,     ///< neither
  in_weights,  ///< IWL: the partner of an item that the context doesn't hold, p_delta >= 1/2
  in_context,  ///< ICL: the label of an item without partner, a cross-entropy of rare queries of ln 2 or less
  both         ///< each
};

/// What is to come of a competition.
struct competition_prediction {
  std::optional<double> icl_time;    ///< first time at which rare queries are answered; none if not until the end
  std::optional<double> iwl_time;    ///< first time at which p_delta >= 1/2; likewise
  competition_coordinates end{};     ///< coordinates at the end
  query_losses losses{};             ///< of each kind of query, there
  double loss = 0;                   ///< their mean, there
  learned knows = learned::nothing;  ///< what it knows there
  std::int64_t evaluations = 0;      ///< of the gradient

  /// Which came first, in_weights or in_context; nothing if neither came.
  [[nodiscard]] learned first() const noexcept {
    if (!icl_time && !iwl_time) return learned::nothing;
    constexpr double never = std::numeric_limits<double>::infinity();
    return icl_time.value_or(never) <= iwl_time.value_or(never) ? learned::in_context : learned::in_weights;
  }
};

namespace detail {

/// Flow until `event(values, coordinates)` is at or below 0, if it is ever.
template <competition_circuit Circuit, class Event>
[[nodiscard]] integrate::flow_result competition_flow(Circuit& circuit, const competition_options& options,
                                                      std::optional<double> level, Event&& event) {
  require(options.tolerance > 0 && options.tolerance <= 0.1, "tolerance", options.tolerance,
          "in (0, 0.1]: coordinates are of order 1");
  require(std::isfinite(options.until), "until", options.until, "finite");
  const metric lengths = circuit.metric();
  const auto velocity = [&](const integrate::state& c, integrate::state& dcdt, double) {
    if (!std::ranges::all_of(c, [](double entry) { return std::isfinite(entry); })) {
      std::ranges::fill(dcdt, std::numeric_limits<double>::quiet_NaN());  // the solver takes such a step back
      return dcdt[0];
    }
    const competition_values values = circuit.evaluate(c);
    dcdt[0] = -values.gradient[0] / lengths.position;
    for (std::size_t i = 1; i < 4; ++i) dcdt[i] = -values.gradient[i] / lengths.token;
    return event(values, c);
  };
  return integrate::flow(velocity, {options.start.begin(), options.start.end()}, 0.0, options.until,
                         {.tolerance = options.tolerance,
                          .max_steps = options.max_steps,
                          .stop_at = level,
                          .sample_times = options.times});
}

}  // namespace detail

/// Gradient flow of a competition, competition_head or relational_competition, in its metric, delta being of a token's
/// length. The result's `value` is the loss at the end, `samples` are the coordinates at `times`.
/// Throws argument_error for bad options, solver_error when the flow can't go on.
template <competition_circuit Circuit>
[[nodiscard]] integrate::flow_result competition_flow(Circuit&& circuit, const competition_options& options) {
  return detail::competition_flow(circuit, options, {},
                                  [](const competition_values& values, const auto&) { return values.loss; });
}

/// What a competition comes to, from its gradient flow: when either was learned, and what is known at `until`.
///
///     relational_competition exact({.pairs = 4, .vocabulary = 16, .queries = {.rare = 0.2, .within_class = 0.1}});
///     predict(exact, {.until = 2000}).first()  // learned::in_weights
///
/// Both are judged by what they can do without the other, as probes of trained networks are. Throws as competition_flow.
template <competition_circuit Circuit>
[[nodiscard]] competition_prediction predict(Circuit&& circuit, const competition_options& options) {
  require(options.times.empty(), "times", "a list", "empty: a prediction has no samples");
  const double known = std::log(circuit.vocabulary() - 1.0);  // p_delta = 1/2
  const auto icl_left = [](const competition_values& values) { return values.losses.rare - std::numbers::ln2; };
  competition_prediction result;
  competition_options leg = options;
  double passed = 0;
  for (;;) {
    const bool icl = !result.icl_time, iwl = !result.iwl_time;
    leg.until = options.until - passed;
    const auto flow =
        detail::competition_flow(circuit, leg, icl || iwl ? std::optional(0.0) : std::nullopt,
                                 [&](const competition_values& values, const auto& c) {
                                   constexpr double never = std::numeric_limits<double>::max();
                                   return std::min(icl ? icl_left(values) : never, iwl ? known - c[3] : never);
                                 });
    std::ranges::copy(flow.state, leg.start.begin());
    result.evaluations += flow.evaluations;
    passed = std::min(passed + flow.t, options.until);  // rounding must not take it beyond
    if (flow.status == integrate::flow_status::reached_end) break;
    const double icl_rest = icl_left(circuit.evaluate(leg.start)), iwl_rest = known - leg.start[3];
    // The event is located to rounding: it is that of which less is left.
    (icl && (!iwl || icl_rest <= iwl_rest) ? result.icl_time : result.iwl_time) = passed;
  }
  const competition_values end = circuit.evaluate(leg.start);
  const bool in_context = icl_left(end) <= 0, in_weights = leg.start[3] >= known;
  result.end = leg.start;
  result.losses = end.losses;
  result.loss = end.loss;
  result.knows = in_context ? (in_weights ? learned::both : learned::in_context)
                            : (in_weights ? learned::in_weights : learned::nothing);
  return result;
}

}  // namespace lindyn::circuit
