// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The next step's size from the errors of the last two, for stiff systems.

#include <algorithm>
#include <cmath>

namespace lindyn::integrate {

/// Gustafsson's predictive control for a method whose error of one step is h^p: behind an accepted step of size h and
/// error e, in units of what is allowed, the next one has the size
/// \f[ 0.9 \, h \, e^{-1/p} \, \min\Big(1, \frac{h}{h_\mathrm{last}} (e_\mathrm{last} / e)^{1/p}\Big) : \f]
/// an error that has grown though the step hasn't will go on growing. Where a fast motion sets in, a stiff method's
/// steps have to shrink by orders of magnitude, and most of the attempts that a control without memory wastes there are
/// saved.
/// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", 2nd edition, section IV.8.
class predictive_step_adjuster {
public:
  /// For a method whose error of one step is of this order, p.
  explicit predictive_step_adjuster(int order) noexcept : exponent_(1.0 / order) {}

  /// Forgets the last step: the next one continues nothing.
  void restart() noexcept { last_size_ = 0; }

  /// The size to retry a step of size dt with, whose error is `error` > 1 times what is allowed.
  double decrease_step(double dt, double error) {
    rejected_ = true;
    return dt * std::max(0.2, safety * std::pow(error, -exponent_));
  }

  /// The size of the step that follows an accepted one: no larger than it if that had to be retried.
  double increase_step(double dt, double error) {
    double factor = safety * std::pow(error, -exponent_);
    if (last_size_ > 0) factor *= std::min(1.0, dt / last_size_ * std::pow(last_error_ / error, exponent_));
    last_size_ = dt;
    last_error_ = std::max(error, 1e-2);
    const double largest = rejected_ ? 1.0 : 10.0;
    rejected_ = false;
    return dt * std::clamp(factor, 0.2, largest);
  }

private:
  static constexpr double safety = 0.9;
  double exponent_;
  double last_size_ = 0;  // 0: there is none
  double last_error_ = 1;
  bool rejected_ = false;
};

}  // namespace lindyn::integrate
