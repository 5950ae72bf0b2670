// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <lindyn/circuit/induction/exact_induction_head.hpp>
#include <lindyn/circuit/induction/induction_flow.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::circuit;
using lindyn::index;  // POSIX has a function of this name
using recall = task::associative_recall<block<2>>;
using imir = manifold::imir<recall, model::attention_only<layers<2>, heads<1>>>;

constexpr std::array losses{task::loss::cross_entropy, task::loss::squared_error};
const std::array<induction_coordinates, 6> points{
    {{0, 0, 0}, {1.3, 2.1, 3.2}, {-0.6, -3, 1.5}, {4, 9, 14}, {0.5, 1, -2}, {-2, 15, 0.3}}};

/// Places of the three coordinates among imir's.
std::array<std::size_t, 3> core_places() {
  std::array<std::size_t, 3> places{};
  for (index place = 0; place < imir::dimension; ++place) {
    const auto at = static_cast<std::size_t>(place);
    if (imir::label(place) == "L1[x,x]M") places[0] = at;
    if (imir::label(place) == "L2[x,1]I") places[1] = at;
    if (imir::label(place) == "out:2 I") places[2] = at;
  }
  return places;
}

/// The manifold's coordinates where all but the core are zero.
std::vector<double> on_manifold(const auto& core) {
  std::vector<double> result(static_cast<std::size_t>(imir::dimension));
  for (std::size_t i = 0; i < 3; ++i) result[core_places()[i]] = core[i];
  return result;
}

/// The largest difference of the loss and of the gradient to those of the reduced model.
double difference(exact_induction_head& head, reduced::relational_model& model, const induction_coordinates& point) {
  std::vector<double> gradient(static_cast<std::size_t>(imir::dimension));
  const double loss = model.loss_and_gradient(on_manifold(point), gradient);
  const induction_values values = head.evaluate(point);
  double result = std::abs(values.loss - loss);
  for (std::size_t i = 0; i < 3; ++i)
    result = std::max(result, std::abs(values.gradient[i] - gradient[core_places()[i]]));
  return result;
}

TEST_CASE("loss and gradient are those of the general reduced model, all other coordinates zero") {
  double largest = 0;
  for (const auto loss : losses)
    for (const int pairs : {1, 2, 5})
      for (const int vocabulary : {std::max(3, 2 * pairs), 2 * pairs + 2, 40}) {
        const population::recall_law<recall> law{{.pairs = pairs, .vocabulary = vocabulary}};
        const auto basis = imir::basis(law);
        const auto types = population::enumerate_types(law).types;
        reduced::relational_model model(basis, types, loss);
        exact_induction_head head({.pairs = pairs, .vocabulary = vocabulary, .loss = loss});
        for (const auto& point : points) largest = std::max(largest, difference(head, model, point));
      }
  MESSAGE("largest difference: " << largest);
  CHECK(largest < 1e-13);
}

TEST_CASE("its flow is the reduced model's, restricted to the three coordinates, in both metrics") {
  constexpr int pairs = 4, vocabulary = 12;
  const population::recall_law<recall> law{{.pairs = pairs, .vocabulary = vocabulary}};
  const auto basis = imir::basis(law);
  const auto types = population::enumerate_types(law).types;
  const auto places = core_places();

  // The Gram matrix of the three basis elements, from the basis.
  std::array<double, 3> lengths{};
  for (std::size_t i = 0; i < 3; ++i) {
    std::array<double, 3> unit{};
    unit[i] = 1;
    std::vector<double> column = on_manifold(unit);
    basis.apply_gram(column, column);
    lengths[i] = column[places[i]];
    for (std::size_t j = 0; j < 3; ++j)
      if (j != i) CHECK(column[places[j]] == 0);
  }
  const metric gram = metric::gram(vocabulary, basis.positions().size());
  CHECK(lengths[0] == doctest::Approx(gram.position).epsilon(1e-14));
  CHECK(lengths[1] == doctest::Approx(gram.token).epsilon(1e-14));
  CHECK(lengths[2] == doctest::Approx(gram.token).epsilon(1e-14));

  double largest = 0;
  for (const auto loss : losses)
    for (const bool unit : {true, false}) {
      reduced::relational_model model(basis, types, loss);
      const auto restricted = [&](const integrate::state& core, integrate::state& velocity, double) {
        std::vector<double> gradient(static_cast<std::size_t>(imir::dimension));
        (void)model.loss_and_gradient(on_manifold(core), gradient);
        for (std::size_t i = 0; i < 3; ++i) velocity[i] = -gradient[places[i]] / (unit ? 1 : lengths[i]);
      };
      exact_induction_head head(
          {.pairs = pairs, .vocabulary = vocabulary, .loss = loss, .metric = unit ? metric::unit() : gram});
      const auto emerged = emergence_time(head);
      REQUIRE(emerged.icl_time);
      induction_flow_options options{.until = 1.5 * *emerged.icl_time, .tolerance = 1e-11};
      for (int part = 0; part <= 15; ++part) options.times.push_back(options.until * (part / 15.0));
      const auto ours = induction_flow(head, options);
      const auto theirs = integrate::flow(restricted, {0, 0, 0}, 0, options.until,
                                          {.tolerance = options.tolerance, .sample_times = options.times});
      for (std::size_t i = 0; i < ours.samples.size(); ++i)
        largest = std::max(largest, std::abs(ours.samples[i] - theirs.samples[i]));
      CHECK(ours.value < 0);  // emerged
    }
  MESSAGE("largest difference of a coordinate: " << largest);
  CHECK(largest < 1e-8);
}

/// The loss and the attention to the answer, from attention matrices of every sequence, with any mask in layer 1.
induction_values by_matrices(const exact_induction_head_options& options, const induction_coordinates& point) {
  const int pairs = options.pairs, n = 2 * pairs + 1;
  const auto [alpha, beta, gamma] = point;
  induction_values mean;
  for (int queried = 0; queried < pairs; ++queried) {
    const auto token = [&](int place) { return place == 2 * pairs ? 2 * queried : place; };
    Eigen::MatrixXd first = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      const int seen = options.first == first_layer::causal ? i + 1 : n;
      for (int j = 0; j < seen; ++j) {
        const bool same_slot = i / 2 == j / 2 && i != j && std::max(i, j) < 2 * pairs;
        first(i, j) = std::exp(same_slot ? alpha : 0.0);
      }
      first.row(i) /= first.row(i).sum();
    }
    Eigen::VectorXd attention(n), logits = Eigen::VectorXd::Constant(options.vocabulary, -gamma / options.vocabulary);
    for (int j = 0; j < n; ++j) {
      double match = 0;
      for (int k = 0; k < n; ++k)
        if (token(k) == 2 * queried) match += first(j, k);
      attention[j] = std::exp(beta * match);
    }
    attention /= attention.sum();
    for (int j = 0; j < n; ++j) logits[token(j)] += gamma * attention[j];
    const int answer = 2 * queried + 1;
    mean.attention += attention[answer] / pairs;
    if (options.loss == task::loss::cross_entropy) {
      mean.loss += (std::log(logits.array().exp().sum()) - logits[answer]) / pairs;
    } else {
      logits[answer] -= 1;
      mean.loss += logits.squaredNorm() / 2 / pairs;
    }
  }
  return mean;
}

TEST_CASE("loss, attention and gradient are those of attention matrices, causal or not") {
  for (const auto loss : losses)
    for (const auto first : {first_layer::causal, first_layer::bidirectional})
      for (const int pairs : {1, 3}) {
        const exact_induction_head_options options{.pairs = pairs, .vocabulary = 9, .loss = loss, .first = first};
        exact_induction_head head(options);
        for (const auto& point : points) {
          const auto values = head.evaluate(point), expected = by_matrices(options, point);
          CHECK(values.loss == doctest::Approx(expected.loss).epsilon(1e-13));
          CHECK(values.attention == doctest::Approx(expected.attention).epsilon(1e-13));
          for (std::size_t i = 0; i < 3; ++i) {
            auto above = point, below = point;
            above[i] += 1e-5, below[i] -= 1e-5;
            const double slope = (by_matrices(options, above).loss - by_matrices(options, below).loss) / 2e-5;
            CHECK(std::abs(values.gradient[i] - slope) < 1e-8);
          }
        }
      }
}

TEST_CASE("with a bidirectional first layer alpha = beta = 0 is an exact saddle; the causal head leaves it") {
  for (const auto loss : losses)
    for (const int pairs : {4, 16}) {
      exact_induction_head_options options{.pairs = pairs, .vocabulary = 4 * pairs, .loss = loss};
      exact_induction_head causal(options);
      const auto emerged = emergence_time(causal);
      CHECK(*emerged.icl_time < 1000);

      options.first = first_layer::bidirectional;
      exact_induction_head saddle(options);
      for (const double gamma : {-3.0, 0.0, 0.1, 1.0, 30.0}) {
        const auto values = saddle.evaluate(std::array{0.0, 0.0, gamma});
        CHECK(values.gradient[0] == 0);
        CHECK(values.gradient[1] == 0);
        CHECK(values.attention == doctest::Approx(1.0 / (2 * pairs + 1)).epsilon(1e-14));
        if (gamma != 0) CHECK(causal.evaluate(std::array{0.0, 0.0, gamma}).gradient[1] != 0);
      }
      const auto stays = emergence_time(saddle, {.until = 1e3 * *emerged.icl_time});
      CHECK_FALSE(stays.icl_time);
      CHECK_FALSE(stays.match_time);
      CHECK(stays.end[0] == 0);
      CHECK(stays.end[1] == 0);
      CHECK(stays.end[2] > 0.5);  // the readout alone learns
      // It is a saddle: from beside it the head does emerge.
      CHECK(emergence_time(saddle, {.start = {0.1, 0.1, 0}, .until = 1e6}).icl_time);
    }
}

TEST_CASE("extreme coordinates make nothing overflow") {
  for (const auto loss : losses)
    for (const auto first : {first_layer::causal, first_layer::bidirectional}) {
      exact_induction_head head({.pairs = 3, .vocabulary = 6, .loss = loss, .first = first});
      for (const double alpha : {-1e4, 1e4})
        for (const double beta : {-1e4, 1e4})
          for (const double gamma : {-1e4, 1e4}) {
            const auto values = head.evaluate(std::array{alpha, beta, gamma});
            CHECK(std::isfinite(values.loss));
            CHECK(std::isfinite(values.attention));
            for (const double entry : values.gradient) CHECK(std::isfinite(entry));
          }
    }
}

TEST_CASE("with at most 2N + 1 tokens the readout turns negative, and nothing emerges") {
  for (const auto loss : losses) {
    exact_induction_head full({.pairs = 4, .vocabulary = 8, .loss = loss}),
        wider({.pairs = 4, .vocabulary = 10, .loss = loss});
    const auto when = emergence_time(full, {.until = 1e4, .tolerance = 1e-6});
    CHECK_FALSE(when.icl_time);
    CHECK(when.end[2] < 0);
    CHECK(emergence_time(wider, {.until = 1e5, .tolerance = 1e-6}).icl_time);
  }
}

TEST_CASE("without an end of time, a flow that never emerges isn't begun") {
  exact_induction_head full({.pairs = 4, .vocabulary = 8}), balanced({.pairs = 4, .vocabulary = 9}),
      saddle({.pairs = 4, .first = first_layer::bidirectional});
  for (auto* head : {&full, &balanced})
    CHECK_THROWS_WITH_AS((void)emergence_time(*head), doctest::Contains("nothing emerges from zero"), argument_error);
  for (const double gamma : {0.0, 1.0})
    CHECK_THROWS_WITH_AS((void)emergence_time(saddle, {.start = {0, 0, gamma}}),
                         doctest::Contains("nothing emerges from alpha = beta = 0"), argument_error);
  // From elsewhere they do emerge.
  CHECK(emergence_time(saddle, {.start = {0.1, 0.1, 0}, .tolerance = 1e-6}).icl_time);
  CHECK(emergence_time(full, {.start = {1, 1, 1}, .tolerance = 1e-6}).icl_time);
}

TEST_CASE("a step beyond all numbers is taken back, or ends in an error of the solver") {
  exact_induction_head head({.pairs = 2, .vocabulary = 8});
  for (const double gamma : {-1.0, 0.0})
    CHECK_THROWS_AS((void)emergence_time(head, {.start = {0, 1.7e308, gamma}, .until = 1e3}), solver_error);
}

TEST_CASE("the asymptotic time is finite where the product of the lengths isn't") {
  for (const auto loss : losses) {
    const double unit = asymptotic_emergence_time({.pairs = 64, .vocabulary = 256, .loss = loss});
    const double long_ones =
        asymptotic_emergence_time({.pairs = 64, .vocabulary = 256, .loss = loss, .metric = {1e300, 1e300}});
    CHECK(long_ones / 1e300 == doctest::Approx(unit).epsilon(1e-13));
  }
}

/// The argument that an error names, empty if there is none.
std::string complaint(const exact_induction_head_options& options, bool asymptotic = false) {
  try {
    if (asymptotic)
      (void)asymptotic_emergence_time(options);
    else
      (void)exact_induction_head(options);
  } catch (const argument_error& error) {
    return error.argument();
  }
  return {};
}

TEST_CASE("bad sizes and points are refused by name") {
  CHECK(complaint({.pairs = 0}) == "pairs");
  CHECK(complaint({.pairs = 5000, .vocabulary = 10'000}) == "pairs");
  CHECK(complaint({.pairs = 4, .vocabulary = 7}) == "vocabulary");
  CHECK(complaint({.pairs = 1, .vocabulary = 2}) == "vocabulary");
  CHECK(complaint({.pairs = 1, .vocabulary = 2'000'000}) == "vocabulary");
  CHECK(complaint({.metric = {.token = -1}}) == "metric.token");
  for (const bool asymptotic : {false, true})
    for (const int pairs : {-1, 1'073'741'824, 2'000'000'000})
      CHECK(complaint({.pairs = pairs}, asymptotic) == "pairs");
  CHECK(complaint({.metric = {-1, 1}}, true) == "metric.position");
  CHECK(complaint({.metric = {1, std::nan("")}}, true) == "metric.token");
  CHECK(complaint({.pairs = 1}, true) == "pairs");
  CHECK(complaint({.pairs = 4, .vocabulary = 9}, true) == "vocabulary");
  CHECK(complaint({.first = first_layer::bidirectional}, true) == "first");
  exact_induction_head head({});
  CHECK_THROWS_AS((void)head.evaluate(std::array{0.0, 1.0}), shape_error);
  CHECK_THROWS_AS((void)head.evaluate(std::array{0.0, 1.0, std::nan("")}), non_finite_error);
}

}  // namespace
