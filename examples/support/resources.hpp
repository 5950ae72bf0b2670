// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the program has used so far.

#include <sys/resource.h>
#include <unistd.h>

namespace examples {

/// Processor time and memory of this process.
struct resources {
  double cpu_seconds = 0;             ///< of all threads, in user and system mode
  double largest_resident_bytes = 0;  ///< memory, the most at any time
};

[[nodiscard]] inline resources resources_used() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), 1024 * static_cast<double>(used.ru_maxrss)};
}

/// What memory the machine has.
[[nodiscard]] inline double physical_memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace examples
