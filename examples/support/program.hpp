// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What all programs do alike: read the command line, run, say what was written, and report faults.

#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace examples {

/// From here on, interrupts are ignored: what is written is written whole.
inline void finish_undisturbed() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

/// While it lives, interrupts wait: what is written, here or by programs that are started, is written whole.
class undisturbed {
public:
  undisturbed() {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
  }
  undisturbed(const undisturbed&) = delete;
  undisturbed& operator=(const undisturbed&) = delete;
  ~undisturbed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_{};
};

/// Says which files a program has written, and why there may be no pictures among them.
inline void report_written(const std::filesystem::path& folder, const std::string& files, const std::string& pictures,
                           bool drawn) {
  std::cout << "\nWritten to " << folder.string() << ": " << files << (drawn ? ", " + pictures : "") << "\n";
  if (!drawn) std::cout << "No picture was drawn, as gnuplot is missing or failed (Debian: apt install gnuplot-nox).\n";
}

/// What main returns.
/// \param name   of the program
/// \param parse  reads the command line; returns an exit code if the program is done with that
/// \param run    does the work; what it throws is printed
template <class Options>
[[nodiscard]] int program(std::string_view name, int argc, char** argv,
                          std::optional<int> (*parse)(int, char**, Options&), void (*run)(const Options&)) {
  Options chosen;
  if (const auto code = parse(argc, argv, chosen)) return *code;
  try {
    run(chosen);
  } catch (const std::exception& fault) {
    std::cout.flush();
    std::cerr << name << ": " << fault.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace examples
