// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The shapes that schedules are made of: functions of the number of updates made so far.
///
/// Each has `value(t)`, `largest()`, a bound of its values, `edges()`, where it or its slope jumps, and `arguments()`, the numbers of its text form, from
/// which `of(arguments)` makes it again; `require_valid` throws argument_error naming what makes no sense.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>

namespace lindyn::schedule {

namespace detail {

/// Levels are learning rates and decay rates: no number below zero makes sense of either.
inline void require_level(std::string_view argument, double level) {
  require(level >= 0 && level <= 1e30, argument, level, "not negative, and at most 1e30");
}
/// Throws argument_error unless the interval has two ends in order; it may be empty and may have no end.
inline void require_interval(double begin, double end, double longest) {
  require(begin >= 0 && begin <= 1e15, "begin", begin, "in [0, 1e15]");
  require(end >= begin && end <= longest, "end", end,
          longest < std::numeric_limits<double>::infinity() ? "at least begin, and at most 1e15"
                                                            : "at least begin (inf: for ever)");
}

}  // namespace detail

/// The same level always.
struct constant {
  static constexpr std::string_view signature = "constant(level)";  ///< its text form
  double level = 0;                                                 ///< not negative

  /// Its value before update t.
  [[nodiscard]] double value(double) const noexcept { return level; }
  /// No value is larger.
  [[nodiscard]] double largest() const noexcept { return level; }
  /// None.
  [[nodiscard]] std::vector<double> edges() const { return {}; }
  /// The numbers of its text form.
  [[nodiscard]] std::vector<double> arguments() const { return {level}; }
  /// Of as many numbers as the signature has.
  [[nodiscard]] static constant of(std::span<const double> arguments) { return {arguments[0]}; }
  /// Throws argument_error naming what makes no sense.
  void require_valid() const { detail::require_level("level", level); }
  /// Whether all members are equal.
  bool operator==(const constant&) const = default;
};

/// A level on the half-open interval [begin, end), zero elsewhere.
struct window {
  static constexpr std::string_view signature = "window(begin, end, level)";  ///< its text form
  double begin = 0;                                                           ///< its first update, from 0
  double end = std::numeric_limits<double>::infinity();                       ///< behind its last update; may be inf
  double level = 0;                                                           ///< not negative

  /// Its value before update t.
  [[nodiscard]] double value(double t) const noexcept { return t >= begin && t < end ? level : 0; }
  /// No value is larger.
  [[nodiscard]] double largest() const noexcept { return level; }
  /// Begin and end.
  [[nodiscard]] std::vector<double> edges() const { return {begin, end}; }
  /// The numbers of its text form.
  [[nodiscard]] std::vector<double> arguments() const { return {begin, end, level}; }
  /// Of as many numbers as the signature has.
  [[nodiscard]] static window of(std::span<const double> arguments) {
    return {arguments[0], arguments[1], arguments[2]};
  }
  /// Throws argument_error naming what makes no sense.
  void require_valid() const {
    detail::require_interval(begin, end, std::numeric_limits<double>::infinity());
    detail::require_level("level", level);
  }
  /// Whether all members are equal.
  bool operator==(const window&) const = default;
};

/// A level from some time on, or at that time.
struct point {
  double t = 0;      ///< updates made before
  double level = 0;  ///< not negative
  /// Whether both are equal.
  bool operator==(const point&) const = default;
};

namespace detail {

/// The times of all points.
[[nodiscard]] inline std::vector<double> times(const std::vector<point>& points) {
  std::vector<double> result;
  for (const point& each : points) result.push_back(each.t);
  return result;
}

/// t, level, t, level, ..
[[nodiscard]] inline std::vector<point> points_from(std::span<const double> arguments) {
  std::vector<point> result;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) result.push_back({arguments[i], arguments[i + 1]});
  return result;
}

/// Throws argument_error unless the points stand at growing times and have levels that make sense.
inline void require_points(const std::string& name, const std::vector<point>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string which = name + "[" + std::to_string(i) + "]";
    require(points[i].t >= 0 && points[i].t <= 1e15, which + ".t", points[i].t, "in [0, 1e15]");
    require(i == 0 || points[i].t > points[i - 1].t, which + ".t", points[i].t, "later than the one before");
    require_level(which + ".level", points[i].level);
  }
}

}  // namespace detail

/// Piecewise constant: a level at the start, and another from each change on.
struct steps {
  static constexpr std::string_view signature = "steps(level, t, level, ..)";  ///< its text form
  double level = 0;                                                            ///< before the first change
  std::vector<point> changes = {};                                             ///< at growing times

  /// Its value before update t.
  [[nodiscard]] double value(double t) const noexcept {
    const auto next = std::ranges::upper_bound(changes, t, {}, &point::t);
    return next == changes.begin() ? level : std::prev(next)->level;
  }
  /// No value is larger.
  [[nodiscard]] double largest() const noexcept {
    return changes.empty() ? level : std::max(level, std::ranges::max(changes, {}, &point::level).level);
  }
  /// The times of the changes.
  [[nodiscard]] std::vector<double> edges() const { return detail::times(changes); }
  /// The numbers of its text form.
  [[nodiscard]] std::vector<double> arguments() const {
    std::vector<double> result{level};
    for (const point& change : changes) result.insert(result.end(), {change.t, change.level});
    return result;
  }
  /// Of an odd number of numbers.
  [[nodiscard]] static steps of(std::span<const double> arguments) {
    return {arguments[0], detail::points_from(arguments.subspan(1))};
  }
  /// Throws argument_error naming what makes no sense.
  void require_valid() const {
    detail::require_level("level", level);
    detail::require_points("changes", changes);
  }
  /// Whether all members are equal.
  bool operator==(const steps&) const = default;
};

/// Piecewise linear: straight from point to point, and level before the first and behind the last.
struct linear {
  static constexpr std::string_view signature = "linear(t, level, t, level, ..)";  ///< its text form
  std::vector<point> points = {};                                                  ///< at least one, at growing times

  /// Its value before update t.
  [[nodiscard]] double value(double t) const noexcept {
    const auto next = std::ranges::upper_bound(points, t, {}, &point::t);
    if (next == points.begin()) return points.front().level;
    const auto last = std::prev(next);
    return next == points.end() ? last->level
                                : std::lerp(last->level, next->level, (t - last->t) / (next->t - last->t));
  }
  /// No value is larger.
  [[nodiscard]] double largest() const noexcept { return std::ranges::max(points, {}, &point::level).level; }
  /// The times of the points.
  [[nodiscard]] std::vector<double> edges() const { return detail::times(points); }
  /// The numbers of its text form.
  [[nodiscard]] std::vector<double> arguments() const {
    std::vector<double> result;
    for (const point& each : points) result.insert(result.end(), {each.t, each.level});
    return result;
  }
  /// Of an even number of numbers, at least two.
  [[nodiscard]] static linear of(std::span<const double> arguments) { return {detail::points_from(arguments)}; }
  /// Throws argument_error naming what makes no sense.
  void require_valid() const {
    require(!points.empty(), "points.size()", points.size(), "at least 1");
    detail::require_points("points", points);
  }
  /// Whether all members are equal.
  bool operator==(const linear&) const = default;
};

/// Half a period of a cosine from one level to another, level before and behind it:
/// from + (to - from) (1 - cos(pi x)) / 2 with x = (t - begin) / (end - begin)
/// (Loshchilov and Hutter, "SGDR", ICLR 2017, equation 5, without restarts).
struct cosine {
  static constexpr std::string_view signature = "cosine(begin, end, from, to)";  ///< its text form
  double begin = 0;                                                              ///< where it leaves `from`
  double end = 0;                                                                ///< where it reaches `to`
  double from = 0;                                                               ///< not negative
  double to = 0;                                                                 ///< not negative

  /// Its value before update t.
  [[nodiscard]] double value(double t) const noexcept {
    if (t >= end) return to;
    if (t <= begin) return from;
    return std::lerp(from, to, (1 - std::cos(std::numbers::pi * (t - begin) / (end - begin))) / 2);
  }
  /// No value is larger.
  [[nodiscard]] double largest() const noexcept { return std::max(from, to); }
  /// Begin and end.
  [[nodiscard]] std::vector<double> edges() const { return {begin, end}; }
  /// The numbers of its text form.
  [[nodiscard]] std::vector<double> arguments() const { return {begin, end, from, to}; }
  /// Of as many numbers as the signature has.
  [[nodiscard]] static cosine of(std::span<const double> arguments) {
    return {arguments[0], arguments[1], arguments[2], arguments[3]};
  }
  /// Throws argument_error naming what makes no sense.
  void require_valid() const {
    detail::require_interval(begin, end, 1e15);
    detail::require_level("from", from);
    detail::require_level("to", to);
  }
  /// Whether all members are equal.
  bool operator==(const cosine&) const = default;
};

/// Rises to 1 by equal amounts: (t + 1) / updates up to update `updates` - 1, so that the first update isn't wasted, and
/// 1 from there on. A factor of other schedules.
struct warmup {
  static constexpr std::string_view signature = "warmup(updates)";  ///< its text form
  double updates = 0;                                               ///< at most 1: none

  /// Its value before update t.
  [[nodiscard]] double value(double t) const noexcept { return t + 1 < updates ? (t + 1) / updates : 1; }
  /// No value is larger.
  [[nodiscard]] double largest() const noexcept { return 1; }
  /// Where 1 is reached.
  [[nodiscard]] std::vector<double> edges() const { return {updates - 1}; }
  /// The numbers of its text form.
  [[nodiscard]] std::vector<double> arguments() const { return {updates}; }
  /// Of as many numbers as the signature has.
  [[nodiscard]] static warmup of(std::span<const double> arguments) { return {arguments[0]}; }
  /// Throws argument_error naming what makes no sense.
  void require_valid() const { require(updates >= 0 && updates <= 1e15, "updates", updates, "in [0, 1e15]"); }
  /// Whether all members are equal.
  bool operator==(const warmup&) const = default;
};

}  // namespace lindyn::schedule
