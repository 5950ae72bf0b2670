// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Flows dx/dt = f(x, t): Boost.Odeint's Dormand-Prince steps of order 5 with error control and dense output, driven by
/// a loop of our own, as Odeint has no events, accepts NaN as a small error and evaluates f beyond a jump.
/// Source: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", 2nd edition, chapter II.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/step_adjuster.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate {

namespace detail {

/// f as Odeint calls it: counts, remembers the last call, and never goes beyond `latest`.
struct watched_system {
  system_ref f;
  double latest = 0;
  std::int64_t evaluations = 0;
  const state* last_state = nullptr;
  double last_time = 0;
  double last_value = 0;

  void operator()(const state& x, state& dxdt, double t) {
    last_value = f(x, dxdt, std::min(t, latest));
    last_state = &x;
    last_time = t;
    ++evaluations;
  }
};

inline bool all_finite(const state& x) {
  return std::ranges::all_of(x, [](double entry) { return std::isfinite(entry); });
}

/// One integration. `x` with derivative `slope` at time t, and `value` there, is the last accepted point; the names
/// with `next` belong to the end of the step under way.
class flow_run {
public:
  flow_run(system_ref f, state start, double from, double until, const flow_options& options)
      : options_(options),
        absolute_(options.absolute_tolerance.value_or(options.tolerance)),
        until_(until),
        stepper_(checker(absolute_, options.tolerance)),
        f_{.f = f},
        jumps_(options.discontinuities),
        t_(from),
        x_(std::move(start)),
        slope_(x_.size()),
        next_x_(x_.size()),
        next_slope_(x_.size()),
        probe_(x_.size()),
        probe_slope_(x_.size()) {
    require_valid(x_, from, until, options);
    std::ranges::sort(jumps_);
  }

  flow_result operator()() {
    do {
      const auto jump = std::ranges::upper_bound(jumps_, t_);
      const bool to_jump = jump != jumps_.end() && *jump <= until_;
      const double end = to_jump ? *jump : until_;
      f_.latest = to_jump ? std::nextafter(end, t_) : end;
      start_segment();
      if (met(value_)) return result(flow_status::event);
      if (t_ < end && advance(end)) return result(flow_status::event);
    } while (t_ < until_);
    return result(flow_status::reached_end);
  }

private:
  using dopri5 = boost::numeric::odeint::runge_kutta_dopri5<state>;
  using checker = boost::numeric::odeint::default_error_checker<double, dopri5::algebra_type, dopri5::operations_type>;
  using controlled = boost::numeric::odeint::controlled_runge_kutta<dopri5, checker, step_adjuster>;

  [[noreturn]] void fail(const std::string& reason) const {
    throw solver_error(reason + " at t = " + lindyn::detail::to_text(t_) + " after " +
                       std::to_string(steps_ + rejected_) + " steps");
  }

  [[nodiscard]] bool met(double value) const { return options_.stop_at && value <= *options_.stop_at; }

  /// Evaluates f at the current point, which its right limit is at a jump.
  void start_segment() {
    f_(x_, slope_, t_);
    value_ = f_.last_value;
    require_extent("dxdt.size()", slope_.size(), x_.size());
    if (!all_finite(slope_)) fail("the right-hand side is not finite");
    if (options_.stop_at && std::isnan(value_)) fail("stop_at is given, but the system returned no value");
    if (!started_) sample(t_), observe();
    started_ = true;
  }

  /// Steps from t to `end`; true if the level was met before, and then t is the time at which it was.
  bool advance(double end) {
    double dt = options_.initial_step > 0 ? options_.initial_step : starting_step();
    while (t_ < end) {
      dt = std::min(dt, options_.largest_step);
      // A step that nearly reaches the end is stretched to it, lest a sliver remain (Hairer's code does the same).
      const double reach = t_ + 1.01 * dt;
      if (std::isinf(end) && std::isinf(reach)) fail("the level of stop_at was not met");
      const bool last = reach >= end;
      if (last) dt = end - t_;
      if (!last && dt <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_))
        fail("the step size fell below the resolution of t");
      if (steps_ + rejected_ >= options_.max_steps) fail("max_steps were not enough");
      const double tried = dt;
      if (!step(dt)) {
        ++rejected_;
        continue;
      }
      ++steps_;
      next_t_ = last ? end : t_ + tried;
      const bool event = met(next_value_);
      if (event) {
        next_t_ = t_ + locate(tried);
        next_value_ = *options_.stop_at;
      }
      sample(next_t_);
      std::swap(x_, next_x_);
      std::swap(slope_, next_slope_);
      t_ = next_t_;
      value_ = next_value_;
      observe();
      if (event) return true;
    }
    return false;
  }

  /// Tries one step of size dt, and replaces dt by what to try next. False if the step is rejected.
  bool step(double& dt) {
    const double tried = dt;
    double next_t = t_;
    if (stepper_.try_step(std::ref(f_), x_, slope_, next_t, next_x_, next_slope_, dt) !=
        boost::numeric::odeint::success)
      return false;
    // Dormand-Prince ends an accepted step with f at its end, so that the value there is known without a further call.
    if (f_.last_state != &next_x_ || f_.last_time != next_t) f_(next_x_, next_slope_, next_t);
    next_value_ = f_.last_value;
    // Odeint's maximum norm ignores NaN, which is therefore a rejection here.
    if (all_finite(next_x_) && all_finite(next_slope_) && !(options_.stop_at && std::isnan(next_value_))) return true;
    dt = tried / 10;
    return false;
  }

  /// How long after t, and within the step of size `length` just accepted, the level is met. Leaves the state there in
  /// next_x_. The root on the interpolant comes first, since it costs one evaluation an iteration; steps of its length
  /// from t then make time and state as accurate as any step's end.
  double locate(double length) {
    struct point {
      double h, excess;
    };
    const double level = *options_.stop_at;
    // Nearer points give no slope but rounding errors, and within that distance the curve is straight to rounding.
    const double close = std::sqrt(std::numeric_limits<double>::epsilon()) * length;
    point before{0, value_ - level}, latest{length, next_value_ - level};
    const auto add = [&](double h) {
      if (std::abs(h - latest.h) > close) before = latest;
      latest = {h, f_.last_value - level};
    };
    const auto on_interpolant = [&](double h) {
      interpolate(h, length);
      f_(probe_, probe_slope_, t_ + h);
      add(h);
      return latest.excess;
    };
    const auto narrow = [&](double a, double b) { return b - a <= 1e-3 * length; };
    std::uintmax_t iterations = 50;
    boost::math::tools::toms748_solve(on_interpolant, 0.0, length, before.excess, latest.excess, narrow, iterations);
    double low = 0, high = length;
    double slope = (latest.excess - before.excess) / (latest.h - before.h);
    for (int round = 0;; ++round) {
      double h = latest.h - latest.excess / slope;
      if (!(h >= low && h <= high)) h = std::midpoint(low, high);
      const double shift = h - latest.h;
      if (round > 0 && (std::abs(shift) <= close || round == 60)) {
        for (std::size_t i = 0; i < next_x_.size(); ++i) next_x_[i] += shift * next_slope_[i];
        if (!all_finite(next_x_)) fail("no finite state meets the level of stop_at in the step");
        return h;
      }
      stepper_.stepper().do_step(std::ref(f_), x_, slope_, t_, next_x_, next_slope_, h);
      add(h);
      (latest.excess > 0 ? low : high) = h;
      // The first step's neighbour lies on the interpolant, another curve.
      if (round > 0) slope = (latest.excess - before.excess) / (latest.h - before.h);
    }
  }

  /// The interpolant of the step of size `length` from t, at t + h.
  void interpolate(double h, double length) {
    stepper_.stepper().calc_state(h, probe_, x_, slope_, 0.0, next_x_, next_slope_, length);
  }

  /// Stores the samples that are due up to time `end`, the end of a step from t.
  void sample(double end) {
    for (const auto& times = options_.sample_times; sampled_ < times.size() && times[sampled_] <= end; ++sampled_) {
      const double due = times[sampled_];
      if (due > t_ && due < end) interpolate(due - t_, end - t_);
      const state& source = due == t_ ? x_ : due == end ? next_x_ : probe_;
      samples_.insert(samples_.end(), source.begin(), source.end());
    }
  }

  void observe() const {
    if (options_.observer) options_.observer({t_, x_, value_});
  }

  /// A first step of sensible size, from one evaluation a short Euler step away: s = |x'| and b = |x''| in units of the
  /// tolerance give the time T = s / b in which the slope changes and the error, s T (h / T)^5, of a step h. As in
  /// Hairer, Norsett, Wanner I, section II.4, but without a unit of time, which learning rates make arbitrary.
  double starting_step() {
    const auto norm = [&](auto entry) {
      double largest = 0;
      for (std::size_t i = 0; i < x_.size(); ++i)
        largest = std::max(largest, std::abs(entry(i)) / (absolute_ + options_.tolerance * std::abs(x_[i])));
      return largest;
    };
    const double size = norm([&](std::size_t i) { return x_[i]; });
    const double speed = norm([&](std::size_t i) { return slope_[i]; });
    if (speed == 0) return 1e-6;  // a fixed point: nothing is known, and steps grow fast
    const double euler = std::min(until_ - t_, std::max(1.0, 0.01 * size) / speed);
    for (std::size_t i = 0; i < x_.size(); ++i) probe_[i] = x_[i] + euler * slope_[i];
    f_(probe_, probe_slope_, t_ + euler);
    const double bend = norm([&](std::size_t i) { return probe_slope_[i] - slope_[i]; }) / euler;
    if (!std::isfinite(bend)) return euler;
    const double one_percent = 0.01 / (options_.tolerance * speed);  // of |x|, or of the scale on which it counts as 0
    if (bend == 0) return one_percent;
    const double time = speed / bend;
    return std::min(one_percent, time * std::min(1.0, std::pow(speed * time, -0.2)));
  }

  flow_result result(flow_status status) {
    return {.status = status,
            .t = t_,
            .state = std::move(x_),
            .value = value_,
            .steps = steps_,
            .rejected = rejected_,
            .evaluations = f_.evaluations,
            .samples = std::move(samples_)};
  }

  const flow_options& options_;
  double absolute_, until_;
  controlled stepper_;
  watched_system f_;
  std::vector<double> jumps_;
  double t_, next_t_ = 0, value_ = 0, next_value_ = 0;
  state x_, slope_, next_x_, next_slope_, probe_, probe_slope_;
  std::int64_t steps_ = 0, rejected_ = 0;
  std::size_t sampled_ = 0;
  std::vector<double> samples_;
  bool started_ = false;
};

}  // namespace detail

/// Integrates \f$\dot x = f(x, t)\f$ from x = `start` at t = `from` to t = `until`, or to the event that
/// options.stop_at asks for, whichever is first. An event already met at the start is found there. `until` may be
/// infinite with stop_at.
///
/// \throws argument_error, or one derived from it, for options that make no sense, `until` before `from`, a start that
///         is empty or not finite
/// \throws solver_error, naming the time, if f is not finite, if max_steps don't suffice or if the step size falls
///         below the resolution of t. What f throws passes through.
[[nodiscard]] inline flow_result flow(system_ref f, std::vector<double> start, double from, double until,
                                      const flow_options& options = {}) {
  return detail::flow_run(f, std::move(start), from, until, options)();
}

}  // namespace lindyn::integrate
