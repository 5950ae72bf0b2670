// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a flow is asked for and what it answers, apart from the integrator.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate {

/// A point of a flow, as told to an observer; the state lives until the observer returns.
struct flow_point {
  double t = 0;                   ///< the time
  std::span<const double> state;  ///< x there
  double value = 0;               ///< what f returned there, NaN if it returns nothing
};

/// How to integrate, where to stop and what to tell.
struct flow_options {
  /// Largest error of one step of size h, for each coordinate with a the absolute tolerance:
  /// \f$a + \text{tolerance} \, (|x| + h |\dot x|)\f$.
  double tolerance = 1e-6;
  std::optional<double> absolute_tolerance = {};                  ///< as `tolerance` if absent
  double initial_step = 0;                                        ///< 0: chosen from f, which costs one evaluation
  double largest_step = std::numeric_limits<double>::infinity();  ///< bounds every step
  std::int64_t max_steps = 1'000'000;                             ///< accepted and rejected ones together
  /// Times at which f jumps, in any order; those outside the interval are ignored. Steps end there, f is taken to be
  /// continuous from the right and never evaluated at a jump before the integration has passed it.
  std::vector<double> discontinuities = {};
  /// Stop at the first time at which the value that f returns is at or below this level. It is looked at where steps
  /// end: a value that falls below and rises again within one step is not seen (`largest_step` bounds that).
  std::optional<double> stop_at = {};
  std::vector<double> sample_times = {};                 ///< ascending, within the interval
  std::function<void(const flow_point&)> observer = {};  ///< told the start and the end of every accepted step
};

/// Why a flow stopped.
enum class flow_status {
  reached_end,  ///< t = `until`
  event         ///< the level of stop_at was met
};

/// Where a flow stopped, and what it cost.
struct flow_result {
  flow_status status = flow_status::reached_end;  ///< why it stopped
  double t = 0;                                   ///< `until`, or the time of the event
  std::vector<double> state;                      ///< at t
  double value = 0;           ///< what f returned at t (the level, if that stopped the flow); NaN if f returns nothing
  std::int64_t steps = 0;     ///< accepted
  std::int64_t rejected = 0;  ///< steps tried in vain
  std::int64_t evaluations = 0;  ///< of f
  std::int64_t jacobians = 0;    ///< evaluated; explicit methods need none
  std::vector<double> samples;   ///< row-major: the states at those sample_times that are <= t

  /// The samples as a matrix: rows are times, columns coordinates.
  [[nodiscard]] matrix_view<const double> sampled() const noexcept {
    const auto columns = static_cast<index>(state.size());
    return {samples.data(), columns == 0 ? 0 : static_cast<index>(samples.size()) / columns, columns};
  }
};

/// Throws argument_error, or one derived from it, unless a flow over [from, until] can begin with these options.
inline void require_valid(const state& start, double from, double until, const flow_options& options) {
  require_positive("tolerance", options.tolerance);
  require_positive("absolute_tolerance", options.absolute_tolerance.value_or(options.tolerance));
  require(options.initial_step >= 0 && std::isfinite(options.initial_step), "initial_step", options.initial_step,
          "positive and finite, or 0 to have it chosen");
  require(options.largest_step > 0, "largest_step", options.largest_step, "positive");
  require(options.max_steps >= 1, "max_steps", options.max_steps, "at least 1");
  require(!options.stop_at || std::isfinite(*options.stop_at), "stop_at", options.stop_at.value_or(0), "finite");
  require(std::isfinite(from), "from", from, "finite");
  require(until >= from, "until", until, "at least the start, " + lindyn::detail::to_text(from));
  require(std::isfinite(until) || options.stop_at, "until", until, "finite unless stop_at is given");
  require(!start.empty(), "start.size()", start.size(), "at least 1");
  require_finite("start", start);
  require_finite("discontinuities", options.discontinuities);
  require_finite("sample_times", options.sample_times);
  if (const auto& times = options.sample_times; !times.empty()) {
    require(std::ranges::is_sorted(times), "sample_times", "an unsorted list", "ascending");
    require(times.front() >= from, "sample_times.front()", times.front(), "at least the start");
    require(times.back() <= until, "sample_times.back()", times.back(), "at most the end");
  }
}

}  // namespace lindyn::integrate
