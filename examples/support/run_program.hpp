// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Other programs, if they are installed.

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace examples {

/// Runs a program found on PATH with these arguments in a folder; false if there is none or it fails.
[[nodiscard]] inline bool run_program(const std::string& program, std::vector<std::string> arguments,
                                      const std::filesystem::path& folder) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  pid_t child = 0;
  const bool started = posix_spawn_file_actions_addchdir_np(&actions, folder.c_str()) == 0 &&
                       posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace examples
