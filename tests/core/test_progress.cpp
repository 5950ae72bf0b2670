// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <lindyn/core/progress.hpp>

using lindyn::progress;
using lindyn::progress_report;
using namespace std::chrono_literals;

TEST_CASE("the first and the last report are told, those between are throttled") {
  std::vector<double> told;
  progress report([&](const progress_report& now) { told.push_back(now.done); }, 1h);
  for (int step = 0; step <= 100; ++step) report("training", step, 100);
  CHECK(told == std::vector<double>{0, 100});
}

TEST_CASE("a report is told again once the interval has passed") {
  std::vector<double> told;
  progress report([&](const progress_report& now) { told.push_back(now.done); }, 5ms);
  report("training", 1, 100);
  std::this_thread::sleep_for(6ms);
  report("training", 2, 100);
  CHECK(told == std::vector<double>{1, 2});
}

TEST_CASE("a report says what, how much and of how much") {
  std::string task;
  double done = 0, total = 0;
  progress report([&](const progress_report& now) {
    task = now.task;
    done = now.done;
    total = now.total;
  });
  report("enumerating", 3, 8);
  CHECK(task == "enumerating");
  CHECK(done == 3);
  CHECK(total == 8);
}

TEST_CASE("without a callback progress is silent") {
  progress report;
  report("training", 1, 1);
  progress empty{progress::callback()};
  empty("training", 1, 1);
}
