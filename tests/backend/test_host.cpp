// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/host_exponential.hpp>
#include <lindyn/backend/plain.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>

#include "../counted_allocations.hpp"
#include "../difference.hpp"
#include "random_matrix.hpp"

namespace {

using backend_test::difference;
using backend_test::matrix;
using lindyn::backend::host;
using lindyn::backend::plain;
using lindyn::backend::row_segment;
using lindyn::backend::strided_matrix;
using lindyn::backend::update;
using lindyn::testing::allocations;

struct sizes {
  lindyn::index rows, columns, gaps;
};

std::vector<int> random_numbers(lindyn::index count, int below, std::uint64_t seed) {
  lindyn::counter_generator generator(seed);
  std::vector<int> result;
  for (lindyn::index i = 0; i < count; ++i) result.push_back(static_cast<int>(lindyn::uniform_index(generator, below)));
  return result;
}

/// Asks that run(host) is run(plain) up to `bound`, and the same bits for 1, 2 and 4 threads.
template <class Run>
void check_against_plain(double bound, Run&& run) {
  static host hosts[]{host(1), host(2), host(4)};  // shared by all sizes: what they held before doesn't matter
  plain oracle;
  const auto expected = run(oracle), found = run(hosts[0]);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(difference(found[i], expected[i]) < bound);
  }
  CHECK(run(hosts[1]) == found);
  CHECK(run(hosts[2]) == found);
}

}  // namespace

TEST_CASE_TEMPLATE("LayerNorm of any shape is that of plain", S, float, double) {
  // Sums of up to 300 terms with normal rounding errors, relative to the largest entry.
  const double bound = 20 * std::numeric_limits<S>::epsilon();
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{1, 3, 0}, sizes{5, 19, 2}, sizes{16, 64, 0}, sizes{131, 128, 1}, sizes{300, 7, 0}}) {
    CAPTURE(size.rows);
    CAPTURE(size.columns);
    const matrix<S> x(size.rows, size.columns, size.gaps, seed++), dy(size.rows, size.columns, 2 * size.gaps, seed++),
        gain(1, size.columns, 0, seed++), bias(1, size.columns, 0, seed++);
    for (const update how : {update::assign, update::add})
      check_against_plain(bound, [&](auto& on) {
        auto y = dy, dx = x;
        std::vector<S> saved(static_cast<std::size_t>(2 * size.rows)), dgain(gain.entries), dbias(gain.entries);
        on.layer_norm(x.input(), gain.entries.data(), bias.entries.data(), y.view(), saved.data());
        on.layer_norm_backward(x.input(), static_cast<const S*>(saved.data()), gain.entries.data(), dy.input(),
                               dx.view(), how, dgain.data(), dbias.data());
        return std::vector{y.entries, saved, dx.entries, dgain, dbias};
      });
  }
}

TEST_CASE(
    "LayerNorm's gradients over no rows are zero; a row of equal numbers becomes the bias; NaN stays in its row") {
  host on;
  std::vector<float> gain(20, 2.0F), bias(20, 3.0F), dgain(20, 1.0F), dbias(20, 1.0F), saved(40);
  const strided_matrix<float> none{nullptr, 0, 20, 20};
  on.layer_norm_backward<float>(none, saved.data(), gain.data(), none, none, update::assign, dgain.data(),
                                dbias.data());
  CHECK(dgain == std::vector<float>(20));
  CHECK(dbias == std::vector<float>(20));

  matrix<float> x(20, 20, 0, 1), y(20, 20, 0, 2);
  std::fill_n(x.view().row(4), 20, 1e6F);
  x.view()(7, 19) = std::numeric_limits<float>::quiet_NaN();
  on.layer_norm(x.input(), gain.data(), bias.data(), y.view(), saved.data());
  for (int r = 0; r < 20; ++r)
    for (int c = 0; c < 20; ++c) CHECK(std::isnan(y.view()(r, c)) == (r == 7));
  for (int c = 0; c < 20; ++c) CHECK(y.view()(4, c) == 3);
}

TEST_CASE_TEMPLATE("cross-entropy of any shape is that of plain, with and without derivative", S, float, double) {
  const double bound = 20 * std::numeric_limits<S>::epsilon();
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{1, 1, 0}, sizes{7, 3, 2}, sizes{130, 24, 0}, sizes{65, 98, 6}, sizes{9, 200, 1}}) {
    CAPTURE(size.columns);
    const matrix<S> logits(size.rows, size.columns, size.gaps, seed++);
    const auto answers = random_numbers(size.rows, static_cast<int>(size.columns), seed++);
    const auto counts = random_numbers(size.rows, 4, seed++);
    check_against_plain(size.columns == 1 ? 1 : bound, [&](auto& on) {  // a single logit has loss and derivative zero
      auto derivative = logits;
      const auto score = backend_test::cross_entropy<S>(on, logits.input(), answers, counts, 0.01, derivative.view());
      const auto alone = backend_test::cross_entropy<S>(on, logits.input(), answers, counts, 0.01);
      CHECK(alone.loss == score.loss);
      CHECK(alone.correct == score.correct);
      const std::vector<S> scores{static_cast<S>(score.loss), static_cast<S>(score.correct),
                                  static_cast<S>(score.total)};
      return std::vector{derivative.entries, scores};
    });
  }
}

TEST_CASE("a loss of 1e-12 and its derivative keep six digits in float") {
  host on;
  std::vector<float> z(20, 0.0F), dz(20);
  z[17] = 30;
  const auto score = backend_test::cross_entropy<float>(on, {z.data(), 1, 20, 20}, std::vector{17}, std::vector{1}, 1,
                                                        {dz.data(), 1, 20, 20});
  const double others = 19 * std::exp(-30.0);
  CHECK(score.loss == doctest::Approx(others).epsilon(1e-4));  // 1 + 1.8e-12 has an error of 1e-16
  CHECK(dz[17] == doctest::Approx(-others).epsilon(1e-4));
  CHECK(dz[3] == doctest::Approx(std::exp(-30.0)).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("of equal logits the first answers; one that isn't finite shows in the loss, wherever it stands", S,
                   float, double) {
  host on;
  const std::vector<int> counts{3};
  for (int answer = 0; answer < 37; ++answer) {
    std::vector<S> z(37, S(1));
    z[20] = z[5] = z[36] = S(2);
    const std::vector<int> answers{answer};
    const strided_matrix<const S> logits{z.data(), 1, 37, 37};
    CHECK(backend_test::cross_entropy<S>(on, logits, answers, counts, 1).correct == (answer == 5 ? 3 : 0));
    constexpr S infinity = std::numeric_limits<S>::infinity();
    for (const S bad : {std::numeric_limits<S>::quiet_NaN(), infinity, -infinity}) {
      z[5] = z[static_cast<std::size_t>(answer)] = bad;
      const auto score = backend_test::cross_entropy<S>(on, logits, answers, counts, 1);
      CHECK_FALSE(std::isfinite(score.loss));
      CHECK(score.correct == 0);
    }
  }
}

TEST_CASE_TEMPLATE("rows fetched and scattered are those of plain, in the order of the table", S, float, double) {
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{3, 1, 0}, sizes{140, 17, 3}, sizes{20, 130, 1}}) {
    const matrix<S> x(size.rows, size.columns, size.gaps, seed++), y(2 * size.rows, size.columns, 1, seed++);
    const auto rows = random_numbers(2 * size.rows, static_cast<int>(size.rows), seed++);
    check_against_plain(8 * std::numeric_limits<S>::epsilon(), [&](auto& on) {  // sums of a few numbers
      auto fetched = y, added = y, scattered = x;
      on.gather_rows(x.input(), rows, fetched.view(), update::assign);
      on.gather_rows(x.input(), rows, added.view(), update::add);
      on.scatter_rows(y.input(), rows, scattered.view());
      return std::vector{fetched.entries, added.entries, scattered.entries};
    });
  }
}

TEST_CASE_TEMPLATE("the exponential of a register is right to two units in the last place, zero where it is tiny", S,
                   float, double) {
  namespace kernels = lindyn::backend::detail;
  using v = kernels::vectors<S>;
  const auto at = [](S x) {
    S result[v::lanes];
    v::store(result, kernels::exponential<S>(v::all(x)));
    return result[0];
  };
  constexpr double range = std::is_same_v<S, float> ? 86 : 707;
  lindyn::counter_generator generator(1);
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    const S x = static_cast<S>((2 * lindyn::uniform_real(generator) - 1) * (i % 2 ? range : 1));
    const long double exact = std::exp(static_cast<long double>(x));
    worst = lindyn::testing::larger(worst, static_cast<double>(std::abs(at(x) / exact - 1)));
  }
  CHECK(worst < 2 * std::numeric_limits<S>::epsilon());
  constexpr S infinity = std::numeric_limits<S>::infinity();
  CHECK(at(0) == 1);
  CHECK(at(infinity) == infinity);
  CHECK(at(S(range + 4)) == infinity);
  CHECK(at(-infinity) == 0);
  CHECK(at(S(-range - 2)) == 0);
  CHECK(std::isnan(at(std::numeric_limits<S>::quiet_NaN())));
}

TEST_CASE("no kernel allocates once it has seen a size; a copy of a backend has memory and threads of its own") {
  const std::vector<int> keys(30, 1), rows(10, 3), counts(10, 1);
  const std::vector<row_segment> segments{{0, 4, 1}, {4, 10, 3}};
  matrix<float> a(10, 32, 0, 1), b(10, 32, 0, 2), c(10, 32, 0, 3), d(10, 32, 0, 4);
  const matrix<float> w(32, 32, 0, 5);
  std::vector<float> patterns(60), gain(32, 1.0F), saved(20), dgain(32), dbias(32);
  const auto all_kernels = [&](host& on) {
    on.linear<float>(a.input(), w.input(), nullptr, b.view(), update::assign);
    on.linear_backward_input(b.input(), w.input(), c.view(), update::add);
    on.linear_backward_weights<float>(b.input(), a.input(), {d.entries.data(), 10, 32, 32}, nullptr);
    on.layer_norm(a.input(), gain.data(), gain.data(), b.view(), saved.data());
    on.layer_norm_backward<float>(a.input(), saved.data(), gain.data(), b.input(), c.view(), update::add, dgain.data(),
                                  dbias.data());
    on.activate(lindyn::backend::activation::gelu, b.view(), c.view());
    on.multiply(b.view(), c.input());
    on.gather_rows(a.input(), rows, b.view(), update::assign);
    on.scatter_rows(b.input(), rows, c.view());
    on.attend(2, a.input(), {}, a.input(), a.input(), {keys, 3, segments}, patterns.data(), b.view());
    on.attend_backward<float>(2, a.input(), {}, a.input(), a.input(), {keys, 3, segments}, patterns.data(), b.input(),
                              c.view(), d.view(), b.view());
    const auto score = backend_test::cross_entropy<float>(on, a.input(), rows, counts, 1, c.view());
    on.fill<float>(gain.data(), 32, 1.0F);
    on.copy<float>(dgain.data(), dbias.data(), 32);
    return score.loss;
  };
  for (const int threads : {1, 2}) {
    host on(threads);
    const double loss = all_kernels(on);
    const long before = allocations;
    CHECK(before > 0);
    CHECK(all_kernels(on) == loss);
    CHECK(allocations == before);
    host copy = on;
    CHECK(copy.threads() == threads);
    CHECK(all_kernels(copy) == loss);
  }
}

TEST_CASE("a backend of no threads is refused") {
  CHECK_THROWS_WITH_AS(host(0), "threads = 0 is not allowed: it must be at least 1", lindyn::argument_error);
}

TEST_CASE_TEMPLATE("magnitudes keep what isn't finite, and squares are summed in double, as on plain", S, float,
                   double) {
  const auto of = [](auto&& on, const std::vector<S>& values, lindyn::index size) {
    double largest = -1, squares = -1;
    on.template largest_magnitude<S>(values.data(), size, std::span(&largest, 1));
    on.template sum_of_squares<S>(values.data(), size, std::span(&squares, 1));
    return std::pair(largest, squares);
  };
  const std::vector<S> values{1, -3, 2, S(1e-12), 100};
  for (const auto& found : {of(plain(), values, 4), of(host(), values, 4)}) {
    CHECK(found.first == 3);
    CHECK(found.second == doctest::Approx(14).epsilon(1e-15));
  }
  CHECK(of(host(), std::vector<S>{S(3e30), S(3e30)}, 2).second == doctest::Approx(1.8e61).epsilon(1e-6));
  for (const S bad : {std::numeric_limits<S>::quiet_NaN(), std::numeric_limits<S>::infinity()})
    for (std::size_t at = 0; at < values.size(); ++at) {
      std::vector<S> with = values;
      with[at] = bad;
      CHECK_FALSE(std::isfinite(of(host(), with, 5).first));
      CHECK_FALSE(std::isfinite(of(plain(), with, 5).first));
    }
}
