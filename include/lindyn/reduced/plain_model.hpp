// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The relational loss written down directly: one sequence at a time, dense, with centred relations. The oracle of
/// relational_model, and the model for bases that aren't centred.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced {

/// The population loss as a function of the manifold's coordinates, sum over sequences of weight x loss.
///
/// Per sequence of n places, with R^S the n x n centred relations and X_a = P^a, the scores of layer l, head h and the
/// logits are
/// \f[
///   \sum_{a,b,S} \theta_{lhabS}\; X_a R^S X_b^\top , \qquad
///   z_v = \sum_{b,S} c_{bS} \sum_j (X_b)_{\mathrm{last},j}\; S(v, t_j) .
/// \f]
/// A is the causal softmax of the scores, and the copies X become [X, A_1 X, .., A_H X] behind each layer. Time
/// O(sequences x copies^2 x n^3).
/// \tparam Scalar  of the matrices; a parameter lest everyone who includes this compiles it
template <std::floating_point Scalar = double>
class plain_model {
public:
  /// Throws argument_error for no sequences, or tokens, positions or answers that the basis doesn't have.
  template <population::weighted_sequences Sequences>
  plain_model(const manifold::basis& basis, Sequences&& sequences, task::loss loss = task::loss::cross_entropy)
      : basis_(basis), sequences_(population::sequence_table::from(sequences)), loss_(loss) {
    task::require_valid(sequences_.view(), basis.tokens().size(), basis.positions().size());
  }

  /// Number of coordinates.
  [[nodiscard]] index dimension() const noexcept { return basis_.dimension(); }

  /// The loss at these coordinates (dimension() entries).
  [[nodiscard]] double loss(std::span<const double> coordinates) const {
    std::vector<double> unused(static_cast<std::size_t>(dimension()));
    return loss_and_gradient(coordinates, unused);
  }

  /// The loss, and dL/dc in `gradient` (assigned).
  double loss_and_gradient(std::span<const double> coordinates, std::span<double> gradient) const {
    require_extent("coordinates.size()", coordinates.size(), dimension());
    require_extent("gradient.size()", gradient.size(), dimension());
    std::ranges::fill(gradient, 0.0);
    double total = 0;
    for (const task::sequence& sequence : sequences_) total += of_sequence(sequence, coordinates, gradient);
    return total;
  }

  /// The loss, and dc/dt = -G^-1 dL/dc in `velocity`: gradient flow of the full weights with unit metric.
  double velocity(std::span<const double> coordinates, std::span<double> velocity) const {
    const double value = loss_and_gradient(coordinates, velocity);
    basis_.solve_gram(velocity, velocity);
    for (double& entry : velocity) entry = -entry;
    return value;
  }

private:
  using matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// Centred selection s between row points and column points.
  static matrix relation(const manifold::selection_set& set, int s, std::span<const int> rows,
                         std::span<const int> columns) {
    const auto& structure = set.structure();
    matrix result(static_cast<index>(rows.size()), static_cast<index>(columns.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j) {
        const bool inside = set.block(s) == std::pair(structure.orbit(rows[i]), structure.orbit(columns[j]));
        result(static_cast<index>(i), static_cast<index>(j)) =
            (set.between(rows[i], columns[j]) == s ? 1.0 : 0.0) - (inside ? set.mean(s) : 0.0);
      }
    return result;
  }

  double of_sequence(const task::sequence& sequence, std::span<const double> c, std::span<double> dc) const {
    const manifold::layout& layout = basis_.layout();
    const int layers = layout.layers(), heads = layout.heads();
    const auto n = static_cast<index>(sequence.tokens.size());
    std::vector<matrix> relations, readouts;
    std::vector<int> vocabulary(static_cast<std::size_t>(basis_.tokens().size()));
    for (std::size_t v = 0; v < vocabulary.size(); ++v) vocabulary[v] = static_cast<int>(v);
    for (int s = 0; s < basis_.tokens().count(); ++s) {
      relations.push_back(relation(basis_.tokens(), s, sequence.tokens, sequence.tokens));
      readouts.push_back(relation(basis_.tokens(), s, vocabulary, sequence.tokens));
    }
    for (int s = 0; s < basis_.positions().count(); ++s)
      relations.push_back(relation(basis_.positions(), s, sequence.positions, sequence.positions));

    // Forward: copies X and attention A.
    std::vector<matrix> x{matrix::Identity(n, n)}, attention;
    for (int layer = 1; layer <= layers; ++layer) {
      const int copies = layout.copies(layer);
      for (int head = 0; head < heads; ++head) {
        matrix scores = matrix::Zero(n, n);
        for (int a = 0; a < copies; ++a)
          for (int b = 0; b < copies; ++b)
            scores +=
                x[at(a)] * combined(relations, c.subspan(at(layout.block(layer, head, a, b)))) * x[at(b)].transpose();
        attention.push_back(causal_softmax(scores));
        for (int b = 0; b < copies; ++b) x.push_back(attention.back() * x[at(b)]);
      }
    }
    vector logits = vector::Zero(basis_.tokens().size());
    for (std::size_t b = 0; b < x.size(); ++b)
      logits += combined(readouts, c.subspan(at(layout.readout(static_cast<int>(b))))) * x[b].row(n - 1).transpose();

    // The loss, and its derivative by the logits.
    vector dlogits = logits;
    double loss = 0;
    if (loss_ == task::loss::cross_entropy) {
      const double largest = logits.maxCoeff();
      dlogits = (logits.array() - largest).exp();
      loss = std::log(dlogits.sum()) + largest - logits(sequence.answer);
      dlogits /= dlogits.sum();
      dlogits(sequence.answer) -= 1;
    } else {
      dlogits(sequence.answer) -= 1;
      loss = 0.5 * dlogits.squaredNorm();
    }
    dlogits *= sequence.weight;

    // Backward.
    std::vector<matrix> dx(x.size(), matrix::Zero(n, n));
    for (std::size_t b = 0; b < x.size(); ++b) {
      const index place = layout.readout(static_cast<int>(b));
      for (std::size_t s = 0; s < readouts.size(); ++s) {
        const vector weight = readouts[s].transpose() * dlogits;
        dc[at(place) + s] += weight.dot(x[b].row(n - 1));
        dx[b].row(n - 1) += c[at(place) + s] * weight.transpose();
      }
    }
    for (int layer = layers; layer >= 1; --layer) {
      const int copies = layout.copies(layer);
      for (int head = 0; head < heads; ++head) {
        const matrix& a_matrix = attention[at((layer - 1) * heads + head)];
        matrix da = matrix::Zero(n, n);
        for (int b = 0; b < copies; ++b) {
          const matrix& dcopy = dx[at((head + 1) * copies + b)];
          da += dcopy * x[at(b)].transpose();
          dx[at(b)] += a_matrix.transpose() * dcopy;
        }
        const vector mean = a_matrix.cwiseProduct(da).rowwise().sum();
        const matrix dscores = a_matrix.cwiseProduct(da.colwise() - mean);
        for (int a = 0; a < copies; ++a)
          for (int b = 0; b < copies; ++b) {
            const index place = layout.block(layer, head, a, b);
            const matrix theta = combined(relations, c.subspan(at(place)));
            for (std::size_t s = 0; s < relations.size(); ++s)
              dc[at(place) + s] += dscores.cwiseProduct(x[at(a)] * relations[s] * x[at(b)].transpose()).sum();
            dx[at(a)] += dscores * x[at(b)] * theta.transpose();
            dx[at(b)] += dscores.transpose() * x[at(a)] * theta;
          }
      }
    }
    return sequence.weight * loss;
  }

  static std::size_t at(index place) noexcept { return static_cast<std::size_t>(place); }

  static matrix combined(const std::vector<matrix>& parts, std::span<const double> coefficients) {
    matrix sum = coefficients[0] * parts[0];
    for (std::size_t s = 1; s < parts.size(); ++s) sum += coefficients[s] * parts[s];
    return sum;
  }

  static matrix causal_softmax(const matrix& scores) {
    matrix result = matrix::Zero(scores.rows(), scores.cols());
    for (index i = 0; i < scores.rows(); ++i) {
      const auto row = scores.row(i).head(i + 1);
      result.row(i).head(i + 1) = (row.array() - row.maxCoeff()).exp();
      result.row(i) /= result.row(i).sum();
    }
    return result;
  }

  manifold::basis basis_;
  population::sequence_table sequences_;
  task::loss loss_;
};

}  // namespace lindyn::reduced
