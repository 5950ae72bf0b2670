// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Progress on the terminal.

#include <cstdio>

#include <unistd.h>

#include <lindyn/core/progress.hpp>

namespace examples {

/// Prints progress to the terminal, in one line that is overwritten; silent when the output is no terminal.
[[nodiscard]] inline lindyn::progress::callback progress_line() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [](const lindyn::progress_report& report) {
    std::fprintf(stderr, "\r\033[K%.*s %3.0f %%", static_cast<int>(report.task.size()), report.task.data(),
                 100 * report.done / report.total);
    if (report.done >= report.total) std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  };
}

}  // namespace examples
