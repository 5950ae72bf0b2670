// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention matrix of a trunk's first layer as an operator on eight rows X at a time, and the adjoints.
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

/// A_ij = w_i,class(j) + (the excess of pair ij, if related), as unrelated places have the score of their classes
/// alone, zero for columns of class 0. Everything costs O(T) for each class, and O(pairs), instead of O(T^2): the w
/// part of a push is a suffix sum, that of a fold a prefix sum.
class first_attention {
public:
  void resize(const relation_context& context) {
    context_ = &context;
    base_.resize(at(context.class_count * context.trunk));
    sum_gradient_.resize(base_.size());
    excess_.resize(context.causal.size());
    pair_gradient_.resize(context.causal.size());
    class_score_.resize(context.class_kinds.size());
    class_exponential_.resize(context.class_kinds.size());
  }

  /// A from the scores of the kinds; clears the gradient.
  void assign(std::span<const double> kind_score) {
    double largest = 0, largest_class = 0;
    for (const double score : kind_score) largest = std::max(largest, score);
    kind_exponential_.resize(kind_score.size());
    for (std::size_t kind = 0; kind < kind_score.size(); ++kind)
      kind_exponential_[kind] = std::exp(kind_score[kind] - largest);
    const double zero_exponential = std::exp(-largest);
    for (std::size_t block = 0; block < class_score_.size(); ++block) {
      const int kind = context_->class_kinds[block];
      class_score_[block] = kind < 0 ? 0.0 : kind_score[at(kind)];
      largest_class = std::max(largest_class, class_score_[block]);
    }
    for (std::size_t block = 0; block < class_score_.size(); ++block)
      class_exponential_[block] = std::exp(class_score_[block] - largest_class);
    for (int i = 0; i < context_->trunk; ++i) {
      const auto fill = [&](const auto& exponential_of_class, const auto& exponential_of_pair) {
        double total = 0;
        for (int c = 0; c < classes(); ++c) {
          const int unrelated = context_->unrelated[place(c, i)];
          base_[place(c, i)] = unrelated > 0 ? exponential_of_class(c) : 0.0;
          total += unrelated * base_[place(c, i)];
        }
        for (int e = begin(i); e < begin(i + 1); ++e)
          total += excess_[at(e)] = exponential_of_pair(context_->causal[at(e)]);
        return total;
      };
      double total =
          fill([&](int c) { return zero_exponential * class_exponential_[block(i, c)]; },
               [&](const related_pair& pair) {
                 return kind_exponential_[at(pair.kind)] * class_exponential_[block(i, class_of(pair.column))];
               });
      if (total < 1e-200) {  // all of this row's scores lie far below the largest of other rows
        const auto score_of_pair = [&](const related_pair& pair) {
          return kind_score[at(pair.kind)] + class_score_[block(i, class_of(pair.column))];
        };
        double own = -std::numeric_limits<double>::infinity();
        for (int c = 0; c < classes(); ++c)
          if (context_->unrelated[place(c, i)] > 0) own = std::max(own, class_score_[block(i, c)]);
        for (int e = begin(i); e < begin(i + 1); ++e) own = std::max(own, score_of_pair(context_->causal[at(e)]));
        total = fill([&](int c) { return std::exp(class_score_[block(i, c)] - own); },
                     [&](const related_pair& pair) { return std::exp(score_of_pair(pair) - own); });
      }
      for (int e = begin(i); e < begin(i + 1); ++e)
        excess_[at(e)] = (excess_[at(e)] - base_[place(class_of(context_->causal[at(e)].column), i)]) / total;
      for (int c = 0; c < classes(); ++c) base_[place(c, i)] /= total;
    }
    std::ranges::fill(sum_gradient_, lanes{});
    std::ranges::fill(pair_gradient_, lanes{});
  }

  void push(const lanes* x, lanes* y, int columns) const {
    for (int c = 0; c < classes(); ++c) {
      const double* base = base_.data() + place(c, 0);
      lanes sum{};
      for (int j = columns - 1; j >= 0; --j) {
        sum += x[j] * base[j];
        if (class_of(j) == c) y[j] = sum;
      }
    }
    for (int e = 0, end = begin(columns); e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      y[pair.column] += x[pair.row] * excess_[at(e)];
    }
  }
  void fold(const lanes* x, lanes* f, int columns) const {
    for (int c = 0; c < classes(); ++c) {
      const double* base = base_.data() + place(c, 0);
      lanes sum{};
      for (int i = 0; i < columns; ++i) {
        if (class_of(i) == c) sum += x[i];
        f[i] = c == 0 ? sum * base[i] : f[i] + sum * base[i];
      }
    }
    for (int e = 0, end = begin(columns); e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      f[pair.row] += x[pair.column] * excess_[at(e)];
    }
  }
  /// dA += L'R, where `folded` = fold(R). Softmax needs of dA only the related entries and the sums of A_ij dA_ij over
  /// all columns of each row, L_i folded_i, and over those of each class but the first.
  void accumulate(const lanes* left, const lanes* right, const lanes* folded, int columns) {
    for (int i = 0; i < columns; ++i) sum_gradient_[place(0, i)] += left[i] * folded[i];
    for (int e = 0, end = begin(columns); e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      pair_gradient_[at(e)] += left[pair.row] * right[pair.column];
    }
    if (classes() == 1) return;
    for (int c = 1; c < classes(); ++c) {
      lanes sum{};
      for (int i = 0; i < columns; ++i) {
        if (class_of(i) == c) sum += right[i];
        sum_gradient_[place(c, i)] += left[i] * sum * base_[place(c, i)];
      }
    }
    for (int e = 0, end = begin(columns); e < end; ++e) {
      const related_pair& pair = context_->causal[at(e)];
      if (const int c = class_of(pair.column); c > 0)
        sum_gradient_[place(c, pair.row)] += left[pair.row] * right[pair.column] * excess_[at(e)];
    }
  }

  /// Rows first .. first + 7 of A, eight lanes of `columns` entries.
  void read_rows(int first, lanes* rows, int columns) const {
    std::fill_n(rows, columns, lanes{});
    for (int lane = 0; lane < lanes::count && first + lane < context_->trunk; ++lane) {
      const int i = first + lane;
      for (int j = 0; j <= i; ++j) rows[j][lane] = base_[place(class_of(j), i)];
      for (int e = begin(i); e < begin(i + 1); ++e) rows[context_->causal[at(e)].column][lane] += excess_[at(e)];
    }
  }
  /// dA of these rows += `gradient`, where `rows` are the rows themselves.
  void accumulate_rows(int first, const lanes* rows, const lanes* gradient, int columns) {
    for (int c = 0; c < classes(); ++c) {
      lanes sums{};
      for (int j = 0; j < columns; ++j)
        if (c == 0 || class_of(j) == c) sums += rows[j] * gradient[j];
      for (int lane = 0; lane < lanes::count && first + lane < context_->trunk; ++lane)
        sum_gradient_[place(c, first + lane)][0] += sums[lane];
    }
    for (int lane = 0; lane < lanes::count && first + lane < context_->trunk; ++lane)
      for (int e = begin(first + lane); e < begin(first + lane + 1); ++e)
        pair_gradient_[at(e)][0] += gradient[context_->causal[at(e)].column][lane];
  }

  /// kind_gradient[kind] += dL/d(score of the kind): dS_ij = A_ij (dA_ij - sum_k A_ik dA_ik).
  void finish(std::span<double> kind_gradient) const {
    for (int i = 0; i < context_->trunk; ++i) {
      const double mean = sum_gradient_[place(0, i)].sum();
      const auto attention = [&](int e) {
        return base_[place(class_of(context_->causal[at(e)].column), i)] + excess_[at(e)];
      };
      for (int e = begin(i); e < begin(i + 1); ++e)
        kind_gradient[at(context_->causal[at(e)].kind)] += attention(e) * (pair_gradient_[at(e)].sum() - mean);
      for (int c = 1; c < classes(); ++c) {
        double share = context_->unrelated[place(c, i)] * base_[place(c, i)];  // of row i's attention
        for (int e = begin(i); e < begin(i + 1); ++e)
          if (class_of(context_->causal[at(e)].column) == c) share += attention(e);
        kind_gradient[at(context_->class_kinds[block(i, c)])] += sum_gradient_[place(c, i)].sum() - share * mean;
      }
    }
  }

private:
  [[nodiscard]] int classes() const noexcept { return context_->class_count; }
  [[nodiscard]] int class_of(int column) const noexcept { return context_->classes[at(column)]; }
  /// Of row i in what is kept by class and row.
  [[nodiscard]] std::size_t place(int which, int i) const noexcept { return at(which * context_->trunk + i); }
  /// Of the class of row i and a class of columns, in what is kept by both.
  [[nodiscard]] std::size_t block(int i, int which) const noexcept { return at(class_of(i) * classes() + which); }
  /// Of row i's related pairs.
  [[nodiscard]] int begin(int i) const noexcept { return context_->causal_begin[at(i)]; }

  const relation_context* context_ = nullptr;
  std::vector<double> base_, excess_;  // w by class and row; by causal pair
  std::vector<double> kind_exponential_, class_score_, class_exponential_;
  std::vector<lanes> sum_gradient_, pair_gradient_;  // of A_ij dA_ij by class and row; by causal pair
};

}  // namespace lindyn::reduced::detail
