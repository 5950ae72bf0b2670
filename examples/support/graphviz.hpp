// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Graphs drawn by Graphviz, if it is installed.

#include <filesystem>
#include <string>
#include <system_error>

#include <lindyn/io/atomic_file.hpp>

#include "run_program.hpp"

namespace examples {

/// Draws folder/name.png and folder/name.svg of a graph in Graphviz' language, which is kept as folder/name.dot. Pictures
/// of an earlier run are removed first.
/// \return false if Graphviz isn't there or fails
[[nodiscard]] inline bool draw_graph(const std::filesystem::path& folder, const std::string& name,
                                     const std::string& graph) {
  const std::string source = name + ".dot";
  lindyn::io::atomic_file file(folder / source);
  file.stream() << graph;
  file.commit();
  bool drawn = true;
  for (const std::string suffix : {"png", "svg"}) {
    const auto picture = folder / (name + "." + suffix), part = folder / (name + "." + suffix + ".part");
    std::error_code fault;
    std::filesystem::remove(picture, fault);
    drawn = drawn && run_program("dot", {"-T" + suffix, "-o", part.filename().string(), source}, folder);
    if (drawn) {
      std::filesystem::rename(part, picture, fault);
      drawn = !fault;  // there is none if the program wrote nothing
    } else {
      std::filesystem::remove(part, fault);
    }
  }
  return drawn;
}

}  // namespace examples
