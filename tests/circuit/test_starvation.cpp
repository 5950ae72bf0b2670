// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <boost/math/statistics/linear_regression.hpp>
#include <boost/math/tools/toms748_solve.hpp>

#include <lindyn/circuit/competition/competition_head.hpp>
#include <lindyn/circuit/competition/relational_competition.hpp>
#include <lindyn/circuit/competition/starvation.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/plain_model.hpp>

#include "refused_argument.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::circuit;
using lindyn::index;  // POSIX has a function of this name

constexpr double certain = 700;  // p_delta is 1 to rounding, and nothing overflows
constexpr std::array<query_mixture, 4> mixtures{{{0, 0.3}, {0.3, 0.2}, {0.05, 0.05}, {0.6, 0.5}}};

double resting(const query_mixture& queries, int vocabulary) {
  return equilibrium_association(queries.within_class, vocabulary);
}

TEST_CASE("on the relational model gamma's starvation tends to each factor with an error of 1 / V") {
  for (const query_mixture& queries : {mixtures[1], mixtures[2]})
    for (const auto where : {starvation::limit, starvation::equilibrium}) {
      std::vector<double> x, y;
      for (int vocabulary = 256; vocabulary <= 4096; vocabulary *= 2) {
        relational_competition exact({.pairs = 8, .vocabulary = vocabulary, .queries = queries});
        const double delta = where == starvation::limit ? certain : resting(queries, vocabulary);
        const double ratio = starvation_ratios(exact, 0.7, 0.9, delta)[2], factor = starvation_factor(queries, where);
        x.push_back(std::log(vocabulary));
        y.push_back(std::log(std::abs(ratio - factor)));
        MESSAGE("f_r = " << queries.rare << ", f_v = " << queries.within_class << ", "
                         << std::string(where == starvation::limit ? "limit" : "equilibrium") << ", V = " << vocabulary
                         << ": gamma's ratio " << ratio << " against " << factor);
      }
      const double slope = std::get<1>(boost::math::statistics::simple_ordinary_least_squares(x, y));
      MESSAGE("slope of the error: " << slope);
      CHECK(std::abs(slope + 1) < 0.1);
    }
}

TEST_CASE("alpha's and beta's starvation is the limit's factor exactly, and the equilibrium's but for a known term") {
  double limit_error = 0, equilibrium_error = 0;
  for (const query_mixture& queries : mixtures)
    for (const int vocabulary : {20, 256, 2048}) {
      relational_competition exact({.pairs = 8, .vocabulary = vocabulary, .queries = queries});
      const auto limit = starvation_ratios(exact, 0.7, 0.9, certain);
      const auto equilibrium = starvation_ratios(exact, 0.7, 0.9, resting(queries, vocabulary));
      const double known = queries.stored() * queries.within_class / (vocabulary - 1);
      for (std::size_t i = 0; i < 2; ++i) {
        limit_error = std::max(limit_error, std::abs(limit[i] - starvation_factor(queries, starvation::limit)));
        const double error = equilibrium[i] - starvation_factor(queries, starvation::equilibrium);
        equilibrium_error = std::max(equilibrium_error, std::abs(error - known));
      }
    }
  MESSAGE("limit: " << limit_error << ", equilibrium less (1 - f_r)(1 - f_v) f_v / (V - 1): " << equilibrium_error);
  CHECK(limit_error <= 1e-12);
  CHECK(equilibrium_error <= 1e-12);
}

TEST_CASE("the closed ratios hold for the exact and the idealised model at any delta, V, alpha, beta and b") {
  double largest = 0;
  for (const query_mixture& queries : mixtures)
    for (const int burstiness : {1, 2})
      for (const int vocabulary : {12, 64})
        for (const auto& place : {std::array{0.0, 0.5}, std::array{2.0, 3.0}, std::array{-1.0, -0.7}})
          for (const double delta : {-1.0, 0.0, 2.0, 7.0}) {
            relational_competition exact(
                {.pairs = 4, .vocabulary = vocabulary, .burstiness = burstiness, .queries = queries});
            const competition_head ideal(competition_head_options::of_pairs(4, vocabulary, queries, burstiness));
            const double head = attention_starvation(queries, vocabulary, delta);
            const auto check = [&](auto&& model) {
              const auto ratios = starvation_ratios(model, place[0], place[1], delta);
              // B, from the readout's gradient at the origin: dL/dgamma = 1 / V - B.
              const double attention =
                  1.0 / vocabulary - model.evaluate(std::array{place[0], place[1], 0.0, 0.0}).gradient[2];
              const double readout = readout_starvation(queries, vocabulary, delta, attention);
              // The readout's own gradient is a difference of B and 1 / V, which loses digits where they are close.
              const double lost = 1 / std::abs(attention * vocabulary - 1);
              largest = std::max({largest, std::abs(ratios[0] - head), std::abs(ratios[1] - head),
                                  std::abs(ratios[2] - readout) / (1 + lost * lost)});
            };
            check(exact);
            check(ideal);
          }
  MESSAGE("largest difference: " << largest);
  CHECK(largest < 1e-12);
}

TEST_CASE("with the partner planted in varied contexts neither factor holds at any V") {
  const query_mixture queries{0.3, 0.2};
  for (int vocabulary = 256; vocabulary <= 4096; vocabulary *= 4) {
    relational_competition planted(
        {.pairs = 8, .vocabulary = vocabulary, .queries = queries, .partner = partner_place::planted});
    for (const auto where : {starvation::limit, starvation::equilibrium}) {
      const bool limit = where == starvation::limit;
      const double factor = starvation_factor(queries, where);
      const auto ratios = starvation_ratios(planted, 0.7, 0.9, limit ? certain : resting(queries, vocabulary));
      MESSAGE("partner planted, " << std::string(limit ? "limit" : "equilibrium") << ", V = " << vocabulary
                                  << ": alpha " << ratios[0] << ", beta " << ratios[1] << ", gamma " << ratios[2]
                                  << " against " << factor);
      // What the planted partner attracts is learned against: alpha and beta are starved less, gamma more.
      CHECK(ratios[0] > factor + 0.005);
      CHECK(ratios[1] > factor + 0.005);
      CHECK(ratios[2] < factor - 0.08);
    }
  }
}

TEST_CASE("delta* is where the exact model's derivative by delta vanishes at alpha = beta = gamma = 0") {
  double largest = 0;
  for (const query_mixture& queries : mixtures)
    for (const int vocabulary : {16, 256, 4096}) {
      relational_competition exact({.pairs = 4, .vocabulary = vocabulary, .queries = queries});
      const auto slope = [&](double delta) { return exact.evaluate(std::array{0.0, 0.0, 0.0, delta}).gradient[3]; };
      std::uintmax_t iterations = 100;
      const auto bracket =
          boost::math::tools::toms748_solve(slope, 0.0, 30.0, boost::math::tools::eps_tolerance<double>(), iterations);
      const double found = (bracket.first + bracket.second) / 2, closed = resting(queries, vocabulary);
      largest = std::max(largest, std::abs(found - closed));
      CHECK(stored_probability(closed, vocabulary) == doctest::Approx(1 - queries.within_class).epsilon(1e-14));
    }
  MESSAGE("largest difference: " << largest);
  CHECK(largest < 1e-6);
  CHECK(std::isinf(equilibrium_association(0, 16)));
}

/// Places of alpha, beta, gamma and delta on a manifold with rare tokens: each identity is the sum of that of common
/// tokens and that of rare ones.
std::array<std::vector<index>, 4> parts_of(const manifold::basis& basis) {
  std::array<std::vector<index>, 4> parts;
  for (index place = 0; place < basis.dimension(); ++place) {
    const std::string label = basis.label(place);
    if (label == "L1[x,x]M") parts[0].push_back(place);
    if (label == "L2[x,1]Ic" || label == "L2[x,1]Ir") parts[1].push_back(place);
    if (label == "out:2 Ic" || label == "out:2 Ir") parts[2].push_back(place);
    if (label == "out:x C") parts[3].push_back(place);
  }
  return parts;
}

/// One population of rare, stored and varied queries over V tokens of which the last four have no partner, and the raw
/// selections between them, without centring: the mixture as a law.
TEST_CASE("the exact competition is one population whose rare tokens have no partners, with raw selections") {
  constexpr int pairs = 3, couples = 6, vocabulary = 2 * couples + 4;
  const query_mixture queries{0.35, 0.25};
  const population::slot_positions positions({pairs, vocabulary});
  const manifold::basis basis(2, 1,
                              symmetry::product(symmetry::direct_sum({{symmetry::matching(2 * couples), "c"},
                                                                      {symmetry::full_symmetric(4), "r"}}),
                                                positions.structure()),
                              {.centring = manifold::centring::none});
  population::sequence_table sequences(2 * pairs + 1);
  const std::vector<int> places{0, 1, 2, 3, 4, 5, 6};
  const auto add = [&](int item, int label, double weight) {
    for (int queried = 0; queried < pairs; ++queried) {
      std::vector<int> tokens{4, 6, 9, 13, 10, 8, item};  // neither 0 and its partner, 2, nor 14
      tokens[static_cast<std::size_t>(2 * queried)] = item;
      tokens[static_cast<std::size_t>(2 * queried + 1)] = label;
      sequences.append({tokens, places, label, weight / pairs});
    }
  };
  add(14, 2, queries.rare);
  add(0, 1, queries.stored());
  add(0, 2, queries.varied());
  const reduced::plain_model<> model(basis, sequences);
  relational_competition exact({.pairs = pairs, .vocabulary = vocabulary, .queries = queries});
  CHECK(exact.basis().label(exact.places()[0]) == "L1[x,x]M");
  CHECK(exact.basis().label(exact.places()[1]) == "L2[x,1]I");
  CHECK(exact.basis().label(exact.places()[2]) == "out:2 I");
  CHECK(exact.basis().label(exact.places()[3]) == "out:x C");
  const auto parts = parts_of(basis);
  double largest = 0;
  for (const competition_coordinates& point :
       {competition_coordinates{0.7, 1.2, 0, 1}, {0, 0, 0.5, 0}, {2, 3, 4, 2}, {-0.5, 1, 2, -1}}) {
    const auto values = exact.evaluate(point);
    std::vector<double> coordinates(static_cast<std::size_t>(basis.dimension())), gradient(coordinates.size());
    for (std::size_t i = 0; i < 4; ++i)
      for (const index place : parts[i]) coordinates[static_cast<std::size_t>(place)] = point[i];
    largest = std::max(largest, std::abs(model.loss_and_gradient(coordinates, gradient) - values.loss));
    for (std::size_t i = 0; i < 4; ++i) {
      double slope = 0;
      for (const index place : parts[i]) slope += gradient[static_cast<std::size_t>(place)];
      largest = std::max(largest, std::abs(slope - values.gradient[i]));
    }
    CHECK(values.loss == doctest::Approx(queries.rare * values.losses.rare + queries.stored() * values.losses.stored +
                                         queries.varied() * values.losses.varied));
  }
  MESSAGE("largest difference: " << largest);
  CHECK(largest < 1e-14);
}

/// The four coordinates on the manifold of a law of stored associations and rare tokens, each class centred for itself.
class law_competition {
public:
  template <class Law>
  explicit law_competition(const Law& law)
      : model_(manifold::basis(2, 1, law.structure()), population::enumerate_types(law).types),
        vocabulary_(law.sizes().vocabulary) {
    constexpr std::array<std::array<const char*, 3>, 4> labels{
        {{"L1[x,x]M"}, {"L2[x,1]I", "L2[x,1]Ic", "L2[x,1]Ir"}, {"out:2 I", "out:2 Ic", "out:2 Ir"}, {"out:x C"}}};
    for (index place = 0; place < model_.dimension(); ++place)
      for (std::size_t i = 0; i < 4; ++i)
        for (const char* label : labels[i])
          if (label != nullptr && model_.basis().label(place) == label) parts_[i].push_back(place);
  }
  [[nodiscard]] competition_values evaluate(std::span<const double> point) {
    std::vector<double> coordinates(static_cast<std::size_t>(model_.dimension())), gradient(coordinates.size());
    for (std::size_t i = 0; i < 4; ++i)
      for (const index place : parts_[i]) coordinates[static_cast<std::size_t>(place)] = point[i];
    competition_values values{.loss = model_.loss_and_gradient(coordinates, gradient)};
    for (std::size_t i = 0; i < 4; ++i)
      for (const index place : parts_[i]) values.gradient[i] += gradient[static_cast<std::size_t>(place)];
    return values;
  }
  [[nodiscard]] circuit::metric metric() const { return {}; }
  [[nodiscard]] int vocabulary() const { return vocabulary_; }

private:
  reduced::relational_model model_;
  int vocabulary_;
  std::array<std::vector<index>, 4> parts_;
};

TEST_CASE("the library's law with stored associations and rare tokens has the same factors as both classes grow") {
  using with_rare = task::associative_recall<block<2>, stored_association, rare_tokens>;
  std::array<double, 6> before{};
  for (const int common : {256, 1024}) {
    std::array<double, 6> errors{};
    for (const std::size_t first : {0, 3}) {
      const query_mixture queries{first == 0 ? 0 : 0.3, 0.2};
      law_competition competition(population::recall_law<with_rare>({.pairs = 2,
                                                                     .vocabulary = 2 * common,
                                                                     .within_class = queries.within_class,
                                                                     .rare = queries.rare,
                                                                     .rare_vocabulary = common}));
      const auto ratios = starvation_ratios(competition, 0.7, 0.9, resting(queries, 2 * common));
      for (std::size_t i = 0; i < 3; ++i)
        errors[first + i] = ratios[i] - starvation_factor(queries, starvation::equilibrium);
    }
    for (std::size_t i = 0; i < 6; ++i) {
      MESSAGE("V = 2 x " << common << ", f_r = " << (i < 3 ? 0 : 0.3) << ", coordinate " << i % 3
                         << ": beyond the factor by " << errors[i]);
      if (before[i] != 0) CHECK(std::abs(errors[i]) < 0.5 * std::abs(before[i]));
    }
    before = errors;
  }
}

TEST_CASE("bad mixtures, sizes and points are refused by name") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(testing::refused_argument([] { (void)starvation_factor({-0.1, 0}, starvation::limit); }) == "rare");
  CHECK(testing::refused_argument([&] {
          (void)starvation_factor({0, nan}, starvation::equilibrium);
        }) == "within_class");
  CHECK(testing::refused_argument([] { (void)equilibrium_association(1.5, 16); }) == "within_class");
  CHECK(testing::refused_argument([] { (void)equilibrium_association(0.5, 1); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)attention_starvation({}, 1, 0); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)readout_starvation({}, 16, 0, 1.0 / 16); }) == "attention");
  CHECK(testing::refused_argument([] { (void)relational_competition({.pairs = 0}); }) == "pairs");
  CHECK(testing::refused_argument([] { (void)relational_competition({.pairs = 5000}); }) == "pairs");
  CHECK(testing::refused_argument([] { (void)relational_competition({.burstiness = 5}); }) == "burstiness");
  CHECK(testing::refused_argument([] { (void)relational_competition({.vocabulary = 15}); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)relational_competition({.vocabulary = 8}); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)relational_competition({.queries = {.rare = 2}}); }) == "rare");
  CHECK(testing::refused_argument([] { (void)relational_competition({.metric = {.token = 0}}); }) == "metric.token");
  CHECK(testing::refused_argument(
            [] { (void)relational_competition({.burstiness = 4, .partner = partner_place::planted}); }) == "partner");
  CHECK_THROWS_AS((void)relational_competition({.pairs = 40, .vocabulary = 100, .burstiness = 6}), too_many_error);
  CHECK(testing::refused_argument([] { (void)competition_head({.vocabulary = 9}); }) == "vocabulary");
  CHECK(testing::refused_argument([] { (void)competition_head({.queries = {.within_class = -1}}); }) == "within_class");
  CHECK(testing::refused_argument([] { (void)competition_head_options::of_pairs(4, 16, {}, 5); }) == "burstiness");
  relational_competition exact({});
  const competition_head ideal({});
  CHECK(testing::refused_argument([&] { (void)starvation_ratios(ideal, 0, 0, 1); }) == "beta");
  CHECK_THROWS_AS((void)ideal.evaluate(std::array{0.0, 1.0, 2.0}), shape_error);
  CHECK_THROWS_AS((void)exact.evaluate(std::array{0.0, 1.0, 2.0}), shape_error);
  CHECK_THROWS_AS((void)ideal.evaluate(std::array{0.0, 1.0, 2.0, nan}), non_finite_error);
  CHECK_THROWS_AS((void)exact.evaluate(std::array{0.0, nan, 2.0, 0.0}), non_finite_error);
}

}  // namespace
