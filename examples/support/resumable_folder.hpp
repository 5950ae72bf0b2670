// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The folder of a program whose parts have journals: a run is begun anew in it, or gone on with.

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/output_folder.hpp>

namespace examples {

/// Adds the options --out, --force and --resume, the last two of which exclude each other.
inline void add_resumable_folder(CLI::App& app, std::filesystem::path& out, bool& force, bool& resume) {
  app.add_option("--out", out, "folder of the results")->capture_default_str();
  auto* const anew = app.add_flag("--force", force, "write into the folder even if it isn't empty, from scratch");
  app.add_flag("--resume", resume, "go on with an interrupted run of the same options in this folder")->excludes(anew);
}

/// Makes the folder. Throws file_error if it isn't empty and neither is wanted, or if there are results in it but no journal
/// that a run could go on with.
inline void prepare_resumable_folder(const std::filesystem::path& out, bool force, bool resume) {
  lindyn::io::prepare_output_folder(out, force || resume,
                                    "--force begins anew in it, --resume goes on with the same options");
  const auto is_journal = [](const auto& entry) { return entry.path().extension() == ".journal"; };
  if (resume && std::filesystem::exists(out / "summary.json") &&
      std::none_of(std::filesystem::directory_iterator(out), {}, is_journal))
    throw lindyn::file_error("--resume: " + (out / "summary.json").string() +
                             " stands there, but no journal to go on with: take another --out, or --force");
}

}  // namespace examples
