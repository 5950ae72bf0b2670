// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is known of the rate systems without integrating them, beside what integrating them gives.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/rates/closed_forms.hpp>
#include <lindyn/rates/decay_course.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/frozen_system.hpp>
#include <lindyn/rates/rest_states.hpp>

#include "setting.hpp"

namespace examples::two_timescale {

/// A closed form, and the same from a flow.
struct confirmed_form {
  std::string name;
  double closed = 0, flow = 0;
  /// How far apart they are.
  [[nodiscard]] double difference() const noexcept { return std::abs(closed - flow); }
};

namespace detail {

inline constexpr double flow_tolerance = 1e-11;

/// The pair that is farthest apart of a closed form along a flow without decay, until all is learnt.
template <rates::rate_system System, class Closed>
[[nodiscard]] confirmed_form along_flow(const std::string& name, const System& system, const std::vector<double>& start,
                                        const rates::decay_course& decay, double until, const Closed& closed) {
  std::vector<double> times;
  for (int i = 1; i <= 64; ++i) times.push_back(until * i / 64);
  const auto found = rates::flow(system, start, decay, {.until = until, .tolerance = flow_tolerance, .times = times});
  confirmed_form worst{name, 0, 0};
  for (index i = 0; i < found.sampled().rows; ++i) {
    const auto [by_formula, by_flow] = closed(found.sampled().row(i), times[static_cast<std::size_t>(i)]);
    if (const confirmed_form here{name, by_formula, by_flow}; i == 0 || here.difference() > worst.difference())
      worst = here;
  }
  return worst;
}

/// The least equal factors that reason in the end under constant decay, m being 0 at t = 0, by bisection.
template <int Factors>
[[nodiscard]] double edge_by_flow(const rates::slopes& slopes, double lambda) {
  const rates::equal_factor_system<Factors> system(slopes);
  double below = 0, above = 2;
  while (above - below > 1e-9) {
    const double middle = (below + above) / 2;
    const auto end = rates::flow(system, {0, middle}, rates::decay_course(lambda),
                                 {.until = 60 / lambda, .tolerance = flow_tolerance});
    (rates::reasoning_share(system, end.state) > 1e-3 ? above : below) = middle;
  }
  return (below + above) / 2;
}

/// Rest and basin of p equal factors.
template <int Factors>
void append_equal_factors(std::vector<confirmed_form>& to, const rates::slopes& slopes, double lambda) {
  const std::string p = std::to_string(Factors);
  const rates::equal_factor_system<Factors> system(slopes);
  const auto rest = rates::reasoning_at_rest(slopes, Factors, lambda);
  if (!rest) return;
  const auto end =
      rates::flow(system, {0, 1}, rates::decay_course(lambda), {.until = 60 / lambda, .tolerance = flow_tolerance});
  to.push_back({"p = " + p + ": m where reasoning rests", rest->stable.memorising, end.state[0]});
  to.push_back({"p = " + p + ": r where reasoning rests", rest->stable.reasoning, system.reasoning(end.state)});
  const auto edge = rates::basin_edge<Factors>(slopes, lambda, 0);
  if (Factors > 2 && edge && *edge < 2)
    to.push_back({"p = " + p + ": edge of the basin from m = 0", *edge, edge_by_flow<Factors>(slopes, lambda)});
}

}  // namespace detail

/// All closed forms that exist at these slopes, each at its largest distance from the flow.
[[nodiscard]] inline std::vector<confirmed_form> confirm_closed_forms(const setting& s) {
  using pair = std::pair<double, double>;
  const rates::slopes slopes = s.slopes();
  const double lambda = s.level(), memorised = 1 / slopes.memorising;  // a time
  std::vector<confirmed_form> result;

  const rates::reduced_system<2> two(slopes);
  const std::vector<double> start = s.scaled(s.reduction.reduced_state(s.unit_masses), s.o.gamma);
  result.push_back(
      detail::along_flow("p = 2: r of m without decay from a0 != b0", two, start, {}, memorised, [&](auto x, double) {
        return pair(rates::reasoning_without_decay(slopes, start[1], start[2], x[0]), two.reasoning(x));
      }));
  const rates::decay_course decay = s.protocol(s.o.onsets.front()).decay();
  const double end = decay.step().time(s.protocol(s.o.onsets.front()).onset + s.o.window / 4);
  result.push_back(detail::along_flow("p = 2: a^2 - b^2 under decay", two, start, decay, end, [&](auto x, double t) {
    return pair(rates::factor_imbalance(start[1], start[2], decay.accumulated(0, t)), x[1] * x[1] - x[2] * x[2]);
  }));
  const double factor = rates::initial_factor(s.o.gamma, s.o.width);
  const rates::equal_factor_system<3> three(slopes);
  result.push_back(detail::along_flow(
      "p = 3: x of m without decay", three, {0, factor}, {}, memorised,
      [&](auto x, double) { return pair(rates::factor_without_decay(slopes, 3, factor, x[0]), x[1]); }));

  // Too little reasoning to be felt by memorising, which is at rest.
  const rates::equal_factor_system<2> equal(slopes);
  const rates::rest_state rest = rates::memorising_at_rest(slopes, lambda);
  constexpr double little = 1e-9;
  const double duration = 1 / lambda;
  const auto grown = rates::flow(equal, {rest.memorising, little}, rates::decay_course(lambda),
                                 {.until = duration, .tolerance = 1e-14});
  if (grown.state[1] < 1e3 * little)
    result.push_back({"p = 2: growth of r from memorising at rest per unit of time",
                      rates::reasoning_growth(slopes, 2, lambda, little),
                      2 * std::log(grown.state[1] / little) / duration});
  detail::append_equal_factors<2>(result, slopes, lambda);
  detail::append_equal_factors<3>(result, slopes, lambda);
  detail::append_equal_factors<4>(result, slopes, lambda);

  // One factor held at gamma / sqrt(d).
  const rates::frozen_system frozen(slopes, factor);
  result.push_back(detail::along_flow(
      "one of two factors held: r", frozen, {0, factor}, rates::decay_course(lambda), memorised, [&](auto x, double t) {
        const std::vector<double> from{0, factor};
        return pair(frozen.reasoning(frozen.after(from, lambda, t)), frozen.reasoning(x));
      }));
  // r' / e of the held system where it hasn't moved is s_r F^2.
  const auto response = [&](double gamma) {
    const rates::frozen_system held(slopes, rates::initial_factor(gamma, s.o.width));
    const std::array<double, 2> nothing{};
    std::array<double, 2> velocity{};
    held.velocity(nothing, 0, velocity);
    return held.reasoning(velocity);
  };
  result.push_back({"one of two factors held: log-log slope of the response in gamma", 2,
                    std::log(response(1) / response(0.1)) / std::log(10.0)});
  return result;
}

/// Prints and writes closed_forms.csv, and returns what stands in the summary.
[[nodiscard]] inline lindyn::io::json write_closed_forms(const setting& s, const std::vector<confirmed_form>& found) {
  lindyn::io::csv_writer csv(s.o.out / "closed_forms.csv", {"name", "closed_form", "flow", "difference"});
  lindyn::io::json summary;
  std::printf("\n%-66s %12s %12s %9s\n", "closed forms against the flow", "closed form", "flow", "apart");
  for (const confirmed_form& one : found) {
    csv.row(one.name, one.closed, one.flow, one.difference());
    std::printf("%-66s %12.8g %12.8g %9.1e\n", one.name.c_str(), one.closed, one.flow, one.difference());
    summary[one.name] = {{"closed_form", one.closed}, {"flow", one.flow}, {"difference", one.difference()}};
  }
  csv.commit();
  return summary;
}

}  // namespace examples::two_timescale
