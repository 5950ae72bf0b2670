// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/plain.hpp>

#include "random_matrix.hpp"

using backend_test::difference;
using backend_test::matrix;
using lindyn::backend::answer_loss;
using lindyn::backend::host;
using lindyn::backend::plain;
using lindyn::backend::strided_matrix;

TEST_CASE("weighted losses and their derivatives are those of the formulas") {
  plain on;
  const std::vector<double> logits{0.5, -1, 2, 0, 0, 0}, weights{2, 0.25};
  const std::vector<int> answers{2, 0};
  std::vector<double> slope(6);
  const strided_matrix<const double> z{logits.data(), 2, 3, 3};
  const strided_matrix<double> dz{slope.data(), 2, 3, 3};
  double loss = 0;
  on.weighted_loss(answer_loss::squared_error, z, answers, weights.data(), dz, &loss);
  CHECK(loss == doctest::Approx(2 * (0.25 + 1 + 1) / 2 + 0.25 * 0.5).epsilon(1e-15));
  CHECK(slope == std::vector<double>{1, -2, 2, -0.25, 0, 0});
  on.weighted_loss(answer_loss::cross_entropy, z, answers, weights.data(), dz, &loss);
  const double sum = std::exp(0.5) + std::exp(-1.0) + std::exp(2.0);
  CHECK(loss == doctest::Approx(2 * (std::log(sum) - 2) + 0.25 * std::log(3.0)).epsilon(1e-15));
  CHECK(slope[2] == doctest::Approx(2 * (std::exp(2.0) / sum - 1)).epsilon(1e-14));
  CHECK(slope[4] == doctest::Approx(0.25 / 3).epsilon(1e-14));
}

TEST_CASE_TEMPLATE("weighted losses on the host are those of plain, the same bits for any number of threads", S, float,
                   double) {
  const double bound = 50 * std::numeric_limits<S>::epsilon();  // exponentials, and sums of 70 terms
  host hosts[]{host(1), host(3)};
  plain oracle;
  for (const lindyn::index rows : {lindyn::index{1}, lindyn::index{201}})
    for (const lindyn::index columns : {lindyn::index{3}, lindyn::index{70}})
      for (const answer_loss kind : {answer_loss::cross_entropy, answer_loss::squared_error}) {
        CAPTURE(rows);
        CAPTURE(columns);
        const matrix<S> logits(rows, columns, 2, 5);
        std::vector<int> answers;
        std::vector<double> weights;
        for (lindyn::index r = 0; r < rows; ++r) {
          answers.push_back(static_cast<int>(r * 7 % columns));
          weights.push_back(0.1 + static_cast<double>(r % 5));
        }
        const auto run = [&](auto& on, double& loss, bool differentiate) {
          auto slope = logits;
          on.weighted_loss(kind, logits.input(), answers, weights.data(),
                           differentiate ? slope.view() : strided_matrix<S>{}, &loss);
          return slope.entries;
        };
        double exact = 0, found = 0, again = 0, alone = 0;
        const auto expected = run(oracle, exact, true), slope = run(hosts[0], found, true);
        CHECK(difference(slope, expected) < bound);
        CHECK(found == doctest::Approx(exact).epsilon(bound));
        CHECK(run(hosts[1], again, true) == slope);
        CHECK(again == found);
        run(hosts[0], alone, false);
        CHECK(alone == found);
      }
}

TEST_CASE("numbers are scaled up to the size, on any backend") {
  std::vector<float> numbers{1, -2, 3};
  plain().scale(lindyn::backend::run_vector<float>(numbers.data()), 2, 0.5);
  host().scale(lindyn::backend::run_vector<float>(numbers.data()), 2, 3.0);
  CHECK(numbers == std::vector<float>{1.5F, -3, 3});
}
