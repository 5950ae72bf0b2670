// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include <lindyn/io/file_lock.hpp>

#include "testing.hpp"

using lindyn::io::file_in_use_error;
using lindyn::io::file_lock;
using namespace lindyn::testing;

TEST_CASE("a file is created, and held by one at a time, until it is let go") {
  const temporary_folder folder;
  std::optional<file_lock> first(folder / "a");
  CHECK(std::filesystem::is_empty(folder / "a"));
  const auto message = message_of<file_in_use_error>([&] { const file_lock second(folder / "a"); });
  CHECK(contains(message, (folder / "a").string()));
  std::optional<file_lock> moved(std::move(*first));
  first.reset();
  CHECK_THROWS_AS(file_lock(folder / "a"), file_in_use_error);
  moved.reset();
  CHECK_NOTHROW(file_lock(folder / "a"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("what is in the file stays") {
  const temporary_folder folder;
  put(folder / "a", "precious");
  CHECK_NOTHROW(file_lock(folder / "a"));
  CHECK(content(folder / "a") == "precious");
}

TEST_CASE("a program that was killed holds nothing") {
  const temporary_folder folder;
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const file_lock held(folder / "a");
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  CHECK_NOTHROW(file_lock(folder / "a"));
}

TEST_CASE("what can't be written to can't be held") {
  const temporary_folder folder;
  CHECK(contains(message_of<lindyn::file_error>([&] { const file_lock held(folder.path()); }), "Is a directory"));
  CHECK_THROWS_AS(file_lock(folder / "absent" / "a"), lindyn::file_error);
}

TEST_CASE("who wants a folder waits until it is let go, and leaves nothing in it") {
  const temporary_folder folder;
  std::optional<file_lock> first(file_lock::of_folder(folder.path()));
  std::atomic<bool> free = false, early = false;
  std::jthread other([&] {
    const file_lock second = file_lock::of_folder(folder.path());
    early = !free;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  free = true;
  first.reset();
  other.join();
  CHECK_FALSE(early);
  CHECK(folder.entries() == 0);
  CHECK_THROWS_AS((void)file_lock::of_folder(folder / "absent"), lindyn::file_error);
}
