// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <lindyn/circuit/competition/competition_head.hpp>
#include <lindyn/circuit/competition/competition_rates.hpp>
#include <lindyn/circuit/competition/icl_iwl.hpp>
#include <lindyn/circuit/competition/relational_competition.hpp>

#include "refused_argument.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::circuit;

/// The idealised loss as its docstring writes it.
double written_loss(const competition_head_options& options, const competition_coordinates& point) {
  const double alpha = point[0], beta = point[1], gamma = point[2], delta = point[3];
  const double n = options.head.visible, m = options.head.distractors, copies = options.head.burstiness;
  const double a = std::exp(alpha) / (std::exp(alpha) + n - 1);
  const double b = copies * std::exp(beta * a) / (copies * std::exp(beta * a) + m);
  const auto loss = [&](double with, double against) {
    return std::log(std::exp(gamma * b + with) + m * std::exp(gamma * (1 - b) / m) + std::exp(against) - 1 +
                    options.vocabulary - 1 - m) -
           gamma * b - with;
  };
  const query_mixture& queries = options.queries;
  return queries.rare * loss(0, 0) + queries.stored() * loss(delta, 0) + queries.varied() * loss(0, delta);
}

TEST_CASE("the idealised competition's loss is what the formula says, and the gradient is that of the loss") {
  for (const auto& options : {competition_head_options{}, competition_head_options::of_pairs(5, 40, {0.3, 0.2}, 3),
                              competition_head_options{{.visible = 3, .distractors = 4}, 6, {0.1, 0.9}}})
    for (const competition_coordinates& point :
         {competition_coordinates{0, 0, 0, 0}, {1, 2, 3, 4}, {-0.7, -1.5, 2, -1}, {3, 6, 9, 2}, {0.2, 0.1, -0.4, 1}}) {
      const auto values = competition_head(options).evaluate(point);
      CHECK(values.loss == doctest::Approx(written_loss(options, point)).epsilon(1e-14));
      for (std::size_t i = 0; i < 4; ++i) {
        auto above = point, below = point;
        above[i] += 1e-5, below[i] -= 1e-5;
        const double slope = (written_loss(options, above) - written_loss(options, below)) / 2e-5;
        CHECK(std::abs(values.gradient[i] - slope) < 1e-9);
      }
    }
}

TEST_CASE("no coordinates up to 1e150 make loss or gradient overflow") {
  const competition_head ideal(competition_head_options::of_pairs(4, 16, {0.3, 0.2}));
  for (const double alpha : {-1e150, 1e150})
    for (const double beta : {-1e150, 1e150})
      for (const double gamma : {-1e150, 1e150})
        for (const double delta : {-1e150, 1e150}) {
          const auto values = ideal.evaluate(std::array{alpha, beta, gamma, delta});
          CHECK(std::isfinite(values.loss));
          for (const double entry : values.gradient) CHECK(std::isfinite(entry));
        }
}

TEST_CASE("at alpha = beta = 0 readout and association are the exact model's, but for terms of 1 / V") {
  const query_mixture queries{0.3, 0.2};
  double before = 0;
  for (const int vocabulary : {64, 256, 1024, 4096}) {
    relational_competition exact({.pairs = 8, .vocabulary = vocabulary, .queries = queries});
    const competition_head ideal(competition_head_options::of_pairs(8, vocabulary, queries));
    const auto difference = [&](const competition_coordinates& point) {
      const auto one = exact.evaluate(point), other = ideal.evaluate(point);
      return std::array{std::abs(one.gradient[2] - other.gradient[2]), std::abs(one.gradient[3] - other.gradient[3]),
                        one.gradient[1] / other.gradient[1]};
    };
    const auto origin = difference({0, 0, 0, 1});
    CHECK(std::max(origin[0], origin[1]) < 1e-15);  // both vanish where gamma does
    const auto apart = difference({0, 0, 1, 1});
    MESSAGE("V = " << vocabulary << ", gamma = delta = 1: dL/dgamma differs by " << apart[0] << ", dL/ddelta by "
                   << apart[1] << "; dL/dbeta is " << apart[2] << " times the idealised");
    if (before > 0) CHECK(before / apart[0] == doctest::Approx(4).epsilon(0.1));
    before = apart[0];
    // Attention is what is idealised: the causal head climbs faster at any V.
    CHECK(apart[2] == doctest::Approx(1.618).epsilon(0.01));
  }
}

TEST_CASE("the association's time in closed form is that of its flow while nothing is read out of the context") {
  for (const query_mixture& queries : {query_mixture{0, 0}, query_mixture{0.4, 1e-7}, query_mixture{0.3, 0.3}})
    for (const metric& lengths : {metric::unit(), metric::gram(64, 20)}) {
      const competition_head ideal({{.visible = 16, .distractors = 16, .metric = lengths}, 64, queries});
      for (const double delta : {1.0, std::log(63.0)}) {
        const double time = association_time(queries, 64, delta, lengths);
        const auto velocity = [&](const integrate::state& c, integrate::state& dcdt, double) {
          dcdt[0] = -ideal.evaluate(std::array{0.0, 0.0, 0.0, c[0]}).gradient[3] / lengths.token;
        };
        const auto flow = integrate::flow(velocity, {0}, 0, time, {.tolerance = 1e-11});
        CHECK(flow.state[0] == doctest::Approx(delta).epsilon(1e-8));
      }
    }
  CHECK(std::isinf(association_time({0, 0.5}, 64, std::log(63.0))));
  CHECK(std::isinf(association_time({1, 0.1}, 64, 1)));
  CHECK(association_time({0.3, 0.1}, 64, 0) == 0);
}

TEST_CASE("fast and slow: times of the idealised competition's flow tend to those of its rates") {
  double before = 1;
  for (const int pairs : {16, 64, 256}) {
    double largest = 0;
    for (const query_mixture& queries : {query_mixture{1, 0}, query_mixture{0.3, 0.2}})
      for (const int burstiness : {1, 2}) {
        const auto options = competition_head_options::of_pairs(pairs, 4 * pairs, queries, burstiness);
        const auto rates = competition_rates::of(options);
        const auto predicted =
            predict(competition_head(options), {.until = 1.5 / rates.starved_induction, .tolerance = 1e-6});
        REQUIRE(predicted.icl_time);
        const double ratio = *predicted.icl_time * rates.starved_induction;
        largest = std::max(largest, std::abs(ratio - 1));
        MESSAGE("N = " << pairs << ", b = " << burstiness << ", f_r = " << queries.rare
                       << ", f_v = " << queries.within_class << ": ICL at " << *predicted.icl_time << ", starved time "
                       << 1 / rates.starved_induction << ", free time " << 1 / rates.induction << "; IWL at "
                       << predicted.iwl_time.value_or(-1) << ", closed " << 1 / rates.association);
        if (queries.rare == 1) {
          CHECK(rates.association == 0);
          CHECK(rates.starved_induction == rates.induction);
          CHECK_FALSE(predicted.iwl_time);
          CHECK(predicted.first() == learned::in_context);
        } else {
          CHECK(*predicted.iwl_time * rates.association == doctest::Approx(1).epsilon(5e-3));
          CHECK(rates.association > 15 * rates.induction);
          CHECK(predicted.first() == learned::in_weights);
          // The starvation factor, but for 1 / V, which is against 1 / (2N) here.
          CHECK(rates.starved_induction < rates.induction * 0.65);
        }
      }
    MESSAGE("N = " << pairs << ": within " << largest);
    CHECK(largest < 0.6 * before);
    before = largest;
  }
  CHECK(before < 0.015);
}

TEST_CASE(
    "the exact competition at N = 4, V = 16: rare queries bring ICL forward; without many the weights are first") {
  double before = 1e9;
  for (const double rare : {0.0, 0.3, 0.9, 0.97, 1.0}) {
    relational_competition exact({.pairs = 4, .vocabulary = 16, .queries = {rare, 0.1}});
    const competition_options options{.until = 600, .tolerance = 1e-6};
    const auto predicted = predict(exact, options);
    const auto ideal = predict(competition_head(competition_head_options::of_pairs(4, 16, {rare, 0.1})), options);
    REQUIRE(predicted.icl_time);
    REQUIRE(ideal.icl_time);
    MESSAGE("f_r = " << rare << ": ICL at " << *predicted.icl_time << " (idealised " << *ideal.icl_time << "), IWL at "
                     << predicted.iwl_time.value_or(-1) << " (" << ideal.iwl_time.value_or(-1) << ")");
    CHECK(*predicted.icl_time < before);
    before = *predicted.icl_time;
    CHECK(*predicted.icl_time == doctest::Approx(*ideal.icl_time).epsilon(0.05));
    CHECK((predicted.knows == learned::in_context || predicted.knows == learned::both));
    CHECK(predicted.first() == (rare < 0.95 ? learned::in_weights : learned::in_context));
    CHECK(ideal.first() == predicted.first());
    // The end is that of the flow.
    const auto flow = competition_flow(exact, options);
    for (std::size_t i = 0; i < 4; ++i) CHECK(flow.state[i] == doctest::Approx(predicted.end[i]).epsilon(1e-4));
    CHECK(flow.value == doctest::Approx(predicted.loss).epsilon(1e-3));
  }
}

TEST_CASE("the flow descends in the metric that is named, the Gram metric being the basis's own") {
  const relational_competition sizes({.pairs = 2, .vocabulary = 12});
  const metric gram = metric::gram(12, sizes.basis().positions().size());
  relational_competition exact({.pairs = 2, .vocabulary = 12, .queries = {0.3, 0.2}, .metric = gram});
  const competition_coordinates start{0.5, 1, 2, 1};
  constexpr double step = 1e-3;
  const auto flow = competition_flow(exact, {.start = start, .until = step, .tolerance = 1e-10});
  const auto gradient = exact.evaluate(start).gradient;
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> unit(static_cast<std::size_t>(exact.basis().dimension()));
    unit[static_cast<std::size_t>(exact.places()[i])] = 1;
    exact.basis().apply_gram(unit, unit);
    const double length = unit[static_cast<std::size_t>(exact.places()[i])];
    CHECK(length == doctest::Approx(i == 0 ? gram.position : gram.token).epsilon(1e-14));
    CHECK((flow.state[i] - start[i]) / step == doctest::Approx(-gradient[i] / length).epsilon(1e-3));
  }
}

TEST_CASE("a prediction says what happened before it began, and what never does") {
  const competition_head ideal(competition_head_options::of_pairs(4, 16, {0.2, 0.1}));
  const auto nothing = predict(ideal, {.until = 0.1});
  CHECK_FALSE(nothing.icl_time);
  CHECK_FALSE(nothing.iwl_time);
  CHECK(nothing.first() == learned::nothing);
  CHECK(nothing.knows == learned::nothing);
  const auto knew = predict(ideal, {.start = {5, 20, 9, 4}, .until = 0.1});
  CHECK(knew.icl_time == 0);
  CHECK(knew.iwl_time == 0);
  CHECK(knew.knows == learned::both);
  const auto sampled = competition_flow(ideal, {.until = 2, .times = {0, 1, 2}});
  CHECK(sampled.sampled().rows == 3);
  CHECK(sampled.sampled()(2, 3) == sampled.state[3]);
}

TEST_CASE("bad options are refused by name") {
  const double infinity = std::numeric_limits<double>::infinity();
  const competition_head ideal({});
  CHECK(testing::refused_argument([&] { (void)predict(ideal, {.until = infinity}); }) == "until");
  CHECK(testing::refused_argument([&] { (void)predict(ideal, {.tolerance = 0.5}); }) == "tolerance");
  CHECK(testing::refused_argument([&] { (void)predict(ideal, {.times = {1}}); }) == "times");
  CHECK(testing::refused_argument([&] { (void)competition_flow(ideal, {.until = -1}); }) == "until");
  CHECK(testing::refused_argument([] { (void)association_time({0, 2}, 16, 1); }) == "within_class");
  CHECK(testing::refused_argument([] { (void)association_time({}, 1, 1); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)association_time({}, 16, -1); }) == "delta");
  CHECK(testing::refused_argument([] { (void)association_time({}, 16, 1, {.token = -1}); }) == "metric.token");
  CHECK(testing::refused_argument([] { (void)induction_time({.vocabulary = 5}, 0); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)competition_rates::of({.queries = {.rare = -1}}); }) == "rare");
}

}  // namespace
