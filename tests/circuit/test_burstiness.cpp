// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <lindyn/circuit/competition/burstiness.hpp>
#include <lindyn/circuit/induction/induction_head.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "refused_argument.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::circuit;
using recall = task::associative_recall<block<2>>;
using imir = manifold::imir<recall, model::attention_only<layers<2>, heads<1>>>;

constexpr std::array losses{task::loss::cross_entropy, task::loss::squared_error};

/// dL/d(alpha, beta, gamma) of the general reduced model, all other coordinates zero.
induction_coordinates relational_gradient(reduced::relational_model& model, const induction_coordinates& point) {
  constexpr auto& layout = imir::layout;
  constexpr std::array places{layout.block(1, 0, 0, 0) + 2, layout.block(2, 0, 0, 1), layout.readout(2)};
  static_assert(imir::label(places[0]) == "L1[x,x]M" && imir::label(places[1]) == "L2[x,1]I" &&
                imir::label(places[2]) == "out:2 I");
  std::vector<double> coordinates(static_cast<std::size_t>(imir::dimension)), gradient(coordinates.size());
  induction_coordinates result{};
  for (std::size_t i = 0; i < 3; ++i) coordinates[static_cast<std::size_t>(places[i])] = point[i];
  (void)model.loss_and_gradient(coordinates, gradient);
  for (std::size_t i = 0; i < 3; ++i) result[i] = gradient[static_cast<std::size_t>(places[i])];
  return result;
}

TEST_CASE("the causal gradient is that of the general reduced model over all arrangements of the copies") {
  double largest = 0;
  for (const auto loss : losses)
    for (const auto& [pairs, burstiness, vocabulary] :
         {std::array{1, 1, 5}, std::array{4, 1, 8}, std::array{4, 2, 9}, std::array{5, 3, 40}, std::array{3, 3, 6}}) {
      const population::recall_law<recall> law({.pairs = pairs, .vocabulary = vocabulary, .burstiness = burstiness});
      reduced::relational_model model(imir::basis(law), population::enumerate_types(law).types, loss);
      for (const double alpha : {-0.7, 0.0, 2.5})
        for (const double gamma : {0.0, 1.0, -2.0}) {
          const auto ours = burst_gradient({pairs, burstiness, vocabulary, loss}, alpha, gamma);
          // By alpha: the gradient is beta times the sum that we want, and the rest of relative size beta.
          constexpr double beta = 0x1p-332;
          const auto theirs = relational_gradient(model, {alpha, beta, gamma});
          largest = std::max({largest, std::abs(ours[0] - theirs[0] / beta), std::abs(ours[1] - theirs[1]),
                              std::abs(ours[2] - theirs[2])});
        }
    }
  MESSAGE("largest difference: " << largest);
  CHECK(largest < 1e-14);
}

/// The loss of one arrangement with a bidirectional first layer, from attention matrices.
double bidirectional_loss(const burst_options& options, const std::vector<bool>& is_copy, double alpha, double beta,
                          double gamma) {
  const int n = 2 * options.pairs + 1, item = 0, answer = 1;
  std::vector<int> tokens;
  for (int block = 0, next = 2; block < options.pairs; ++block) {
    const int first = is_copy[static_cast<std::size_t>(block)] ? item : std::exchange(next, next + 2);
    tokens.insert(tokens.end(), {first, first + 1});
  }
  tokens.push_back(item);
  Eigen::VectorXd attention(n), logits = Eigen::VectorXd::Constant(options.vocabulary, -gamma / options.vocabulary);
  for (int i = 0; i < n; ++i) {
    double sum = 0, match = 0;
    for (int j = 0; j < n; ++j) {
      const bool same_slot = i / 2 == j / 2 && i != j && std::max(i, j) < n - 1;
      const double weight = std::exp(same_slot ? alpha : 0.0);
      sum += weight;
      if (tokens[static_cast<std::size_t>(j)] == item) match += weight;
    }
    attention[i] = std::exp(beta * match / sum);
  }
  attention /= attention.sum();
  for (int j = 0; j < n; ++j) logits[tokens[static_cast<std::size_t>(j)]] += gamma * attention[j];
  if (options.loss == task::loss::cross_entropy) return std::log(logits.array().exp().sum()) - logits[answer];
  logits[answer] -= 1;
  return logits.squaredNorm() / 2;
}

TEST_CASE("the bidirectional gradient is the slope of the loss by attention matrices, whatever the arrangement") {
  for (const auto loss : losses)
    for (const std::vector<bool>& is_copy : {std::vector{false, true, false}, std::vector{true, false, true, false}}) {
      const auto copies = static_cast<int>(std::count(is_copy.begin(), is_copy.end(), true));
      const burst_options options{static_cast<int>(is_copy.size()), copies, 11, loss, first_layer::bidirectional};
      for (const double alpha : {-0.5, 1.5})
        for (const double gamma : {0.3, 2.0}) {
          const auto ours = burst_gradient(options, alpha, gamma);
          const auto at = [&](double da, double beta, double dg) {
            return bidirectional_loss(options, is_copy, alpha + da, beta, gamma + dg);
          };
          // Differences of second order in a step of 1e-4: errors of 1e-8, rounding likewise where it is squared.
          constexpr double h = 1e-4;
          const double by_both = (at(h, h, 0) - at(h, -h, 0) - at(-h, h, 0) + at(-h, -h, 0)) / (4 * h * h);
          CHECK(std::abs(ours[0] - by_both) < 1e-7);
          CHECK(std::abs(ours[1] - (at(0, h, 0) - at(0, -h, 0)) / (2 * h)) < 1e-8);
          CHECK(std::abs(ours[2] - (at(0, 0, h) - at(0, 0, -h)) / (2 * h)) < 1e-8);
        }
    }
}

TEST_CASE("the closed deviation is that of the idealised head's gradient where beta a vanishes") {
  for (const int pairs : {4, 16, 300})
    for (const int burstiness : {1, 2, 4})
      for (const double gamma : {0.1, 1.0}) {
        const auto gradient = [&](int copies) {
          const induction_head head(
              {.visible = 2 * pairs, .distractors = 2 * pairs + 1 - copies, .burstiness = copies});
          return head.evaluate(std::array{0.4, 0x1p-332, gamma}).gradient;
        };
        const auto one = gradient(1), many = gradient(burstiness);
        const double closed = burstiness_deviation(pairs, burstiness, gamma);
        for (std::size_t i = 0; i < 2; ++i) CHECK(std::abs(1 - many[i] / (burstiness * one[i]) - closed) < 1e-14);
        // The leading order leaves out terms of 1 / N^2.
        CHECK(std::abs(closed - leading_burstiness_deviation(pairs, burstiness, gamma)) * pairs * pairs <
              burstiness * burstiness);
      }
}

TEST_CASE("the gradient is proportional to b within 1 % at N = 300, and short of it by 17.6 % at N = 16") {
  const auto percent = [](double share) { return 100 * share; };
  for (const int burstiness : {2, 3, 4}) {
    CHECK(leading_burstiness_deviation(300, burstiness, 1) < 0.01);
    CHECK(burstiness_deviation(300, burstiness, 1) < 0.01);
    const auto exact = [&](int pairs, task::loss loss, first_layer first, double alpha) {
      return exact_burstiness_deviation({pairs, burstiness, 4 * pairs, loss, first}, alpha, 1);
    };
    // The exact model, its first layer bidirectional: every label sees n positions, as in the idealised head.
    for (const auto loss : losses)
      for (const double alpha : {0.1, 1.0, 8.0}) {
        const auto deviation = exact(300, loss, first_layer::bidirectional, alpha);
        CHECK(deviation[0] < 0.01);
        CHECK(deviation[1] < 0.01);
      }
    // The exact causal model, cross-entropy: from alpha = 1 on. At small alpha labels attend to earlier copies as much
    // as to their own items, and beta's gradient is short of proportional by 1.37 % for b = 4 (alpha = 0).
    for (const double alpha : {1.0, 3.0, 8.0}) {
      const auto deviation = exact(300, task::loss::cross_entropy, first_layer::causal, alpha);
      CHECK(deviation[0] < 0.01);
      CHECK(deviation[1] < 0.01);
    }
  }
  CHECK(percent(burstiness_deviation(300, 4, 1)) == doctest::Approx(0.9967).epsilon(1e-3));
  CHECK(percent(burstiness_deviation(16, 4, 1)) == doctest::Approx(17.61).epsilon(1e-3));
  const auto show = [&](int pairs, const std::string& name, task::loss loss, first_layer first, double alpha) {
    const auto deviation = exact_burstiness_deviation({pairs, 4, 4 * pairs, loss, first}, alpha, 1);
    MESSAGE("N = " << pairs << ", b = 4, gamma = 1, " << name << ", alpha = " << alpha << ": " << percent(deviation[0])
                   << " % by alpha, " << percent(deviation[1]) << " % by beta");
    return deviation;
  };
  for (const int pairs : {16, 300}) {
    MESSAGE("N = " << pairs << ", b = 4, gamma = 1, idealised: " << percent(burstiness_deviation(pairs, 4, 1)) << " %");
    (void)show(pairs, "squared error, bidirectional", task::loss::squared_error, first_layer::bidirectional, 1);
    for (const double alpha : {0.0, 1.0, 8.0}) {
      const auto squared = show(pairs, "squared error, causal", task::loss::squared_error, first_layer::causal, alpha);
      const auto entropy = show(pairs, "cross-entropy, causal", task::loss::cross_entropy, first_layer::causal, alpha);
      // Causally more is lost, to earlier copies.
      for (std::size_t i = 0; i < 2; ++i) CHECK(squared[i] > burstiness_deviation(pairs, 4, 1));
      CHECK(entropy[0] < squared[0]);
    }
  }
  const auto sixteen =
      exact_burstiness_deviation({16, 4, 64, task::loss::squared_error, first_layer::bidirectional}, 1, 1);
  CHECK(percent(sixteen[1]) == doctest::Approx(16.40).epsilon(1e-3));
}

TEST_CASE("at large alpha the causal layer adds half of (b - 1) / (2N + 1) to the deviation") {
  for (const auto loss : losses)
    for (const int burstiness : {2, 4}) {
      constexpr int pairs = 100'000;
      const auto causal = exact_burstiness_deviation({pairs, burstiness, 4 * pairs, loss, first_layer::causal}, 40, 1);
      const double readout = loss == task::loss::squared_error ? 1 : 0;
      const double expected = (burstiness - 1) * (1.5 + readout) / (2 * pairs + 1);
      CHECK(causal[1] == doctest::Approx(expected).epsilon(1e-3));
    }
}

TEST_CASE("as V grows, cross-entropy comes to a deviation without gamma, and gamma's gradient to be proportional") {
  for (const auto first : {first_layer::bidirectional, first_layer::causal}) {
    const auto deviation = [&](int vocabulary, double gamma) {
      return exact_burstiness_deviation({16, 4, vocabulary, task::loss::cross_entropy, first}, 1, gamma);
    };
    std::array<double, 2> before{};
    const double limit = deviation(2'000'000'000, 1)[1];
    CHECK(limit == doctest::Approx(deviation(2'000'000'000, 2)[1]).epsilon(1e-6));  // whatever gamma
    for (const int vocabulary : {1 << 10, 1 << 12, 1 << 14, 1 << 16}) {
      const std::array excess{deviation(vocabulary, 1)[1] - limit, -deviation(vocabulary, 0)[2]};
      MESSAGE(std::string(first == first_layer::causal ? "causal" : "bidirectional")
              << ", V = " << vocabulary << ": deviation by beta beyond its limit " << limit << ": " << excess[0]
              << ", by gamma at gamma = 0: " << -excess[1]);
      if (before[0] != 0)
        for (std::size_t i = 0; i < 2; ++i) CHECK(before[i] / excess[i] == doctest::Approx(4).epsilon(0.05));
      before = excess;
    }
    // Causally more is lost, to earlier copies (see above).
    if (first == first_layer::bidirectional)
      CHECK(limit == doctest::Approx(burstiness_deviation(16, 4, 0)).epsilon(0.05));
    else
      CHECK(limit > 1.5 * burstiness_deviation(16, 4, 0));
  }
}

TEST_CASE("squared error doesn't see V, but in gamma, whose component isn't proportional at any V") {
  const auto squared = [](int vocabulary) {
    return exact_burstiness_deviation({16, 4, vocabulary, task::loss::squared_error, first_layer::causal}, 1, 1);
  };
  for (const int vocabulary : {1 << 10, 1 << 16}) {
    CHECK(squared(vocabulary)[0] == doctest::Approx(squared(64)[0]).epsilon(1e-12));
    CHECK(squared(vocabulary)[1] == doctest::Approx(squared(64)[1]).epsilon(1e-12));
    CHECK(std::abs(squared(vocabulary)[2]) > 1);
  }
}

TEST_CASE("where b e^(beta a) isn't small against m, the law fails") {
  const auto deviation = [](double beta) {
    const auto gradient = [&](int copies) {
      const induction_head head({.visible = 600, .distractors = 601 - copies, .burstiness = copies});
      return head.evaluate(std::array{9.0, beta, 1.0}).gradient[1];  // a = 0.93
    };
    return 1 - gradient(4) / (4 * gradient(1));
  };
  CHECK(deviation(0.1) < 0.012);
  CHECK(deviation(7) > 0.9);
}

TEST_CASE("bad sizes are refused by name") {
  const auto complaint = [](const burst_options& options) {
    return testing::refused_argument([&] { (void)burst_gradient(options, 0, 0); });
  };
  CHECK(complaint({}) == "");
  CHECK(complaint({.pairs = 0}) == "pairs");
  CHECK(complaint({.pairs = 2'000'000}) == "pairs");
  CHECK(complaint({.burstiness = 0}) == "burstiness");
  CHECK(complaint({.burstiness = 17}) == "burstiness");
  CHECK(complaint({.pairs = 16, .vocabulary = 31}) == "vocabulary");
  CHECK(complaint({.pairs = 1, .vocabulary = 2}) == "vocabulary");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS((void)burst_gradient({}, nan, 0), non_finite_error);
  CHECK_THROWS_AS((void)exact_burstiness_deviation({}, 0, nan), non_finite_error);
  CHECK_THROWS_AS((void)burstiness_deviation(0, 1, 1), argument_error);
  CHECK_THROWS_AS((void)burstiness_deviation(4, 5, 1), argument_error);
}

}  // namespace
