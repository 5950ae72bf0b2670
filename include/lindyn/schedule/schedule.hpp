// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A schedule: a learning rate, a decay rate or the like as a function of the number of updates made so far.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/schedule/shapes.hpp>

namespace lindyn::schedule {

/// Any of the shapes.
using shape = std::variant<constant, window, steps, linear, cosine, warmup>;

/// One of the alternatives of `shape`.
template <class S>
concept a_shape = requires {
  S::signature;
  std::get<S>(std::declval<shape>());
};

/// A sum of products of shapes, as a value: copied, compared, written as a text and read again (text.hpp).
///
///     schedule::schedule decay = schedule::window{.begin = 5000, .end = 10000, .level = 4e-3};
///     const auto rate = schedule::warmup{100} * schedule::cosine{.end = 20000, .from = 3e-3, .to = 3e-5};
///     const auto twice = schedule::window{0, 2000, 0.01} + schedule::window{8000, 10000, 0.01};
///     rate.value(0);  // before the first update: 3e-5
///
/// Time t is the number of updates made so far: t = 0 is the first update, and a window [t1, t2) acts on the updates t1
/// to t2 - 1. Between whole numbers schedules are defined as well, for integrators.
class schedule {
public:
  /// Shapes that multiply one another.
  using product = std::vector<shape>;

  /// Zero always.
  schedule() : schedule(constant{}) {}
  /// The same level always. Throws argument_error, as the next does.
  schedule(double level) : schedule(constant{level}) {}
  /// One shape. Throws argument_error naming what makes no sense in it.
  template <a_shape Shape>
  schedule(Shape one) : terms_{{shape(std::move(one))}} {
    std::get<Shape>(terms_.front().front()).require_valid();
  }

  /// The value before update t, which needn't be a whole number.
  [[nodiscard]] double value(double t) const noexcept {
    return sum_of_products([t](const auto& one) { return one.value(t); });
  }
  /// The same for a whole number.
  [[nodiscard]] double value(std::integral auto t) const noexcept { return value(static_cast<double>(t)); }

  /// No value is larger; at most 1e30.
  [[nodiscard]] double largest() const noexcept {
    return sum_of_products([](const auto& one) { return one.largest(); });
  }

  /// Where the value or its slope may jump, in order, after 0: where an integrator has to land.
  [[nodiscard]] std::vector<double> edges() const {
    std::vector<double> result;
    for (const product& term : terms_)
      for (const shape& factor : term)
        for (const double edge : std::visit([](const auto& one) { return one.edges(); }, factor))
          if (edge > 0 && std::isfinite(edge)) result.push_back(edge);
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  /// The products whose sum it is; at least one, each of at least one shape.
  [[nodiscard]] const std::vector<product>& terms() const noexcept { return terms_; }

  /// Whether both are made of the same shapes in the same order.
  bool operator==(const schedule&) const = default;

  friend schedule operator+(schedule left, const schedule& right);
  friend schedule operator*(const schedule& left, const schedule& right);

private:
  template <class Of>
  [[nodiscard]] double sum_of_products(const Of& of) const noexcept {
    double sum = 0;
    for (const product& term : terms_) {
      double result = 1;
      for (const shape& factor : term) result *= std::visit(of, factor);
      sum += result;
    }
    return sum;
  }

  std::vector<product> terms_;
};

/// The sum of both, either of which may be a shape. Throws argument_error if it may exceed 1e30.
[[nodiscard]] inline schedule operator+(schedule left, const schedule& right) {
  left.terms_.insert(left.terms_.end(), right.terms_.begin(), right.terms_.end());
  detail::require_level("largest value of a sum", left.largest());
  return left;
}

/// The product of both, multiplied out; either may be a shape. Throws argument_error if it may exceed 1e30.
[[nodiscard]] inline schedule operator*(const schedule& left, const schedule& right) {
  schedule result;
  result.terms_.clear();
  for (const schedule::product& first : left.terms_)
    for (const schedule::product& second : right.terms_) {
      result.terms_.push_back(first);
      result.terms_.back().insert(result.terms_.back().end(), second.begin(), second.end());
    }
  detail::require_level("largest value of a product", result.largest());
  return result;
}

}  // namespace lindyn::schedule
