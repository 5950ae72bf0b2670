// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The options of a trainer, and what they make of the rates of its steps.

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/schedule/warnings.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

/// Options of trainer.
struct trainer_options {
  double learning_rate = 1e-3;                      ///< the base rate, positive; `ratio` decay refers to it
  schedule::schedule learning_rate_schedule = 1.0;  ///< times the base rate: lr_t
  schedule::schedule decay_schedule = 0.0;          ///< lambda_t; 0: the optimiser's own decay, if it has any
  optimizer::decay_mode decay_mode = optimizer::decay_mode::lr_scaled;  ///< what lambda_t means
  /// Times their base decays, or with lambda_t of their own; none: all parameters in one, of base decay 1.
  std::vector<optimizer::parameter_group> groups = {};
  double clip_norm = 0;             ///< gradients of a larger global norm are shortened to it; 0: none are
  progress::callback tell = {};     ///< hears of the progress of `run`
  std::function<bool()> stop = {};  ///< asked by `run` behind each step; true ends the run
};

namespace detail {

/// The schedules of decay rates by name: the one of all groups, and the groups' own.
template <class Use>
void for_each_decay_schedule(const trainer_options& options, const Use& use) {
  use("decay_schedule", options.decay_schedule);
  for (const optimizer::parameter_group& group : options.groups)
    if (group.decay_schedule) use("decay_schedule of group '" + group.name + "'", *group.decay_schedule);
}

/// The groups of parameters that decay: those of the options, all parameters as one where these have none.
[[nodiscard]] inline optimizer::grouped_decay grouped_decay_of(const trainer_options& options,
                                                               const parameter_table& table) {
  return {table,
          options.groups.empty() ? optimizer::groups(optimizer::group_preset::everything, table) : options.groups};
}

/// The first schedule of a decay rate that isn't the constant 0, as a text; none: there is no decay by schedule.
[[nodiscard]] inline std::optional<std::string> scheduled_decay(const trainer_options& options) {
  std::optional<std::string> result;
  for_each_decay_schedule(options, [&](const std::string&, const schedule::schedule& of) {
    if (!result && of != schedule::schedule()) result = schedule::to_text(of);
  });
  return result;
}

/// lr_t.
[[nodiscard]] inline double learning_rate_at(const trainer_options& options, index step) noexcept {
  return options.learning_rate * options.learning_rate_schedule.value(step);
}

/// lambda_t of groups without a schedule of their own.
[[nodiscard]] inline optimizer::weight_decay decay_at(const trainer_options& options, index step) noexcept {
  return {.rate = options.decay_schedule.value(step),
          .mode = options.decay_mode,
          .base_learning_rate = options.learning_rate};
}

/// Throws argument_error, naming the step, where rates make no sense: looks at the first step, and on both sides of
/// wherever a schedule jumps, so that a mistake in step 5000 is found before step 0.
inline void require_rates(const trainer_options& options, optimizer::grouped_decay& groups) {
  const auto look_at = [&](index step) {
    try {
      (void)groups.at(decay_at(options, step), learning_rate_at(options, step), step);
    } catch (const argument_error& fault) {
      throw argument_error(fault.argument() + " at step " + std::to_string(step), fault.value(), fault.allowed());
    }
  };
  look_at(0);
  const auto look_along = [&](const schedule::schedule& of) {
    for (const double edge : of.edges()) {
      const auto first = static_cast<index>(std::ceil(edge));
      look_at(first - 1);
      look_at(first);
    }
  };
  look_along(options.learning_rate_schedule);
  for_each_decay_schedule(options, [&](const std::string&, const schedule::schedule& of) { look_along(of); });
}

/// See trainer::warnings.
[[nodiscard]] inline std::vector<std::string> warnings(const trainer_options& options, index steps) {
  auto sentences = schedule::warnings(options.learning_rate_schedule, steps, "learning_rate_schedule");
  if (options.learning_rate_schedule == schedule::schedule())
    sentences.push_back("learning_rate_schedule: constant(0) trains nothing");
  for_each_decay_schedule(options, [&](const std::string& name, const schedule::schedule& of) {
    const auto more = schedule::warnings(of, steps, name);
    sentences.insert(sentences.end(), more.begin(), more.end());
  });
  return sentences;
}

/// The options that results depend on.
/// \param to       the settings, which are appended
/// \param options  of the trainer
/// \param groups   of its parameters, where the options have none
inline void describe(settings& to, const trainer_options& options, std::span<const optimizer::parameter_group> groups) {
  append(to, "learning_rate", options.learning_rate);
  append(to, "learning_rate_schedule", schedule::to_text(options.learning_rate_schedule));
  append(to, "decay_schedule", schedule::to_text(options.decay_schedule));
  append(to, "decay_mode", name(options.decay_mode));
  for (std::size_t number = 0; number < groups.size(); ++number) {
    const optimizer::parameter_group& group = groups[number];
    std::string text = group.name + ", base_decay " + io::number_text(group.base_decay);
    if (group.decay_schedule) text += ", decay_schedule " + schedule::to_text(*group.decay_schedule);
    text += ":";
    for (const std::string& matrix : group.matrices) text += " " + matrix;
    append(to, "groups." + std::to_string(number), text);
  }
  append(to, "clip_norm", options.clip_norm);
}

}  // namespace detail

}  // namespace lindyn::train
