// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <lindyn/core/random.hpp>

#include "../difference.hpp"
#include "plain_step.hpp"

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using testing::difference;
using testing::plain_entry;
using enum optimizer::decay_mode;

constexpr index size = 1003;  // not a multiple of any register

/// All decays, and a gap that stays.
const std::array<optimizer::range_decay, 3> ranges{
    {{1, 301, {.keep = 0.99}}, {311, 640, {.coupled = 0.05}}, {640, size, {}}}};

/// Largest difference of weights and of all that is remembered from the oracle's behind 40 steps of the rule, at rates
/// that change. Derivatives are of sizes 1e-6 to 1, and a tenth of them zero.
template <class Scalar, class Options>
double error_of(const Options& options) {
  typename Options::template rule<Scalar> rule(size, options);
  counter_generator generator(1);
  std::vector<Scalar> weights(static_cast<std::size_t>(size)), gradient(weights.size());
  std::vector<plain_entry> entries(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<Scalar>(standard_normal(generator));
    entries[i].weight = static_cast<double>(weights[i]);
  }
  for (int t = 1; t <= 40; ++t) {
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] = static_cast<Scalar>(
          uniform_index(generator, 10) == 0 ? 0 : std::pow(10, -static_cast<int>(i % 7)) * standard_normal(generator));
    const double rate = 0.01 / t;
    rule.step(weights, gradient, rate, ranges);
    testing::plain_step(options, entries, gradient, rate, t, ranges);
  }
  const auto all = [&](double plain_entry::*member) {
    std::vector<double> result;
    for (const plain_entry& entry : entries) result.push_back(entry.*member);
    return result;
  };
  double error = difference(weights, all(&plain_entry::weight));
  const auto remembered = rule.state();
  for (std::size_t number = 0; number < remembered.size(); ++number)
    error = testing::larger(
        error, difference(remembered[number].values, all(number == 0 ? &plain_entry::first : &plain_entry::second)));
  return error;
}

/// Every step rounds each of a handful of operations by half a unit in the last place, 1.1e-16 or 6e-8 of the entry, and
/// earlier errors decay with what is remembered: 40 steps add up to less than 40 such errors.
template <class Options>
void check_against_plain(const Options& options) {
  CHECK(error_of<double>(options) < 40 * 1.2e-16);
  CHECK(error_of<float>(options) < 40 * 6e-8);
}

TEST_CASE("steps over memory are those of the formulas, entry by entry, in double and float, with decay by ranges") {
  check_against_plain(optimizer::sgd_options{});
  check_against_plain(optimizer::momentum_options{});
  check_against_plain(optimizer::momentum_options{.momentum = 0.8, .nesterov = true});
  check_against_plain(optimizer::adam_options{});
  check_against_plain(optimizer::adam_options{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3});
}

}  // namespace
