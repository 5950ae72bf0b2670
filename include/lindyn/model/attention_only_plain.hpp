// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention-only network written down as it is defined: dense streams, one sequence after the other, in double.
/// It is slow and stays for ever, as the oracle that the fast `attention_only` is tested against.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model {

/// The network, with n tokens in a sequence and rows of X for its places:
///
///     X_0     = one-hot [token | position]                               n x D
///     S_lh    = X_l W_lh X_l'                                            row i is the query, column j the key
///     A_lh    = softmax over j <= i of S_lh
///     X_{l+1} = [X_l | A_l1 X_l | .. | A_lH X_l]                         n x D (H+1)^(l+1)
///     z       = W_out x,  x the last row of X_L
///
/// and its gradient, with dX_L zero but for its last row W_out' dz, from l = L-1 down to 0:
///
///     dW_out = dz x'
///     dA_lh  = dX_{l+1}[h] X_l'                                          [h] the block of head h, [0] that of X_l
///     dS_lh  = A_lh * (dA_lh - rowsum(A_lh * dA_lh))                     * entry by entry
///     dW_lh  = X_l' dS_lh X_l
///     dX_l   = dX_{l+1}[0] + sum_h A_lh' dX_{l+1}[h] + dS_lh X_l W_lh' + dS_lh' X_l W_lh
/// \tparam Real  of the matrices; a parameter lest everyone who includes this compiles it
template <std::floating_point Real = double>
class attention_only_plain {
public:
  /// Throws argument_error for sizes below 1.
  explicit attention_only_plain(const attention_shape& shape) : shape_(shape), table_(attention_parameters(shape)) {}

  /// All sizes.
  [[nodiscard]] const attention_shape& shape() const noexcept { return shape_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }

  /// sum_b weight_b loss_b.
  [[nodiscard]] double loss(std::span<const Real> weights, const task::batch_view& batch, task::loss kind) const {
    require_arguments(weights, batch);
    double total = 0;
    for (index place = 0; place < batch.count(); ++place) {
      const auto [loss, slope] = score(forward(weights, batch[place]).logits, batch[place].answer, kind);
      total += batch.weight(place) * loss;
    }
    return finite_loss(total);
  }

  /// The loss; `gradient`, laid out as the weights, becomes its derivative.
  double loss_and_gradient(std::span<const Real> weights, const task::batch_view& batch, task::loss kind,
                           std::span<Real> gradient) const {
    require_arguments(weights, batch);
    require_extent("gradient.size()", gradient.size(), table_.size());
    std::ranges::fill(gradient, 0.0);
    double total = 0;
    for (index place = 0; place < batch.count(); ++place) {
      const trace run = forward(weights, batch[place]);
      const auto [loss, slope] = score(run.logits, batch[place].answer, kind);
      total += batch.weight(place) * loss;
      backward(weights, run, batch.weight(place) * slope, gradient);
    }
    return finite_loss(total);
  }

  /// count x V logits, row-major.
  [[nodiscard]] std::vector<double> logits(std::span<const Real> weights, const task::batch_view& batch) const {
    require_arguments(weights, batch);
    std::vector<double> result;
    for (index place = 0; place < batch.count(); ++place) {
      const vector z = forward(weights, batch[place]).logits;
      result.insert(result.end(), z.begin(), z.end());
    }
    return result;
  }

  /// For every layer the count x H x n x n attention (query, key), row-major, zero at keys that aren't visible.
  [[nodiscard]] std::vector<std::vector<double>> attention(std::span<const Real> weights,
                                                           const task::batch_view& batch) const {
    require_arguments(weights, batch);
    std::vector<std::vector<double>> result(static_cast<std::size_t>(shape_.layers));
    for (index place = 0; place < batch.count(); ++place) {
      const trace run = forward(weights, batch[place]);
      for (std::size_t layer = 0; layer < result.size(); ++layer)
        for (const matrix& pattern : run.attention[layer])
          result[layer].insert(result[layer].end(), pattern.data(), pattern.data() + pattern.size());
    }
    return result;
  }

private:
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

  /// What a sequence's forward pass leaves behind.
  struct trace {
    std::vector<matrix> streams;                 // X_0 .. X_L
    std::vector<std::vector<matrix>> attention;  // A_lh
    vector logits;
  };
  struct scored {
    double loss;
    vector slope;  // d loss / d logits
  };

  void require_arguments(std::span<const Real> weights, const task::batch_view& batch) const {
    require_weights(table_, weights);
    require_batch(shape_, batch);
  }

  /// W_lh, or W_out for layer L and head 0, within a buffer laid out by the table.
  template <class T>
  [[nodiscard]] auto weight(std::span<T> buffer, int layer, int head) const {
    using target = std::conditional_t<std::is_const_v<T>, const matrix, matrix>;
    const auto view = table_.view(table_[index{layer} * shape_.heads + head], buffer);
    return Eigen::Map<target>(view.data, view.rows, view.columns);
  }

  [[nodiscard]] trace forward(std::span<const Real> weights, const task::sequence& sequence) const {
    const auto n = static_cast<index>(sequence.tokens.size());
    trace run;
    matrix input = matrix::Zero(n, shape_.input_width());
    for (index i = 0; i < n; ++i) {
      input(i, sequence.tokens[static_cast<std::size_t>(i)]) = 1;
      input(i, shape_.vocabulary + sequence.positions[static_cast<std::size_t>(i)]) = 1;
    }
    run.streams.push_back(input);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      const matrix& stream = run.streams.back();
      matrix next(n, stream.cols() * (shape_.heads + 1));
      next.leftCols(stream.cols()) = stream;
      auto& patterns = run.attention.emplace_back();
      for (int head = 0; head < shape_.heads; ++head) {
        patterns.push_back(causal_softmax(stream * weight(weights, layer, head) * stream.transpose()));
        next.middleCols((head + 1) * stream.cols(), stream.cols()) = patterns.back() * stream;
      }
      run.streams.push_back(std::move(next));
    }
    run.logits = weight(weights, shape_.layers, 0) * run.streams.back().row(n - 1).transpose();
    return run;
  }

  void backward(std::span<const Real> weights, const trace& run, const vector& slope, std::span<Real> gradient) const {
    const matrix& last = run.streams.back();
    weight(gradient, shape_.layers, 0) += slope * last.row(last.rows() - 1);
    matrix above = matrix::Zero(last.rows(), last.cols());
    above.row(last.rows() - 1) = slope.transpose() * weight(weights, shape_.layers, 0);
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      const matrix& stream = run.streams[static_cast<std::size_t>(layer)];
      matrix below = above.leftCols(stream.cols());
      for (int head = 0; head < shape_.heads; ++head) {
        const matrix& pattern = run.attention[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
        const auto block = above.middleCols((head + 1) * stream.cols(), stream.cols());
        const matrix d_pattern = block * stream.transpose();
        const vector mean = pattern.cwiseProduct(d_pattern).rowwise().sum();
        const matrix d_score = pattern.cwiseProduct(d_pattern.colwise() - mean);
        const auto w = weight(weights, layer, head);
        weight(gradient, layer, head) += stream.transpose() * d_score * stream;
        below += pattern.transpose() * block + d_score * stream * w.transpose() + d_score.transpose() * stream * w;
      }
      above = std::move(below);
    }
  }

  [[nodiscard]] static matrix causal_softmax(matrix scores) {
    for (index i = 0; i < scores.rows(); ++i) {
      auto visible = scores.row(i).head(i + 1);
      visible = (visible.array() - visible.maxCoeff()).exp().matrix().eval();
      visible /= visible.sum();
      scores.row(i).tail(scores.cols() - i - 1).setZero();
    }
    return scores;
  }

  [[nodiscard]] static scored score(const vector& logits, int answer, task::loss kind) {
    if (kind == task::loss::squared_error) {
      vector slope = logits;
      slope(answer) -= 1;
      return {slope.squaredNorm() / 2, slope};
    }
    const double top = logits.maxCoeff();
    vector slope = (logits.array() - top).exp();
    const double sum = slope.sum();
    slope /= sum;
    slope(answer) -= 1;
    return {top + std::log(sum) - logits(answer), slope};
  }

  attention_shape shape_;
  parameter_table table_;
};

}  // namespace lindyn::model
