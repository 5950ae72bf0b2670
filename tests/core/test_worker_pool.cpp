// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#endif

#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/worker_pool.hpp>

#include "../sanitized.hpp"

using lindyn::worker_pool;

TEST_CASE("a pool's chunks cover the range once, in pieces of the given size and a shorter last one, at every call") {
  for (const int threads : {1, 2, 3, 8}) {
    worker_pool pool(threads);
    CHECK(pool.threads() == threads);
    for (int call = 0; call < 20; ++call) {
      std::vector<std::pair<lindyn::index, lindyn::index>> pieces(4);
      std::vector<std::atomic<int>> visits(4);
      pool.chunks(10, 3, [&](lindyn::index chunk, lindyn::index begin, lindyn::index end, int worker) {
        const auto place = static_cast<std::size_t>(chunk);
        pieces.at(place) = {begin, end};
        ++visits.at(place);
        if (worker < 0 || worker >= threads) throw std::logic_error("no such worker");
      });
      CHECK(pieces == std::vector<std::pair<lindyn::index, lindyn::index>>{{0, 3}, {3, 6}, {6, 9}, {9, 10}});
      for (const auto& count : visits) CHECK(count == 1);
    }
    pool.chunks(0, 3, [](auto...) { throw std::logic_error("nothing to do"); });
  }
}

TEST_CASE("signals from elsewhere come to the program's own threads alone, and its mask is what it was") {
  const auto blocked = [](int signal) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
  };
  worker_pool pool(3);
  std::atomic<int> arrived = 0, wrong = 0;
  pool.chunks(3, 1, [&](lindyn::index, lindyn::index, lindyn::index, int worker) {
    for (++arrived; arrived < 3;) std::this_thread::yield();  // so that each thread has a chunk
    wrong += blocked(SIGINT) != (worker > 0) || blocked(SIGTERM) != (worker > 0) || blocked(SIGSEGV);
  });
  CHECK(wrong == 0);
}

TEST_CASE("an ordered sum of chunks is the same bit by bit for pools of one, two and three threads") {
  const auto sum = [](int threads) {
    worker_pool pool(threads);
    std::vector<double> partial(100);
    pool.chunks(10'000, 100, [&](lindyn::index chunk, lindyn::index begin, lindyn::index end, int) {
      for (auto i = begin; i < end; ++i) partial[static_cast<std::size_t>(chunk)] += std::sin(static_cast<double>(i));
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
  };
  CHECK(sum(1) == sum(2));
  CHECK(sum(1) == sum(3));
}

TEST_CASE("two workers of a pool never have the same scratch space at once, and more threads than processors get on") {
  constexpr int threads = 5, calls = 400;
  worker_pool pool(threads);
  std::vector<std::atomic<int>> busy(threads);
  std::atomic<int> done{0};
  std::atomic<bool> shared{false};
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call)
    pool.chunks(7, 1, [&](lindyn::index, lindyn::index, lindyn::index, int worker) {
      auto& mine = busy.at(static_cast<std::size_t>(worker));
      if (mine.fetch_add(1) != 0) shared = true;
      ++done;
      --mine;
    });
  CHECK(!shared);
  CHECK(done == 7 * calls);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));  // a lost signal would wait for ever
}

TEST_CASE("with one thread, and for a single chunk, everything runs on the caller's") {
  std::set<std::thread::id> ids;
  const auto note = [&](auto...) { ids.insert(std::this_thread::get_id()); };
  worker_pool(1).chunks(10, 1, note);
  worker_pool(3).chunks(10, 10, note);
  CHECK(ids == std::set{std::this_thread::get_id()});
}

TEST_CASE("an exception of a chunk reaches the caller, and the pool goes on working") {
  for (const int threads : {1, 4}) {
    worker_pool pool(threads);
    for (int call = 0; call < 10; ++call) {
      CHECK_THROWS_WITH_AS(pool.chunks(50, 1,
                                       [](lindyn::index chunk, lindyn::index, lindyn::index, int) {
                                         if (chunk == 17) throw std::runtime_error("chunk 17");
                                       }),
                           "chunk 17", std::runtime_error);
      std::atomic<int> done{0};
      pool.chunks(50, 1, [&](auto...) { ++done; });
      CHECK(done == 50);
    }
  }
}

TEST_CASE("a copy of a pool has as many threads of its own, and a pool that is moved keeps its") {
  worker_pool pool(3);
  worker_pool copy(pool), assigned;
  assigned = copy;
  const worker_pool moved(std::move(assigned));
  CHECK(moved.threads() == 3);
  std::atomic<int> done{0};
  std::thread other([&] { copy.chunks(100, 1, [&](auto...) { ++done; }); });
  pool.chunks(100, 1, [&](auto...) { ++done; });
  other.join();
  CHECK(done == 200);
}

TEST_CASE("arguments of a pool that are not allowed are named") {
  CHECK_THROWS_WITH_AS(worker_pool(0), "threads = 0 is not allowed: it must be at least 1", lindyn::argument_error);
  worker_pool pool(2);
  CHECK_THROWS_WITH_AS(pool.chunks(-1, 1, [](auto...) {}), "count = -1 is not allowed: it must be at least 0",
                       lindyn::argument_error);
  CHECK_THROWS_WITH_AS(pool.chunks(1, 0, [](auto...) {}), "size = 0 is not allowed: it must be at least 1",
                       lindyn::argument_error);
}

TEST_CASE("an aligned vector begins at a multiple of 64 bytes, whatever it holds and however it grows") {
  lindyn::aligned_vector<char> characters;
  for (const std::size_t count : {1, 7, 100, 5000}) {
    characters.resize(count, 'x');
    const lindyn::aligned_vector<double> numbers(count, 1.5);
    CHECK(reinterpret_cast<std::uintptr_t>(characters.data()) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % 64 == 0);
    CHECK(numbers.back() == 1.5);
  }
  CHECK(lindyn::aligned_vector<int>(3) == lindyn::aligned_vector<int>{0, 0, 0});
  CHECK_THROWS_AS((void)lindyn::aligned_allocator<double>().allocate(std::numeric_limits<std::size_t>::max() / 4),
                  std::bad_alloc);
}

TEST_CASE("an unrolled loop gets its numbers in order, as constants") {
  std::vector<int> seen;
  lindyn::detail::unroll<3>([&](auto place) {
    static_assert(place < 3);
    seen.push_back(place);
  });
  CHECK(seen == std::vector{0, 1, 2});
}

// Sanitizers end the program where memory is refused to them.
#if defined(__linux__) && !defined(LINDYN_SANITIZED)
TEST_CASE("more threads than the system can start are refused by name, and those that have started end") {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t(200) << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  std::string refused;
  try {
    worker_pool pool(500);  // stacks of 8 MiB, as a rule
  } catch (const lindyn::argument_error& fault) {
    refused = fault.what();
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(refused.starts_with("threads = 500 is not allowed: it must be no more than the system can start"));
}
#endif
