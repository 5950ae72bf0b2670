// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Pictures by gnuplot, if it is installed.

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <lindyn/io/atomic_file.hpp>

#include "run_program.hpp"

namespace examples {

/// A text as a gnuplot string.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'') result += '\'';
    result += letter;
  }
  return result + "'";
}

/// Draws folder/name.png and folder/name.svg with the commands of `body`, which name files of the folder alone; they are
/// kept as folder/name.gnuplot. Pictures of an earlier run are removed first.
/// \return false if gnuplot isn't there or fails
[[nodiscard]] inline bool draw(const std::filesystem::path& folder, const std::string& name, const std::string& body,
                               int width, int height) {
  const auto into = [&](const std::string& suffix) {
    const std::string picture = name + suffix;
    std::error_code ignored;
    std::filesystem::remove(folder / picture, ignored);
    std::filesystem::remove(folder / (picture + ".part"), ignored);
    return "set output " + examples::quoted(picture + ".part") + "\n" + body + "set output\nsystem \"mv " + picture +
           ".part " + picture + "\"\n";
  };
  const std::string size = std::to_string(width) + "," + std::to_string(height);
  const std::string script = name + ".gnuplot";
  lindyn::io::atomic_file file(folder / script);
  // A terminal's fonts scale with its size; the picture is drawn twice by the same commands.
  file.stream() << "# Run in this folder: gnuplot " << script << "\n"
                << "set terminal pngcairo size " << 2 * width << "," << 2 * height
                << " font 'DejaVu Sans,20' linewidth 2 background 'white'\n"
                << into(".png") << "set terminal svg size " << size << " font 'DejaVu Sans,10' background 'white'\n"
                << into(".svg");
  file.commit();
  const bool drawn = run_program("gnuplot", {script}, folder) && std::filesystem::exists(folder / (name + ".png")) &&
                     std::filesystem::exists(folder / (name + ".svg"));
  if (!drawn)  // killed, perhaps, in the midst of one
    for (const char* suffix : {".png.part", ".svg.part"}) {
      std::error_code ignored;
      std::filesystem::remove(folder / (name + suffix), ignored);
    }
  return drawn;
}

}  // namespace examples
