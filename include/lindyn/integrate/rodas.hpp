// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Linearly implicit steps of order 4 for stiff systems: the Rosenbrock method RODAS of Hairer and Wanner.
///
/// One step of size h from x at t, with J and f_t the derivatives of f there, solves six systems with one matrix,
/// \f[ \Big(\frac{1}{\gamma h} - J\Big) u_i = f\Big(x + \sum_{j<i} a_{ij} u_j,\; t + \alpha_i h\Big)
///     + \frac{1}{h} \sum_{j<i} c_{ij} u_j + \gamma_i h f_t , \f]
/// and ends at \f$x + \sum_{j<6} a_{6j} u_j + u_6\f$. The sum without u_6 is a solution of order 3, so that u_6
/// estimates the error. Both are L-stable and stiffly accurate: a transient that a step is too long to resolve is gone
/// at its end.
///
/// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", 2nd edition, section IV.7 and its code RODAS,
/// whose coefficients these are. Boost's rosenbrock4 has the same ones but for the sign of gamma_4, with which the
/// order falls where f depends on time.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/integrate/flow_loop.hpp>
#include <lindyn/integrate/jacobian.hpp>
#include <lindyn/integrate/predictive_step_adjuster.hpp>
#include <lindyn/integrate/system.hpp>

namespace lindyn::integrate::detail {

/// RODAS, as the loop of flows drives it. Factors is what Eigen makes of a matrix to solve systems with it: a
/// parameter, so that only programs that take such steps pay for its compilation.
template <class Factors>
class rodas {
public:
  static constexpr int order = 4;  // of the error estimate: that of a step is h^4

  /// For `size` coordinates; without a Jacobian its entries are differences of f.
  rodas(const tolerances& allowed, std::size_t size, std::optional<jacobian_ref> jacobian)
      : allowed_(allowed),
        given_(jacobian),
        jacobian_(size * size),
        matrix_(size * size),
        dfdt_(size),
        right_(size),
        factors_(static_cast<index>(size)),
        stage_(size),
        slope_(size) {
    u_.fill(dfdt_);
  }

  void restart() noexcept { adjuster_.restart(); }

  /// Evaluates the derivatives, which all steps from this point share.
  void begin(watched_system& f, const step_points& step, double dt) {
    std::ranges::fill(jacobian_, 0);
    std::ranges::fill(dfdt_, 0);
    if (given_)
      (*given_)(step.x, derivatives(), step.t, dfdt_);
    else
      differentiate(f, step, dt);
    ++jacobians_;
    if (!all_finite(jacobian_) || !all_finite(dfdt_))
      throw solver_error("the Jacobian is not finite at t = " + lindyn::detail::to_text(step.t));
  }

  bool try_step(watched_system& f, step_points& step, double& dt) {
    do_step(f, step, dt);
    const state& error = u_.back();
    double largest = 0;
    for (std::size_t i = 0; i < error.size(); ++i)
      largest =
          std::max(largest, std::abs(error[i]) / allowed_(std::max(std::abs(step.x[i]), std::abs(step.next_x[i]))));
    const bool accepted = largest <= 1;
    dt = accepted ? adjuster_.increase_step(dt, largest) : adjuster_.decrease_step(dt, largest);
    return accepted;
  }

  void do_step(watched_system& f, step_points& step, double dt) {
    const std::size_t size = dfdt_.size();
    for (std::size_t i = 0; i < matrix_.size(); ++i) matrix_[i] = -jacobian_[i];
    for (std::size_t i = 0; i < size; ++i) matrix_[i * size + i] += 1 / (gamma * dt);
    factors_.compute(Eigen::Map<const typename Factors::MatrixType>(matrix_.data(), factors_.rows(), factors_.cols()));
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const state* slope = &step.slope;
      if (stage > 0) {
        stage_ = step.x;
        add(stage, 1, a[stage], stage_);
        f(stage_, slope_, step.t + alpha[stage] * dt);
        slope = &slope_;
      }
      for (std::size_t i = 0; i < size; ++i) right_[i] = (*slope)[i] + gammas[stage] * dt * dfdt_[i];
      add(stage, 1 / dt, c[stage], right_);
      vector(u_[stage]) = factors_.solve(vector(right_));
    }
    // The last stage was evaluated at the solution of order 3, which its own u corrects.
    for (std::size_t i = 0; i < size; ++i) step.next_x[i] = stage_[i] + u_.back()[i];
  }

  /// The continuous solution of order 3 within the last step.
  void interpolate(const step_points& step, double h, double dt, state& result) const {
    const double s = h / dt, rest = 1 - s;
    for (std::size_t i = 0; i < result.size(); ++i) {
      double bend = 0;
      for (std::size_t j = 0; j < dense.front().size(); ++j) bend += (dense[0][j] + s * dense[1][j]) * u_[j][i];
      result[i] = rest * step.x[i] + s * (step.next_x[i] + rest * bend);
    }
  }

  [[nodiscard]] std::int64_t jacobians() const noexcept { return jacobians_; }

private:
  static_assert(Factors::MatrixType::IsRowMajor, "Jacobians are row-major");

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

  [[nodiscard]] matrix_view<double> derivatives() { return {jacobian_.data(), factors_.rows(), factors_.cols()}; }

  /// Adds factor x (the sum of the first `count` u, weighted) to x.
  void add(std::size_t count, double factor, const double* weights, state& x) const {
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += factor * weights[j] * u_[j][i];
  }

  /// Forward differences over the root of the precision, in units of the coordinate or, if that is more, of how far the
  /// first step may carry it: as many times what is allowed as error as the step carries the fastest coordinate. Less
  /// would be lost in the rounding of f. In time they span that part of the step, but never the end of the segment.
  void differentiate(watched_system& f, const step_points& step, double dt) {
    static const double root = std::sqrt(std::numeric_limits<double>::epsilon());
    double fastest = 0;
    for (std::size_t j = 0; j < step.x.size(); ++j)
      fastest = std::max(fastest, std::abs(step.slope[j]) / allowed_(step.x[j]));
    const double moved = fastest > 0 ? std::min(dt * fastest, 1 / allowed_.relative) : 1;
    stage_ = step.x;
    for (std::size_t j = 0; j < stage_.size(); ++j) {
      stage_[j] += root * std::max(std::abs(step.x[j]), moved * allowed_(step.x[j]));
      f(stage_, slope_, step.t);
      for (std::size_t i = 0; i < slope_.size(); ++i)
        jacobian_[i * stage_.size() + j] = (slope_[i] - step.slope[i]) / (stage_[j] - step.x[j]);
      stage_[j] = step.x[j];
    }
    const double next = std::nextafter(step.t, std::numeric_limits<double>::infinity());
    const double later = std::min(std::max(step.t + root * dt, next), f.latest);
    if (later == step.t) return;
    f(stage_, slope_, later);
    for (std::size_t i = 0; i < slope_.size(); ++i) dfdt_[i] = (slope_[i] - step.slope[i]) / (later - step.t);
  }

  tolerances allowed_;
  std::optional<jacobian_ref> given_;
  predictive_step_adjuster adjuster_{order};
  std::vector<double> jacobian_, matrix_;
  state dfdt_, right_;
  Factors factors_;
  std::array<state, stages> u_;
  state stage_, slope_;
  std::int64_t jacobians_ = 0;
};

}  // namespace lindyn::integrate::detail
