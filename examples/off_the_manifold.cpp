// SPDX-License-Identifier: MIT
//
// What the theorem doesn't promise, measured: minibatches, Adam, random starts, weight decay, a basis that isn't
// centred, training confined to the manifold, and a residual stream. Each part writes its CSV file and its picture, and
// joins summary.json, as soon as it is done.
//
//   off_the_manifold --help

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/output_folder.hpp>

#include "support/off_the_manifold/constrained.hpp"
#include "support/off_the_manifold/decay.hpp"
#include "support/off_the_manifold/findings.hpp"
#include "support/off_the_manifold/minibatch.hpp"
#include "support/off_the_manifold/random_starts.hpp"
#include "support/off_the_manifold/raw_basis.hpp"
#include "support/off_the_manifold/residual.hpp"
#include "support/off_the_manifold/rules.hpp"
#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"

namespace {

namespace parts = examples::off_the_manifold;

struct part {
  std::string name;  ///< of its files, and on the command line
  std::string about;
  parts::findings (*run)(const parts::context&);
};

const std::vector<part> all_parts{
    {"sgd", "minibatches: the off-manifold share against the batch", parts::minibatch},
    {"adam", "gradient descent, momentum and Adam: who leaves, how fast, and where to", parts::rules},
    {"starts", "random starts: does the manifold attract?", parts::random_starts},
    {"decay", "weight decay, by its mode", parts::decay},
    {"raw", "a basis that isn't centred, against the vocabulary", parts::raw_basis},
    {"constrained", "training confined to the manifold, and of its coordinates alone", parts::constrained},
    {"residual", "a residual stream with random orthogonal maps, against its width", parts::residual},
};

struct options {
  std::vector<std::string> only;
  int threads = 2;
  std::filesystem::path out = "out/off_the_manifold";
  bool force = false;
};

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app("How training behaves where the invariant manifold isn't promised to hold it.");
  app.set_version_flag("--version", examples::version_text());
  std::vector<std::string> names;
  std::string about = "parts to run, separated by commas (default: all):";
  for (const part& each : all_parts) {
    names.push_back(each.name);
    about += "\n" + each.name + ": " + each.about;
  }
  app.add_option("--only", o.only, about)->delimiter(',')->check(CLI::IsMember(names));
  app.add_option("--threads", o.threads, "jobs at a time; results but for the timings don't depend on it")
      ->capture_default_str();
  app.add_option("--out", o.out, "folder of the results")->capture_default_str();
  app.add_flag("--force", o.force, "write into the folder even if it isn't empty; parts that aren't run are kept");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

/// summary.json of an earlier run in this folder, or an empty one.
lindyn::io::json earlier_summary(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? lindyn::io::read_json(path) : lindyn::io::json::object();
}

void run(const options& o) {
  lindyn::require(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "in [1, 256]");
  lindyn::require(!o.out.empty(), "out", "\"\"", "a folder");
  lindyn::io::prepare_output_folder(o.out, o.force);
  const auto path = o.out / "summary.json";
  auto summary = earlier_summary(path);
  const parts::context context{o.out, o.threads, examples::progress_line()};
  bool drawn = true;
  for (const part& each : all_parts) {
    if (!o.only.empty() && std::ranges::find(o.only, each.name) == o.only.end()) continue;
    std::cout << each.name << ": " << each.about << std::endl;
    const auto begin = std::chrono::steady_clock::now();
    const parts::findings found = each.run(context);
    for (const std::string& sentence : found.sentences) std::cout << "  " << sentence << "\n";
    std::cout << std::flush;
    drawn = drawn && found.drawn;
    auto& entry = summary[each.name] = {{"about", each.about}, {"sentences", found.sentences}};
    entry["results"] = found.numbers;
    entry["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    entry["threads"] = o.threads;
    examples::append_provenance(entry);
    lindyn::io::write_json(path, summary);
  }
  examples::report_written(o.out, "summary.json, and for each part NAME.csv, NAME.gnuplot", "NAME.png, NAME.svg",
                           drawn);
}

}  // namespace

int main(int argc, char** argv) { return examples::program("off_the_manifold", argc, argv, parse, run); }
