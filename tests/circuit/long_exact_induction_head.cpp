// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/circuit/induction/exact_induction_head.hpp>
#include <lindyn/circuit/induction/induction_flow.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::circuit;

struct measured {
  int pairs;
  double time;       ///< t_ICL
  double exponent;   ///< d ln t / d ln N, from the size before
  double logarithm;  ///< what stands for ln N in the leading order, if the time is to be exact
};

/// Emergence times of the exact causal head over N, with V = 4N tokens and P = 2N + 4 positions.
std::vector<measured> emergence_over(const std::vector<int>& sizes, task::loss loss, bool gram) {
  std::vector<measured> result;
  for (const int pairs : sizes) {
    const exact_induction_head_options options{
        .pairs = pairs,
        .vocabulary = 4 * pairs,
        .loss = loss,
        .metric = gram ? metric::gram(4 * pairs, 2 * pairs + 4) : metric::unit()};
    const double time = *emergence_time(exact_induction_head(options), {.tolerance = 1e-6}).icl_time;
    const double share = asymptotic_emergence_time(options) / time;
    const double logarithm = std::log(pairs) * (loss == task::loss::squared_error ? share : share * share);
    const double exponent =
        result.empty() ? 0 : std::log(time / result.back().time) / std::log(1.0 * pairs / result.back().pairs);
    result.push_back({pairs, time, exponent, logarithm});
    MESSAGE((loss == task::loss::squared_error ? "squared error" : "cross-entropy")
            << (gram ? ", Gram" : ", unit") << " metric, N = " << pairs << ": t_ICL = " << time << ", local exponent "
            << exponent << ", ln N = " << std::log(pairs) << " against " << logarithm);
  }
  return result;
}

const std::vector<int> sizes{4, 8, 16, 32, 64, 128, 256};

TEST_CASE("local exponents of the exact causal head rise towards 2 and 3/2, a logarithm away from them") {
  const auto squared = emergence_over(sizes, task::loss::squared_error, false);
  const auto entropy = emergence_over(sizes, task::loss::cross_entropy, false);
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    CHECK(squared[i].exponent > squared[i - 1].exponent);
    CHECK(entropy[i].exponent > entropy[i - 1].exponent);
  }
  CHECK(squared.back().exponent == doctest::Approx(1.775).epsilon(0.002));
  CHECK(entropy.back().exponent == doctest::Approx(1.395).epsilon(0.002));
  // The power is not in doubt, though: what divides N^2 grows as ln N, more and more one for one.
  const double slope = (squared[6].logarithm - squared[5].logarithm) / std::log(2);
  CHECK(slope < (squared[5].logarithm - squared[4].logarithm) / std::log(2));
  CHECK(slope > 1);
  CHECK(slope < 1.2);
  CHECK(std::abs(squared.back().logarithm - std::log(256)) < 0.1);
}

TEST_CASE("the time with cross-entropy is the root of that with squared error, in both metrics") {
  for (const bool gram : {false, true}) {
    const auto squared = emergence_over({128, 256}, task::loss::squared_error, gram);
    const auto entropy = emergence_over({128, 256}, task::loss::cross_entropy, gram);
    for (std::size_t i = 0; i < 2; ++i) {
      const double token = gram ? 4.0 * squared[i].pairs - 1 : 1, absent = 0.5;  // 1 - 2N / V
      const double expected = std::sqrt(4 * squared[i].pairs * token * squared[i].time / absent);
      CHECK(entropy[i].time == doctest::Approx(expected).epsilon(0.02));
    }
  }
}

}  // namespace
