// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <locale>
#include <string>
#include <vector>

#include <lindyn/schedule/budget.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/schedule/warnings.hpp>

#include "../complaint.hpp"

namespace {
using lindyn::testing::complaint;
namespace schedule = lindyn::schedule;
using schedule::parse;
using schedule::to_text;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> values(const schedule::schedule& of, const std::vector<double>& times) {
  std::vector<double> result;
  for (const double t : times) result.push_back(of.value(t));
  return result;
}

using numbers = std::vector<double>;

TEST_CASE("a window is half-open, and update 0 is the first") {
  const schedule::schedule decay = schedule::window{.begin = 2, .end = 4, .level = 0.5};
  CHECK(values(decay, {0, 1, 1.999, 2, 3, 3.999, 4, 5}) == numbers{0, 0, 0, 0.5, 0.5, 0.5, 0, 0});
  CHECK(schedule::schedule(schedule::window{0, 1, 7}).value(0) == 7);
  CHECK(schedule::schedule(schedule::window{.begin = 3, .level = 7}).value(1e14) == 7);  // for ever
}

TEST_CASE("steps hold each level from its time on") {
  const schedule::schedule rate = schedule::steps{1, {{2, 0.5}, {5, 0.25}}};
  CHECK(values(rate, {0, 1, 2, 4, 4.5, 5, 100}) == numbers{1, 1, 0.5, 0.5, 0.5, 0.25, 0.25});
  CHECK(values(schedule::steps{3}, {0, 9}) == numbers{3, 3});
}

TEST_CASE("lines go straight from point to point and level outside") {
  const schedule::schedule rate = schedule::linear{{{2, 1}, {4, 3}, {8, 1}}};
  CHECK(values(rate, {0, 2, 3, 4, 5, 8, 9}) == numbers{1, 1, 2, 3, 2.5, 1, 1});
  CHECK(values(schedule::linear{{{5, 2}}}, {0, 5, 6}) == numbers{2, 2, 2});
}

TEST_CASE("a cosine is level, falls by half a period, and is level") {
  const schedule::schedule rate = schedule::cosine{.begin = 10, .end = 30, .from = 3, .to = 1};
  CHECK(values(rate, {0, 10, 30, 31}) == numbers{3, 3, 1, 1});
  CHECK(rate.value(20) == doctest::Approx(2).epsilon(1e-15));
  CHECK(rate.value(15) == doctest::Approx(2 + std::sqrt(0.5)).epsilon(1e-15));
  CHECK(values(schedule::cosine{5, 5, 3, 1}, {4, 5, 6}) == numbers{3, 1, 1});  // a step where it has no length
}

TEST_CASE("warm-up rises by equal amounts, wastes no update, and multiplies what follows") {
  CHECK(values(schedule::warmup{4}, {0, 1, 2, 3, 4, 100}) == numbers{0.25, 0.5, 0.75, 1, 1, 1});
  CHECK(values(schedule::warmup{0}, {0, 1}) == numbers{1, 1});
  const auto rate = schedule::warmup{2} * schedule::steps{8, {{1, 6}, {3, 4}}};
  CHECK(values(rate, {0, 1, 2, 3}) == numbers{4, 6, 6, 4});
}

TEST_CASE("schedules add and multiply as their values do") {
  const schedule::schedule early = schedule::window{0, 3, 1}, late = schedule::window{5, 8, 2};
  const schedule::schedule factor = schedule::linear{{{0, 1}, {10, 3}}} + 0.5;
  CHECK(values(early + late, {0, 2, 3, 5, 8}) == numbers{1, 1, 0, 2, 0});
  for (const double t : {0.0, 2.0, 4.0, 6.0, 20.0})
    CHECK(((early + late) * factor).value(t) == (early + late).value(t) * factor.value(t));
  CHECK(schedule::schedule().value(3) == 0);
  CHECK(schedule::schedule(0.25).value(7u) == 0.25);
}

TEST_CASE("edges are where something jumps, in order, each once") {
  const auto rate = schedule::warmup{100} * schedule::cosine{0, 20000, 3e-3, 0} + schedule::window{5000, 20000, 1};
  CHECK(rate.edges() == numbers{99, 5000, 20000});
  CHECK(schedule::schedule(schedule::window{400, infinity, 1}).edges() == numbers{400});
  CHECK(schedule::schedule(schedule::steps{1, {{7, 2}}} * schedule::linear{{{3, 1}, {7, 2}}}).edges() == numbers{3, 7});
  CHECK(schedule::schedule(0.1).edges().empty());
}

TEST_CASE("a schedule's text is read back as the same schedule") {
  const auto text = [](const schedule::schedule& of) {
    CHECK(parse(to_text(of)) == of);
    return to_text(of);
  };
  CHECK(text(schedule::schedule()) == "constant(0)");
  CHECK(text(1e-3) == "constant(0.001)");
  CHECK(text(schedule::window{5000, 10000, 4e-3}) == "window(5000, 10000, 0.004)");
  CHECK(text(schedule::window{400, infinity, 1}) == "window(400, inf, 1)");
  CHECK(text(schedule::steps{1}) == "steps(1)");
  CHECK(text(schedule::linear{{{0, 1}, {100000, 0.5}}}) == "linear(0, 1, 100000, 0.5)");
  CHECK(text(schedule::warmup{100} * schedule::cosine{0, 20000, 3e-3, 3e-5}) ==
        "warmup(100) * cosine(0, 20000, 0.003, 3e-05)");
  CHECK(text(0.5 * (schedule::window{0, 1, 1} + schedule::window{2, 3, 1})) ==
        "constant(0.5) * window(0, 1, 1) + constant(0.5) * window(2, 3, 1)");
  for (const double level : {0.1, 1.0 / 3, 0.1 + 0.2, 5e-324, 1e30}) text(level);
}

TEST_CASE("texts of schedules are the same in every locale") {
  struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const schedule::schedule decay = schedule::steps{1000, {{20000, 4e-3}}};
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new german));
  const std::string text = to_text(decay), number = complaint([] { lindyn::require(false, "updates", 1000, "fewer"); });
  const bool same = parse(text) == decay;
  std::locale::global(before);
  CHECK(text == "steps(1000, 20000, 0.004)");
  CHECK(same);
  CHECK(number.starts_with("updates = 1000 "));
}

TEST_CASE("texts may be spaced freely, and a number alone is a constant") {
  CHECK(parse("1e-3") == schedule::schedule(1e-3));
  CHECK(parse("  window( 5,9 ,1e+0)+2*warmup(3) ") ==
        schedule::window{5, 9, 1} + 2 * schedule::schedule(schedule::warmup{3}));
}

TEST_CASE("schedules differ where any number or shape does") {
  const auto text = "warmup(100) * window(5, 9, 1)";
  CHECK(parse(text) == parse(text));
  for (const auto other : {"warmup(101) * window(5, 9, 1)", "warmup(100) * window(5, 9, 2)", "window(5, 9, 1)",
                           "warmup(100) + window(5, 9, 1)", "warmup(100) * steps(5, 9, 1)"})
    CHECK(parse(text) != parse(other));
}

TEST_CASE("texts that aren't schedules are refused with what was expected where") {
  const auto says = [](const char* text, const std::string& part) {
    const auto said = complaint([&] { (void)parse(text, "decay"); });
    CAPTURE(said);
    CHECK(said.starts_with("decay = '" + std::string(text) + "'"));
    CHECK(said.find(part) != std::string::npos);
  };
  says("", "where '' stands, a number, constant(level), window(begin, end, level)");
  says("windw(1, 2, 3)", "where 'windw(1, 2, 3)' stands, a number");
  says("1 2", "where '2' stands, '+', '*' or the end was expected");
  says("1 +", "where '' stands, a number");
  says("window", "where '' stands, '(' was expected");
  says("window(1, 2", "where '' stands, ',' or ')' was expected");
  says("window(1, two, 3)", "where 'two, 3)' stands, a number was expected");
  says("window(1, 2)", "the arguments of window(begin, end, level)");
  says("constant(1, 2)", "the arguments of constant(level)");
  says("steps(1, 2)", "the arguments of steps(level, t, level, ..)");
  says("linear(1, 2, 3)", "the arguments of linear(t, level, t, level, ..)");
  says("2 * warmup(-1)", "in warmup(updates), updates = -1 is not allowed");
}

TEST_CASE("numbers that make no sense are refused by name") {
  const auto says = [](const char* text, const char* part) {
    CAPTURE(text);
    CHECK(complaint([&] { (void)parse(text); }).find(part) != std::string::npos);
  };
  says("-1e-3", "level = -0.001 is not allowed");  // negative decay
  says("constant(nan)", "level = nan");
  says("constant(inf)", "level = inf");
  says("window(5, 4, 1)", "end = 4");
  says("window(-1, 4, 1)", "begin = -1");
  says("window(nan, 4, 1)", "begin = nan");
  says("steps(1, 5, 2, 5, 3)", "changes[1].t = 5");
  says("steps(1, 5, -2)", "changes[0].level = -2");
  says("linear(5, 1, 4, 1)", "points[1].t = 4");
  says("cosine(0, inf, 1, 0)", "end = inf");
  says("cosine(0, 1, 1, -1)", "to = -1");
  CHECK(complaint([] { schedule::schedule{schedule::linear{}}; }).starts_with("points.size() = 0"));
  CHECK(complaint([] { schedule::schedule{-0.5}; }).starts_with("level = -0.5"));
}

TEST_CASE("sums and products that numbers can't hold are refused") {
  const schedule::schedule large = 1e20, closed = schedule::window{5, 6, 1};
  CHECK(complaint([&] { (void)(large * large); }).starts_with("largest value of a product = 1e+40"));
  CHECK(complaint([&] { (void)(schedule::schedule(8e29) + 8e29); }).starts_with("largest value of a sum = 1.6e+30"));
  CHECK(complaint([] { (void)parse("1e30 * linear(0, 1, 5, 2)", "decay"); }).starts_with("decay = '1e30 * linear"));
  CHECK((large * 1e-20 * closed).value(4) == 0);
  const auto sum = schedule::warmup{9} * schedule::steps{1, {{3, 4}, {5, 2}}} + schedule::cosine{0, 9, 0.5, 3};
  CHECK(sum.largest() == 7);
}

TEST_CASE("budgets are the sums over a run's updates") {
  const schedule::schedule decay = schedule::window{5000, 10000, 4e-3};
  CHECK(schedule::budget(decay, 20000) == doctest::Approx(20).epsilon(1e-12));
  CHECK(schedule::budget(decay, 7500) == doctest::Approx(10).epsilon(1e-12));
  CHECK(schedule::budget(decay, 3e-3, 20000) == doctest::Approx(0.06).epsilon(1e-12));
  CHECK(schedule::budget(schedule::steps{1, {{2, 10}}}, schedule::linear{{{0, 0}, {4, 4}}}, 5) == 0 + 1 + 20 + 30 + 40);
  CHECK(schedule::budget(decay, 0) == 0);
  CHECK(complaint([&] { (void)schedule::budget(decay, -1); }).starts_with("updates = -1"));
}

TEST_CASE("windows of a given budget have it exactly") {
  CHECK(schedule::window_of_budget(5000, 10000, 20) == schedule::window{5000, 10000, 20.0 / 5000});
  CHECK(schedule::window_of_level(5000, 4e-3, 20) == schedule::window{5000, 10000, 4e-3});
  CHECK(schedule::window_of_level(0, 0.01, 20).end == 2000);
  const auto rounded = schedule::window_of_level(7, 0.3, 1);  // three updates at .3 and a bit
  CHECK(rounded == schedule::window{7, 11, 0.25});
  CHECK(schedule::window_of_level(7, 0.3, 0) == schedule::window{7, 7, 0.3});
  const auto fractional = schedule::window_of_budget(0.5, 2.5, 6);  // updates 1 and 2
  CHECK(schedule::budget(fractional, 10) == 6);
  const auto falling = schedule::scaled_to_budget(schedule::linear{{{0, 2}, {10, 0}}}, 10, 20);
  CHECK(schedule::budget(falling, 10) == doctest::Approx(20).epsilon(1e-14));
  CHECK(falling.value(0) / falling.value(5) == doctest::Approx(2).epsilon(1e-14));

  CHECK(complaint([] { (void)schedule::window_of_budget(5, 5, 1); }).starts_with("end = 5"));
  CHECK(complaint([] { (void)schedule::window_of_budget(5, infinity, 1); }).starts_with("end = inf"));
  CHECK(complaint([] { (void)schedule::window_of_budget(5, 6, -1); }).starts_with("budget = -1"));
  CHECK(complaint([] { (void)schedule::window_of_level(5, 0, 1); }).starts_with("level = 0"));
  CHECK(complaint([] { (void)schedule::window_of_level(0, 1e-300, 1e30); }).starts_with("end = inf"));
  CHECK(complaint([] { (void)schedule::window_of_level(0.5, 1, 1); }).starts_with("begin = 0.5"));
  CHECK(complaint([] { (void)schedule::scaled_to_budget(schedule::window{5, 6, 1}, 5, 1); }).starts_with("lambda = 0"));
}

TEST_CASE("what may not be meant is said, and nothing else") {
  const auto said = [](const char* text, lindyn::index updates = 100) {
    std::string result;
    for (const auto& sentence : schedule::warnings(parse(text), updates, "decay")) result += sentence + "; ";
    return result;
  };
  CHECK(said("window(150, 200, 1)") ==
        "decay: window(150, 200, 1) changes nothing any more: it begins behind the run's 100 updates; ");
  CHECK(said("window(5, 5, 1)") == "decay: window(5, 5, 1) is empty; ");
  CHECK(said("window(50, 101, 1)") == "decay: window(50, 101, 1) goes on behind the run's 100 updates; ");
  CHECK(said("window(5, 5, 1) + 1") == "decay: window(5, 5, 1) is empty; ");
  CHECK(said("steps(1, 100, 2)") ==
        "decay: steps(1, 100, 2) changes nothing any more: it begins behind the run's 100 updates; ");
  CHECK(said("warmup(200)") == "decay: warmup(200) goes on behind the run's 100 updates; ");
  CHECK(said("0 * cosine(0, 200, 1, 0)") ==
        "decay: cosine(0, 200, 1, 0) goes on behind the run's 100 updates; "
        "decay: constant(0) * cosine(0, 200, 1, 0) is zero at all of the run's 100 updates; ");
  for (const auto fine : {"window(0, 100, 1)", "window(50, inf, 1)", "steps(1, 99, 2)", "cosine(0, 100, 1, 0)", "0",
                          "1", "warmup(100) * linear(0, 1, 100, 0)"})
    CHECK(said(fine) == "");
  CHECK(said("0 * warmup(0)", 0) == "");
}

}  // namespace
