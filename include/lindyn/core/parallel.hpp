// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Parallel work in chunks whose boundaries don't depend on the number of threads, so that results don't either.

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn {

/// Calls `work(chunk, begin, end, worker)` for the chunks [chunk * size, (chunk + 1) * size) of [0, count).
/// Chunks are handed out to `threads` workers in turn; `worker` < threads identifies the caller's scratch space.
/// What a chunk computes must depend on its boundaries alone; add up per-chunk results in the order of the chunks.
/// The first exception of any chunk is rethrown here. With one thread nothing is spawned.
template <class Work>
void parallel_chunks(index count, index size, int threads, Work&& work) {
  require(count >= 0, "count", count, "at least 0");
  require(size >= 1, "size", size, "at least 1");
  require(threads >= 1, "threads", threads, "at least 1");
  const index chunks = (count + size - 1) / size;
  const auto run = [&](index chunk, int worker) {
    work(chunk, chunk * size, std::min(count, (chunk + 1) * size), worker);
  };
  const int workers = static_cast<int>(std::min<index>(threads, chunks));
  if (workers <= 1) {
    for (index chunk = 0; chunk < chunks; ++chunk) run(chunk, 0);
    return;
  }
  std::atomic<index> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto loop = [&](int worker) {
    try {
      for (index chunk; (chunk = next.fetch_add(1)) < chunks;) run(chunk, worker);
    } catch (...) {
      const std::scoped_lock lock(guard);
      if (!failure) failure = std::current_exception();
      next = chunks;
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int worker = 1; worker < workers; ++worker) pool.emplace_back(loop, worker);
    loop(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lindyn
