// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Threads that stay, for work that comes in pieces too small to start threads for.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn {

namespace detail {

/// While it lives, no signal from elsewhere comes to this thread; nor to those that it starts, ever. Those that say what a
/// thread itself does (faults, profiling) do.
class without_signals {
public:
  without_signals() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGPROF}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_{};
};

/// The threads of a pool and what they share. A claim holds the number of the job (upper half) and how many of its
/// chunks nobody has taken yet (lower half), in one word: whoever takes a chunk knows that it belongs to the job whose
/// description stands here, which doesn't change before all its chunks are done; and a thread that wakes up late finds
/// nothing to take, so that nobody has to wait for it.
class worker_team {
public:
  using call = void(void* work, index chunk, int worker);

  explicit worker_team(int threads)
      : patience_(threads <= static_cast<int>(std::thread::hardware_concurrency()) ? 1000 : 0) {
    const without_signals helpers;  // signals are the program's, whose own thread may hold them back
    try {
      helpers_.reserve(static_cast<std::size_t>(threads - 1));
      for (int worker = 1; worker < threads; ++worker) helpers_.emplace_back([this, worker] { help(worker); });
    } catch (const std::exception&) {
      stop();  // those that have started wait for work, and would for ever
      throw argument_error("threads", std::to_string(threads),
                           "no more than the system can start (" + std::to_string(helpers_.size() + 1) + " just now)");
    }
  }
  worker_team(const worker_team&) = delete;
  worker_team& operator=(const worker_team&) = delete;
  ~worker_team() { stop(); }

  [[nodiscard]] int threads() const noexcept { return static_cast<int>(helpers_.size()) + 1; }

  void run(index chunks, call* what, void* work) {
    what_ = what;
    work_ = work;
    chunks_ = chunks;
    failed_.store(false, std::memory_order_relaxed);
    unfinished_.store(static_cast<std::uint32_t>(chunks), std::memory_order_relaxed);
    const std::uint64_t job = (claim_.load(std::memory_order_relaxed) >> 32) + 1;
    claim_.store(job << 32 | static_cast<std::uint64_t>(chunks), std::memory_order_release);
    announce();
    take_chunks(0);
    for (std::uint32_t left; (left = unfinished_.load(std::memory_order_acquire)) != 0;)
      await_change(unfinished_, left);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

private:
  void stop() {
    stopped_.store(true, std::memory_order_relaxed);
    announce();
  }

  void announce() {
    announced_.fetch_add(1, std::memory_order_release);
    announced_.notify_all();
  }

  void help(int worker) {
    for (std::uint32_t seen = 0;;) {
      await_change(announced_, seen);
      seen = announced_.load(std::memory_order_acquire);
      if (stopped_.load(std::memory_order_relaxed)) return;
      take_chunks(worker);
    }
  }

  void take_chunks(int worker) {
    std::uint64_t claim = claim_.load(std::memory_order_acquire);
    while (const auto left = static_cast<std::uint32_t>(claim)) {
      if (!claim_.compare_exchange_weak(claim, claim - 1, std::memory_order_acquire)) continue;
      if (!failed_.load(std::memory_order_relaxed)) try {
          what_(work_, chunks_ - static_cast<index>(left), worker);
        } catch (...) {
          const std::scoped_lock lock(guard_);
          if (!failure_) failure_ = std::current_exception();
          failed_.store(true, std::memory_order_relaxed);
        }
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
      claim = claim_.load(std::memory_order_acquire);
    }
  }

  /// Returns once `value` isn't `old` any more: soon, if that comes soon, and without using the processor if it doesn't.
  void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) const {
    for (int attempt = 0; attempt < patience_; ++attempt) {
      if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
  }

  const int patience_;  ///< looks before sleep; none where threads outnumber processors, which others need then
  std::atomic<std::uint64_t> claim_{0};
  std::atomic<std::uint32_t> announced_{0}, unfinished_{0};
  std::atomic<bool> stopped_{false}, failed_{false};
  call* what_ = nullptr;
  void* work_ = nullptr;
  index chunks_ = 0;
  std::mutex guard_;
  std::exception_ptr failure_;
  std::vector<std::jthread> helpers_;  // stands last: these threads use all of the above
};

}  // namespace detail

/// Work in chunks, as `parallel_chunks`, by threads that wait for the next call rather than end: a call costs
/// microseconds, and allocates nothing. Signals don't come to these threads. One call at a time, and none from within its
/// own work. A copy is a pool of as many threads of its own.
class worker_pool {
public:
  /// \param threads  how many work at once, the caller's own included, at least 1
  /// Throws argument_error for fewer, and for more than the system can start.
  explicit worker_pool(int threads = 1) {
    require(threads >= 1, "threads", threads, "at least 1");
    if (threads > 1) team_ = std::make_unique<detail::worker_team>(threads);
  }
  /// \{
  /// As many threads as the other pool has, new ones.
  worker_pool(const worker_pool& other) : worker_pool(other.threads()) {}
  /// The same threads; what is left behind has the caller's alone.
  worker_pool(worker_pool&&) noexcept = default;
  /// As many threads as the other pool has, new ones.
  worker_pool& operator=(const worker_pool& other) { return *this = worker_pool(other); }
  /// The same threads; what is left behind has the caller's alone.
  worker_pool& operator=(worker_pool&&) noexcept = default;
  /// \}
  ~worker_pool() = default;

  /// How many threads work at once, the caller's own included.
  [[nodiscard]] int threads() const noexcept { return team_ ? team_->threads() : 1; }

  /// Calls `work(chunk, begin, end, worker)` for the chunks [chunk * size, (chunk + 1) * size) of [0, count), whose
  /// boundaries don't depend on the number of threads; `worker` < threads() identifies the caller's scratch space. What a
  /// chunk computes must depend on its boundaries alone; add up per-chunk results in the order of the chunks.
  /// The first exception of any chunk is rethrown here. A single chunk, or a single thread, runs on the caller's.
  template <class Work>
  void chunks(index count, index size, Work&& work) {
    require(count >= 0, "count", count, "at least 0");
    require(size >= 1, "size", size, "at least 1");
    const index all = (count + size - 1) / size;
    const auto run = [&](index chunk, int worker) {
      work(chunk, chunk * size, std::min(count, (chunk + 1) * size), worker);
    };
    if (!team_ || all <= 1) {
      for (index chunk = 0; chunk < all; ++chunk) run(chunk, 0);
      return;
    }
    require(all <= std::numeric_limits<std::uint32_t>::max(), "number of chunks", all, "at most 2^32 - 1");
    using runner = decltype(run);
    team_->run(
        all, [](void* what, index chunk, int worker) { (*static_cast<runner*>(what))(chunk, worker); },
        const_cast<void*>(static_cast<const void*>(&run)));
  }

private:
  std::unique_ptr<detail::worker_team> team_;  ///< none with one thread
};

}  // namespace lindyn
