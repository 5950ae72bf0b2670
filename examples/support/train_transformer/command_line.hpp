// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The settings on the command line, and how presets, files and options are laid over each other.

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <CLI/CLI.hpp>

#include <lindyn/schedule/text.hpp>

#include "../provenance.hpp"
#include "../refuse_empty.hpp"
#include "../refuse_unused.hpp"
#include "settings.hpp"

namespace examples::train_transformer {

/// What the command line says.
struct command_line {
  settings given;
  std::set<std::string> names;  ///< of those settings that were given
  std::filesystem::path config;
  bool resume = false;
};

/// What is wrong with a text that is to be an integer of this type, if anything: CLI11 takes too large ones for the
/// largest, and a leading zero for the sign of octal numbers.
template <class Integer>
[[nodiscard]] std::string complaint_about_integer(const std::string& text) {
  Integer value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc() && end == text.data() + text.size() && text == std::to_string(value)) return {};
  return text + " isn't an integer from " + std::to_string(std::numeric_limits<Integer>::min()) + " to " +
         std::to_string(std::numeric_limits<Integer>::max());
}

/// Reads the command line; returns an exit code if the program is done with that: 2 for bad options.
inline std::optional<int> parse(int argc, char** argv, command_line& line) {
  CLI::App app(
      "Trains a transformer on anchor composition, modular arithmetic, anchor shift or SCAN, and keeps what it saw.\n"
      "Values are those of the preset, then of the file --config, then of the options.");
  app.set_version_flag("--version", examples::version_text());
  app.add_option("--config", line.config,
                 "a JSON file with members of the names below, as the configuration.json of every run");
  app.add_flag("--resume", line.resume, "go on from the checkpoint in the folder, with the settings there");
  for_each_setting([&](const char* name, auto member, const char* description, const choices& allowed) {
    auto& value = line.given.*member;
    const std::string option = std::string("--") + name;
    if constexpr (std::is_same_v<decltype(value), bool&>) {
      app.add_flag(option + ",!--no-" + name, value, description);
    } else {
      auto* added = app.add_option(option, value, description)->capture_default_str();
      if (!allowed.empty()) added->check(CLI::IsMember(allowed));
      if constexpr (std::is_integral_v<std::remove_reference_t<decltype(value)>>)
        added->check(complaint_about_integer<std::remove_reference_t<decltype(value)>>);
    }
  });
  try {
    app.parse(argc, argv);
    examples::refuse_empty(app);
    if (app.count("--steps") > 0 && app.count("--epochs") > 0)
      throw CLI::ValidationError("--epochs", "can't be given together with --steps");
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : 2;
  }
  for_each_setting([&](const char* name, auto, const char*, const choices&) {
    if (app.count(std::string("--") + name) > 0) line.names.insert(name);
  });
  return {};
}

/// Where a run's settings are kept, so that it can be resumed.
inline constexpr const char* configuration_file = "configuration.json";

/// Settings that a run may go on with in other values.
inline constexpr std::array<std::string_view, 10> changeable{
    "steps", "epochs", "threads", "evaluate-every", "evaluate", "reached", "stop", "checkpoint-every", "out", "force"};

/// Throws lindyn::error, naming the option, for one that was given and has no effect.
inline void refuse_unused(const command_line& line, const settings& chosen) {
  const auto only = [&](bool used, std::string_view with, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (!used && line.names.contains(name))
        throw lindyn::error("--" + std::string(name) + " has no effect but with --" + std::string(with));
  };
  only(chosen.task == "anchor_composition", "task anchor_composition",
       {"keys", "anchors", "training-pairs", "task-seed"});
  only(chosen.task == "modular_arithmetic", "task modular_arithmetic", {"operation", "modulus", "share", "swap-safe"});
  only(chosen.task == "anchor_shift", "task anchor_shift", {"per-pair", "test-per-pair"});
  only(chosen.task == "scan", "task scan", {"most-outputs"});
  only(chosen.task != "scan", "another task than scan", {"split-seed"});
  only(chosen.initialisation != "gpt2", "initialisation scaled or exponent", {"gamma"});
  only(chosen.biases, "biases", {"key-bias"});
  only(chosen.optimizer == "momentum" || chosen.optimizer == "nesterov", "optimizer momentum or nesterov",
       {"momentum"});
  only(chosen.optimizer == "adam", "optimizer adam", {"beta1", "beta2", "epsilon"});
  only(chosen.sampling != "whole", "sampling with_replacement or epochs", {"batch", "batch-seed"});
  only(!chosen.observe.empty(), "observe", {"observe-every"});
}

/// The settings that were given laid over others: --steps replaces --epochs and the reverse.
inline void lay_over(const settings& given, const std::set<std::string>& names, settings& to) {
  if (names.contains("steps") && given.steps > 0) to.epochs = 0;
  if (names.contains("epochs") && given.epochs > 0) to.steps = 0;
  for_each_setting([&](const char* name, auto member, const char*, const choices&) {
    if (names.contains(name)) to.*member = given.*member;
  });
}

/// The names of the settings that a configuration sets.
[[nodiscard]] inline std::set<std::string> names_in(const io::json& configuration) {
  std::set<std::string> result;
  for_each_setting([&](const char* name, auto, const char*, const choices&) {
    if (configuration.contains(name) || configuration.contains(member_name(name))) result.insert(name);
  });
  return result;
}

/// Whether two values of a setting say the same: schedules and lists may be written in more than one way.
[[nodiscard]] inline bool alike(std::string_view name, const auto& one, const auto& other) {
  if constexpr (std::is_same_v<decltype(one), const std::string&>) {
    if (name == "decay" || name == "lr-schedule")
      return lindyn::schedule::parse(one, name) == lindyn::schedule::parse(other, name);
    if (name == "observe") return without_blanks(one) == without_blanks(other);
  }
  return one == other;
}

/// The settings of the run: those of the preset or, to be resumed, of the folder's run; over them those of the file; over
/// them the options.
/// \throws lindyn::argument_error for what is no setting or has no effect, and for a run that can't be resumed with other
///         settings; lindyn::file_error for files that can't be read
[[nodiscard]] inline settings resolve(const command_line& line) {
  settings from_file;
  std::set<std::string> in_file;
  if (!line.config.empty()) {
    const io::json configuration = io::read_json(line.config);
    assign(configuration, from_file);
    in_file = names_in(configuration);
  }
  settings asked = preset(line.names.contains("preset") ? line.given.preset : from_file.preset);
  lay_over(from_file, in_file, asked);
  lay_over(line.given, line.names, asked);
  if (!line.resume) {
    refuse_unused(line, asked);
    return asked;
  }
  settings result;
  assign(io::read_json(std::filesystem::path(asked.out) / configuration_file), result);
  const settings before = result;
  lay_over(from_file, in_file, result);
  lay_over(line.given, line.names, result);
  result.out = asked.out;
  for_each_setting([&](const char* name, auto member, const char*, const choices&) {
    if (std::ranges::find(changeable, name) == changeable.end())
      lindyn::require(alike(name, result.*member, before.*member), name, result.*member,
                      "as in the run that is resumed, " + lindyn::detail::to_text(before.*member));
  });
  refuse_unused(line, result);
  return result;
}

}  // namespace examples::train_transformer
