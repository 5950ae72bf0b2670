// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Pictures by gnuplot, if it is installed.

#include <filesystem>
#include <string>
#include <string_view>

#include <spawn.h>
#include <sys/wait.h>

#include <lindyn/io/atomic_file.hpp>

extern char** environ;

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

/// Runs a program found on PATH with one argument; false if there is none or it fails.
[[nodiscard]] inline bool run_program(const std::string& program, const std::string& argument) {
  std::string name = program, only = argument;
  char* const arguments[] = {name.data(), only.data(), nullptr};
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0) return false;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Draws folder/name.png and folder/name.svg with the commands of `body`, which is kept as folder/name.gnuplot.
/// \return false, leaving older pictures as they were, if gnuplot isn't there or fails
[[nodiscard]] inline bool draw(const std::filesystem::path& folder, const std::string& name, const std::string& body,
                               int width, int height) {
  const std::filesystem::path script = folder / (name + ".gnuplot");
  const auto picture = [&](const std::string& suffix) { return folder / (name + suffix); };
  const std::string size = std::to_string(width) + "," + std::to_string(height);
  lindyn::io::atomic_file file(script);
  // A terminal's fonts scale with its size; the picture is drawn twice by the same commands.
  file.stream() << "# Run by: gnuplot " << script.filename().string() << "\n"
                << "set encoding utf8\n"
                << "set terminal pngcairo size " << 2 * width << "," << 2 * height
                << " font 'DejaVu Sans,20' linewidth 2 background 'white'\n"
                << "set output " << quoted(picture(".png.part").string()) << "\n"
                << body << "set output\n"
                << "set terminal svg size " << size << " font 'DejaVu Sans,10' background 'white'\n"
                << "set output " << quoted(picture(".svg.part").string()) << "\n"
                << body << "set output\n";
  file.commit();
  const bool drawn = run_program("gnuplot", script.string());
  for (const std::string suffix : {".png", ".svg"}) {
    std::error_code ignored;
    if (drawn)
      std::filesystem::rename(picture(suffix + ".part"), picture(suffix), ignored);
    else
      std::filesystem::remove(picture(suffix + ".part"), ignored);
  }
  return drawn;
}

}  // namespace examples
