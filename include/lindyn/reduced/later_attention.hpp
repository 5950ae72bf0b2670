// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention matrices of a trunk's later layers as operators on eight rows at a time, and their adjoints.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>

namespace lindyn::reduced::detail {

/// Push, fold and accumulate, as first_attention has them, of a lower triangular matrix, row-major, with rows padded to
/// whole vectors.
class later_attention {
public:
  void resize(const relation_context& context) {
    vectors_ = (context.trunk + lanes::count - 1) / lanes::count;
    rows_ = context.trunk;
    matrix_.assign(static_cast<std::size_t>(rows_ * vectors_), lanes{});
    gradient_.assign(matrix_.size(), lanes{});
    transposed_.resize(static_cast<std::size_t>(lanes::count * vectors_));
  }
  void clear_gradient() { std::ranges::fill(gradient_, lanes{}); }

  /// Stores rows first .. first + 7, given in lanes.
  void write_rows(int first, const lanes* rows, int columns) {
    for (int lane = 0; lane < lanes::count && first + lane < rows_; ++lane)
      for (int j = 0; j < columns; ++j) row(matrix_, first + lane)[j] = rows[j][lane];
  }
  /// rows += dA of rows first .. first + 7, in lanes.
  void read_gradient(int first, lanes* rows, int columns) const {
    for (int lane = 0; lane < lanes::count && first + lane < rows_; ++lane)
      for (int j = 0; j < columns; ++j) rows[j][lane] += row(gradient_, first + lane)[j];
  }

  void push(const lanes* x, lanes* y, int columns) const {
    int j = 0;
    for (; j + 4 <= columns; j += 4) {
      lanes sum[4]{};
      for (int i = j; i < columns; ++i) {
        const double* a = row(matrix_, i) + j;
        for (int k = 0; k < 4; ++k) sum[k] += x[i] * a[k];  // entries above the diagonal are zero
      }
      std::copy_n(sum, 4, y + j);
    }
    for (; j < columns; ++j) {
      lanes sum{};
      for (int i = j; i < columns; ++i) sum += x[i] * row(matrix_, i)[j];
      y[j] = sum;
    }
  }
  void fold(const lanes* x, lanes* f, int columns) const {
    int i = 0;
    for (; i + 4 <= columns; i += 4) {
      lanes sum[4]{};
      const double* a[4] = {row(matrix_, i), row(matrix_, i + 1), row(matrix_, i + 2), row(matrix_, i + 3)};
      for (int j = 0; j < i + 4; ++j)
        for (int k = 0; k < 4; ++k) sum[k] += x[j] * a[k][j];
      std::copy_n(sum, 4, f + i);
    }
    for (; i < columns; ++i) {
      lanes sum{};
      for (int j = 0; j <= i; ++j) sum += x[j] * row(matrix_, i)[j];
      f[i] = sum;
    }
  }
  /// dA += L'R on and below the diagonal.
  void accumulate(const lanes* left, const lanes* right, const lanes* /*folded*/, int columns) {
    for (int lane = 0; lane < lanes::count; ++lane) {
      double* out = reinterpret_cast<double*>(transposed_.data() + lane * vectors_);
      for (int j = 0; j < columns; ++j) out[j] = right[j][lane];
    }
    for (int i = 0; i < columns; ++i)
      for (int vector = 0; vector <= i / lanes::count; ++vector) {
        lanes& sum = gradient_[static_cast<std::size_t>(i * vectors_ + vector)];
        lanes total = sum;
        for (int lane = 0; lane < lanes::count; ++lane)
          total += transposed_[static_cast<std::size_t>(lane * vectors_ + vector)] * left[i][lane];
        sum = total;
      }
  }

private:
  [[nodiscard]] double* row(std::vector<lanes>& of, int i) const noexcept {
    return reinterpret_cast<double*>(of.data() + static_cast<std::ptrdiff_t>(i) * vectors_);
  }
  [[nodiscard]] const double* row(const std::vector<lanes>& of, int i) const noexcept {
    return reinterpret_cast<const double*>(of.data() + static_cast<std::ptrdiff_t>(i) * vectors_);
  }

  int rows_ = 0, vectors_ = 0;
  std::vector<lanes> matrix_, gradient_, transposed_;
};

}  // namespace lindyn::reduced::detail
