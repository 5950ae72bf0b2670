// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the parts of off_the_manifold have in common: what each is given, how it does jobs side by side, and what it
/// returns.

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <lindyn/core/parallel.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>

#include "../provenance.hpp"

namespace examples::off_the_manifold {

using lindyn::index;

/// What a part is given.
struct context {
  std::filesystem::path out;          ///< folder of its files
  int threads = 2;                    ///< jobs at a time
  lindyn::progress::callback tell{};  ///< hears of the progress
};

/// A text as printf would write it.
template <class... Values>
[[nodiscard]] std::string text(const char* format, Values... values) {
  std::string result(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(result.data(), result.size() + 1, format, values...);
  return result;
}

/// What a part found: numbers for summary.json, and sentences that say what they mean.
struct findings {
  lindyn::io::json numbers = lindyn::io::json::object();
  std::vector<std::string> sentences{};
  bool drawn = false;  ///< whether the picture could be drawn

  /// Adds a sentence, as printf would write it.
  template <class... Values>
  void say(const char* format, Values... values) {
    sentences.push_back(text(format, values...));
  }
};

/// Calls work(i) for i in [0, count), some at a time. What a job computes must depend on i alone.
template <class Work>
void side_by_side(const context& c, const std::string& name, std::size_t count, Work&& work) {
  std::mutex guard;
  std::size_t done = 0;
  lindyn::progress tell(c.tell);
  lindyn::parallel_chunks(static_cast<index>(count), 1, c.threads, [&](index job, index, index, int) {
    work(static_cast<std::size_t>(job));
    const std::scoped_lock lock(guard);
    tell(name, static_cast<double>(++done), static_cast<double>(count));
  });
}

}  // namespace examples::off_the_manifold
