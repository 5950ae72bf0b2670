// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include <lindyn/backend/plain.hpp>

#include "random_matrix.hpp"

namespace {

using backend_test::difference;
using backend_test::matrix;
using lindyn::backend::plain;
using lindyn::backend::row_segment;
using lindyn::backend::strided_matrix;
using lindyn::backend::update;
using lindyn::backend::visible_keys;

const plain on;
using numbers = std::vector<double>;

/// A matrix without gaps.
strided_matrix<double> view(numbers& of, lindyn::index columns) {
  return {of.data(), static_cast<lindyn::index>(of.size()) / columns, columns, columns};
}
strided_matrix<const double> view(const numbers& of, lindyn::index columns) {
  return {of.data(), static_cast<lindyn::index>(of.size()) / columns, columns, columns};
}

/// Gradient of f by x, by central differences; gaps stay what they are.
numbers slopes(numbers& x, const std::function<double()>& f) {
  constexpr double h = 1e-5;
  numbers result = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == backend_test::gap) continue;
    const double middle = x[i];
    x[i] = middle + h;
    const double above = f();
    x[i] = middle - h;
    const double below = f();
    x[i] = middle;
    result[i] = (above - below) / (2 * h);
  }
  return result;
}

/// Sum of the products of entries; gaps count for nothing.
double dot(const matrix<double>& a, const matrix<double>& b) {
  double sum = 0;
  for (lindyn::index r = 0; r < a.rows; ++r)
    for (lindyn::index c = 0; c < a.columns; ++c) sum += a.input()(r, c) * b.input()(r, c);
  return sum;
}

constexpr double slope_error =
    1e-8;  // of central differences with a step of 1e-5: 1e-10 by curvature, the rest rounding

}  // namespace

TEST_CASE("products of small whole numbers are right, with and without bias, assigned and added to") {
  const numbers x{1, 2, 3, 4}, w{1, 0, 2, 1, -1, 3}, bias{10, 20, 30};  // two rows; three outputs of two inputs
  numbers y(6, 100);
  on.linear<double>(view(x, 2), view(w, 2), bias.data(), view(y, 3), update::assign);
  CHECK(y == numbers{11, 24, 35, 13, 30, 39});
  on.linear<double>(view(x, 2), view(w, 2), nullptr, view(y, 3), update::add);
  CHECK(y == numbers{12, 28, 40, 16, 40, 48});

  const numbers dy{1, 0, 2, 0, 1, -1};
  numbers dx(4, 1);
  on.linear_backward_input<double>(view(dy, 3), view(w, 2), view(dx, 2), update::assign);
  CHECK(dx == numbers{-1, 6, 3, -2});
  on.linear_backward_input<double>(view(dy, 3), view(w, 2), view(dx, 2), update::add);
  CHECK(dx == numbers{-2, 12, 6, -4});
  numbers dw(6, 1), dbias(3, 1);
  on.linear_backward_weights<double>(view(dy, 3), view(x, 2), view(dw, 2), dbias.data());
  CHECK(dw == numbers{1, 2, 3, 4, -1, 0});
  CHECK(dbias == numbers{1, 1, 1});
}

TEST_CASE("LayerNorm of 1, 2, 3, 4 has mean 5/2 and variance 5/4; its gradients are central differences") {
  const numbers small{1, 2, 3, 4}, ones(4, 1), zeros(4, 0);
  numbers normal(4), moments(2);
  on.layer_norm<double>(view(small, 4), ones.data(), zeros.data(), view(normal, 4), moments.data());
  const double inverse = 1 / std::sqrt(1.25 + 1e-5);
  CHECK(difference(moments, numbers{2.5, inverse}) < 1e-15);
  CHECK(difference(normal, numbers{-1.5 * inverse, -0.5 * inverse, 0.5 * inverse, 1.5 * inverse}) < 1e-15);

  matrix<double> x(4, 5, 2, 1), gain(1, 5, 0, 2), bias(1, 5, 0, 3), y(4, 5, 1, 4), dx(4, 5, 2, 5);
  const matrix<double> dy(4, 5, 1, 6);
  numbers saved(8), dgain(5), dbias(5);
  const auto loss = [&] {
    on.layer_norm(x.input(), gain.entries.data(), bias.entries.data(), y.view(), saved.data());
    return dot(y, dy);
  };
  loss();
  const auto before = dx;
  on.layer_norm_backward(x.input(), saved.data(), gain.entries.data(), dy.input(), dx.view(), update::assign,
                         dgain.data(), dbias.data());
  CHECK(difference(dx.entries, slopes(x.entries, loss)) < slope_error);
  CHECK(difference(dgain, slopes(gain.entries, loss)) < slope_error);
  CHECK(difference(dbias, slopes(bias.entries, loss)) < slope_error);
  auto sum = before;
  on.layer_norm_backward(x.input(), saved.data(), gain.entries.data(), dy.input(), sum.view(), update::add,
                         dgain.data(), dbias.data());
  for (lindyn::index r = 0; r < 4; ++r)
    for (lindyn::index c = 0; c < 5; ++c)
      CHECK(sum.input()(r, c) == doctest::Approx(before.input()(r, c) + dx.input()(r, c)));
}

TEST_CASE("GELU is x times the normal distribution function, ReLU cuts at 0; multiply goes entry by entry") {
  numbers x{0, 1, -1, 3}, slope(4);
  on.activate(lindyn::backend::activation::gelu, view(x, 4), view(slope, 4));
  const double phi = 0.8413447460685429, density = 0.24197072451914337;  // of 1, from tables
  CHECK(difference(x, numbers{0, phi, phi - 1, 3 * 0.9986501019683699}) < 1e-15);
  CHECK(slope[0] == 0.5);
  CHECK(difference(numbers(slope.begin() + 1, slope.begin() + 3), numbers{phi + density, 1 - phi - density}) < 1e-15);
  x = {0, 2, -3, 4};
  on.activate(lindyn::backend::activation::relu, view(x, 4), view(slope, 4));
  CHECK(x == numbers{0, 2, 0, 4});
  CHECK(slope == numbers{0, 1, 0, 1});
  on.multiply<double>(view(x, 4), view(numbers{1, 2, 3, -1}, 4));
  CHECK(x == numbers{0, 4, 0, -4});
}

TEST_CASE("rows are fetched and scattered by their numbers; flat memory is filled and copied") {
  const numbers x{1, 2, 3, 4, 5, 6};
  const std::vector<int> rows{2, 0, 2};
  numbers y(6, 1), dx(6, 1);
  on.gather_rows<double>(view(x, 2), rows, view(y, 2), update::assign);
  CHECK(y == numbers{5, 6, 1, 2, 5, 6});
  on.gather_rows<double>(view(x, 2), rows, view(y, 2), update::add);
  CHECK(y == numbers{10, 12, 2, 4, 10, 12});
  on.scatter_rows<double>(view(x, 2), rows, view(dx, 2));
  CHECK(dx == numbers{4, 5, 1, 1, 7, 9});
  on.fill<double>(dx.data(), 6, 7);
  CHECK(dx == numbers(6, 7));
  on.copy<double>(x.data(), dx.data(), 6);
  CHECK(dx == x);
}

TEST_CASE("a row that sees one key copies its value, one whose keys score alike averages, ln 3 makes three to one") {
  const std::vector<int> keys{0, -1, 0, 1, 1, 0};
  const std::vector<row_segment> segments{{0, 1, 1}, {1, 3, 2}};
  const visible_keys visible{keys, 2, segments};
  const numbers q{5, 7, 0, 0, 2 * std::log(3), 0, 0, 0}, k{1, 0, 0, 0, 0, 0, 0, 0}, v{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int> query_rows{0, 1, 1};  // of two rows of q; the width is 4, so that scores are halved
  numbers patterns(6, 9), out(12);
  on.attend<double>(1, view(q, 4), query_rows, view(k, 4), view(v, 4), visible, patterns.data(), view(out, 4));
  CHECK(difference(patterns, numbers{1, 9, 0.75, 0.25, 0.25, 0.75}) < 1e-15);
  CHECK(difference(out, numbers{1, 2, 3, 4, 2, 3, 4, 5, 2, 3, 4, 5}) < 1e-15);
  const numbers equal(8, 0);
  on.attend<double>(1, view(q, 4), query_rows, view(equal, 4), view(v, 4), visible, patterns.data(), view(out, 4));
  CHECK(difference(out, numbers{1, 2, 3, 4, 3, 4, 5, 6, 3, 4, 5, 6}) < 1e-15);
}

TEST_CASE("gradients of attention are central differences, also where queries repeat and rows aren't used") {
  constexpr int heads = 2, context = 3;
  const std::vector<int> query_rows{3, 0, 3, 1}, keys{0, -1, -1, 4, 2, -1, 0, 0, -1, 1, 4, 0};
  const std::vector<row_segment> segments{{0, 1, 1}, {1, 3, 2}, {3, 4, 3}};
  const visible_keys visible{keys, context, segments};
  matrix<double> q(5, 6, 1, 1), k(5, 6, 2, 2), v(5, 6, 0, 3), out(4, 6, 3, 4), dq(5, 6, 1, 5), dk(5, 6, 2, 6),
      dv(5, 6, 0, 7);
  const matrix<double> dout(4, 6, 3, 8);
  numbers patterns(4 * heads * context);
  const auto loss = [&] {
    on.attend(heads, q.input(), query_rows, k.input(), v.input(), visible, patterns.data(), out.view());
    return dot(out, dout);
  };
  loss();
  on.attend_backward<double>(heads, q.input(), query_rows, k.input(), v.input(), visible, patterns.data(), dout.input(),
                             dq.view(), dk.view(), dv.view());
  CHECK(difference(dq.entries, slopes(q.entries, loss)) < slope_error);
  CHECK(difference(dk.entries, slopes(k.entries, loss)) < slope_error);
  CHECK(difference(dv.entries, slopes(v.entries, loss)) < slope_error);
  for (lindyn::index c = 0; c < 6; ++c)
    CHECK((dq.input()(2, c) == 0 && dk.input()(3, c) == 0 && dv.input()(3, c) == 0));
}

TEST_CASE("cross-entropy: ln V for equal logits, counts as weights, the first of equals answers, gradients by slopes") {
  const numbers equal(8, 3.5);
  const std::vector<int> answers{0, 2}, counts{3, 2};
  auto score = backend_test::cross_entropy<double>(on, view(equal, 4), answers, counts, 1);
  CHECK(score.loss == doctest::Approx(5 * std::log(4.0)).epsilon(1e-15));
  CHECK(score.correct == 3);
  CHECK(score.total == 5);

  matrix<double> z(2, 4, 1, 1), dz(2, 4, 1, 2);
  score = backend_test::cross_entropy<double>(on, z.input(), answers, counts, 0.1, dz.view());
  const auto loss = [&] {
    return 0.1 / 5 * backend_test::cross_entropy<double>(on, z.input(), answers, counts, 1).loss;
  };
  CHECK(score.loss == doctest::Approx(50 * loss()));
  CHECK(difference(dz.entries, slopes(z.entries, loss)) < slope_error);

  const numbers far{1000, 0, -1000};
  score = backend_test::cross_entropy<double>(on, view(far, 3), std::vector{2}, std::vector{1}, 1);
  CHECK(score.loss == 2000);
}

TEST_CASE("a logit that isn't finite makes the loss not finite, wherever it stands, and no answer right") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
    for (std::size_t at = 0; at < 3; ++at) {
      numbers z{1, 5, 2};
      z[at] = bad;
      const auto score = backend_test::cross_entropy<double>(on, view(z, 3), std::vector{1}, std::vector{1}, 1);
      CHECK_FALSE(std::isfinite(score.loss));
      CHECK(score.correct == 0);
    }
}
