// SPDX-License-Identifier: MIT
/// \file
/// Runs the benchmarks. Shows the processor time of each, its floor, and how families of them grow with a size; with
/// --benchmark_format=json as Google Benchmark's JSON, to which the rows of growth are added ("aggregate_name":
/// "growth"). With --growth only the growth is shown.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <benchmark/benchmark.h>

#include "growth.hpp"
#include "support.hpp"

namespace {

using benchmarks::figure;
using benchmarks::growth;

/// "1.23 us".
std::string duration(double seconds) {
  const char* unit = "s";
  for (const char* smaller : {"ms", "us", "ns"}) {
    if (seconds >= 1 || seconds == 0) break;
    seconds *= 1000;
    unit = smaller;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", seconds, unit);
  return text;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// What the floors are computed from.
std::vector<std::pair<std::string, double>> machine() {
  return {{"GFLOP/s (double)", benchmarks::peak<double>() / 1e9},
          {"GFLOP/s (float)", benchmarks::peak<float>() / 1e9},
          {"ns an exponential (double)", benchmarks::seconds_of_exponential<double>() * 1e9},
          {"ns an exponential (float)", benchmarks::seconds_of_exponential<float>() * 1e9},
          {"GB/s within 32 KiB", benchmarks::bandwidth(0x1p15) / 1e9},
          {"GB/s within 1 MiB", benchmarks::bandwidth(0x1p20) / 1e9},
          {"GB/s within 256 MiB", benchmarks::bandwidth(0x1p28) / 1e9}};
}

/// All repetitions of a benchmark.
struct repetitions {
  std::int64_t order = 0;
  figure what;              // with the median
  double shortest = 0;      // seconds
  double memory_floor = 0;  // of the two floors
  std::string label;
};

class reporter : public benchmark::BenchmarkReporter {
public:
  reporter(bool json, bool growth_alone) : growth_alone_(growth_alone) {
    if (json) json_ = std::make_unique<benchmark::JSONReporter>();
  }

  bool ReportContext(const Context& context) override {
    if (json_) return json_->ReportContext(context);
    std::printf("One core: ");
    for (const auto& [name, value] : machine()) std::printf("%s %.3g; ", name.c_str(), value);
    std::printf("processor time everywhere\n");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    if (json_) json_->ReportRuns(runs);
    repetitions all;
    std::vector<double> seconds;
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
        failed_ = true;
        return;
      }
      if (run.run_type != Run::RT_Iteration) continue;
      seconds.push_back(run.cpu_accumulated_time / static_cast<double>(run.iterations));
      const auto counter = [&](const char* name) {
        const auto found = run.counters.find(name);
        return found == run.counters.end() ? 0.0 : found->second.value;
      };
      all.order = run.family_index;
      all.what.name = run.run_name.function_name;
      all.memory_floor = counter("floor_memory_s");
      all.what.floor = std::max(counter("floor_arithmetic_s"), all.memory_floor);
      all.label = run.report_label;
    }
    if (seconds.empty()) return;
    all.what.seconds = median(seconds);
    all.shortest = std::ranges::min(seconds);
    figures_.push_back(std::move(all));
    if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%zu measured ", figures_.size());
  }

  void Finalize() override {
    std::ranges::sort(figures_, {}, &repetitions::order);
    std::vector<figure> figures;
    for (const auto& one : figures_) figures.push_back(one.what);
    const std::vector<growth> families = benchmarks::growth_of(figures);
    if (json_) {
      add_to_json(families);
      json_->Finalize();
      return;
    }
    if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r");
    if (!growth_alone_) show_figures();
    if (!families.empty()) show(families);
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
  void show_figures() const {
    std::printf("\n%-62s %9s %9s %9s %8s\n", "processor time of", "median", "shortest", "floor", "/ floor");
    for (const auto& [order, what, shortest, memory_floor, label] : figures_) {
      std::printf("%-62s %9s %9s", what.name.c_str(), duration(what.seconds).c_str(), duration(shortest).c_str());
      if (what.floor > 0)
        std::printf(" %9s %8.3g %s", duration(what.floor).c_str(), what.seconds / what.floor,
                    memory_floor == what.floor ? "memory" : "arithmetic");
      std::printf("%s%s\n", label.empty() ? "" : "  ", label.c_str());
    }
  }

  static void show(const std::vector<growth>& families) {
    std::printf("\n%-60s %-15s %6s %6s %15s %8s\n", "growth", "with", "rate", "RMS", "first .. last", "floor's");
    for (const growth& one : families) {
      char range[32], local[32];
      std::snprintf(range, sizeof range, "%c = %d .. %d", one.size, one.smallest, one.largest);
      std::snprintf(local, sizeof local, "%.2f .. %.2f", one.quoted(one.first_rate), one.quoted(one.last_rate));
      std::printf("%-60s %-15s %s%-5.2f %5.1f%% %15s", one.family.c_str(), range, one.size == 'L' ? "x" : "^",
                  one.quoted(one.rate), 100 * one.rms, local);
      std::isfinite(one.floor_rate) ? std::printf(" %8.2f", one.quoted(one.floor_rate)) : std::printf(" %8s", "");
      if (one.fixed > 0) std::printf("  behind %s", duration(one.fixed).c_str());
      std::printf("%s\n", one.holds() ? "" : "  BAD FIT: only the local rates hold");
    }
    std::printf(
        "^p: time grows as N^p, V^p or (H+1)^p, if need be behind a fixed part; xf: f times for each layer. RMS "
        "of the fit's relative error,\nbad above %.0f%%.\n",
        100 * growth::largest_rms);
  }

  void add_to_json(const std::vector<growth>& families) {
    std::vector<Run> rows;
    for (const growth& one : families) {
      Run row;
      row.run_name.function_name = one.family;
      row.family_index = row.per_family_instance_index = 0;
      row.repetitions = static_cast<std::int64_t>(one.points);
      row.repetition_index = Run::no_repetition_index;
      row.run_type = Run::RT_Aggregate;
      row.aggregate_name = "growth";
      row.report_rms = true;  // prints "rms", the processor time below as it stands, and the counters
      row.iterations = 0;
      row.time_unit = benchmark::kSecond;
      row.cpu_accumulated_time = one.rms;
      row.report_label = std::string(1, one.size);
      const auto add = [&](const char* name, double value) { row.counters[name] = value; };
      add(one.size == 'L' ? "factor" : "exponent", one.quoted(one.rate));
      add("fixed_s", one.fixed);
      add("first", one.quoted(one.first_rate));
      add("last", one.quoted(one.last_rate));
      if (std::isfinite(one.floor_rate)) add("floors", one.quoted(one.floor_rate));
      add("points", static_cast<double>(one.points));
      add("good_fit", one.holds() ? 1 : 0);
      rows.push_back(std::move(row));
    }
    if (!rows.empty()) json_->ReportRuns(rows);
  }

  bool growth_alone_ = false, failed_ = false;
  std::unique_ptr<benchmark::JSONReporter> json_;
  std::vector<repetitions> figures_;
};

}  // namespace

int main(int count, char** arguments) {
  const auto given = [&](std::string_view option) {
    return std::find(arguments, arguments + count, option) != arguments + count;
  };
  const bool json = given("--benchmark_format=json"), growth_alone = given("--growth");
  count = static_cast<int>(std::remove(arguments, arguments + count, std::string_view("--growth")) - arguments);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  if (json)
    for (const auto& [name, value] : machine()) benchmark::AddCustomContext(name, std::to_string(value));
  reporter shown(json, growth_alone);
  if (benchmark::RunSpecifiedBenchmarks(&shown) == 0) return 2;
  return shown.failed() ? 1 : 0;
}
