// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Fourier concentration: whether functions on Z_p, as embeddings or logits of modular tasks, consist of few frequencies.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::observe {

/// Power by frequency, summed over functions on Z_p. The transform is unitary, so that all power is the sum of squares.
struct frequency_power {
  double constant = 0;        ///< of frequency 0, the functions' means
  std::vector<double> power;  ///< of the frequencies 1 .. p / 2, at k - 1: that of k and p - k

  /// Power of all frequencies but 0.
  [[nodiscard]] double varying() const noexcept { return std::accumulate(power.begin(), power.end(), 0.0); }

  /// The `count` frequencies with the most power, the strongest first, of equals the lower one. Throws argument_error
  /// unless there are so many.
  [[nodiscard]] std::vector<int> strongest(int count) const {
    const auto all = static_cast<int>(power.size());
    require(count >= 0 && count <= all, "count", count, "in [0, " + std::to_string(all) + "]");
    std::vector<int> frequencies(power.size());
    std::iota(frequencies.begin(), frequencies.end(), 1);
    std::ranges::stable_sort(frequencies, std::ranges::greater{},
                             [&](int k) { return power[static_cast<std::size_t>(k - 1)]; });
    frequencies.resize(static_cast<std::size_t>(count));
    return frequencies;
  }

  /// The share of the varying power that the `count` strongest frequencies have: count / (p / 2) where all have the same;
  /// 0 where nothing varies. Throws as strongest does.
  [[nodiscard]] double concentration(int count) const {
    double sum = 0;
    for (const int k : strongest(count)) sum += power[static_cast<std::size_t>(k - 1)];
    const double all = varying();
    return all > 0 ? std::min(sum / all, 1.0) : 0.0;
  }
};

/// Adds up the power of functions on Z_p, any number of them one after the other. Memory and sums are plain: p numbers,
/// and p^2 multiplications a function.
class frequency_sum {
public:
  /// \param modulus  p, at least 2 and at most 2^20; throws argument_error otherwise
  explicit frequency_sum(int modulus) : modulus_(modulus) {
    require(modulus >= 2 && modulus <= 1 << 20, "modulus", modulus, "in [2, 2^20]");
    sum_.power.resize(static_cast<std::size_t>(modulus / 2));
    for (int angle = 0; angle < modulus; ++angle) {
      const double radians = 2 * std::numbers::pi * angle / modulus;
      cosine_.push_back(std::cos(radians));
      sine_.push_back(std::sin(radians));
    }
  }

  /// Adds a function, whose value at x is function[x stride]. Throws non_finite_error.
  template <class T>
  void add(const T* function, index stride = 1) {
    values_.resize(static_cast<std::size_t>(modulus_));
    for (int x = 0; x < modulus_; ++x) values_[static_cast<std::size_t>(x)] = static_cast<double>(function[x * stride]);
    require_finite("function", values_);
    sum_.constant += std::pow(std::accumulate(values_.begin(), values_.end(), 0.0), 2) / modulus_;
    for (int k = 1; 2 * k <= modulus_; ++k) {
      double real = 0, imaginary = 0;
      int angle = 0;
      for (const double value : values_) {
        real += value * cosine_[static_cast<std::size_t>(angle)];
        imaginary += value * sine_[static_cast<std::size_t>(angle)];
        angle += angle + k < modulus_ ? k : k - modulus_;
      }
      const int twins = 2 * k == modulus_ ? 1 : 2;
      sum_.power[static_cast<std::size_t>(k - 1)] += twins * (real * real + imaginary * imaginary) / modulus_;
    }
  }

  /// The power so far.
  [[nodiscard]] const frequency_power& power() const noexcept { return sum_; }

private:
  int modulus_ = 0;
  frequency_power sum_;
  std::vector<double> cosine_, sine_, values_;
};

/// The columns of a matrix as functions of its rows: an embedding, whose first `modulus` rows are 0 .. p - 1.
/// Throws argument_error unless there are so many rows, and as frequency_sum.
template <class T>
[[nodiscard]] frequency_power frequencies_of_columns(const matrix_view<T>& matrix, int modulus) {
  frequency_sum sum(modulus);
  require(matrix.rows >= modulus, "matrix.rows", matrix.rows, "at least the modulus " + std::to_string(modulus));
  for (index column = 0; column < matrix.columns; ++column) sum.add(matrix.data + column, matrix.columns);
  return sum.power();
}

/// The rows of a matrix as functions of its columns: logits, whose first `modulus` columns are 0 .. p - 1. Throws likewise.
template <class T>
[[nodiscard]] frequency_power frequencies_of_rows(const matrix_view<T>& matrix, int modulus) {
  frequency_sum sum(modulus);
  require(matrix.columns >= modulus, "matrix.columns", matrix.columns,
          "at least the modulus " + std::to_string(modulus));
  for (index row = 0; row < matrix.rows; ++row) sum.add(matrix.data + row * matrix.columns);
  return sum.power();
}

}  // namespace lindyn::observe
