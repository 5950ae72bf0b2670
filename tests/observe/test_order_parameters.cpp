// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/observe/network_order.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::observe;
using lindyn::index;  // POSIX has a function of this name

constexpr double unseen = std::numeric_limits<double>::quiet_NaN();

/// Random attention of (sequences, heads, n, n). What isn't visible is NaN, which would be seen in any result.
std::vector<double> random_attention(int sequences, const attention_layout& layout, double sharpness) {
  counter_generator generator(7);
  const int n = layout.length;
  std::vector<double> result(static_cast<std::size_t>(sequences * layout.heads * n * n), unseen);
  for (std::size_t row = 0; row < result.size(); row += static_cast<std::size_t>(n)) {
    const int visible = layout.causal ? static_cast<int>(row) / n % n + 1 : n;
    double sum = 0;
    for (int key = 0; key < visible; ++key)
      sum += result[row + static_cast<std::size_t>(key)] = std::exp(sharpness * standard_normal(generator));
    for (int key = 0; key < visible; ++key) result[row + static_cast<std::size_t>(key)] /= sum;
  }
  return result;
}

/// The visible entries of one head, in the order of sequences, queries and keys.
std::vector<double> flat_pattern(const std::vector<double>& attention, const attention_layout& layout, int head) {
  const int n = layout.length;
  std::vector<double> result;
  for (std::size_t entry = 0; entry < attention.size(); ++entry) {
    const auto place = static_cast<int>(entry);
    if (place / (n * n) % layout.heads == head && (!layout.causal || place % n <= place / n % n))
      result.push_back(attention[entry]);
  }
  return result;
}

using patterns = std::vector<std::vector<double>>;

double product(const std::vector<double>& one, const std::vector<double>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += one[i] * other[i];
  return sum;
}

/// (R - 1) / (H - 1) from the eigenvalues, which are the squares of the patterns' singular values.
double participation(const patterns& heads) {
  std::vector<double> matrix;
  for (const auto& head : heads) matrix.insert(matrix.end(), head.begin(), head.end());
  double sum = 0, squares = 0;
  for (const double value :
       singular_values(matrix_view<const double>{matrix.data(), std::ssize(heads), std::ssize(heads.front())})) {
    sum += value * value;
    squares += std::pow(value, 4);
  }
  return (sum * sum / squares - 1) / (static_cast<double>(heads.size()) - 1);
}

/// One sequence, whose heads attend by the same weights in every row.
order_parameters of_constant_rows(const patterns& heads) {
  const auto n = static_cast<int>(heads.front().size());
  std::vector<double> attention;
  for (const auto& head : heads)
    for (int row = 0; row < n; ++row) attention.insert(attention.end(), head.begin(), head.end());
  head_statistics statistics(static_cast<int>(heads.size()));
  statistics.add(std::span<const double>(attention),
                 {.heads = static_cast<int>(heads.size()), .length = n, .causal = false});
  return order_parameters_of(statistics);
}

/// One sequence of causal attention: heads attend to all visible keys alike, or to their own place alone.
order_parameters half_uniform(int heads, int n) {
  std::vector<double> attention;
  for (int head = 0; head < heads; ++head)
    for (int row = 0; row < n; ++row)
      for (int key = 0; key < n; ++key)
        attention.push_back(head % 2 == 0 ? (key <= row) / (row + 1.0) : static_cast<double>(key == row));
  head_statistics statistics(heads);
  statistics.add(std::span<const double>(attention), {.heads = heads, .length = n});
  return order_parameters_of(statistics);
}

TEST_CASE("order parameters are what their definitions say, of visible keys alone") {
  for (const bool causal : {true, false}) {
    CAPTURE(causal);
    const attention_layout layout{.heads = 4, .length = 5, .causal = causal};
    const auto attention = random_attention(6, layout, 1.5);
    head_statistics statistics(4);
    statistics.add(std::span<const double>(attention), layout);
    const order_parameters ours = order_parameters_of(statistics);

    patterns heads, across, own;
    for (int head = 0; head < 4; ++head) heads.push_back(flat_pattern(attention, layout, head));
    double cosines = 0;
    for (const auto& one : heads)
      for (const auto& other : heads)
        if (&one < &other) cosines += product(one, other) / std::sqrt(product(one, one) * product(other, other)) / 6;
    CHECK(*ours.s_bar == doctest::Approx(cosines).epsilon(1e-12));

    across = own = heads;
    for (std::size_t entry = 0; entry < heads[0].size(); ++entry)
      for (std::size_t head = 0; head < 4; ++head)
        across[head][entry] -= (heads[0][entry] + heads[1][entry] + heads[2][entry] + heads[3][entry]) / 4;
    for (auto& head : own) {
      double mean = 0;
      for (const double entry : head) mean += entry / static_cast<double>(head.size());
      CHECK(mean == doctest::Approx(causal ? 1 / 3. : 1 / 5.).epsilon(1e-12));  // rows / entries, whatever the head
      for (double& entry : head) entry -= mean;
    }
    CHECK(*ours.pr_norm_across_heads == doctest::Approx(participation(across)).epsilon(1e-11));
    CHECK(*ours.pr_norm_own_mean == doctest::Approx(participation(own)).epsilon(1e-11));
    CHECK(*ours.pr_norm_across_heads < 2 / 3.);

    double means[2] = {}, squares[2] = {};
    for (int head = 0; head < 4; ++head) {
      double entropies[2] = {};
      const int n = layout.length;
      for (int sequence = 0; sequence < 6; ++sequence)
        for (int row = 0; row < n; ++row)
          for (int key = 0; key <= (causal ? row : n - 1); ++key) {
            const double weight = attention[static_cast<std::size_t>((((sequence * 4) + head) * n + row) * n + key)];
            entropies[0] -= weight * std::log(weight) / 30;
            if (row + 1 == n) entropies[1] -= weight * std::log(weight) / 6;
          }
      for (int rows = 0; rows < 2; ++rows) {
        means[rows] += entropies[rows] / 4;
        squares[rows] += entropies[rows] * entropies[rows] / 4;
      }
    }
    CHECK(ours.all_rows.mean == doctest::Approx(means[0]).epsilon(1e-12));
    CHECK(ours.last_row.mean == doctest::Approx(means[1]).epsilon(1e-12));
    CHECK(ours.all_rows.sigma_h == doctest::Approx(std::sqrt(squares[0] - means[0] * means[0])).epsilon(1e-10));
    CHECK(ours.last_row.sigma_h == doctest::Approx(std::sqrt(squares[1] - means[1] * means[1])).epsilon(1e-10));
  }
}

TEST_CASE("attention whose rows don't sum to one is refused, and the head is named") {
  const attention_layout layout{.heads = 3, .length = 4, .causal = true};
  auto attention = random_attention(5, layout, 1);
  const auto refused = [&] {
    head_statistics statistics(3);
    statistics.add(std::span<const double>(attention), layout);
    try {
      (void)order_parameters_of(statistics);
    } catch (const argument_error& error) {
      return error.argument();
    }
    return std::string("nothing");
  };
  CHECK(refused() == "nothing");
  for (double& entry : attention) entry *= 1 + 5e-4;
  CHECK(refused() == "nothing");
  for (std::size_t entry = 16; entry < 32; ++entry) attention[entry] *= 2;  // of the first sequence the second head
  CHECK(refused() == "rows of head 1");
}

TEST_CASE("sigma_H is bounded by half of the entropy of uniform attention, and reaches that") {
  const order_parameters three = half_uniform(4, 3);
  CHECK(three.all_rows.sigma_h == doctest::Approx(std::log(6) / 6).epsilon(1e-14));
  CHECK(three.last_row.sigma_h == doctest::Approx(std::log(3) / 2).epsilon(1e-14));
  CHECK(half_uniform(2, 5).all_rows.sigma_h == doctest::Approx(std::log(120) / 10).epsilon(1e-14));
  CHECK(of_constant_rows({{1 / 3., 1 / 3., 1 / 3.}, {0, 1, 0}}).all_rows.sigma_h ==
        doctest::Approx(std::log(3) / 2).epsilon(1e-14));
  for (const double sharpness : {0.1, 1.0, 10.0, 100.0}) {
    head_statistics statistics(8);
    const attention_layout layout{.heads = 8, .length = 3};
    const auto attention = random_attention(1, layout, sharpness);
    statistics.add(std::span<const double>(attention), layout);
    const order_parameters random = order_parameters_of(statistics);
    CHECK(random.all_rows.sigma_h <= std::log(6) / 6);
    CHECK(random.last_row.sigma_h <= std::log(3) / 2);
  }
}

TEST_CASE("one head has entropies, and nothing that needs a second") {
  const order_parameters one = of_constant_rows({{0.5, 0.5, 0}});
  CHECK_FALSE(one.s_bar.has_value());
  CHECK_FALSE(one.spectral_gap.has_value());
  CHECK_FALSE(one.pr_norm_across_heads.has_value());
  CHECK_FALSE(one.pr_norm_own_mean.has_value());
  CHECK(one.all_rows.mean == doctest::Approx(std::log(2)).epsilon(1e-15));
  CHECK(one.all_rows.sigma_h == 0);
  CHECK_FALSE(mean_over_layers(std::vector{one, one}).s_bar.has_value());
  CHECK_FALSE(named(one)[0].second.has_value());
  CHECK(undefined_for_one_head == "undefined for one head");
  CHECK_THROWS_AS((void)mean_over_layers(std::vector{one, of_constant_rows({{1, 0}, {0, 1}})}), argument_error);
  CHECK_THROWS_AS((void)mean_over_layers({}), argument_error);
}

TEST_CASE("what vanishes is defined: equal heads, constant patterns, patterns of zeros") {
  const std::vector<double> third{0.7, 0.2, 0.1};
  const order_parameters equal = of_constant_rows({third, third, third});
  CHECK(*equal.s_bar == 1);
  CHECK(*equal.spectral_gap == doctest::Approx(3).epsilon(1e-14));
  CHECK(*equal.pr_norm_across_heads == 0);
  CHECK(*equal.pr_norm_own_mean == doctest::Approx(0).epsilon(1e-14));  // one direction
  CHECK(equal.all_rows.sigma_h == 0);
  // Equal but for rounding.
  const double rounding = 3 * std::numeric_limits<double>::epsilon();
  for (const std::size_t places : {3, 5}) {
    patterns almost(3, std::vector(places, 1 / static_cast<double>(places)));
    for (std::size_t head = 0; head < 3; ++head) almost[head][head] += rounding;
    CHECK(*of_constant_rows(almost).pr_norm_across_heads == 0);
    CHECK(*of_constant_rows(almost).pr_norm_own_mean == 0);
  }

  const order_parameters zero = of_constant_rows({{0, 0}, {0, 1}, {0, 1}});
  CHECK(*zero.s_bar == doctest::Approx(1 / 3.).epsilon(1e-15));
  CHECK(zero.all_rows.mean == 0);  // 0 ln 0
  CHECK(*of_constant_rows({{0, 0}, {0, 0}}).s_bar == 0);
  CHECK(*of_constant_rows({{0, 0}, {0, 0}}).pr_norm_across_heads == 0);
}

TEST_CASE("participation ratios have the maxima that they are said to have") {
  // Orthogonal patterns of one norm: centred across heads they span H - 1 directions.
  const order_parameters orthogonal = of_constant_rows({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  CHECK(*orthogonal.pr_norm_across_heads == doctest::Approx(0.5).epsilon(1e-14));
  CHECK(*orthogonal.pr_norm_own_mean == doctest::Approx(0.5).epsilon(1e-14));
  CHECK(*orthogonal.s_bar == doctest::Approx(0).epsilon(1e-15));
  CHECK(*orthogonal.spectral_gap == doctest::Approx(0).epsilon(1e-14));
  // Two heads have one difference. Their own deviations are (3, -1, -1, -1) / 4 and (-1, 3, -1, -1) / 4.
  const order_parameters two = of_constant_rows({{1, 0, 0, 0}, {0, 1, 0, 0}});
  CHECK(*two.pr_norm_across_heads == doctest::Approx(0).epsilon(1e-14));
  CHECK(*two.pr_norm_own_mean == doctest::Approx(0.8).epsilon(1e-14));
  // (1, 1, -1, -1) / 2 and (1, -1, 1, -1) / 2 are orthogonal.
  CHECK(*of_constant_rows({{0.5, 0.5, 0, 0}, {0.5, 0, 0.5, 0}}).pr_norm_own_mean == doctest::Approx(1).epsilon(1e-14));
}

TEST_CASE("heads that are equal but for a billionth are told apart") {
  // Three heads, each of which deviates in a sequence of its own: orthogonal deviations, R = 2 centred across heads.
  head_statistics statistics(3);
  for (int sequence = 0; sequence < 3; ++sequence) {
    std::vector<double> row;
    for (int head = 0; head < 3; ++head)
      for (const double sign : {1, -1}) row.push_back(0.5 + sign * (head == sequence ? 1e-9 : 0));
    statistics.add_row(row.data(), 2, 2, true);
  }
  CHECK(*order_parameters_of(statistics).pr_norm_across_heads == doctest::Approx(0.5).epsilon(1e-6));
}

TEST_CASE("a batch may come in parts, and rows may stand for several") {
  const attention_layout layout{.heads = 3, .length = 3};
  const auto attention = random_attention(4, layout, 1);
  head_statistics whole(3), parts(3), counted(3), repeated(3);
  whole.add(std::span(attention), layout);
  const auto sequence = attention.size() / 4;
  parts.add(std::span(attention).first(sequence), layout);
  parts.add(std::span(attention).subspan(sequence), layout);
  CHECK(parts.product(0, 2) == whole.product(0, 2));  // the same sums
  CHECK(parts.entropy(1) == whole.entropy(1));
  CHECK(parts.rows() == 12);
  CHECK(parts.last_rows() == 4);
  CHECK(parts.entries() == 24);

  const double* last = attention.data() + 6;
  counted.add_row(last, 9, 3, true, 3);
  for (int i = 0; i < 3; ++i) repeated.add_row(last, 9, 3, true);
  const auto one = named(order_parameters_of(counted)), other = named(order_parameters_of(repeated));
  for (std::size_t which = 0; which < one.size(); ++which) {
    CAPTURE(one[which].first);
    CHECK(*one[which].second == doctest::Approx(*other[which].second).epsilon(1e-14));
  }
  counted.clear();
  CHECK(counted.rows() == 0);
  CHECK(counted.heads() == 3);
}

TEST_CASE("attention in float is summed in double") {
  const attention_layout layout{.heads = 2, .length = 2, .causal = false};
  std::vector<float> attention;
  for (int sequence = 0; sequence < 1000; ++sequence)
    for (int row = 0; row < 4; ++row) attention.insert(attention.end(), {0.1F, 0.9F});
  head_statistics statistics(2);
  statistics.add(std::span<const float>(attention), layout);
  const double entropy = -0.1F * std::log(double(0.1F)) - 0.9F * std::log(double(0.9F));
  CHECK(order_parameters_of(statistics).all_rows.mean == doctest::Approx(entropy).epsilon(1e-13));
}

TEST_CASE("what is no attention is refused") {
  CHECK_THROWS_AS(head_statistics(0), argument_error);
  CHECK_THROWS_AS((void)order_parameters_of(head_statistics(2)), argument_error);
  head_statistics statistics(2);
  const std::vector<double> seven(7), eight(8);
  CHECK_THROWS_AS(statistics.add(std::span(seven), {.heads = 2, .length = 2}), shape_error);
  CHECK_THROWS_AS(statistics.add(std::span(eight), {.heads = 4, .length = 2}), shape_error);
  CHECK_THROWS_AS(statistics.add(std::span(eight), {.heads = 2, .length = 0}), argument_error);
  for (const double wrong : {unseen, std::numeric_limits<double>::infinity(), -0.1}) {
    head_statistics bad(1);
    bad.add_row(&wrong, 1, 1, true);
    CHECK_THROWS_AS((void)order_parameters_of(bad), non_finite_error);
  }
}

}  // namespace
