// SPDX-License-Identifier: MIT

/// \file
/// When does weight decay decide between memorising and reasoning? Transformers learn to compose permutations while their
/// weights decay in a window of steps, and are asked for pairs that they have never seen. The experiments follow
/// arXiv 2605.04396 in several readings of what its weight decay is (the decay modes).
///
/// Every training is kept in OUT/runs as soon as it is finished: its settings, from which train_transformer --config
/// repeats it, and its record. Interrupted by Ctrl-C or otherwise, the same command goes on with what is missing.
///
///   critical_window --list               the experiments, and what they take
///   critical_window --only modes,onset   some of them
///   critical_window --report             tables and pictures of what is finished
///   critical_window --quick              a test of a few seconds
///   critical_window --help

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/output_folder.hpp>
#include <lindyn/train/interrupt.hpp>

#include "support/critical_window/drives.hpp"
#include "support/critical_window/experiments.hpp"
#include "support/critical_window/record.hpp"
#include "support/critical_window/report.hpp"
#include "support/critical_window/training.hpp"
#include "support/program.hpp"
#include "support/provenance.hpp"
#include "support/refuse_empty.hpp"
#include "support/resources.hpp"

namespace {

namespace parts = examples::critical_window;
namespace io = lindyn::io;
using lindyn::index;

struct options {
  std::vector<std::string> only;
  parts::extent extent;
  bool list = false, report = false;
  int threads = 1;
  std::filesystem::path out = "out/critical_window";
};

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& each : parts::experiments({})) result.push_back(each.name);
  return result;
}

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  std::string known;
  for (const auto& each : parts::experiments({})) known += "\n" + each.name + ": " + each.about;
  CLI::App app(
      "Weight decay in windows of training: which windows let a transformer answer what it hasn't seen. Finished "
      "trainings are kept in the folder, and only missing ones are made; they are taken as they are, also those of "
      "other versions.");
  app.set_version_flag("--version", examples::version_text());
  app.add_option("--only", o.only, "experiments, separated by commas (default: all):" + known)
      ->delimiter(',')
      ->check(CLI::IsMember(names()));
  app.add_option("--seeds", o.extent.seeds,
                 "trainings that are made of each setting, from seed 1 on; 0: as each experiment has them. Tables and "
                 "pictures have all that are finished")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_flag("--quick", o.extent.quick,
               "tiny networks and a hundredth of the steps, to try the program; into a folder of its own");
  auto* list = app.add_flag("--list", o.list, "say how many trainings there are and what they take, and end");
  app.add_flag("--report", o.report, "write tables and pictures of what is finished, and end: nothing is trained")
      ->excludes(list);
  app.add_option("--threads", o.threads, "trainings at a time; results don't depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--out", o.out, "folder of the results, with those of earlier calls")->capture_default_str();
  try {
    app.parse(argc, argv);
    examples::refuse_empty(app);
    if (o.extent.quick && app.count("--out") == 0) o.out += "_quick";
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

/// The experiments that were asked for.
std::vector<parts::experiment> chosen(const options& o) {
  auto all = parts::experiments(o.extent);
  std::erase_if(
      all, [&](const auto& each) { return !o.only.empty() && std::ranges::find(o.only, each.name) == o.only.end(); });
  return all;
}

/// How many trainings an experiment has, how many of them are still to be made, and what that takes: runs that differ in
/// their decay alone have their common steps once.
void list(const options& o) {
  std::printf("%-14s %6s %8s %12s %12s %14s\n", "experiment", "runs", "missing", "their steps", "to be made",
              "core-minutes");
  double all = 0;
  for (const auto& each : chosen(o)) {
    std::size_t missing = 0;
    index alone = 0, steps = 0;
    double seconds = 0;
    for (auto& together : parts::missing_families(o.out / "runs", each.runs)) {
      missing += together.size();
      parts::with_family(std::move(together), [&](const auto& of) {
        const auto plan = of.plan();
        alone += plan.steps_alone();
        steps += plan.steps();
        seconds += of.seconds_per_step() * static_cast<double>(plan.steps());
      });
    }
    all += seconds;
    std::printf("%-14s %6zu %8zu %12lld %12lld %14.1f\n", each.name.c_str(), each.runs.size(), missing,
                static_cast<long long>(alone), static_cast<long long>(steps), seconds / 60);
    std::fflush(stdout);
  }
  std::printf("%-14s %6s %8s %12s %12s %14.1f\n", "all", "", "", "", "", all / 60);
}

void tell(const parts::planned_run& plan, const parts::history& record, index done, index all) {
  const auto& last = record.rows().back();
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);  // the line of progress
  std::printf("  %lld of %lld  %s: %s, %s, gamma %g, seed %lld: accuracy %.3f\n", static_cast<long long>(done),
              static_cast<long long>(all), plan.condition.c_str(), plan.of.decay_mode.c_str(), plan.of.decay.c_str(),
              plan.of.gamma, static_cast<long long>(plan.of.seed),
              last[record.column(examples::train_transformer::decisive_column(plan.of))]);
  std::fflush(stdout);
}

/// Tells of files that can't be read, which are left out. Whether there are none.
bool all_readable(const options& o) {
  const auto faults = parts::damaged_records(o.out, o.extent);
  for (const std::string& fault : faults) std::cerr << "critical_window: " << fault << "\n";
  return faults.empty();
}

/// What is said at the end. Returns the program's exit code.
int end(const options& o, bool readable, bool drawn) {
  examples::report_written(o.out, "runs.csv, summary.json, runs/, and for each experiment NAME.csv, NAME.gnuplot",
                           "NAME.png, NAME.svg", drawn);
  if (!readable) std::cout << "Some trainings were left out, as their files can't be read: see above.\n";
  return readable ? 0 : 1;
}

/// Writes what there is, without making what is missing. Returns the program's exit code.
int report(const options& o) {
  if (!std::filesystem::is_directory(o.out / "runs"))
    throw lindyn::file_error("there are no finished trainings in " + o.out.string());
  (void)parts::summary_so_far(o.out, o.extent.quick);
  std::vector<std::string> names;
  for (const auto& each : chosen(o)) names.push_back(each.name);
  const bool readable = all_readable(o);
  return end(o, readable, parts::write_results(o.out, o.extent, names, 0));
}

/// Makes what is missing, and writes what there is. Returns the program's exit code.
int work(const options& o) {
  (void)parts::summary_so_far(o.out, o.extent.quick);  // files of something else are refused before anything is touched
  for (const auto& folder : {o.out, o.out / "runs"}) {
    io::prepare_output_folder(folder, true);
    parts::remove_leftovers(folder);
  }
  const bool readable = all_readable(o);
  lindyn::train::interrupt interrupt;
  bool drawn = true;
  for (const auto& each : chosen(o)) {
    std::cout << each.name << ": " << each.about << std::endl;
    const double begin = examples::resources_used().cpu_seconds;
    const auto stop = [&] { return interrupt.requested(); };
    if (each.name == "causes") parts::train_drives(o.out, o.extent, o.threads, stop);
    const auto count = static_cast<index>(each.runs.size());
    auto done = static_cast<index>(std::ranges::count_if(
        each.runs, [&](const auto& plan) { return parts::read_record(o.out / "runs", plan).rows.has_value(); }));
    parts::train_missing(o.out / "runs", each.runs, o.threads, stop,
                         [&](const auto& plan, const auto& record) { tell(plan, record, ++done, count); });
    const double spent = examples::resources_used().cpu_seconds - begin;
    drawn = parts::write_results(o.out, o.extent, {each.name}, spent) && drawn;
    if (interrupt.requested()) {
      std::cout << "Interrupted. The same command goes on with what is missing." << std::endl;
      return 128 + interrupt.signal();
    }
  }
  return end(o, readable, drawn);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  if (const auto code = parse(argc, argv, o)) return *code;
  try {
    if (o.list) return list(o), 0;
    return o.report ? report(o) : work(o);
  } catch (const std::exception& fault) {
    std::cout.flush();
    std::cerr << "critical_window: " << fault.what() << "\n";
    return 1;
  }
}
