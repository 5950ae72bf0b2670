// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is written of all finished trainings in a folder: runs.csv, summary.json and pictures.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/file_lock.hpp>
#include <lindyn/io/json.hpp>

#include "../program.hpp"
#include "../provenance.hpp"
#include "drives.hpp"
#include "experiments.hpp"
#include "pictures.hpp"
#include "results.hpp"

namespace examples::critical_window {

/// The extent with as many seeds as there are in a folder, whatever was asked for.
[[nodiscard]] inline extent extent_of_kept(const std::filesystem::path& out, extent all) {
  for (const auto& entry : std::filesystem::directory_iterator(out / "runs")) {
    if (entry.path().extension() != ".json") continue;
    try {
      const auto seed = io::read_json(entry.path()).value("seed", std::uint64_t{0});
      if (seed <= 1000) all.at_least = std::max(all.at_least, static_cast<int>(seed));  // that --seeds may ask for
    } catch (const lindyn::file_error&) {                                               // nobody needs it to go on
    } catch (const io::json::exception&) {
    }
  }
  return all;
}

/// What is wrong with files of finished trainings, a sentence each.
[[nodiscard]] inline std::set<std::string> damaged_records(const std::filesystem::path& out, const extent& all) {
  std::set<std::string> faults;
  const extent kept = extent_of_kept(out, all);
  for (const auto& each : experiments(kept))
    for (const planned_run& plan : each.runs) faults.insert(read_record(out / "runs", plan).fault);
  for (const planned_run& plan : detail::plan_drives(kept).runs) faults.insert(detail::read_drive(out, plan).fault);
  faults.erase("");
  return faults;
}

/// Removes what programs that were killed have left in a folder: parts of files that nobody has written to for an hour.
inline void remove_leftovers(const std::filesystem::path& folder) {
  using clock = std::filesystem::file_time_type::clock;
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;  // another program may have finished it
    const auto written = entry.last_write_time(gone);
    if (!gone && entry.path().filename().string().find(".partial-") != std::string::npos &&
        written < clock::now() - std::chrono::hours(1))
      old.push_back(entry.path());
  }
  for (const auto& path : old) std::filesystem::remove(path);
}

/// What earlier calls have left in OUT/summary.json. Throws file_error, naming the file, if it isn't of this program, or of
/// experiments of the other size, as those with --quick are.
[[nodiscard]] inline io::json summary_so_far(const std::filesystem::path& out, bool quick) {
  const auto path = out / "summary.json";
  if (!std::filesystem::exists(path)) {
    if (std::filesystem::exists(out / "runs.csv") && !std::filesystem::is_directory(out / "runs"))
      throw lindyn::file_error((out / "runs.csv").string() + " isn't of this program: write into another --out");
    return io::json::object();
  }
  auto summary = io::read_json(path);
  const auto of_this_program = [](const io::json& entry) {
    return entry.is_object() && (!entry.contains("cpu_seconds") || entry["cpu_seconds"].is_number());
  };
  if (!summary.is_object() || !std::ranges::all_of(summary, of_this_program))
    throw lindyn::file_error(path.string() + " is no summary of experiments: remove it, or write into another --out");
  for (const auto& entry : summary)
    if (entry.value("quick", quick) != quick)
      throw lindyn::file_error(path.string() +
                               (quick ? " is of whole experiments: --quick" : " is of --quick: others") +
                               " must write into another --out");
  return summary;
}

/// runs.csv, of all experiments; the entries of some of them in summary.json, and their pictures: in each case of all
/// finished trainings, whatever number of seeds this call asks for.
/// \param of           their names; those without finished trainings are left out
/// \param cpu_seconds  that their trainings have taken in this call
/// \return false if something couldn't be drawn
[[nodiscard]] inline bool write_results(const std::filesystem::path& out, const extent& asked,
                                        const std::vector<std::string>& of, double cpu_seconds) {
  const examples::undisturbed writing;
  const auto alone = io::file_lock::of_folder(out);  // others that write into it wait
  const extent all = extent_of_kept(out, asked);
  const auto planned = experiments(asked);
  auto summary = summary_so_far(out, all.quick);
  io::csv_writer csv(out / "runs.csv", run_columns);
  bool drawn = true;
  for (const auto& each : experiments(all)) {
    const auto results = read_results(out / "runs", each, all);
    append_rows(csv, results);
    if (std::ranges::find(of, each.name) == of.end()) continue;
    if (each.name == "causes") drawn = write_drives(out, all) && drawn;
    if (results.empty()) continue;
    auto& entry = summary[each.name];
    const auto runs = std::ranges::find(planned, each.name, &experiment::name)->runs.size();
    entry = {
        {"about", each.about},
        {"runs", std::max(runs, results.size())},
        {"finished", results.size()},
        {"cpu_seconds", (entry.is_object() ? entry.value("cpu_seconds", 0.0) : 0.0) + cpu_seconds},  // of all calls
        {"quick", all.quick},
        {"settings", summarise(results)}};
    examples::append_provenance(entry);
    drawn = draw_experiment(out, each, results) && drawn;
  }
  csv.commit();
  io::write_json(out / "summary.json", summary);
  return drawn;
}

}  // namespace examples::critical_window
