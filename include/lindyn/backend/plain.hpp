// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The backend that is obviously right: every kernel as its formula reads, the oracle of all other backends.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend {

/// One thread, no trick; computes in double for any scalar. The kernels are those of the concept `backend`.
struct plain {
  /// Memory of this backend.
  template <class S>
  using array = std::vector<S>;

  static constexpr bool host_memory = true;  ///< the host can read and write it
  /// It computes one run.
  [[nodiscard]] static constexpr int runs() noexcept { return 1; }

  /// y = x W' + bias; `bias` may be null.
  template <class S>
  void linear(strided_matrix<const S> x, strided_matrix<const S> w, vector_argument<const S> bias, strided_matrix<S> y,
              update how) const {
    for (index r = 0; r < y.rows; ++r)
      for (index o = 0; o < w.rows; ++o) {
        double sum = bias.data ? static_cast<double>(bias.data[o]) : 0;
        for (index i = 0; i < w.columns; ++i) sum += x(r, i) * static_cast<double>(w(o, i));
        put(y(r, o), sum, how);
      }
  }

  /// dx = dy W.
  template <class S>
  void linear_backward_input(strided_matrix<const S> dy, strided_matrix<const S> w, strided_matrix<S> dx,
                             update how) const {
    for (index r = 0; r < dx.rows; ++r)
      for (index i = 0; i < w.columns; ++i) {
        double sum = 0;
        for (index o = 0; o < w.rows; ++o) sum += dy(r, o) * static_cast<double>(w(o, i));
        put(dx(r, i), sum, how);
      }
  }

  /// dW = dy' x, dbias = column sums of dy; `dbias` may be null.
  template <class S>
  void linear_backward_weights(strided_matrix<const S> dy, strided_matrix<const S> x, strided_matrix<S> dw,
                               vector_argument<S> dbias) const {
    for (index o = 0; o < dw.rows; ++o) {
      for (index i = 0; i < dw.columns; ++i) {
        double sum = 0;
        for (index r = 0; r < dy.rows; ++r) sum += static_cast<double>(dy(r, o)) * x(r, i);
        put(dw(o, i), sum);
      }
      if (!dbias.data) continue;
      double sum = 0;
      for (index r = 0; r < dy.rows; ++r) sum += dy(r, o);
      put(dbias.data[o], sum);
    }
  }

  /// y = gain (x - mean) / sqrt(variance + 1e-5) + bias by rows; saved: mean and 1 / deviation.
  template <class S>
  void layer_norm(strided_matrix<const S> x, vector_argument<const S> gain, vector_argument<const S> bias,
                  strided_matrix<S> y, vector_argument<S> saved) const {
    for (index r = 0; r < x.rows; ++r) {
      double mean = 0, variance = 0;
      for (index c = 0; c < x.columns; ++c) mean += x(r, c) / static_cast<double>(x.columns);
      for (index c = 0; c < x.columns; ++c)
        variance += (x(r, c) - mean) * (x(r, c) - mean) / static_cast<double>(x.columns);
      const double inverse = 1 / std::sqrt(variance + 1e-5);
      for (index c = 0; c < x.columns; ++c) put(y(r, c), gain.data[c] * (x(r, c) - mean) * inverse + bias.data[c]);
      put(saved.data[2 * r], mean);
      put(saved.data[2 * r + 1], inverse);
    }
  }

  /// With n = (x - mean) / deviation and g = gain dy: dx = (g - mean(g) - n mean(g n)) / deviation by rows, dgain = sum
  /// of n dy and dbias = sum of dy over rows.
  template <class S>
  void layer_norm_backward(strided_matrix<const S> x, vector_argument<const S> saved, vector_argument<const S> gain,
                           strided_matrix<const S> dy, strided_matrix<S> dx, update how, vector_argument<S> dgain,
                           vector_argument<S> dbias) const {
    const auto normal = [&](index r, index c) {
      return (static_cast<double>(x(r, c)) - saved.data[2 * r]) * saved.data[2 * r + 1];
    };
    for (index r = 0; r < x.rows; ++r) {
      double mean = 0, along = 0;
      for (index c = 0; c < x.columns; ++c) {
        const double g = static_cast<double>(gain.data[c]) * dy(r, c) / static_cast<double>(x.columns);
        mean += g, along += g * normal(r, c);
      }
      for (index c = 0; c < x.columns; ++c) {
        const double g = static_cast<double>(gain.data[c]) * dy(r, c);
        put(dx(r, c), (g - mean - normal(r, c) * along) * saved.data[2 * r + 1], how);
      }
    }
    for (index c = 0; c < x.columns; ++c) {
      double by_gain = 0, by_bias = 0;
      for (index r = 0; r < x.rows; ++r) by_gain += normal(r, c) * dy(r, c), by_bias += dy(r, c);
      put(dgain.data[c], by_gain);
      put(dbias.data[c], by_bias);
    }
  }

  /// x = f(x), derivative = f'(x).
  template <class S>
  void activate(activation kind, strided_matrix<S> x, strided_matrix<S> derivative) const {
    for (index r = 0; r < x.rows; ++r)
      for (index c = 0; c < x.columns; ++c) {
        const double z = x(r, c);
        if (kind == activation::relu) {
          put(x(r, c), z < 0 ? 0 : z);
          put(derivative(r, c), z > 0 ? 1 : 0);
        } else {
          const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
          const double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
          put(x(r, c), z * below);
          put(derivative(r, c), below + z * density);
        }
      }
  }

  /// x = x factor, entry by entry.
  template <class S>
  void multiply(strided_matrix<S> x, strided_matrix<const S> factor) const {
    for (index r = 0; r < x.rows; ++r)
      for (index c = 0; c < x.columns; ++c) x(r, c) *= factor(r, c);
  }

  /// y[i] = x[rows[i]].
  template <class S>
  void gather_rows(strided_matrix<const S> x, const index_table& rows, strided_matrix<S> y, update how) const {
    for (index i = 0; i < y.rows; ++i)
      for (index c = 0; c < y.columns; ++c) put(y(i, c), x(rows[i], c), how);
  }

  /// dx[rows[i]] += dy[i], in the order of i.
  template <class S>
  void scatter_rows(strided_matrix<const S> dy, const row_table& table, strided_matrix<S> dx) const {
    for (index i = 0; i < dy.rows; ++i)
      for (index c = 0; c < dy.columns; ++c) dx(table.rows[i], c) += dy(i, c);
  }

  /// Attention of several heads over the visible keys; see the concept.
  template <class S>
  void attend(int heads, strided_matrix<const S> q, const index_table& query_rows, strided_matrix<const S> k,
              strided_matrix<const S> v, const visible_keys& visible, vector_argument<S> patterns,
              strided_matrix<S> out) const {
    const index width = q.columns / heads;
    std::vector<double> p;
    each_query(heads, query_rows, visible, [&](index r, index query, int h, std::span<const int> keys) {
      const index first = h * width;
      p.assign(keys.size(), 0);
      for (std::size_t j = 0; j < p.size(); ++j) {
        for (index c = first; c < first + width; ++c) p[j] += static_cast<double>(q(query, c)) * k(keys[j], c);
        p[j] /= std::sqrt(static_cast<double>(width));
      }
      const double largest = *std::max_element(p.begin(), p.end());
      double sum = 0;
      for (double& score : p) sum += score = std::exp(score - largest);
      for (std::size_t j = 0; j < p.size(); ++j) {
        p[j] /= sum;
        put(patterns.data[(r * heads + h) * visible.context + static_cast<index>(j)], p[j]);
      }
      for (index c = first; c < first + width; ++c) {
        double average = 0;
        for (std::size_t j = 0; j < p.size(); ++j) average += p[j] * v(keys[j], c);
        put(out(r, c), average);
      }
    });
  }

  /// With the pattern P and dP_j = dout.v_j, the derivative by the scores is ds = P (dP - sum_j P_j dP_j); dq, dk, dv
  /// are assigned, and zero in rows that no query used.
  template <class S>
  void attend_backward(int heads, strided_matrix<const S> q, const row_table& query_table, strided_matrix<const S> k,
                       strided_matrix<const S> v, const visible_keys& visible, vector_argument<const S> patterns,
                       strided_matrix<const S> dout, strided_matrix<S> dq, strided_matrix<S> dk,
                       strided_matrix<S> dv) const {
    const index width = q.columns / heads;
    for (auto* gradient : {&dq, &dk, &dv})
      for (index r = 0; r < gradient->rows; ++r) std::fill_n(gradient->row(r), gradient->columns, S(0));
    std::vector<double> dp;
    each_query(heads, query_table.rows, visible, [&](index r, index query, int h, std::span<const int> keys) {
      const index first = h * width;
      const S* const p = patterns.data + (r * heads + h) * visible.context;
      dp.assign(keys.size(), 0);
      double mean = 0;
      for (std::size_t j = 0; j < dp.size(); ++j) {
        for (index c = first; c < first + width; ++c) dp[j] += static_cast<double>(dout(r, c)) * v(keys[j], c);
        mean += p[j] * dp[j];
      }
      for (std::size_t j = 0; j < dp.size(); ++j) {
        const double ds = p[j] * (dp[j] - mean) / std::sqrt(static_cast<double>(width));
        for (index c = first; c < first + width; ++c) {
          put(dq(query, c), ds * k(keys[j], c), update::add);
          put(dk(keys[j], c), ds * q(query, c), update::add);
          put(dv(keys[j], c), static_cast<double>(p[j]) * dout(r, c), update::add);
        }
      }
    });
  }

  /// Loss, right answers, and scale (softmax - 1[answer]) times the share of count; a row with a logit that isn't finite makes the loss
  /// not finite either.
  template <class S>
  void cross_entropy(strided_matrix<const S> logits, const index_table& answers, const index_table& counts,
                     double scale, strided_matrix<S> dlogits, answer_score* scores) const {
    answer_score score;
    for (index r = 0; r < logits.rows; ++r) score.total += counts[r];
    const double share = scale / static_cast<double>(std::max<std::int64_t>(score.total, 1));
    for (index r = 0; r < logits.rows; ++r) {
      const int answer = answers[r], count = counts[r];
      const double answered = logits(r, answer);
      const double largest = *std::max_element(logits.row(r), logits.row(r) + logits.columns);
      double sum = 0, nothing = 0;  // nothing: zero, or NaN if a logit isn't finite
      bool right = true;
      for (index v = 0; v < logits.columns; ++v) {
        sum += std::exp(logits(r, v) - largest);
        nothing += 0 * logits(r, v);
        right = right && (v < answer ? logits(r, v) < answered : logits(r, v) <= answered);
      }
      const double loss = std::log(sum) + largest - answered + nothing;
      score.loss += count * loss;
      score.correct += right && std::isfinite(loss) ? count : 0;
      if (!dlogits.data) continue;
      for (index v = 0; v < logits.columns; ++v)
        put(dlogits(r, v), share * count * (std::exp(logits(r, v) - largest) / sum - (v == answer ? 1 : 0)));
    }
    *scores = score;
  }

  /// The sum of weight x loss over rows, and its derivative.
  template <class S>
  void weighted_loss(answer_loss kind, strided_matrix<const S> logits, const index_table& answers,
                     run_vector<const double> weights, strided_matrix<S> dlogits, double* losses) const {
    *losses = 0;
    for (index r = 0; r < logits.rows; ++r) {
      const S* const z = logits.row(r);
      const int answer = answers[r];
      const double weight = weights.data[r], largest = *std::max_element(z, z + logits.columns);
      double sum = 0, errors = 0;
      for (index v = 0; v < logits.columns; ++v) {
        const double error = z[v] - (v == answer ? 1.0 : 0.0);
        sum += std::exp(z[v] - largest), errors += error * error;
      }
      const bool squared = kind == answer_loss::squared_error;
      *losses += weight * (squared ? errors / 2 : std::log(sum) + largest - z[answer]);
      if (!dlogits.data) continue;
      for (index v = 0; v < logits.columns; ++v)
        put(dlogits(r, v), weight * ((squared ? z[v] : std::exp(z[v] - largest) / sum) - (v == answer ? 1.0 : 0.0)));
    }
  }

  /// The first `size` entries are multiplied by `factor`.
  template <class S>
  void scale(run_vector<S> x, index size, double factor) const {
    for (index i = 0; i < size; ++i) put(x.data[i], x.data[i] * factor);
  }

  /// The largest magnitude of the first `size` entries; NaN or infinite if there is one that is.
  template <class S>
  void largest_magnitude(run_vector<const S> x, index size, std::span<double> result) const {
    S largest = 0;
    for (index i = 0; i < size; ++i) {
      const S magnitude = std::abs(x.data[i]);
      if (!(magnitude <= largest) && !std::isnan(largest)) largest = magnitude;
    }
    result[0] = static_cast<double>(largest);
  }

  /// The sum of squares, in double, of the first `size` entries.
  template <class S>
  void sum_of_squares(run_vector<const S> x, index size, std::span<double> result) const {
    double sum = 0;
    for (index i = 0; i < size; ++i) sum += static_cast<double>(x.data[i]) * static_cast<double>(x.data[i]);
    result[0] = sum;
  }

  /// The first `size` entries become `value`.
  template <class S>
  void fill(run_vector<S> to, index size, S value) const {
    std::fill_n(to.data, size, value);
  }

  /// The first `size` entries of `to` become those of `from`.
  template <class S>
  void copy(run_vector<const S> from, vector_argument<S> to, index size) const {
    std::copy_n(from.data, size, to.data);
  }

  /// \{
  /// Copies from or to the host's memory, which this is.
  template <class T>
  void from_host(std::span<const T> from, T* to) const {
    std::ranges::copy(from, to);
  }
  template <class T>
  void to_host(const T* from, std::span<T> to) const {
    std::copy_n(from, to.size(), to.begin());
  }
  /// \}

private:
  template <class S>
  static void put(S& entry, double value, update how = update::assign) {
    entry = static_cast<S>(how == update::add ? entry + value : value);
  }

  // Calls work(row, row of q, head, visible keys).
  template <class Work>
  static void each_query(int heads, const index_table& query_rows, const visible_keys& visible, Work&& work) {
    for (const row_segment& segment : visible.segments)
      for (index r = segment.begin; r < segment.end; ++r) {
        const std::span keys(visible.keys.data + r * visible.context, static_cast<std::size_t>(segment.visible));
        const index query = query_rows.empty() ? r : query_rows[r];
        for (int h = 0; h < heads; ++h) work(r, query, h, keys);
      }
  }
};

static_assert(backend<plain, float> && backend<plain, double>);

}  // namespace lindyn::backend
