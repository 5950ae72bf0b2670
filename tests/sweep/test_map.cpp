// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <lindyn/sweep/map.hpp>

#include "../io/testing.hpp"

namespace sweep = lindyn::sweep;
using namespace lindyn::testing;

namespace {

sweep::grid some_grid() {
  return sweep::grid({sweep::axis::linear("x", 0, 1, 7), sweep::axis::logarithmic("y", 0.1, 10, 5)});
}

std::vector<double> value_of(const sweep::cell& at) {
  return {std::sin(at.values[0] + 3 * at.values[1]), std::exp(at.values[0] - at.values[1])};
}

const std::vector<std::string> columns{"sine", "exponential"};

std::vector<double> values_of(const sweep::table& found) { return {found.values().begin(), found.values().end()}; }

/// The map without threads or journal.
std::vector<double> expected() {
  return values_of(sweep::map(some_grid(), columns, [] { return value_of; }));
}

}  // namespace

TEST_CASE("each cell's row stands where the cell does") {
  const auto found = sweep::map(some_grid(), columns, [] { return value_of; });
  CHECK(found.cells() == some_grid());
  CHECK(found.columns() == columns);
  const auto sines = found.column("sine");
  for (lindyn::index number = 0; number < found.cells().size(); ++number) {
    const auto row = value_of(found.cells().at(number));
    CHECK(found.values()(number, 0) == row[0]);
    CHECK(found.values()(number, 1) == row[1]);
    CHECK(sines[static_cast<std::size_t>(number)] == row[0]);
  }
  CHECK_THROWS_AS((void)found.column("cosine"), lindyn::argument_error);
}

TEST_CASE("results are the same bits for any number of threads") {
  for (const int threads : {1, 2, 3, 50})
    CHECK(values_of(sweep::map(some_grid(), columns, [] { return value_of; }, {.threads = threads})) == expected());
}

TEST_CASE("each thread has a worker of its own, made by the caller's thread") {
  std::atomic<bool> shared{false};
  int made = 0;
  const auto caller = std::this_thread::get_id();
  struct lone {
    std::unique_ptr<std::atomic<int>> busy = std::make_unique<std::atomic<int>>(0);
    std::atomic<bool>* shared;
    std::vector<double> operator()(const sweep::cell& at) {
      if (busy->fetch_add(1) != 0) *shared = true;
      std::this_thread::yield();
      --*busy;
      return value_of(at);
    }
  };
  const auto make = [&] {
    CHECK(std::this_thread::get_id() == caller);
    ++made;
    lone worker;
    worker.shared = &shared;
    return worker;
  };
  (void)sweep::map(some_grid(), columns, make, {.threads = 3});
  CHECK(made == 3);
  CHECK(!shared);
  made = 0;
  (void)sweep::map(sweep::grid({sweep::axis::listed("x", {1}), sweep::axis::listed("y", {1})}), columns, make,
                   {.threads = 3});
  CHECK(made == 1);
}

TEST_CASE("a map that an exception ended goes on where it was, and ends with the same bits") {
  for (const int threads : {1, 3}) {
    const temporary_folder folder;
    const sweep::map_options options{.threads = threads, .journal = folder / "j", .configuration = "a\nb"};
    const auto failing = [](const sweep::cell& at) {
      if (at.number == 20) throw std::runtime_error("too hot");
      return value_of(at);
    };
    try {
      (void)sweep::map(
          some_grid(), columns, [&] { return failing; }, options);
      FAIL("nothing was thrown");
    } catch (const sweep::cell_error& fault) {
      CHECK(fault.number() == 20);
      CHECK(std::string(fault.what()) == "cell 20 (x = 0.6666666666666666, y = 0.1): too hot");
      CHECK_THROWS_AS(std::rethrow_if_nested(fault), std::runtime_error);
    }
    std::atomic<int> computed{0};
    const auto counting = [&](const sweep::cell& at) {
      ++computed;
      return value_of(at);
    };
    const auto resume = [&] {
      return values_of(sweep::map(
          some_grid(), columns, [&] { return counting; }, options));
    };
    CHECK(resume() == expected());
    // The cells before 20 were handed out, and are finished; behind it the other threads may have gone on until they
    // heard of the exception, however long that took.
    CHECK(computed <= 35 - 20);
    CHECK(computed >= (threads == 1 ? 35 - 20 : 1));
    computed = 0;
    CHECK(resume() == expected());
    CHECK(computed == 0);
  }
}

TEST_CASE("a map that was killed is finished by a second one, to the same bits") {
  const temporary_folder folder;
  const sweep::map_options options{.threads = 2, .journal = folder / "j"};
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {  // is killed before it can end
    (void)sweep::map(
        some_grid(), columns,
        [] {
          return [](const sweep::cell& at) {
            std::this_thread::sleep_for(std::chrono::milliseconds(at.number < 9 ? 1 : 60'000));
            return value_of(at);
          };
        },
        options);
    _exit(0);
  }
  const auto lines = [&] {
    const auto text = content(folder / "j");
    return std::ranges::count(text, '\n');
  };
  const auto head = 5;  // the journal's first line, two axes, an empty configuration, the columns
  while (lines() < head + 9) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(lines() == head + 9);
  std::atomic<int> computed{0};
  const auto found = sweep::map(
      some_grid(), columns,
      [&] {
        return [&](const sweep::cell& at) {
          ++computed;
          return value_of(at);
        };
      },
      options);
  CHECK(computed == 35 - 9);
  CHECK(values_of(found) == expected());
}

TEST_CASE("a journal of another grid, configuration or other columns is refused") {
  const temporary_folder folder;
  const auto with = [&](const sweep::grid& over, const std::vector<std::string>& names, const std::string& text) {
    (void)sweep::map(over, names, [] { return value_of; }, {.journal = folder / "j", .configuration = text});
  };
  with(some_grid(), columns, "seed 1");
  const sweep::grid other({some_grid().axes()[0], sweep::axis::logarithmic("y", 0.1, 11, 5)});
  CHECK_THROWS_AS(with(other, columns, "seed 1"), sweep::other_configuration_error);
  CHECK_THROWS_AS(with(some_grid(), {"sine", "other"}, "seed 1"), sweep::other_configuration_error);
  CHECK_THROWS_AS(with(some_grid(), columns, "seed 2"), sweep::other_configuration_error);
  CHECK_NOTHROW(with(some_grid(), columns, "seed 1"));
}

TEST_CASE("axes of different names or values never have the same description") {
  const auto text = [](const std::string& name, std::vector<double> values) {
    return sweep::describe(sweep::grid({sweep::axis::listed(name, std::move(values))}));
  };
  CHECK(text("x", {1, 2}) == "axis \"x\" 1 2\n");
  CHECK(text("x 1", {2}) != text("x", {1, 2}));
  CHECK(text("x\" 1", {2}) != text("x", {1, 2}));
}

TEST_CASE("a row of the wrong length is an error of its cell; bad options are refused") {
  const auto short_row = [](const sweep::cell& at) { return std::array{at.values[0]}; };
  CHECK_THROWS_AS((void)sweep::map(some_grid(), columns, [&] { return short_row; }), sweep::cell_error);
  CHECK_THROWS_AS((void)sweep::map(some_grid(), columns, [] { return value_of; }, {.threads = 0}),
                  lindyn::argument_error);
  CHECK_THROWS_AS((void)sweep::map(some_grid(), {}, [] { return value_of; }), lindyn::argument_error);
}

TEST_CASE("progress counts what was resumed, and comes from one thread at a time") {
  const temporary_folder folder;
  std::vector<double> reports;
  std::set<std::string> tasks;
  const sweep::map_options options{
      .threads = 3, .journal = folder / "j", .task = "waves", .tell = [&](const lindyn::progress_report& report) {
        tasks.insert(std::string(report.task));
        CHECK(report.total == 35);
        reports.push_back(report.done);
      }};
  (void)sweep::map(
      some_grid(), columns, [] { return value_of; }, options);
  CHECK(reports.front() == 0);
  CHECK(reports.back() == 35);
  CHECK(std::ranges::is_sorted(reports));
  CHECK(tasks == std::set<std::string>{"waves"});
  reports.clear();
  (void)sweep::map(
      some_grid(), columns, [] { return value_of; }, options);
  CHECK(reports == std::vector<double>{35});
}

TEST_CASE("a table is written with the axes' values before the numbers") {
  const temporary_folder folder;
  const sweep::grid over({sweep::axis::listed("x", {1, 2}), sweep::axis::listed("y", {0.5})});
  sweep::write_csv(folder / "t.csv", sweep::map(over, {"sum"}, [] {
                     return [](const sweep::cell& at) { return std::array{at.values[0] + at.values[1]}; };
                   }));
  CHECK(content(folder / "t.csv") == "x,y,sum\n1,0.5,1.5\n2,0.5,2.5\n");
}
