// SPDX-License-Identifier: MIT
//
// Memorising against reasoning as rate equations: the two-timescale system as printed and as the loss has it, the reduced
// system of two, three and four factors, and linearised attention, whose weights they stand for. Which window of weight
// decay makes reasoning win? Source: Ali, arXiv 2605.04396.
//
//   two_timescale --help

#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/json.hpp>

#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"
#include "support/refuse_empty.hpp"
#include "support/refuse_unused.hpp"
#include "support/resumable_folder.hpp"
#include "support/two_timescale/closed_forms.hpp"
#include "support/two_timescale/courses.hpp"
#include "support/two_timescale/maps.hpp"
#include "support/two_timescale/modules.hpp"
#include "support/two_timescale/setting.hpp"
#include "support/two_timescale/validity.hpp"
#include "support/two_timescale/windows.hpp"

namespace {

namespace parts = examples::two_timescale;
using lindyn::io::json;
using parts::options;

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app("Rate equations of memorising and reasoning: which window of weight decay makes reasoning win.");
  app.set_version_flag("--version", examples::version_text());
  app.add_option("--keys", o.keys, "K, keys")->capture_default_str();
  app.add_option("--anchors", o.anchors, "anchors")->capture_default_str();
  app.add_option("--pairs", o.pairs, "|P|, pairs of anchors that are trained")->capture_default_str();
  app.add_option("--width", o.width, "d, the width; at least keys + anchors")->capture_default_str();
  app.add_option("--gamma", o.gamma, "weights are drawn from N(0, gamma^2 / d)")->capture_default_str();
  app.add_option("--seed", o.seed, "of the weights")->check(CLI::Range(0.0, 1e18))->capture_default_str();
  app.add_option("--reduction", o.reduction, "of the loss over pairs: mean, or sum, which is |P| times as fast")
      ->capture_default_str();
  app.add_option("--lr", o.lr, "learning rate: time is it times updates")->capture_default_str();
  app.add_option("--updates", o.updates, "of a training")->capture_default_str();
  app.add_option("--onsets", o.onsets, "first updates of the windows whose courses are drawn")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--window", o.window, "updates of a window")->capture_default_str();
  app.add_option("--budget", o.budget, "what the decay of a window adds up to")->capture_default_str();
  app.add_option("--decay-mode", o.decay_mode, "what it means; in a flow coupled_l2 is lr_scaled, and ratio absolute")
      ->capture_default_str();
  app.add_option("--delta", o.delta, "share of a capacity that printed windows leave open")->capture_default_str();
  app.add_option("--onset-to", o.onset_to, "last onset of the maps")->capture_default_str();
  app.add_option("--width-from", o.width_from, "narrowest window of the maps")->capture_default_str();
  app.add_option("--width-to", o.width_to, "widest")->capture_default_str();
  app.add_option("--gamma-from", o.gamma_from, "least gamma of the maps")->capture_default_str();
  app.add_option("--gamma-to", o.gamma_to, "largest")->capture_default_str();
  app.add_option("--resolution", o.resolution, "values of each axis of the maps")->capture_default_str();
  app.add_option("--seeds", o.seeds,
                 "starts of all weights beside rate systems, at each gamma from .1 to 1.1 (0: none)")
      ->capture_default_str();
  app.add_option("--starts", o.starts, "random starts of modules under an optimiser (0: none)")->capture_default_str();
  app.add_option("--module-updates", o.module_updates, "how long modules are trained")->capture_default_str();
  app.add_option("--module-onsets", o.module_onsets, "first updates of the windows under which modules are trained")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--module-rule", o.module_rule, "what trains modules")
      ->check(CLI::IsMember({"adam", "momentum", "sgd"}))
      ->capture_default_str();
  app.add_option("--module-lr", o.module_lr, "its learning rate")->capture_default_str();
  app.add_option("--threads", o.threads, "cells at a time; results don't depend on it")->capture_default_str();
  examples::add_resumable_folder(app, o.out, o.force, o.resume);
  try {
    app.parse(argc, argv);
    examples::refuse_empty(app);
    for (const char* option : {"--module-updates", "--module-onsets", "--module-rule", "--module-lr"})
      examples::refuse_unused(app, option, o.starts > 0, "--starts");
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

void require_valid(const options& o) {
  lindyn::require(o.width >= 1 && o.width <= 512, "width", o.width, "in [1, 512]");
  lindyn::require(o.gamma > 0 && o.gamma <= 100, "gamma", o.gamma, "positive, and at most 100");
  lindyn::require(o.lr > 0 && o.lr <= 1e3, "lr", o.lr, "positive, and at most 1000");
  lindyn::require(o.updates >= 1 && o.updates <= 1e9, "updates", o.updates, "in [1, 1e9]");
  lindyn::require(!o.onsets.empty(), "onsets", "none", "at least one");
  for (const double onset : o.onsets)
    lindyn::require(onset >= 0 && onset < o.updates, "onsets", onset, "in [0, updates)");
  lindyn::require(o.window >= 1 && o.window <= 1e9, "window", o.window, "in [1, 1e9]");
  lindyn::require(o.budget > 0 && o.budget <= 1e6, "budget", o.budget, "positive, and at most 1e6");
  lindyn::require(o.delta > 0 && o.delta < 1, "delta", o.delta, "in (0, 1)");
  lindyn::require(o.onset_to > 0 && o.onset_to <= o.updates, "onset-to", o.onset_to, "positive, and at most updates");
  lindyn::require(o.width_from >= 1, "width-from", o.width_from, "at least 1");
  lindyn::require(o.width_to > o.width_from && o.width_to <= 1e9, "width-to", o.width_to, "in (width-from, 1e9]");
  lindyn::require(o.gamma_from > 0, "gamma-from", o.gamma_from, "positive");
  lindyn::require(o.gamma_to > o.gamma_from && o.gamma_to <= 100, "gamma-to", o.gamma_to, "in (gamma-from, 100]");
  lindyn::require(o.resolution >= 2 && o.resolution <= 1024, "resolution", o.resolution, "in [2, 1024]");
  lindyn::require(o.seeds >= 0 && o.seeds <= 10'000, "seeds", o.seeds, "in [0, 10000]");
  lindyn::require(o.starts >= 0 && o.starts <= 1'000'000, "starts", o.starts, "in [0, 1000000]");
  lindyn::require(o.module_updates >= 1 && o.module_updates <= 1'000'000, "module-updates", o.module_updates,
                  "in [1, 1000000]");
  lindyn::require(o.module_lr > 0 && o.module_lr <= 1e6, "module-lr", o.module_lr, "positive, and at most 1e6");
  lindyn::require(!o.module_onsets.empty(), "module-onsets", "none", "at least one");
  for (const double onset : o.module_onsets)
    lindyn::require(onset >= 0 && onset <= 1e9, "module-onsets", onset, "in [0, 1e9]");
  lindyn::require(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "in [1, 256]");
  lindyn::require(!o.out.empty(), "out", "\"\"", "a folder");
}

json configuration_of(const options& o) {
  return {{"keys", o.keys},
          {"anchors", o.anchors},
          {"pairs", o.pairs},
          {"width", o.width},
          {"gamma", o.gamma},
          {"seed", o.seed},
          {"reduction", o.reduction},
          {"lr", o.lr},
          {"updates", o.updates},
          {"onsets", o.onsets},
          {"window", o.window},
          {"budget", o.budget},
          {"decay_mode", o.decay_mode},
          {"delta", o.delta},
          {"onset_to", o.onset_to},
          {"width_from", o.width_from},
          {"width_to", o.width_to},
          {"gamma_from", o.gamma_from},
          {"gamma_to", o.gamma_to},
          {"resolution", o.resolution},
          {"seeds", o.seeds},
          {"starts", o.starts},
          {"module_updates", o.module_updates},
          {"module_onsets", o.module_onsets},
          {"module_rule", o.module_rule},
          {"module_lr", o.module_lr},
          {"threads", o.threads},
          {"out", o.out.string()},
          {"force", o.force},
          {"resume", o.resume}};
}

/// What the systems are made of; also printed.
json rates_of(const parts::setting& s) {
  namespace rates = lindyn::rates;
  const auto of = s.statistics(s.o.gamma);
  const rates::growth printed = rates::printed_growth(of), corrected = rates::corrected_growth(of, s.net.reduction());
  const rates::slopes slopes = s.slopes();
  std::printf("rates per unit of time    memorising    reasoning\n");
  std::printf("printed                   %-12.5g  %.5g\ncorrected                 %-12.5g  %.5g\n", printed.memorising,
              printed.reasoning, corrected.memorising, corrected.reasoning);
  std::printf("slopes s_m and s_r        %-12.5g  %.5g\ndecay within the window   %.5g\n", slopes.memorising,
              slopes.reasoning, s.level());
  const auto pair = [](const auto& both) {
    return json{{"memorising", both.memorising}, {"reasoning", both.reasoning}};
  };
  return {{"key_eigenvalue", of.key_eigenvalue}, {"coupling", of.coupling}, {"printed", pair(printed)},
          {"corrected", pair(corrected)},        {"slopes", pair(slopes)},  {"decay", s.level()}};
}

void run(const options& o) {
  require_valid(o);
  const parts::setting s(o, examples::progress_line());
  examples::prepare_resumable_folder(o.out, o.force, o.resume);
  if (o.force) {
    parts::remove_maps(s);
    parts::remove_part(s, "modules");
    parts::remove_part(s, "validity");
  }

  examples::say_when_interrupted("Interrupted. To go on: the same options and --resume");
  json summary;
  const auto timed = [&](const std::string& part, auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t before = std::clock();
    auto result = work();
    summary["cpu_seconds"][part] = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;  // of all threads
    summary["seconds"][part] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  };
  // What has journals comes first: they refuse other options than those of an earlier run before anything is overwritten.
  std::vector<std::vector<parts::found_map>> maps;
  const std::vector<parts::window_map> kinds = parts::window_maps(s);
  for (const parts::window_map& kind : kinds)
    maps.push_back(timed(kind.name, [&] { return parts::find_maps(s, kind); }));
  std::optional<lindyn::sweep::table> modules, validity;
  if (o.starts > 0) modules = timed("modules", [&] { return parts::train_all_modules(s); });
  if (o.seeds > 0) validity = timed("validity", [&] { return parts::find_validity(s); });
  const auto forms = timed("closed_forms", [&] { return parts::confirm_closed_forms(s); });
  const auto windows = timed("windows", [&] { return parts::predict_windows(s); });
  const auto courses = timed("courses", [&] { return parts::find_courses(s); });

  examples::finish_undisturbed();
  parts::for_each_system(s,
                         [&](const char* name, const char* about, const auto&) { summary["systems"][name] = about; });
  summary["rates"] = rates_of(s);
  summary["closed_forms"] = parts::write_closed_forms(s, forms);
  summary["windows"] = parts::write_windows(s, windows);
  summary["courses"] = parts::write_courses(s, courses);
  std::string files = "summary.json, closed_forms.csv, windows.csv, courses.csv";
  examples::pictures pictures;
  pictures.add("courses", parts::draw_courses(s, courses));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    summary["maps"][kinds[i].name] = parts::write_maps(s, kinds[i], maps[i]);
    files += ", " + kinds[i].name + "_SYSTEM.csv";
    pictures.add(kinds[i].name, parts::draw_maps(s, kinds[i], maps[i]));
  }
  if (validity) {
    summary["validity"] = parts::write_validity(s, *validity);
    files += ", validity.csv";
    pictures.add("validity", parts::draw_validity(s, *validity));
  }
  if (modules) {
    summary["modules"] = parts::write_modules(s, *modules);
    files += ", modules.csv";
    pictures.add("modules", parts::draw_modules(s));
  }
  summary["configuration"] = configuration_of(o);
  examples::append_provenance(summary);
  lindyn::io::write_json(o.out / "summary.json", summary);
  examples::report_written(o.out, files, pictures);
}

}  // namespace

int main(int argc, char** argv) { return examples::program("two_timescale", argc, argv, parse, run); }
