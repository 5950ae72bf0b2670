// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One training of an experiment: the settings of train_transformer that repeat it, and what it stands for.

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/io/digest.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/train/trainer_options.hpp>

#include "../train_transformer/settings.hpp"

namespace examples::critical_window {

using lindyn::index;
using train_transformer::settings;
namespace io = lindyn::io;
namespace schedule = lindyn::schedule;

/// When weights decay: at `rate`, for begin <= t < end; never, where that is 0.
struct decay_window {
  double begin = 0, end = 0;
  double rate = 0;  ///< lambda

  /// Of a rate that adds up to a budget, so that windows of any width take equally much.
  [[nodiscard]] static decay_window of_budget(double begin, double end, double budget = 20) {
    return {begin, end, budget / (end - begin)};
  }
};

/// Weights of modules, as "blocks.1.mlp", are multiplied by a factor when so many steps are made.
struct weight_scaling {
  index at = 0;
  std::vector<std::string> modules = {};
  double factor = 1;
};

/// A training, with the labels of its row in runs.csv.
struct planned_run {
  std::string experiment;
  std::string condition;  ///< none, always, window, ..
  decay_window window;
  settings of;
  /// What the settings can't say, in words, which become part of the run's name; empty: nothing.
  std::string intervention = {};
  /// Does it to the trainer's options: groups that decay in another way.
  std::function<void(const lindyn::parameter_table&, lindyn::train::trainer_options&)> adjust = {};
  /// Number of steps behind which the optimiser forgets its moments.
  std::optional<index> forget_at = {};
  /// Weights that are multiplied by a factor.
  std::optional<weight_scaling> scaling = {};

  /// \param within  the experiment's name
  /// \param what    the condition's name
  /// \param when    no weights decay, where its rate is 0; they always do, where it lasts to the end
  /// \param all     other settings, the decay's mode among them
  planned_run(std::string within, std::string what, const decay_window& when, settings all)
      : experiment(std::move(within)), condition(std::move(what)), window(when), of(std::move(all)) {
    const auto steps = static_cast<double>(of.steps);
    of.decay = schedule::to_text(window.rate == 0 ? schedule::schedule(0.0)
                                 : window.begin <= 0 && window.end >= steps
                                     ? schedule::schedule(window.rate)
                                     : schedule::schedule(schedule::window{window.begin, window.end, window.rate}));
    if (window.rate == 0) of.decay_mode = settings().decay_mode;  // one run stands for all modes
  }

  /// What it is called in the folder of runs: a digest of the settings that decide its results and aren't those of the
  /// preset. Experiments share runs that are the same; settings that are added later change no name.
  [[nodiscard]] std::string name() const {
    constexpr std::array<std::string_view, 9> without_effect{
        "preset", "threads", "evaluate", "reached", "stop", "checkpoint-every", "out", "force", "observe"};
    const settings usual;
    std::string text;
    train_transformer::for_each_setting([&](const char* option, auto member, const char*, const auto&) {
      if (std::ranges::find(without_effect, option) == without_effect.end() && of.*member != usual.*member)
        text += std::string(option) + " = " + io::json(of.*member).dump() + "\n";
    });
    if (!intervention.empty()) text += "intervention = " + intervention + "\n";
    return io::digest()(text).text();
  }

  /// Where the weights begin to decay; NaN if they never do, or always.
  [[nodiscard]] double onset() const { return partial() ? window.begin : std::numeric_limits<double>::quiet_NaN(); }
  /// How many steps they decay for; NaN as before.
  [[nodiscard]] double width() const {
    return partial() ? window.end - window.begin : std::numeric_limits<double>::quiet_NaN();
  }

private:
  [[nodiscard]] bool partial() const {
    return window.rate > 0 && (window.begin > 0 || window.end < static_cast<double>(of.steps));
  }
};

}  // namespace examples::critical_window
