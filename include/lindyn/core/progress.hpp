// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Progress of a long computation, told to whoever wants to hear it and never more often than they asked for.

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace lindyn {

/// What a progress callback is told: `done` of `total` units of `task`.
struct progress_report {
  std::string_view task;  ///< what is being done
  double done = 0;        ///< units behind
  double total = 0;       ///< units in all
};

/// Forwards reports to a callback at most once per `interval`, and always the first and the last one. An empty callback
/// is silent.
class progress {
public:
  /// Whom reports are told.
  using callback = std::function<void(const progress_report&)>;

  /// Silent.
  progress() = default;
  /// Tells `tell`, at most once per `interval`.
  explicit progress(callback tell, std::chrono::milliseconds interval = std::chrono::milliseconds(200))
      : tell_(std::move(tell)), interval_(interval) {}

  /// Reports `done` of `total` units of `task`.
  void operator()(std::string_view task, double done, double total) {
    if (!tell_) return;
    const auto now = std::chrono::steady_clock::now();
    if (done < total && last_ && now - *last_ < interval_) return;
    last_ = now;
    tell_({task, done, total});
  }

private:
  callback tell_;
  std::chrono::milliseconds interval_{200};
  std::optional<std::chrono::steady_clock::time_point> last_;
};

}  // namespace lindyn
