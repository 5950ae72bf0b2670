// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The loop of all flows around a method that takes steps: segments between jumps, events, samples, finiteness, bounds.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/tools/toms748_solve.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/integrate/flow_options.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate::detail {

/// f as steppers call it: counts, remembers the last call, and never goes beyond `latest`.
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

/// What is allowed as the error of a coordinate of value x: a + r |x|.
struct tolerances {
  double absolute, relative;

  explicit tolerances(const flow_options& options)
      : absolute(options.absolute_tolerance.value_or(options.tolerance)), relative(options.tolerance) {}

  double operator()(double x) const noexcept { return absolute + relative * std::abs(x); }
};

inline bool all_finite(const state& x) {
  return std::ranges::all_of(x, [](double entry) { return std::isfinite(entry); });
}

/// One step: from x with derivative `slope` at time t, the last accepted point, to the point that it tries.
struct step_points {
  double t = 0;
  state x, slope, next_x, next_slope;
};

/// A one-step method with error control and dense output. The members are told f and a step; `order` is that of the
/// error of one step. f is evaluated at the step's end, next_x, last of all or not at all.
template <class S>
concept stepper = requires(S& method, watched_system& f, step_points& step, double& dt, double h, state& result) {
  { S::order } -> std::convertible_to<int>;
  { method.restart() } -> std::same_as<void>;              // what comes continues nothing
  { method.begin(f, step, h) } -> std::same_as<void>;      // a new x, whence a step of size h is tried first
  { method.try_step(f, step, dt) } -> std::same_as<bool>;  // if the step is accepted; dt becomes what to try next
  { method.do_step(f, step, h) } -> std::same_as<void>;    // a step of size h from the same x, without control
  { method.interpolate(step, h, h, result) } -> std::same_as<void>;  // at t + h within the last step; its size follows
  { method.jacobians() } -> std::same_as<std::int64_t>;              // evaluated so far
};

/// One integration; `value` is what f returned at t, the names with `next` belong to the end of the step under way.
template <stepper Stepper>
class flow_run {
public:
  flow_run(system_ref f, state start, double from, double until, const flow_options& options, Stepper stepper)
      : options_(options),
        until_(until),
        stepper_(std::move(stepper)),
        f_{.f = f},
        jumps_(options.discontinuities),
        step_{from, std::move(start), {}, {}, {}} {
    require_valid(step_.x, from, until, options);
    for (state* each : {&step_.slope, &step_.next_x, &step_.next_slope, &probe_, &probe_slope_})
      each->resize(step_.x.size());
    std::ranges::sort(jumps_);
  }

  flow_result operator()() {
    do {
      const auto jump = std::ranges::upper_bound(jumps_, step_.t);
      const bool to_jump = jump != jumps_.end() && *jump <= until_;
      const double end = to_jump ? *jump : until_;
      f_.latest = to_jump ? std::nextafter(end, step_.t) : end;
      start_segment();
      if (met(value_)) return result(flow_status::event);
      if (step_.t < end && advance(end)) return result(flow_status::event);
    } while (step_.t < until_);
    return result(flow_status::reached_end);
  }

private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw solver_error(reason + " at t = " + lindyn::detail::to_text(step_.t) + " after " +
                       std::to_string(steps_ + rejected_) + " steps");
  }

  [[nodiscard]] bool met(double value) const { return options_.stop_at && value <= *options_.stop_at; }

  /// Evaluates f at the current point, which its right limit is at a jump.
  void start_segment() {
    f_(step_.x, step_.slope, step_.t);
    value_ = f_.last_value;
    require_extent("dxdt.size()", step_.slope.size(), step_.x.size());
    if (!all_finite(step_.slope)) fail("the right-hand side is not finite");
    if (options_.stop_at && std::isnan(value_)) fail("stop_at is given, but the system returned no value");
    if (!started_) sample(step_.t), observe();
    started_ = true;
  }

  /// Steps from t to `end`; true if the level was met before, and then t is the time at which it was.
  bool advance(double end) {
    double dt = options_.initial_step > 0 ? options_.initial_step : starting_step();
    bool at_new_point = true;
    stepper_.restart();
    while (step_.t < end) {
      dt = std::min(dt, options_.largest_step);
      // A step that nearly reaches the end is stretched to it, lest a sliver remain (Hairer's code does the same).
      const double reach = step_.t + 1.01 * dt;
      if (std::isinf(end) && std::isinf(reach)) fail("the level of stop_at was not met");
      const bool last = reach >= end;
      if (last) dt = end - step_.t;
      if (!last && dt <= 4 * std::numeric_limits<double>::epsilon() * std::abs(step_.t))
        fail("the step size fell below the resolution of t");
      if (steps_ + rejected_ >= options_.max_steps) fail("max_steps were not enough");
      if (std::exchange(at_new_point, false)) stepper_.begin(f_, step_, dt);
      const double tried = dt;
      if (!take_step(dt)) {
        ++rejected_;
        continue;
      }
      ++steps_;
      next_t_ = last ? end : step_.t + tried;
      const bool event = met(next_value_);
      if (event) {
        next_t_ = step_.t + locate(tried);
        next_value_ = *options_.stop_at;
      }
      sample(next_t_);
      std::swap(step_.x, step_.next_x);
      std::swap(step_.slope, step_.next_slope);
      step_.t = next_t_;
      value_ = next_value_;
      observe();
      if (event) return true;
      at_new_point = true;
    }
    return false;
  }

  /// Tries one step of size dt, and replaces dt by what to try next. False if the step is rejected.
  bool take_step(double& dt) {
    const double tried = dt;
    if (!stepper_.try_step(f_, step_, dt)) return false;
    evaluate_end(tried);
    next_value_ = f_.last_value;
    // The steppers' maximum norms ignore NaN, which is therefore a rejection here.
    if (all_finite(step_.next_x) && all_finite(step_.next_slope) && !(options_.stop_at && std::isnan(next_value_)))
      return true;
    stepper_.restart();  // it has taken the step for accepted, so that the next would be told to continue it
    dt = tried / 10;
    return false;
  }

  /// f at the end of a step of that size, unless the stepper has just been there: then its value is known.
  void evaluate_end(double dt) {
    if (f_.last_state != &step_.next_x || f_.last_time != step_.t + dt)
      f_(step_.next_x, step_.next_slope, step_.t + dt);
  }

  /// How long after t, and within the step of size `length` just accepted, the level is met. Leaves the state there in
  /// next_x. The root on the interpolant comes first, since it costs one evaluation an iteration; steps of its length
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
      f_(probe_, probe_slope_, step_.t + h);
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
        for (std::size_t i = 0; i < step_.next_x.size(); ++i) step_.next_x[i] += shift * step_.next_slope[i];
        if (!all_finite(step_.next_x)) fail("no finite state meets the level of stop_at in the step");
        return h;
      }
      stepper_.do_step(f_, step_, h);
      evaluate_end(h);
      add(h);
      (latest.excess > 0 ? low : high) = h;
      // The first step's neighbour lies on the interpolant, another curve.
      if (round > 0) slope = (latest.excess - before.excess) / (latest.h - before.h);
    }
  }

  /// The interpolant of the step of size `length` from t, at t + h.
  void interpolate(double h, double length) { stepper_.interpolate(step_, h, length, probe_); }

  /// Stores the samples that are due up to time `end`, the end of a step from t.
  void sample(double end) {
    for (const auto& times = options_.sample_times; sampled_ < times.size() && times[sampled_] <= end; ++sampled_) {
      const double due = times[sampled_];
      if (due > step_.t && due < end) interpolate(due - step_.t, end - step_.t);
      const state& source = due == step_.t ? step_.x : due == end ? step_.next_x : probe_;
      samples_.insert(samples_.end(), source.begin(), source.end());
    }
  }

  void observe() const {
    if (options_.observer) options_.observer({step_.t, step_.x, value_});
  }

  /// A first step of sensible size, from one evaluation a short Euler step away: s = |x'| and b = |x''| in units of the
  /// tolerance give the time T = s / b in which the slope changes and the error, s T (h / T)^order, of a step h. As in
  /// Hairer, Norsett, Wanner I, section II.4, but without a unit of time, which learning rates make arbitrary.
  double starting_step() {
    const tolerances allowed(options_);
    const auto norm = [&](auto entry) {
      double largest = 0;
      for (std::size_t i = 0; i < step_.x.size(); ++i)
        largest = std::max(largest, std::abs(entry(i)) / allowed(step_.x[i]));
      return largest;
    };
    const double size = norm([&](std::size_t i) { return step_.x[i]; });
    const double speed = norm([&](std::size_t i) { return step_.slope[i]; });
    if (speed == 0) return 1e-6;  // a fixed point: nothing is known, and steps grow fast
    const double euler = std::min(until_ - step_.t, std::max(1.0, 0.01 * size) / speed);
    for (std::size_t i = 0; i < step_.x.size(); ++i) probe_[i] = step_.x[i] + euler * step_.slope[i];
    f_(probe_, probe_slope_, step_.t + euler);
    const double bend = norm([&](std::size_t i) { return probe_slope_[i] - step_.slope[i]; }) / euler;
    if (!std::isfinite(bend)) return euler;
    const double one_percent = 0.01 / (options_.tolerance * speed);  // of |x|, or of the scale on which it counts as 0
    if (bend == 0) return one_percent;
    const double time = speed / bend;
    return std::min(one_percent, time * std::min(1.0, std::pow(speed * time, -1.0 / Stepper::order)));
  }

  flow_result result(flow_status status) {
    return {.status = status,
            .t = step_.t,
            .state = std::move(step_.x),
            .value = value_,
            .steps = steps_,
            .rejected = rejected_,
            .evaluations = f_.evaluations,
            .jacobians = stepper_.jacobians(),
            .samples = std::move(samples_)};
  }

  const flow_options& options_;
  double until_;
  Stepper stepper_;
  watched_system f_;
  std::vector<double> jumps_;
  step_points step_;
  double next_t_ = 0, value_ = 0, next_value_ = 0;
  state probe_, probe_slope_;
  std::int64_t steps_ = 0, rejected_ = 0;
  std::size_t sampled_ = 0;
  std::vector<double> samples_;
  bool started_ = false;
};

}  // namespace lindyn::integrate::detail
