// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Explicit steps of order 5 with error control and dense output, by Boost.Odeint.
/// Source: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", 2nd edition, section II.5.

#include <cstdint>
#include <functional>

#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>

#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/step_adjuster.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate::detail {

/// The method of Dormand and Prince, as the loop of flows drives it.
class dormand_prince {
public:
  static constexpr int order = 5;

  explicit dormand_prince(const tolerances& allowed) : controlled_(checker(allowed.absolute, allowed.relative)) {}

  void restart() noexcept {}  // the short memory of the step adjuster does no harm

  void begin(watched_system& /* f */, const step_points& /* step */, double /* dt */) noexcept {}

  bool try_step(watched_system& f, step_points& step, double& dt) {
    double t = step.t;
    return controlled_.try_step(std::ref(f), step.x, step.slope, t, step.next_x, step.next_slope, dt) ==
           boost::numeric::odeint::success;
  }

  void do_step(watched_system& f, step_points& step, double dt) {
    controlled_.stepper().do_step(std::ref(f), step.x, step.slope, step.t, step.next_x, step.next_slope, dt);
  }

  void interpolate(const step_points& step, double h, double dt, state& result) const {
    controlled_.stepper().calc_state(h, result, step.x, step.slope, 0.0, step.next_x, step.next_slope, dt);
  }

  static constexpr std::int64_t jacobians() noexcept { return 0; }

private:
  using method = boost::numeric::odeint::runge_kutta_dopri5<state>;
  using checker = boost::numeric::odeint::default_error_checker<double, method::algebra_type, method::operations_type>;

  boost::numeric::odeint::controlled_runge_kutta<method, checker, step_adjuster> controlled_;
};

}  // namespace lindyn::integrate::detail
