// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Linearly implicit steps of order 4 for stiff systems: the Rosenbrock method RODAS of Hairer and Wanner.
///
/// One step of size h from x at t, with J and f_t the derivatives of f there, solves six systems with one matrix,
/// \f[ \Big(\frac{1}{\gamma h} - J\Big) u_i = f\Big(x + \sum_{j<i} a_{ij} u_j,\; t + \alpha_i h\Big)
///     + \frac{1}{h} \sum_{j<i} c_{ij} u_j + \gamma_i h f_t , \f]
/// and ends at \f$x + \sum_{j<6} a_{6j} u_j + u_6\f$. The sum without u_6 is a solution of order 3, so that u_6 estimates
/// the error. Both are L-stable and stiffly accurate: a transient that a step is too long to resolve is gone at its end.
///
/// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", 2nd edition, section IV.7 and its code RODAS,
/// whose coefficients these are. Boost's rosenbrock4 has the same ones but for the sign of gamma_4, with which the order
/// falls where f depends on time.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <Eigen/Core>
#include <Eigen/LU>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/jacobian.hpp>
#include <lindyn/integrate/step_adjuster.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate::detail {

/// RODAS, as the loop of flows drives it.
class rodas {
public:
  static constexpr int order = 4;  // of the error estimate: that of a step is h^4

  /// For `size` coordinates; without a Jacobian its entries are differences of f.
  rodas(const tolerances& allowed, std::size_t size, std::optional<jacobian_ref> jacobian)
      : allowed_(allowed),
        given_(jacobian),
        jacobian_(static_cast<index>(size), static_cast<index>(size)),
        dfdt_(static_cast<index>(size)),
        factors_(static_cast<index>(size)),
        stage_(size),
        slope_(size) {
    u_.fill(dfdt_);
  }

  /// Evaluates the derivatives, which all steps from this point share.
  void begin(watched_system& f, const step_points& step, double dt) {
    jacobian_.setZero();
    dfdt_.setZero();
    if (given_) {
      (*given_)(step.x, {jacobian_.data(), jacobian_.rows(), jacobian_.cols()}, step.t,
                {dfdt_.data(), static_cast<std::size_t>(dfdt_.size())});
    } else {
      differentiate(f, step, dt);
    }
    ++jacobians_;
    if (!jacobian_.allFinite() || !dfdt_.allFinite())
      throw solver_error("the Jacobian is not finite at t = " + lindyn::detail::to_text(step.t));
  }

  bool try_step(watched_system& f, step_points& step, double& dt) {
    do_step(f, step, dt);
    const auto& error = u_.back();
    double largest = 0;
    for (index i = 0; i < error.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double size = std::max(std::abs(step.x[at]), std::abs(step.next_x[at]));
      largest = std::max(largest, std::abs(error[i]) / allowed_(size));
    }
    const bool accepted = largest <= 1;
    dt = accepted ? adjuster_.increase_step(dt, largest, order) : adjuster_.decrease_step(dt, largest, order);
    return accepted;
  }

  void do_step(watched_system& f, step_points& step, double dt) {
    const index size = dfdt_.size();
    matrix_ = -jacobian_;
    matrix_.diagonal().array() += 1 / (gamma * dt);
    factors_.compute(matrix_);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const state* slope = &step.slope;
      if (stage > 0) {
        stage_ = step.x;
        for (std::size_t j = 0; j < stage; ++j) vector(stage_) += a[stage][j] * u_[j];
        f(stage_, slope_, step.t + alpha[stage] * dt);
        slope = &slope_;
      }
      right_ = Eigen::Map<const Eigen::VectorXd>(slope->data(), size) + gammas[stage] * dt * dfdt_;
      for (std::size_t j = 0; j < stage; ++j) right_ += c[stage][j] / dt * u_[j];
      u_[stage] = factors_.solve(right_);
    }
    // The last stage was evaluated at the solution of order 3, a correction of which its own u is.
    for (std::size_t i = 0; i < stage_.size(); ++i) step.next_x[i] = stage_[i] + u_.back()[static_cast<index>(i)];
  }

  /// The continuous solution of order 3 within the last step.
  void interpolate(const step_points& step, double h, double dt, state& result) const {
    const double s = h / dt, rest = 1 - s;
    for (std::size_t i = 0; i < result.size(); ++i) {
      double bend = 0;
      for (std::size_t j = 0; j < dense.front().size(); ++j)
        bend += (dense[0][j] + s * dense[1][j]) * u_[j][static_cast<index>(i)];
      result[i] = rest * step.x[i] + s * (step.next_x[i] + rest * bend);
    }
  }

  [[nodiscard]] std::int64_t jacobians() const noexcept { return jacobians_; }

private:
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static constexpr std::size_t stages = 6;
  static constexpr double gamma = 0.25;
  static constexpr std::array<double, stages> alpha{0, 0.386, 0.21, 0.63, 1, 1};
  static constexpr std::array<double, stages> gammas{0.25, -0.1043, 0.1035, -0.03620000000000023, 0, 0};
  static constexpr double a[stages][stages - 1] = {
      {},
      {1.544},
      {0.9466785280815826, 0.2557011698983284},
      {3.314825187068521, 2.896124015972201, 0.9986419139977817},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
  static constexpr double c[stages][stages - 1] = {
      {},
      {-5.6688},
      {-2.430093356833875, -0.2063599157091915},
      {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
      {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
      {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};
  static constexpr std::array<std::array<double, 5>, 2> dense{
      {{10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662},
       {-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872}}};

  static Eigen::Map<Eigen::VectorXd> vector(state& x) { return {x.data(), static_cast<index>(x.size())}; }

  /// Forward differences over the root of the precision, in units of the coordinate or, if that is more, of how far the
  /// first step may carry it: as many times what is allowed as error as the step carries the fastest coordinate. Less
  /// would be lost in the rounding of f. In time they span that part of the step, but never the end of the segment.
  void differentiate(watched_system& f, const step_points& step, double dt) {
    static const double root = std::sqrt(std::numeric_limits<double>::epsilon());
    const auto slope = Eigen::Map<const Eigen::VectorXd>(step.slope.data(), dfdt_.size());
    double fastest = 0;
    for (std::size_t j = 0; j < step.x.size(); ++j)
      fastest = std::max(fastest, std::abs(step.slope[j]) / allowed_(step.x[j]));
    const double moved = fastest > 0 ? std::min(dt * fastest, 1 / allowed_.relative) : 1;
    stage_ = step.x;
    for (std::size_t j = 0; j < stage_.size(); ++j) {
      stage_[j] += root * std::max(std::abs(step.x[j]), moved * allowed_(step.x[j]));
      f(stage_, slope_, step.t);
      jacobian_.col(static_cast<index>(j)) = (vector(slope_) - slope) / (stage_[j] - step.x[j]);
      stage_[j] = step.x[j];
    }
    const double next = std::nextafter(step.t, std::numeric_limits<double>::infinity());
    const double later = std::min(std::max(step.t + root * dt, next), f.latest);
    if (later == step.t) return;
    f(stage_, slope_, later);
    dfdt_ = (vector(slope_) - slope) / (later - step.t);
  }

  tolerances allowed_;
  std::optional<jacobian_ref> given_;
  step_adjuster adjuster_{order};
  matrix jacobian_, matrix_;
  Eigen::VectorXd dfdt_, right_;
  Eigen::PartialPivLU<matrix> factors_;
  std::array<Eigen::VectorXd, stages> u_;
  state stage_, slope_;
  std::int64_t jacobians_ = 0;
};

}  // namespace lindyn::integrate::detail
