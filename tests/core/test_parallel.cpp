// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <lindyn/core/parallel.hpp>

using lindyn::parallel_chunks;

TEST_CASE("chunks cover the range once, in pieces of the given size and a shorter last one") {
  for (const int threads : {1, 2, 3, 8}) {
    std::vector<std::pair<lindyn::index, lindyn::index>> pieces(4);
    std::vector<std::atomic<int>> visits(4);
    parallel_chunks(10, 3, threads, [&](lindyn::index chunk, lindyn::index begin, lindyn::index end, int worker) {
      const auto place = static_cast<std::size_t>(chunk);
      pieces.at(place) = {begin, end};
      ++visits.at(place);
      if (worker < 0 || worker >= threads) throw std::logic_error("no such worker");
    });
    CHECK(pieces == std::vector<std::pair<lindyn::index, lindyn::index>>{{0, 3}, {3, 6}, {6, 9}, {9, 10}});
    for (const auto& count : visits) CHECK(count == 1);
  }
}

TEST_CASE("an ordered sum of chunks is the same bit by bit for one, two and three threads") {
  const auto sum = [](int threads) {
    std::vector<double> partial(100);
    parallel_chunks(10'000, 100, threads, [&](lindyn::index chunk, lindyn::index begin, lindyn::index end, int) {
      for (auto i = begin; i < end; ++i) partial[static_cast<std::size_t>(chunk)] += std::sin(static_cast<double>(i));
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
  };
  CHECK(sum(1) == sum(2));
  CHECK(sum(1) == sum(3));
}

TEST_CASE("two workers never have the same scratch space at once") {
  std::vector<std::atomic<int>> busy(3);
  std::atomic<bool> shared{false};
  parallel_chunks(300, 1, 3, [&](lindyn::index, lindyn::index, lindyn::index, int worker) {
    auto& mine = busy.at(static_cast<std::size_t>(worker));
    if (mine.fetch_add(1) != 0) shared = true;
    std::this_thread::yield();
    --mine;
  });
  CHECK(!shared);
}

TEST_CASE("with one thread everything runs on the caller's") {
  std::set<std::thread::id> ids;
  parallel_chunks(10, 1, 1, [&](auto...) { ids.insert(std::this_thread::get_id()); });
  CHECK(ids == std::set{std::this_thread::get_id()});
}

TEST_CASE("with several threads chunks run at the same time") {
  // Each of two chunks waits for the other, which would never begin on one thread.
  std::atomic<int> begun{0};
  parallel_chunks(2, 1, 2, [&](auto...) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  CHECK(begun == 2);
}

TEST_CASE("an exception of a chunk is rethrown, and the other workers stop") {
  for (const int threads : {1, 2, 3}) {
    std::atomic<int> begun{0};
    const auto work = [&](lindyn::index chunk, auto...) {
      ++begun;
      if (chunk == 0) throw std::runtime_error("mine");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    CHECK_THROWS_WITH_AS(parallel_chunks(1000, 1, threads, work), "mine", std::runtime_error);
    CHECK(begun < 1000);
  }
}

TEST_CASE("an empty range calls nothing") {
  parallel_chunks(0, 5, 3, [](auto...) { FAIL("called"); });
}

TEST_CASE("counts, sizes and threads that make no sense are refused") {
  const auto nothing = [](auto...) {};
  CHECK_THROWS_AS(parallel_chunks(-1, 1, 1, nothing), lindyn::argument_error);
  CHECK_THROWS_AS(parallel_chunks(1, 0, 1, nothing), lindyn::argument_error);
  CHECK_THROWS_AS(parallel_chunks(1, 1, 0, nothing), lindyn::argument_error);
}
