// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A schedule of decay in the time of flows.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include <boost/math/quadrature/gauss.hpp>

#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/schedule/schedule.hpp>

namespace lindyn::rates {

/// How updates and their decay become the time of flows.
struct step_size {
  double learning_rate = 1;  ///< constant; time = learning rate x updates. With 1 time counts updates
  /// What the schedule's values mean. Per unit of time they are themselves for `lr_scaled` and for `coupled_l2` (which
  /// gradient descent doesn't tell apart), and 1 / learning_rate times themselves for `absolute` and for `ratio` (which
  /// agree at a constant learning rate).
  optimizer::decay_mode mode = optimizer::decay_mode::lr_scaled;

  /// The time after so many updates.
  [[nodiscard]] double time(double updates) const noexcept { return learning_rate * updates; }
  /// How many updates take this time.
  [[nodiscard]] double updates(double time) const noexcept { return time / learning_rate; }
};

/// A schedule of decay as a function of time: lambda(t), such that weights w obey w' = .. - lambda(t) w.
///
///     const rates::decay_course decay(schedule::window{5000, 10000, 4e-3}, {.learning_rate = 3e-3});
///     decay(15.0);                 // 4e-3: update 5000 begins at t = 15, and the window is half-open
///     decay.accumulated(0, 60.0);  // 0.06
///
/// At an edge it is what the schedule is from there on, whatever rounding makes of edge x learning rate.
class decay_course {
public:
  /// No decay.
  decay_course() : decay_course(schedule::schedule()) {}
  /// \param lambda  over updates
  /// \param step    how updates become time
  /// Throws argument_error unless the learning rate lies in [1e-30, 1e6].
  explicit decay_course(schedule::schedule lambda, const step_size& step = {})
      : lambda_(std::move(lambda)), step_(step), update_edges_(lambda_.edges()), constant_pieces_(made_of_pieces()) {
    require(step.learning_rate >= 1e-30 && step.learning_rate <= optimizer::largest_rate, "learning_rate",
            step.learning_rate, "in [1e-30, 1e6]");
    require_enumerator("mode", step.mode);
    const bool per_update = step.mode == optimizer::decay_mode::absolute || step.mode == optimizer::decay_mode::ratio;
    scale_ = per_update ? 1 / step.learning_rate : 1;
    levels_.push_back(scale_ * lambda_.value(0));
    for (const double edge : update_edges_) {
      time_edges_.push_back(step.time(edge));
      levels_.push_back(scale_ * lambda_.value(edge));
    }
  }

  /// The schedule over updates.
  [[nodiscard]] const schedule::schedule& over_updates() const noexcept { return lambda_; }
  /// How updates become time.
  [[nodiscard]] const step_size& step() const noexcept { return step_; }

  /// lambda(t), per unit of time.
  [[nodiscard]] double operator()(double t) const noexcept {
    const std::size_t piece = piece_of(t);
    if (constant_pieces_) return levels_[piece];
    // t / learning rate may be rounded to the other side of an edge.
    double updates = step_.updates(t);
    if (piece > 0) updates = std::max(updates, update_edges_[piece - 1]);
    if (piece < update_edges_.size()) updates = std::min(updates, std::nextafter(update_edges_[piece], 0.0));
    return scale_ * lambda_.value(updates);
  }

  /// lambda'(t), 0 where lambda is constant, else by the parabola through three points of the piece: right to 1e-9 of its
  /// largest slope. At an edge it is that of the piece behind.
  [[nodiscard]] double slope(double t) const noexcept {
    const std::size_t piece = piece_of(t);
    if (constant_pieces_ || piece == time_edges_.size()) return 0;  // no shape changes behind its last edge
    const double begin = piece == 0 ? 0 : time_edges_[piece - 1], end = time_edges_[piece];
    const double h = 1e-5 * (end - begin);
    const double middle = std::clamp(t, begin + h, end - 2 * h), u = (t - middle) / h;
    const double before = (*this)(middle - h), here = (*this)(middle), after = (*this)(middle + h);
    return ((after - before) / 2 + u * ((after - here) - (here - before))) / h;
  }

  /// Times at which lambda or its slope may jump: where an integrator has to land.
  [[nodiscard]] const std::vector<double>& edges() const noexcept { return time_edges_; }

  /// The integral of lambda over [from, to]: exact for pieces that are constant or polynomials, to rounding for a cosine.
  /// Throws argument_error unless both are finite and in order.
  [[nodiscard]] double accumulated(double from, double to) const {
    require(std::isfinite(from), "from", from, "finite");
    require(to >= from && std::isfinite(to), "to", to, "at least `from`, and finite");
    double sum = 0;
    while (from < to) {
      const auto next = std::ranges::upper_bound(time_edges_, from);
      const double end = next == time_edges_.end() ? to : std::min(*next, to);
      sum += constant_pieces_ ? (*this)(from) * (end - from)
                              : boost::math::quadrature::gauss<double, 20>::integrate(*this, from, end);
      from = end;
    }
    return sum;
  }

private:
  /// How many edges lie at t or before.
  [[nodiscard]] std::size_t piece_of(double t) const noexcept {
    return static_cast<std::size_t>(std::ranges::upper_bound(time_edges_, t) - time_edges_.begin());
  }

  [[nodiscard]] bool made_of_pieces() const {
    const auto constant = [](const schedule::shape& one) {
      return std::holds_alternative<schedule::constant>(one) || std::holds_alternative<schedule::window>(one) ||
             std::holds_alternative<schedule::steps>(one);
    };
    return std::ranges::all_of(lambda_.terms(), [&](const auto& term) { return std::ranges::all_of(term, constant); });
  }

  schedule::schedule lambda_;
  step_size step_;
  std::vector<double> update_edges_, time_edges_;
  bool constant_pieces_;
  double scale_ = 1;
  std::vector<double> levels_;
};

}  // namespace lindyn::rates
