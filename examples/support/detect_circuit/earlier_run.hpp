// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an earlier run left in the folder of the results.

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include <lindyn/core/errors.hpp>

namespace examples::detect_circuit {

/// All that is written for a network, or for several.
inline constexpr std::array result_files{
    "summary.json",    "detection.json",      "circuit.dot",     "circuit.png",     "circuit.svg",
    "elimination.csv", "elimination.gnuplot", "elimination.png", "elimination.svg", "pruned.safetensors",
    "training.csv",    "trained.safetensors", "seeds.csv"};

/// Removes the results of an earlier run from the folder and from its folders of single seeds, so that no file of another
/// network stays among those of this run. Other files stay.
/// \param weights  the file that was read, if any
/// \throws lindyn::argument_error, and removes nothing, if the weights are one of these files
inline void remove_earlier(const std::filesystem::path& out, const std::filesystem::path& weights) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders{out}, files;
  for (const auto& entry : fs::directory_iterator(out))
    if (entry.is_directory() && entry.path().filename().string().starts_with("seed_")) folders.push_back(entry.path());
  std::error_code fault;
  for (const auto& folder : folders)
    for (const char* name : result_files)
      if (fs::is_regular_file(folder / name, fault)) files.push_back(folder / name);
  for (const auto& file : files)
    lindyn::require(weights.empty() || !fs::equivalent(file, weights, fault), "weights", weights.string(),
                    "outside of --out, whose results --force replaces");
  for (const auto& file : files) fs::remove(file);
  for (std::size_t k = 1; k < folders.size(); ++k) fs::remove(folders[k], fault);  // unless something else is in it
}

}  // namespace examples::detect_circuit
