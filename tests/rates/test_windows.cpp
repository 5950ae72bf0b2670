// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/rates/critical_window_map.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/rates/rest_states.hpp>
#include <lindyn/rates/window_protocol.hpp>
#include <lindyn/rates/windows.hpp>
#include <lindyn/sweep/axis.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/journal.hpp>

#include "../complaint.hpp"
#include "../io/testing.hpp"

namespace rates = lindyn::rates;
namespace sweep = lindyn::sweep;
using lindyn::testing::complaint;

namespace {

/// Decay of 4e-3 an update at learning rate 3e-3 is 4/3 per unit of time.
const rates::step_size step{.learning_rate = 3e-3, .mode = lindyn::optimizer::decay_mode::absolute};

const auto three_factors = [](double gamma) {
  const rates::equal_factor_system<3> system({.memorising = 1, .reasoning = 10});
  return rates::trial<rates::equal_factor_system<3>>{system, {0, rates::initial_factor(gamma, 16)}};
};

}  // namespace

TEST_CASE("the printed window, and with corrected rates none") {
  const double delta = std::exp(-3.0);
  const auto printed = rates::printed_window({.memorising = 0.5, .reasoning = 0.02}, delta);
  CHECK(printed.begin == doctest::Approx(6).epsilon(1e-14));
  CHECK(printed.end == doctest::Approx(150).epsilon(1e-14));
  // At those times the printed masses lack delta of what they come to.
  const rates::printed_system system({.growth = {0.5, 0.02}, .capacities = {0.9, 0.7}});
  const std::vector<double> start{0, 0};
  CHECK(system.after(start, 0, printed.begin)[0] == doctest::Approx(0.9 * (1 - delta)).epsilon(1e-12));
  CHECK(system.after(start, 0, printed.end)[1] == doctest::Approx(0.7 * (1 - delta)).epsilon(1e-12));
  // 45 pairs and c_r = 1: reasoning is faster from gamma = 0.15 on.
  const auto corrected = rates::printed_window(rates::corrected_growth({.coupling = 0.64, .pairs = 45}), delta);
  CHECK(corrected.end < corrected.begin);
  CHECK(complaint([] { return rates::printed_window({1, 1}, 1); }).starts_with("delta = 1 "));
}

TEST_CASE("in the printed system decay lowers the share of the slower mass, the more the later its window begins") {
  const auto shares = [](const rates::growth& growth) {
    const rates::printed_system system({.growth = growth});
    std::vector<double> result{rates::reasoning_share(system, system.after(std::vector<double>{0, 0}, 0, 60))};
    for (const double onset : {0.0, 5'000.0, 10'000.0, 15'000.0}) {
      const auto end = rates::train_under(system, {0, 0}, {.onset = onset, .step = step});
      result.push_back(rates::reasoning_share(system, end.state));
    }
    return result;
  };
  const auto slower = shares({1, 0.1}), faster = shares({0.1, 1});  // as printed, and as corrected rates may be
  for (std::size_t i = 1; i < slower.size(); ++i) {
    CHECK(slower[i] < slower[i - 1]);
    CHECK(faster[i] > faster[i - 1]);
  }
}

TEST_CASE("all windows of a protocol have its budget, whole updates or not") {
  for (const double onset : {0.0, 0.3, 7.5, 19'990.25, 19'999.9})
    for (const double width : {0.25, 1.0, 1.0001, 50.5, 5'000.0}) {
      const rates::window_protocol protocol{.onset = onset, .width = width, .budget = 2, .step = step};
      const double within = protocol.decay().accumulated(0, step.time(protocol.updates));
      CHECK(within == doctest::Approx(protocol.budget_within()).epsilon(1e-9));  // edges are rounded at 2e4
      if (onset + width <= protocol.updates) CHECK(within == doctest::Approx(2).epsilon(1e-9));
    }
  CHECK(rates::window_protocol{.width = 0, .budget = 0}.budget_within() == 0);
  const auto refused = [](const rates::window_protocol& protocol) {
    return complaint([&] { return protocol.decay(); });
  };
  CHECK(refused({.updates = -1}).starts_with("updates = -1 "));
  CHECK(refused({.onset = -5}).starts_with("onset = -5 "));
  CHECK(refused({.width = -5}).starts_with("width = -5 "));
  CHECK(refused({.width = 0}).starts_with("width = 0 "));
  CHECK(refused({.onset = 1e15, .width = 0.01}).starts_with("width = 0.01 "));
  CHECK(complaint([] {
          return rates::window_protocol{.budget = std::nan("")}.budget_within();
        }).starts_with("budget = nan "));
}

TEST_CASE("the onset from which decay no longer extinguishes is where factors pass the basin's edge") {
  const auto check = []<int P>(const rates::equal_factor_system<P>& system, double x) {
    const rates::window_protocol protocol{.step = step};
    const auto predicted = rates::critical_onset<P>(system.slopes(), x, 4.0 / 3);
    const auto found = rates::decisive_onsets(system, {0, x}, protocol, {.candidates = 8, .resolution = 0.25});
    REQUIRE(predicted);
    REQUIRE(found);
    return std::pair(step.updates(*predicted), found->begin);
  };
  // A window of 5,000 updates lasts long enough to decide.
  const auto [three, three_found] = check(rates::equal_factor_system<3>({1, 10}), 0.15);
  CHECK(three == doctest::Approx(64.6).epsilon(1e-3));
  CHECK(std::abs(three - three_found) < 1);
  const auto [four, four_found] = check(rates::equal_factor_system<4>({1, 10}), 0.25);
  CHECK(four == doctest::Approx(387.1).epsilon(1e-3));
  CHECK(std::abs(four - four_found) < 1);
  const auto [two, two_found] = check(rates::equal_factor_system<2>({1, 10}), 0.05);
  CHECK(two == 0);
  CHECK(two_found == 0);
  CHECK_FALSE(rates::critical_onset<3>({1, 5}, 0.1, 4.0 / 3));  // too small to pass it at any time
  CHECK_FALSE(rates::critical_onset<4>({1, 5}, 0.2, 4.0 / 3));
  CHECK_FALSE(rates::critical_onset<3>({1, 5}, 0.3, 1e3));  // no reasoning rests under so much decay
  // From the smallest x0 that passes the edge on the time grows as a logarithm, and stays finite.
  double smallest = 0.05, passes = 0.1;
  while (passes - smallest > 1e-13) {
    const double middle = std::midpoint(smallest, passes);
    (rates::critical_onset<3>({1, 10}, middle, 4.0 / 3) ? passes : smallest) = middle;
  }
  CHECK(passes == doctest::Approx(0.0816001715).epsilon(1e-9));
  const auto above = [&](double by) { return *rates::critical_onset<3>({1, 10}, passes + by, 4.0 / 3); };
  CHECK(above(0) < 40);
  CHECK(above(1e-8) - above(1e-7) == doctest::Approx(above(1e-7) - above(1e-6)).epsilon(0.01));
  CHECK(complaint([] { return rates::critical_onset<2>({1, 5}, 0, 0.1); }).starts_with("x0 = 0 "));
  CHECK(complaint([] { return rates::critical_onset<3>({1, 5}, INFINITY, 0.1); }).starts_with("x0 = inf "));
}

TEST_CASE("two factors take over in the time of their growth rate") {
  const rates::reduced_system<2> system({.memorising = 1, .reasoning = 5});
  const double lambda = 0.1, m = rates::memorising_at_rest(system.slopes(), lambda).memorising;
  const double growth = rates::reasoning_growth(system.slopes(), 2, lambda, 1);
  const auto time = [&](double x) { return *rates::takeover_time(system, {m, x, x}, lambda, 1e3); };
  // A tenth of both factors costs ln(100) / growth.
  CHECK(std::abs(time(1e-5) - time(1e-4) - std::log(100.0) / growth) < 1e-3);
  CHECK_FALSE(rates::takeover_time(system, {m, 1e-4, 1e-4}, lambda, 1));
  CHECK_FALSE(rates::takeover_time(rates::reduced_system<2>({1, 0.9}), {m, 1e-2, 1e-2}, lambda, 100));
  CHECK(complaint([&] {
          return rates::takeover_time(system, {0, 0, 0}, lambda, 1);
        }).starts_with("m + r of start = 0 "));
  CHECK(complaint([&] {
          return rates::takeover_time(system, {m, 1e-2, 1e-2}, lambda, INFINITY);
        }).starts_with("until = inf "));
}

TEST_CASE("decisive onsets are found to any resolution") {
  const rates::equal_factor_system<3> three({1, 10});
  const auto found = [&](const rates::decisive_onset_options& options) {
    return rates::decisive_onsets(three, {0, 0.15}, {.updates = 10'000, .step = step}, options);
  };
  // No numbers lie that near to one another.
  const auto finest = found({.candidates = 3, .resolution = 1e-300, .tolerance = 1e-3});
  REQUIRE(finest);
  CHECK(finest->begin == doctest::Approx(64.6).epsilon(0.02));
  CHECK(complaint([&] { return found({.candidates = 2'000'000'000}); }).starts_with("candidates = 2000000000 "));
  CHECK(complaint([&] { return found({.resolution = 0}); }).starts_with("resolution = 0 "));
}

TEST_CASE("a map is what trainings under its windows come to, for any number of threads and resumed") {
  const sweep::grid grid({sweep::axis::listed("width", {500, 5'000}), sweep::axis::listed("onset", {0, 300, 18'000}),
                          sweep::axis::listed("gamma", {0.4, 0.6})});
  const rates::window_map_options options{.protocol = {.step = step}, .threads = 2};
  const auto map = rates::critical_window_map(three_factors, grid, options);
  for (lindyn::index i = 0; i < grid.size(); ++i) {
    const auto at = grid.at(i).values;
    const auto trial = three_factors(at[2]);
    const auto end = rates::train_under(trial.system, trial.start, {.onset = at[1], .width = at[0], .step = step},
                                        {.tolerance = options.tolerance});
    const auto approx = [](double value) { return doctest::Approx(value).epsilon(1e-14); };
    CHECK(map.values()(i, 0) == approx(rates::reasoning_share(trial.system, end.state)));
    CHECK(map.values()(i, 1) == end.state[0]);
    CHECK(map.values()(i, 2) == approx(trial.system.reasoning(end.state)));
    CHECK(map.values()(i, 3) == (at[1] + at[0] > 20'000 ? 20 * (20'000 - at[1]) / at[0] : 20));
  }
  const auto share = map.column("share");
  CHECK(share[7] < 0.01);  // 5,000 updates from the first on, gamma 0.6: extinct
  CHECK(share[9] > 0.8);   // .. from 300 on: reasoning
  // Two methods, each right to some steps of tolerance 1e-6.
  const auto stiff = rates::critical_window_map(three_factors, grid, {.protocol = {.step = step}, .stiff = true});
  for (std::size_t i = 0; i < share.size(); ++i) CHECK(std::abs(stiff.column("share")[i] - share[i]) < 1e-5);

  const lindyn::testing::temporary_folder folder;
  auto kept = options;
  kept.journal = folder / "map.journal";
  CHECK(rates::critical_window_map(three_factors, grid, kept).column("share") == share);
  std::vector<double> told;  // of the cells that are done
  kept.tell = [&](const lindyn::progress_report& report) { told.push_back(report.done); };
  CHECK(rates::critical_window_map(three_factors, grid, kept).column("share") == share);
  CHECK(told == std::vector{12.0});  // all are in the journal
  // A system whose velocity is the same, but not what it calls reasoning, is another.
  struct halved : rates::equal_factor_system<3> {
    using rates::equal_factor_system<3>::equal_factor_system;
    [[nodiscard]] double reasoning(std::span<const double> x) const {
      return rates::equal_factor_system<3>::reasoning(x) / 2;
    }
  };
  const auto other = [](double gamma) {
    return rates::trial<halved>{halved({1, 10}), {0, rates::initial_factor(gamma, 16)}};
  };
  CHECK_THROWS_AS((void)rates::critical_window_map(other, grid, kept), sweep::other_configuration_error);
  kept.protocol.budget = 10;
  CHECK_THROWS_AS((void)rates::critical_window_map(three_factors, grid, kept), sweep::other_configuration_error);
  CHECK(complaint([&] {
          return rates::critical_window_map(three_factors, sweep::grid({sweep::axis::listed("start", {1})}), options);
        }).starts_with("axis = start "));
  const auto short_start = [](double) {
    return rates::trial<rates::equal_factor_system<3>>{rates::equal_factor_system<3>({1, 10}), {0}};
  };
  CHECK(complaint([&] { return rates::critical_window_map(short_start, grid); }).starts_with("start.size() = 1 "));
  const auto refused = [&](const rates::window_map_options& changed) {
    return complaint([&] { return rates::critical_window_map(three_factors, grid, changed); });
  };
  CHECK(refused({.tolerance = std::nan("")}).starts_with("tolerance = nan "));
  CHECK(refused({.max_steps = 0}).starts_with("max_steps = 0 "));
  CHECK(refused({.protocol = {.updates = std::nan("")}}).starts_with("updates = nan "));
  CHECK(complaint([&] {
          return rates::critical_window_map(three_factors, sweep::grid({sweep::axis::listed("width", {0, 1})}));
        }).starts_with("width = 0 "));
}
