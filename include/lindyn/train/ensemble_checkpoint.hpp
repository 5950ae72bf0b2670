// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checkpoints of ensembles: a folder with those of all runs.

#include <concepts>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/train/checkpoint.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

/// Where in its folder the checkpoint of a run stands.
[[nodiscard]] inline std::filesystem::path checkpoint_path(const std::filesystem::path& folder, index run) {
  return folder / ("run-" + std::to_string(run) + ".json");
}

/// Runs whose states can be kept: an ensemble, or a batched one. Either resumes what the other has written.
template <class E>
concept resumable_ensemble = requires(E& runs, index run) {
  { runs.count() } -> std::convertible_to<index>;
  requires resumable_training<decltype(runs[run])>;
  runs.clear_failure(run);
};

/// Settings of a run that its trainer doesn't know, such as the seed of its initial weights.
using settings_of_run = std::function<settings(index)>;

/// Writes a checkpoint of each run, as save_checkpoint does; of one that has diverged, the state before that. Each file is
/// whole at any time, whatever becomes of the program, and each run goes on from its own: they needn't be of one step.
/// \param folder  made, with its parents, unless it is there
/// \param runs    whose optimisers are resumable
/// \param also    further settings of each run that have to be the same when it is resumed
/// Throws as save_checkpoint does.
template <resumable_ensemble Ensemble>
void save_checkpoints(const std::filesystem::path& folder, Ensemble& runs, const settings_of_run& also = {}) {
  for (index run = 0; run < runs.count(); ++run)
    save_checkpoint(checkpoint_path(folder, run), runs[run], also ? also(run) : settings());
}

/// Goes on from the checkpoints in a folder, as resume_checkpoint does, with runs that were made as those had been. Runs
/// that have none there begin anew, so that an ensemble may have grown. One that had diverged tries that step again.
/// \return number of runs that go on
/// Throws file_error if no run has one, and as resume_checkpoint does: then the runs before that one go on already.
template <resumable_ensemble Ensemble>
index resume_checkpoints(const std::filesystem::path& folder, Ensemble& runs, const settings_of_run& also = {}) {
  index resumed = 0;
  for (index run = 0; run < runs.count(); ++run) {
    std::error_code reason;
    if (!std::filesystem::exists(checkpoint_path(folder, run), reason)) continue;
    resume_checkpoint(checkpoint_path(folder, run), runs[run], also ? also(run) : settings());
    runs.clear_failure(run);
    ++resumed;
  }
  if (resumed == 0) throw file_error("cannot resume from " + folder.string() + ": it has no checkpoint of any run");
  return resumed;
}

}  // namespace lindyn::train
