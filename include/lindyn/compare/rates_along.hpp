// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Masses of linearised attention beside those of its reduced system.

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/compare/linearised_flow.hpp>
#include <lindyn/compare/linearised_rates.hpp>
#include <lindyn/compare/trajectory.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_hessian.hpp>
#include <lindyn/model/linearised_masses.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/linearised_system.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/rates/reduced_system.hpp>

namespace lindyn::compare {

/// m and r over time.
struct mass_course {
  std::vector<double> memorising{};      ///< m
  std::vector<double> reasoning{};       ///< r
  std::optional<double> half_time = {};  ///< when r meets 1/2, if it does: interpolated between the times
};

/// The largest differences of two courses at the same times.
struct mass_difference {
  double memorising = 0;  ///< of m
  double reasoning = 0;   ///< of r
};

/// How far two courses are apart. Throws shape_error for courses of different lengths.
[[nodiscard]] inline mass_difference difference(const mass_course& one, const mass_course& other) {
  return {largest_difference(one.memorising, other.memorising), largest_difference(one.reasoning, other.reasoning)};
}

/// The same start in the full model and in its rate systems.
struct rates_comparison {
  linearised_reduction reduction;  ///< slopes of the rate systems
  std::vector<double> times;       ///< of all courses: learning rate x updates
  mass_course full;                ///< the full model
  mass_course linearised;          ///< rates::linearised_system: with what is random at the start
  mass_course reduced;             ///< rates::reduced_system<2>: without
};

namespace detail {

/// When r meets 1/2.
[[nodiscard]] inline std::optional<double> half_time(const std::vector<double>& times, const std::vector<double>& r) {
  std::vector<std::pair<double, double>> falling;
  for (std::size_t i = 0; i < times.size(); ++i) falling.emplace_back(times[i], -r[i]);
  return crossing(falling, -0.5, &std::pair<double, double>::first, &std::pair<double, double>::second);
}

}  // namespace detail

/// The course of a rate system.
/// \param system     the masses' equations
/// \param start      the state at t = 0
/// \param decay      lambda(t)
/// \param times      at which the masses are wanted, ascending, at least one; the last one ends the flow
/// \param tolerance  of the flow
/// Throws as rates::flow does.
template <rates::rate_system System>
[[nodiscard]] mass_course course_of(const System& system, std::vector<double> start, const rates::decay_course& decay,
                                    const std::vector<double>& times, double tolerance = 1e-8) {
  require(!times.empty(), "times.size()", times.size(), "at least 1");
  const integrate::flow_result flow =
      rates::flow(system, std::move(start), decay, {.until = times.back(), .tolerance = tolerance, .times = times});
  mass_course result;
  for (index i = 0; i < flow.sampled().rows; ++i) {
    result.memorising.push_back(system.memorising(flow.sampled().row(i)));
    result.reasoning.push_back(system.reasoning(flow.sampled().row(i)));
  }
  result.half_time = detail::half_time(times, result.reasoning);
  return result;
}

/// The rate systems of a network from its weights at t = 0, beside what was recorded of it from there on.
/// \param net        whose answers are separable
/// \param start      the weights at t = 0, with M_ij = 0
/// \param records    of linearised_flow, or of a training at a constant learning rate, in the order of time; at least one
/// \param decay      under which they were made
/// \param tolerance  of the rate systems' flows
/// Throws argument_error for answers that aren't separable, and for M_ij that aren't 0; as rates::flow does.
template <class Scalar, class Backend>
[[nodiscard]] rates_comparison rates_along(const model::linearised_attention<Scalar, Backend>& net,
                                           std::span<const Scalar> start, const std::vector<mass_record>& records,
                                           const rates::decay_course& decay, double tolerance = 1e-10) {
  require(!records.empty(), "records.size()", records.size(), "at least 1");
  model::linearised_workspace<Scalar, Backend> memory;
  const model::linearised_masses masses = model::masses(net, start, memory);
  rates_comparison result{reduction_of(net), {}, {}, {}, {}};
  for (const mass_record& record : records) {
    result.times.push_back(record.t);
    result.full.memorising.push_back(record.masses.memorising);
    result.full.reasoning.push_back(record.masses.reasoning);
  }
  result.full.half_time = detail::half_time(result.times, result.full.reasoning);
  const rates::linearised_slopes& slopes = result.reduction.slopes;
  result.linearised = course_of(rates::linearised_system(slopes),
                                result.reduction.linearised_state(masses, model::curvature(net, start, memory)), decay,
                                result.times, tolerance);
  result.reduced = course_of(rates::reduced_system<2>(slopes.reduced()), result.reduction.reduced_state(masses), decay,
                             result.times, tolerance);
  return result;
}

}  // namespace lindyn::compare
