// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Ctrl-C as a question that a training asks itself, so that it can end with its state saved.

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

#include <lindyn/core/errors.hpp>

namespace lindyn::train {

/// While it lives, the first SIGINT (Ctrl-C) and the first SIGTERM set a flag instead of ending the program; a second
/// one of a kind ends it at once. Its end brings back what was there before. A signal that the program ignores, as in
/// the background of a shell without job control, stays ignored. One can live at a time, in a process.
///
///     train::interrupt interrupt;
///     train::trainer trainer(.., {.stop = [&] { return interrupt.requested(); }});
///     if (trainer.run(until, memory) == train::run_end::stopped) train::save_checkpoint(path, trainer);
class interrupt {
public:
  /// Throws argument_error if another one lives.
  interrupt() {
    require(!alive().exchange(true), "interrupt", "alive", "the only one in the program");
    flag().store(0);
    for (std::size_t which = 0; which < signals.size(); ++which) {
      struct sigaction ours {};
      ours.sa_handler = [](int signal) { flag().store(signal); };
      ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second finds the default: the end
      sigemptyset(&ours.sa_mask);
      ::sigaction(signals[which], nullptr, &former_[which]);
      if (former_[which].sa_handler != SIG_IGN) ::sigaction(signals[which], &ours, nullptr);
    }
  }
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;
  ~interrupt() {
    for (std::size_t which = 0; which < signals.size(); ++which) ::sigaction(signals[which], &former_[which], nullptr);
    alive().store(false);
  }

  /// Whether a signal came.
  [[nodiscard]] bool requested() const noexcept { return signal() != 0; }
  /// The last signal that came: SIGINT, SIGTERM, or 0 for none. By custom a program that it ends returns 128 plus it.
  [[nodiscard]] int signal() const noexcept { return flag().load(); }

private:
  static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};

  /// Lock-free atomics are what a signal handler may touch.
  [[nodiscard]] static std::atomic<int>& flag() noexcept {
    static_assert(std::atomic<int>::is_always_lock_free);
    static constinit std::atomic<int> value{0};
    return value;
  }
  [[nodiscard]] static std::atomic<bool>& alive() noexcept {
    static constinit std::atomic<bool> value{false};
    return value;
  }

  std::array<struct sigaction, 2> former_{};
};

}  // namespace lindyn::train
