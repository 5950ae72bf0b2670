// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/worker_pool.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/clip.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>

#include "../complaint.hpp"

namespace {
using lindyn::testing::complaint;
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using optimizer::adam;
using optimizer::momentum;
using optimizer::state_array;

static_assert(optimizer::resumable_optimizer<optimizer::sgd<float>, float>);
static_assert(optimizer::resumable_optimizer<momentum<double>, double>);
static_assert(optimizer::resumable_optimizer<adam<float>, float> &&
              !optimizer::resumable_optimizer<adam<float>, double>);

/// Numbers of all sizes.
template <class Scalar>
std::vector<Scalar> numbers(index count, double phase) {
  std::vector<Scalar> result;
  for (index i = 0; i < count; ++i) result.push_back(static_cast<Scalar>(std::sin(double(i) + phase)));
  return result;
}

/// Copies of a rule's arrays, as a checkpoint has them.
template <class Scalar>
struct stored {
  template <class Rule>
  explicit stored(const Rule& rule) : steps(rule.steps()) {
    for (const auto& [name, array] : rule.state()) {
      names.emplace_back(name);
      values.emplace_back(array.begin(), array.end());
    }
  }
  /// From the last to the first.
  [[nodiscard]] std::vector<state_array<const Scalar>> arrays() const {
    std::vector<state_array<const Scalar>> result;
    for (std::size_t i = names.size(); i-- > 0;) result.push_back({names[i], values[i]});
    return result;
  }
  std::vector<std::string> names;
  std::vector<std::vector<Scalar>> values;
  std::int64_t steps;
};

template <class Options>
void check_resumed(const Options& options, const std::vector<std::string>& names) {
  typename Options::template rule<float> rule(100, options), other(100, options);
  auto weights = numbers<float>(100, 1);
  const auto steps = [&](auto& by, std::vector<float>& of, int from, int to) {
    for (int t = from; t < to; ++t) by.step(of, numbers<float>(100, t), 0.01);
  };
  CHECK(rule == other);
  steps(rule, weights, 0, 3);
  const stored<float> checkpoint(rule);
  CHECK(checkpoint.names == names);
  CHECK(checkpoint.steps == 3);
  CHECK(rule != other);  // the number of steps differs even where nothing else is remembered
  auto copy = rule;
  auto resumed = weights, copied = weights;
  other.restore(checkpoint.arrays(), checkpoint.steps);
  CHECK(rule == other);
  steps(rule, weights, 3, 6);
  steps(other, resumed, 3, 6);
  steps(copy, copied, 3, 6);
  CHECK(resumed == weights);
  CHECK(copied == weights);
  CHECK(rule == other);
  if (!names.empty()) {
    rule.state()[0].values[7] += 1;
    CHECK(rule != other);
  }
}

TEST_CASE("a rule that is restored from its arrays goes on bit for bit, and so does a copy") {
  check_resumed(optimizer::sgd_options{}, {});
  check_resumed(optimizer::momentum_options{.nesterov = true}, {"momentum_buffer"});
  check_resumed(optimizer::adam_options{}, {"first_moment", "second_moment"});
}

TEST_CASE("arrays that aren't what a rule remembers are refused by name, and it is as it was") {
  adam<double> rule(3);
  std::vector<double> weights(3);
  rule.step(weights, std::vector<double>{1, 2, 3}, 0.1);
  const adam<double> before = rule;
  const std::vector<double> three(3), four(4), bad{1, std::nan(""), 2}, negative{1, -1, 2};
  const auto says = [&](std::vector<state_array<const double>> arrays, std::int64_t steps = 5) {
    const auto said = complaint([&] { rule.restore(arrays, steps); });
    CHECK(rule == before);
    return said;
  };
  CHECK(says({{"first_moment", three}}).starts_with("number of state arrays = 1"));
  CHECK(says({{"first_moment", three}, {"velocity", three}}) ==
        "state array = velocity is not allowed: it must be one of first_moment second_moment");
  CHECK(says({{"first_moment", three}, {"first_moment", three}}).starts_with("state array = first_moment"));
  CHECK(says({{"first_moment", three}, {"second_moment", four}}).starts_with("second_moment.size() = 4"));
  CHECK(says({{"first_moment", bad}, {"second_moment", three}}).starts_with("first_moment[1] = nan"));
  CHECK(says({{"first_moment", three}, {"second_moment", negative}}).starts_with("second_moment[1] = -1"));
  CHECK(says({{"first_moment", three}, {"second_moment", three}}, -1).starts_with("steps = -1"));
  CHECK_THROWS_AS(rule.restore(std::array{state_array<const double>{"first_moment", four},
                                          state_array<const double>{"second_moment", three}},
                               1),
                  shape_error);
}

/// Weights after some steps of so many threads, in many chunks.
template <class Options>
auto trained(const Options& options, int threads) {
  const index size = 3 * optimizer::detail::chunk_entries + 77;
  typename Options::template rule<float> rule(size, options);
  worker_pool workers(threads);
  auto weights = numbers<float>(size, 1);
  const std::array<optimizer::range_decay, 3> ranges{
      {{1, 20'000, {.keep = 0.5}}, {20'016, 40'000, {}}, {40'000, size, {.coupled = 0.25}}}};
  for (int t = 0; t < 2; ++t) rule.step(weights, numbers<float>(size, 2), 0.01, ranges, workers);
  return weights;
}

TEST_CASE("threads don't change a bit of a step") {
  CHECK(trained(optimizer::adam_options{}, 1) == trained(optimizer::adam_options{}, 3));
  CHECK(trained(optimizer::momentum_options{}, 1) == trained(optimizer::momentum_options{}, 2));
}

TEST_CASE("the global norm is that of all entries together") {
  CHECK(optimizer::global_norm(std::span<const float>(std::vector<float>{3, 0, -4})) == 5);
  CHECK(optimizer::global_norm(std::span<const float>()) == 0);
  const index size = 5 * optimizer::detail::chunk_entries + 33;
  const std::vector<float> ones(static_cast<std::size_t>(size), 0.5f);
  CHECK(optimizer::global_norm(std::span(ones)) == std::sqrt(0.25 * double(size)));
  const auto values = numbers<float>(size, 1);
  long double sum = 0;
  for (const float value : values) sum += static_cast<long double>(value) * static_cast<long double>(value);
  const double one = optimizer::global_norm(std::span(values));
  CHECK(one == doctest::Approx(double(std::sqrt(sum))).epsilon(1e-15));
  worker_pool workers(3);
  CHECK(optimizer::global_norm(std::span(values), workers) == one);
  // Squares that a float can't hold.
  CHECK(optimizer::global_norm(std::span<const float>(std::vector<float>{3e30f, 4e30f})) ==
        doctest::Approx(5e30).epsilon(1e-7));
}

TEST_CASE("a gradient that is too long is shortened to the limit, another isn't touched") {
  std::vector<double> gradient{3, 0, -4};
  CHECK(optimizer::clip_by_global_norm(std::span(gradient), 5) == 5);
  CHECK(gradient == std::vector<double>{3, 0, -4});
  CHECK(optimizer::clip_by_global_norm(std::span(gradient), std::numeric_limits<double>::infinity()) == 5);
  CHECK(optimizer::clip_by_global_norm(std::span(gradient), 2.5) == 5);
  CHECK(gradient == std::vector<double>{1.5, 0, -2});
  auto large = numbers<float>(2 * optimizer::detail::chunk_entries + 5, 1), threaded = large;
  worker_pool workers(2);
  CHECK(optimizer::clip_by_global_norm(std::span(large), 0.1) ==
        optimizer::clip_by_global_norm(std::span(threaded), 0.1, workers));
  CHECK(large == threaded);
  CHECK(optimizer::global_norm(std::span<const float>(large)) == doctest::Approx(0.1).epsilon(1e-6));
  std::vector<double> zero(3);
  CHECK(optimizer::clip_by_global_norm(std::span(zero), 1) == 0);
}

TEST_CASE("clipping refuses limits and gradients that make no sense") {
  std::vector<double> gradient{3, std::nan(""), -4}, huge{1e200};
  CHECK(complaint([&] { optimizer::clip_by_global_norm(std::span(gradient), 1); }).starts_with("gradient[1] = nan"));
  CHECK(complaint([&] { optimizer::clip_by_global_norm(std::span(gradient), 0); }).starts_with("limit = 0"));
  CHECK(
      complaint([&] { optimizer::clip_by_global_norm(std::span(gradient), std::nan("")); }).starts_with("limit = nan"));
  CHECK(
      complaint([&] { optimizer::clip_by_global_norm(std::span(huge), 1); }).starts_with("norm of the gradient = inf"));
}

}  // namespace
