// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// When decay has to act for reasoning to win: windows predicted by each system.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <boost/math/tools/toms748_solve.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/rates/closed_forms.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/rates/rest_states.hpp>
#include <lindyn/rates/window_protocol.hpp>

namespace lindyn::rates {

/// Onsets of decay from one to another, as times or as updates.
struct onset_interval {
  double begin = 0;  ///< t1
  double end = 0;    ///< t2
};

/// [ln(1/delta) / mu_m, ln(1/delta) / mu_r] in the time of the rates: memorising has come within the share delta of its
/// capacity, reasoning hasn't. With the corrected rates it may be empty (t2 < t1): reasoning then isn't slower.
/// Source: Ali, arXiv 2605.04396. Throws argument_error unless rates are positive and finite, and delta in (0, 1).
[[nodiscard]] inline onset_interval printed_window(const growth& rates, double delta) {
  require_positive("rates.memorising", rates.memorising);
  require_positive("rates.reasoning", rates.reasoning);
  require(delta > 0 && delta < 1, "delta", delta, "in (0, 1)");
  return {-std::log(delta) / rates.memorising, -std::log(delta) / rates.reasoning};
}

/// The first time at which lasting decay may begin without extinguishing reasoning, p equal factors being x0 at t = 0 and m
/// being 0; 0 if it may begin at once; none if it may not begin at any time, or if reasoning can't rest under it.
///
/// While there is no decay, the factors grow as factor_without_decay says, until all is learnt (m + r = 1). They have to
/// pass basin_edge of that decay, which rises with m: too early an onset finds them below it, where decay takes more from
/// them than the error, once it is small, gives. For p = 2 there is no edge to pass.
///
/// They pass it once, upwards, or never. With s = s_r / s_m, y = x^-(p-2) falls along the way without decay by (p - 2) s for
/// a unit of m, and on the edge by
/// \f[ -\frac{dy}{dm} = (p - 2) \, s \, \frac{e - \lambda y / s_r}{e - \lambda m / s_m} , \f]
/// where the fraction is less than 1: below the saddle both of its terms are positive and y > s m, above it both are
/// negative and y < s m. (Derived here.)
/// The time until they pass is integrated over l = -ln e, in which it is smooth to the end: without decay
/// e' = -(s_m + p s_r x^(2p-2)) e. Near the smallest x0 that passes it grows as the logarithm of what x0 is above that, and
/// x0 matters to the accuracy of basin_edge, a share of some 1e-10.
/// Throws argument_error as basin_edge, and unless x0 is positive and finite.
template <int Factors>
requires(Factors >= 2)
    [[nodiscard]] inline std::optional<double> critical_onset(const slopes& slopes, double x0, double lambda) {
  require_positive("x0", x0);
  const auto factor = [&](double m) { return factor_without_decay(slopes, Factors, x0, m); };
  const auto at_start = basin_edge<Factors>(slopes, lambda, 0);
  if (!at_start) return std::nullopt;
  if (*at_start <= x0) return 0.0;
  if (x0 >= 1) return std::nullopt;  // all is learnt already: factors don't grow
  const auto root = [](const auto& of, double high) {
    std::uintmax_t iterations = 200;
    const auto [below, above] =
        boost::math::tools::toms748_solve(of, 0.0, high, boost::math::tools::eps_tolerance<double>(), iterations);
    return std::midpoint(below, above);
  };
  const double end = root([&](double m) { return m + std::min(detail::power(factor(m), Factors), 2.0) - 1; }, 1.0);
  const auto ahead = [&](double m) { return factor(m) - *basin_edge<Factors>(slopes, lambda, m); };
  if (!(ahead(end) > 0)) return std::nullopt;
  const double passed = root(ahead, end);
  const double error_left = 1 - passed - detail::power(factor(passed), Factors);
  if (!(error_left > 0)) return std::nullopt;  // only where all is learnt, to rounding: after no finite time
  const auto way = [&](const integrate::state& at, integrate::state& derivatives, double l) {
    const double others = detail::power(at[1], Factors - 1);
    const double rate = slopes.memorising + Factors * slopes.reasoning * others * others;
    derivatives[0] = slopes.memorising / rate;  // in units of 1 / s_m
    derivatives[1] = slopes.reasoning * std::exp(-l) * others / rate;
  };
  const double first = -std::log1p(-detail::power(x0, Factors)), last = -std::log(error_left);
  return integrate::flow(way, {0, x0}, first, last, {.tolerance = 1e-10}).state[0] / slopes.memorising;
}

/// The time that lasting decay needs from `start` until the share of reasoning is `share`; none if it isn't by then.
/// \param system  the masses' equations
/// \param start   the state when decay begins
/// \param lambda  decay per unit of time
/// \param until   when to give up, finite
/// \param share   in (0, 1)
/// Throws argument_error for a share outside of (0, 1), for another `until`, and where m + r isn't positive; as flow.
template <rate_system System>
[[nodiscard]] std::optional<double> takeover_time(const System& system, std::vector<double> start, double lambda,
                                                  double until, double share = 0.5) {
  require(share > 0 && share < 1, "share", share, "in (0, 1)");
  require_not_negative("until", until);
  const auto end = flow(system, std::move(start), decay_course(lambda), {.until = until, .stop_at_share = share});
  if (end.status == integrate::flow_status::reached_end) return std::nullopt;
  return end.t;
}

/// Options of decisive_onsets.
struct decisive_onset_options {
  double share = 0.5;                 ///< what the share of reasoning has to be at the training's end, in (0, 1)
  int candidates = 64;                ///< onsets tried at equal distances before the ends are looked for, in [2, 1e6]
  double resolution = 1;              ///< of the ends, in updates
  double tolerance = 1e-8;            ///< relative error of a step
  double absolute_tolerance = 1e-15;  ///< absolute error of a step, see flow_options
};

/// The onsets, in updates, at which the window of a protocol makes reasoning win; from the first to the last, as found among
/// candidates from 0 to the training's end and narrowed down to the resolution. None if none does.
/// \param system    the masses' equations
/// \param start     their state at t = 0
/// \param protocol  all but the onset
/// \param options   see decisive_onset_options
/// Throws argument_error for options out of range; as train_under.
template <rate_system System>
[[nodiscard]] std::optional<onset_interval> decisive_onsets(const System& system, const std::vector<double>& start,
                                                            window_protocol protocol,
                                                            const decisive_onset_options& options = {}) {
  require(options.share > 0 && options.share < 1, "share", options.share, "in (0, 1)");
  require(options.candidates >= 2 && options.candidates <= 1'000'000, "candidates", options.candidates, "in [2, 1e6]");
  require(options.resolution > 0, "resolution", options.resolution, "positive");
  const auto wins = [&](double onset) {
    protocol.onset = onset;
    const auto end = train_under(system, start, protocol,
                                 {.tolerance = options.tolerance, .absolute_tolerance = options.absolute_tolerance});
    return reasoning_share(system, end.state) >= options.share;
  };
  std::optional<index> first, last;
  const auto candidate = [&](index i) {
    return protocol.updates * static_cast<double>(i) / static_cast<double>(options.candidates - 1);
  };
  for (index i = 0; i < options.candidates; ++i)
    if (wins(candidate(i))) {
      if (!first) first = i;
      last = i;
    }
  if (!first) return std::nullopt;
  const auto narrow = [&](double winning, double losing) {
    while (std::abs(winning - losing) > options.resolution) {
      const double middle = std::midpoint(winning, losing);
      if (middle == winning || middle == losing) break;  // no number lies between them
      (wins(middle) ? winning : losing) = middle;
    }
    return winning;
  };
  onset_interval result{candidate(*first), candidate(*last)};
  if (*first > 0) result.begin = narrow(result.begin, candidate(*first - 1));
  if (*last + 1 < options.candidates) result.end = narrow(result.end, candidate(*last + 1));
  return result;
}

}  // namespace lindyn::rates
