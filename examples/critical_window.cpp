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
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/output_folder.hpp>
#include <lindyn/train/interrupt.hpp>

#include "support/critical_window/drives.hpp"
#include "support/critical_window/experiments.hpp"
#include "support/critical_window/pictures.hpp"
#include "support/critical_window/results.hpp"
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
  bool list = false;
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
      "trainings are kept in the folder, and only missing ones are made.");
  app.set_version_flag("--version", examples::version_text());
  app.add_option("--only", o.only, "experiments, separated by commas (default: all):" + known)
      ->delimiter(',')
      ->check(CLI::IsMember(names()));
  app.add_option("--seeds", o.extent.seeds, "trainings of each setting, from seed 1 on; 0: as each experiment has them")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_flag("--quick", o.extent.quick,
               "tiny networks and a hundredth of the steps, to try the program; into a folder of its own");
  app.add_flag("--list", o.list, "say how many trainings there are and what they take, and end");
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

/// What earlier calls have left in summary.json. Throws file_error, naming the file, if it isn't of this program.
io::json summary_so_far(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return io::json::object();
  auto summary = io::read_json(path);
  if (!summary.is_object() || !std::ranges::all_of(summary, [](const auto& entry) { return entry.is_object(); }))
    throw lindyn::file_error(path.string() + " is no summary of experiments: remove it, or write into another --out");
  return summary;
}

/// runs.csv, of all experiments that have finished runs, and an experiment's entry in summary.json and picture.
/// \return false if it couldn't be drawn
bool write_results(const options& o, const parts::experiment& of, double cpu_seconds) {
  const examples::undisturbed writing;
  io::csv_writer csv(o.out / "runs.csv", parts::run_columns);
  for (const auto& each : parts::experiments(o.extent))
    parts::append_rows(csv, parts::read_results(o.out / "runs", each, o.extent));
  csv.commit();

  const auto path = o.out / "summary.json";
  auto summary = summary_so_far(path);
  auto& entry = summary[of.name];
  const double before = entry.is_object() && entry.contains("cpu_seconds") ? entry["cpu_seconds"].get<double>() : 0;
  const auto results = parts::read_results(o.out / "runs", of, o.extent);
  entry = {{"about", of.about},          {"runs", of.runs.size()},
           {"finished", results.size()}, {"cpu_seconds", before + cpu_seconds},  // of all calls
           {"quick", o.extent.quick},    {"settings", parts::summarise(results)}};
  examples::append_provenance(entry);
  io::write_json(path, summary);
  return parts::draw_experiment(o.out, of, results);
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

/// Makes what is missing, and writes what there is. Returns the program's exit code.
int work(const options& o) {
  io::prepare_output_folder(o.out, true);
  (void)summary_so_far(o.out / "summary.json");  // a file of something else is refused before work begins
  std::filesystem::create_directories(o.out / "runs");
  lindyn::train::interrupt interrupt;
  bool drawn = true;
  for (const auto& each : chosen(o)) {
    std::cout << each.name << ": " << each.about << std::endl;
    const double begin = examples::resources_used().cpu_seconds;
    const auto stop = [&] { return interrupt.requested(); };
    if (each.name == "causes" && !std::filesystem::exists(o.out / "drives.csv"))
      parts::write_drives(o.out, o.extent, o.threads, stop);
    const auto count = static_cast<index>(each.runs.size());
    auto done = static_cast<index>(
        std::ranges::count_if(each.runs, [&](const auto& plan) { return parts::is_finished(o.out / "runs", plan); }));
    parts::train_missing(o.out / "runs", each.runs, o.threads, stop,
                         [&](const auto& plan, const auto& record) { tell(plan, record, ++done, count); });
    drawn = write_results(o, each, examples::resources_used().cpu_seconds - begin) && drawn;
    if (interrupt.requested()) {
      std::cout << "Interrupted. The same command goes on with what is missing." << std::endl;
      return 128 + interrupt.signal();
    }
  }
  examples::report_written(o.out, "runs.csv, summary.json, runs/, and for each experiment NAME.csv, NAME.gnuplot",
                           "NAME.png, NAME.svg", drawn);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  if (const auto code = parse(argc, argv, o)) return *code;
  try {
    if (o.list) return list(o), 0;
    return work(o);
  } catch (const std::exception& fault) {
    std::cout.flush();
    std::cerr << "critical_window: " << fault.what() << "\n";
    return 1;
  }
}
