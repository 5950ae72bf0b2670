// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention matrices of a trunk as operators on eight rows X at a time, and the adjoints of these operators.
///
/// push: Y = X A, Y_j = sum_{i >= j} X_i A_ij.   fold: F = X A', F_i = sum_{j <= i} X_j A_ij.
/// Both are adjoint to each other, and dA = L'R in both: (L, R) = (X, dY) for a push, (dF, X) for a fold.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>

namespace lindyn::reduced::detail {

/// First layer: scores are zero but for related pairs, so A_ij = w_i + (the excess of pair ij). Everything costs O(T)
/// and O(pairs) instead of O(T^2): the constant part of a push is a suffix sum, that of a fold a prefix sum.
class first_attention {
public:
  void resize(const relation_context& context) {
    context_ = &context;
    const auto rows = static_cast<std::size_t>(context.trunk);
    constant_.resize(rows);
    row_gradient_.resize(rows);
    excess_.resize(context.causal.size());
    pair_gradient_.resize(context.causal.size());
  }

  /// A from the scores of the kinds; clears the gradient.
  void assign(std::span<const double> kind_score) {
    double largest = 0;
    for (const double score : kind_score) largest = std::max(largest, score);
    kind_exponential_.resize(kind_score.size());
    for (std::size_t kind = 0; kind < kind_score.size(); ++kind)
      kind_exponential_[kind] = std::exp(kind_score[kind] - largest);
    const double zero_exponential = std::exp(-largest);
    for (int i = 0; i < context_->trunk; ++i) {
      const int begin = context_->causal_begin[at(i)], end = context_->causal_begin[at(i) + 1];
      const int unrelated = i + 1 - (end - begin);
      double base = unrelated > 0 ? zero_exponential : 0.0, total = unrelated * base;
      for (int e = begin; e < end; ++e) total += excess_[at(e)] = kind_exponential_[at(context_->causal[at(e)].kind)];
      if (total < 1e-200) {  // all of this row's scores lie far below the largest of other rows
        double own = unrelated > 0 ? 0 : -std::numeric_limits<double>::infinity();
        for (int e = begin; e < end; ++e) own = std::max(own, kind_score[at(context_->causal[at(e)].kind)]);
        base = unrelated > 0 ? std::exp(-own) : 0.0;
        total = unrelated * base;
        for (int e = begin; e < end; ++e)
          total += excess_[at(e)] = std::exp(kind_score[at(context_->causal[at(e)].kind)] - own);
      }
      constant_[at(i)] = base / total;
      for (int e = begin; e < end; ++e) excess_[at(e)] = (excess_[at(e)] - base) / total;
    }
    std::ranges::fill(row_gradient_, lanes{});
    std::ranges::fill(pair_gradient_, lanes{});
  }

  void push(const lanes* x, lanes* y, int columns) const {
    lanes sum{};
    for (int j = columns - 1; j >= 0; --j) {
      sum += x[j] * constant_[at(j)];
      y[j] = sum;
    }
    for (int e = 0, end = context_->causal_begin[at(columns)]; e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      y[pair.column] += x[pair.row] * excess_[at(e)];
    }
  }
  void fold(const lanes* x, lanes* f, int columns) const {
    lanes sum{};
    for (int i = 0; i < columns; ++i) {
      sum += x[i];
      f[i] = sum * constant_[at(i)];
    }
    for (int e = 0, end = context_->causal_begin[at(columns)]; e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      f[pair.row] += x[pair.column] * excess_[at(e)];
    }
  }
  /// dA += L'R, where `folded` = fold(R). Softmax needs of dA only the related entries and the row sums
  /// sum_j A_ij dA_ij = sum over lanes of L_i folded_i.
  void accumulate(const lanes* left, const lanes* right, const lanes* folded, int columns) {
    for (int i = 0; i < columns; ++i) row_gradient_[at(i)] += left[i] * folded[i];
    for (int e = 0, end = context_->causal_begin[at(columns)]; e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      pair_gradient_[at(e)] += left[pair.row] * right[pair.column];
    }
  }

  /// Rows first .. first + 7 of A, eight lanes of `columns` entries.
  void read_rows(int first, lanes* rows, int columns) const {
    std::fill_n(rows, columns, lanes{});
    for (int lane = 0; lane < lanes::count && first + lane < context_->trunk; ++lane) {
      const int i = first + lane;
      for (int j = 0; j <= i; ++j) rows[j][lane] = constant_[at(i)];
      for (int e = context_->causal_begin[at(i)]; e < context_->causal_begin[at(i) + 1]; ++e)
        rows[context_->causal[at(e)].column][lane] += excess_[at(e)];
    }
  }
  /// dA of these rows += `gradient`, where `rows` are the rows themselves.
  void accumulate_rows(int first, const lanes* rows, const lanes* gradient, int columns) {
    lanes sums{};
    for (int j = 0; j < columns; ++j) sums += rows[j] * gradient[j];
    for (int lane = 0; lane < lanes::count && first + lane < context_->trunk; ++lane) {
      const int i = first + lane;
      row_gradient_[at(i)][0] += sums[lane];
      for (int e = context_->causal_begin[at(i)]; e < context_->causal_begin[at(i) + 1]; ++e)
        pair_gradient_[at(e)][0] += gradient[context_->causal[at(e)].column][lane];
    }
  }

  /// kind_gradient[kind] += dL/d(score of the kind): dS_ij = A_ij (dA_ij - sum_k A_ik dA_ik).
  void finish(std::span<double> kind_gradient) const {
    for (int i = 0; i < context_->trunk; ++i) {
      const double mean = row_gradient_[at(i)].sum();
      for (int e = context_->causal_begin[at(i)]; e < context_->causal_begin[at(i) + 1]; ++e)
        kind_gradient[at(context_->causal[at(e)].kind)] +=
            (constant_[at(i)] + excess_[at(e)]) * (pair_gradient_[at(e)].sum() - mean);
    }
  }

private:
  const relation_context* context_ = nullptr;
  std::vector<double> constant_, excess_, kind_exponential_;
  std::vector<lanes> row_gradient_, pair_gradient_;
};

/// Later layers: a lower triangular matrix, row-major, with rows padded to whole vectors.
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
