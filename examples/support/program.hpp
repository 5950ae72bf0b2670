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
#include <vector>

#include <unistd.h>

namespace examples {

/// From here on, interrupts are ignored: what is written is written whole.
inline void finish_undisturbed() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

/// From here on, an interrupt ends the program with this sentence. It holds for programs that keep what is finished.
inline void say_when_interrupted(const std::string& sentence) {
  static std::string said;  // a handler may look at little else
  said = '\n' + sentence + '\n';
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto before = std::signal(signal, [](int which) {
      (void)!write(STDOUT_FILENO, said.data(), said.size());
      std::signal(which, SIG_DFL);
      std::raise(which);
    });
    if (before == SIG_IGN) std::signal(signal, SIG_IGN);  // in the background of a script
  }
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

/// The pictures of a program by whether they could be drawn.
struct pictures {
  std::vector<std::string> drawn, missing;

  /// Notes one.
  void add(const std::string& name, bool is_drawn) { (is_drawn ? drawn : missing).push_back(name); }
};

/// Says which files and pictures, as PNG and SVG, a program has written, and which of them are missing.
inline void report_written(const std::filesystem::path& folder, const std::string& files, const pictures& of) {
  const auto joined = [](const std::vector<std::string>& names) {
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
    return result;
  };
  if (of.drawn.empty()) return report_written(folder, files, "", false);
  report_written(folder, files, joined(of.drawn) + " as PNG and SVG", true);
  if (!of.missing.empty()) std::cout << "gnuplot has failed to draw: " << joined(of.missing) << ".\n";
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
