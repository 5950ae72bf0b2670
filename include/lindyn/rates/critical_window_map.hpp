// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a window of decay leads to, as a function of its onset, its width and the initial scale.

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/rates/flow.hpp>
#include <lindyn/rates/rate_system.hpp>
#include <lindyn/rates/window_protocol.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/sweep/table.hpp>

namespace lindyn::rates {

/// A system and where it starts.
template <rate_system System>
struct trial {
  System system;              ///< the masses' equations
  std::vector<double> start;  ///< their state at t = 0
};

/// Options of critical_window_map.
struct window_map_options {
  window_protocol protocol = {};       ///< what the axes don't name
  double gamma = 1;                    ///< the initial scale, if no axis names it
  double tolerance = 1e-6;             ///< relative error of a step
  double absolute_tolerance = 1e-15;   ///< absolute error of a step, see flow_options
  std::int64_t max_steps = 1'000'000;  ///< of each trajectory, accepted and rejected ones together
  bool stiff = false;                  ///< by linearly implicit steps
  int threads = 1;                     ///< one unless more are asked for; results don't depend on it
  std::filesystem::path journal = {};  ///< where finished cells are kept, to be resumed from; empty: nowhere
  progress::callback tell = {};        ///< hears of the cells done
};

namespace detail {

/// The axes that a map knows, each the place of its values within a cell.
struct map_axes {
  std::optional<std::size_t> onset, width, gamma;

  explicit map_axes(const sweep::grid& over) {
    for (std::size_t i = 0; i < over.axes().size(); ++i) {
      const std::string& name = over.axes()[i].name();
      auto* const place = name == "onset" ? &onset : name == "width" ? &width : name == "gamma" ? &gamma : nullptr;
      require(place != nullptr, "axis", name, "onset, width or gamma");
      *place = i;
    }
  }
  [[nodiscard]] static double value(const std::optional<std::size_t>& place, const sweep::cell& at, double otherwise) {
    return place ? at.values[*place] : otherwise;
  }
};

/// What decides the results of a map, apart from its axes. A system speaks by its masses and its velocity, which is affine
/// in the decay, at two points of [0, 1]^n. Throws shape_error for a start that isn't one of its system.
template <class Make>
std::string configuration(const Make& make, std::span<const double> gammas, const window_map_options& options) {
  std::string text;
  const auto line = [&](const std::string& name, std::span<const double> values) {
    text += name;
    for (const double value : values) text += ' ' + io::number_text(value);
    text += '\n';
  };
  const window_protocol& protocol = options.protocol;
  line("updates, onset, width, budget, learning rate, mode, tolerance, absolute_tolerance, max_steps, stiff",
       std::vector<double>{protocol.updates, protocol.onset, protocol.width, protocol.budget,
                           protocol.step.learning_rate, static_cast<double>(protocol.step.mode), options.tolerance,
                           options.absolute_tolerance, static_cast<double>(options.max_steps),
                           options.stiff ? 1.0 : 0.0});
  for (const double gamma : gammas) {
    const auto trial = make(gamma);
    std::array<double, decltype(trial.system)::dimension> point, velocity;
    require_extent("start.size()", trial.start.size(), point.size());
    line("start at gamma " + io::number_text(gamma), trial.start);
    counter_generator generator(1);
    for (int round = 0; round < 2; ++round) {
      for (double& coordinate : point) coordinate = uniform_real(generator);
      line("masses at a random point", std::array{trial.system.memorising(point), trial.system.reasoning(point)});
      for (const double lambda : {0.0, 1.0}) {
        trial.system.velocity(point, lambda, velocity);
        line("velocity there", velocity);
      }
    }
  }
  return text;
}

}  // namespace detail

/// Trains a system under a window of decay for each cell, from t = 0. Axes are named "onset", "width" and "gamma", any of
/// them, in any order; the first two are in updates. All windows have the same budget, whole updates or not.
///
///     const auto make = [](double gamma) {
///       const double factor = rates::initial_factor(gamma, 64);
///       return rates::trial<rates::equal_factor_system<3>>{rates::equal_factor_system<3>({1, 5}), {0, factor}};
///     };
///     const auto map = rates::critical_window_map(make, sweep::grid({sweep::axis::linear("width", 500, 8000, 64),
///                                                                    sweep::axis::linear("onset", 0, 15000, 64)}));
///
/// Columns: `share`, the reasoning share at the end; `memorising` and `reasoning`, the masses; `budget`, what of the budget
/// fell within the training. With a journal an interrupted map is resumed to the same bits; see sweep::map.
/// \param make     the trial of an initial scale gamma
/// \param over     axes
/// \param options  see window_map_options
/// Throws argument_error for an axis of another name, and for options, onsets, widths and starts that make no sense; as
/// sweep::map.
template <std::invocable<double> Make>
[[nodiscard]] sweep::table critical_window_map(const Make& make, const sweep::grid& over,
                                               const window_map_options& options = {}) {
  const detail::map_axes axes(over);
  const std::vector<double> gammas = axes.gamma ? over.axes()[*axes.gamma].values() : std::vector{options.gamma};
  const auto protocol_of = [&](const sweep::cell& at) {
    window_protocol protocol = options.protocol;
    protocol.onset = axes.value(axes.onset, at, protocol.onset);
    protocol.width = axes.value(axes.width, at, protocol.width);
    return protocol;
  };
  const flow_options precision{.tolerance = options.tolerance,
                               .absolute_tolerance = options.absolute_tolerance,
                               .max_steps = options.max_steps,
                               .stiff = options.stiff};
  require_valid(precision);
  require(std::isfinite(options.gamma), "gamma", options.gamma, "finite");
  for (index cell = 0; cell < over.size(); ++cell) protocol_of(over.at(cell)).require_valid();
  const auto worker = [&](const sweep::cell& at) {
    const window_protocol protocol = protocol_of(at);
    const auto trial = make(axes.value(axes.gamma, at, options.gamma));
    const auto end = train_under(trial.system, trial.start, protocol, precision);
    return std::array{reasoning_share(trial.system, end.state), trial.system.memorising(end.state),
                      trial.system.reasoning(end.state), protocol.budget_within()};
  };
  return sweep::map(over, {"share", "memorising", "reasoning", "budget"}, [&] { return worker; },
                    {.threads = options.threads,
                     .journal = options.journal,
                     .configuration = detail::configuration(make, gammas, options),
                     .task = "critical window map",
                     .tell = options.tell});
}

}  // namespace lindyn::rates
