// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Directions of the manifold that a loss doesn't see: those that change nothing, and those of which only differences
/// count.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>

#include <lindyn/circuit/detection/loss_concepts.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/basis.hpp>

namespace lindyn::circuit {

/// A direction of the manifold along which the loss is constant, at whatever point: loss(c) = loss(c + t v) for all c
/// and t. v has one entry (the coordinate is *invisible*), or several (the coordinates are *dependent*).
struct gauge_direction {
  std::vector<index> places;         ///< where v isn't zero
  std::vector<double> coefficients;  ///< v there, the largest 1
  std::string sentence;              ///< what that means

  /// Whether it is a single coordinate, which changes nothing.
  [[nodiscard]] bool invisible() const noexcept { return places.size() == 1; }
};

namespace detail {

/// Gradients of the loss at random points, one a column.
template <double_precision_loss Model>
[[nodiscard]] Eigen::MatrixXd random_gradients(const manifold::basis& basis, Model& model, index count) {
  const index dimension = basis.dimension();
  Eigen::MatrixXd gradients(dimension, count);
  std::vector<double> point(static_cast<std::size_t>(dimension));
  for (index column = 0; column < count; ++column) {
    counter_generator generator(0, static_cast<std::uint64_t>(column));
    for (double& entry : point) entry = 2 * uniform_real(generator) - 1;
    const std::span gradient(gradients.col(column).data(), point.size());
    (void)model.velocity(point, gradient);
    basis.apply_gram(gradient, gradient);  // -dL/dc, whose sign doesn't matter
  }
  return gradients;
}

[[nodiscard]] inline std::string gauge_sentence(const manifold::basis& basis, std::span<const index> places,
                                                std::span<const double> coefficients) {
  if (places.size() == 1) return basis.label(places.front()) + " changes nothing: the loss doesn't depend on it";
  std::string sum;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double c = coefficients[k];
    const bool one = std::abs(std::abs(c) - 1) < 1e-6;
    sum += (c < 0 ? (k == 0 ? "-" : " - ") : (k == 0 ? "" : " + "));
    if (!one) sum += lindyn::detail::to_text(std::round(std::abs(c) * 1e6) / 1e6) + " ";
    sum += basis.label(places[k]);
  }
  return "only differences count: adding a multiple of " + sum + " changes nothing";
}

/// find_gauge, of gradients. (A template, so that only those compile it who use it.)
template <class Matrix>
[[nodiscard]] std::vector<gauge_direction> gauge_of(const manifold::basis& basis, const Matrix& gradients) {
  const manifold::layout& of = basis.layout();
  const double floor = 1e-12 * gradients.cwiseAbs().maxCoeff();
  std::vector<gauge_direction> result;
  const auto add = [&](std::vector<index> places, std::vector<double> coefficients) {
    std::string sentence = gauge_sentence(basis, places, coefficients);
    result.push_back({std::move(places), std::move(coefficients), std::move(sentence)});
  };
  const index attention = of.layer_begin(of.layers() + 1);
  for (index begin = 0; begin < of.dimension();) {
    const index size = begin < attention ? of.selections() : of.token_selections();
    std::vector<index> visible;
    for (index place = begin; place < begin + size; ++place)
      if (gradients.row(place).cwiseAbs().maxCoeff() <= floor)
        add({place}, {1});
      else
        visible.push_back(place);
    begin += size;
    if (visible.size() < 2) continue;
    Matrix block(gradients.cols(), std::ssize(visible));
    Eigen::VectorXd scale(std::ssize(visible));
    for (index k = 0; k < std::ssize(visible); ++k) {
      block.col(k) = gradients.row(visible[static_cast<std::size_t>(k)]).transpose();
      scale[k] = block.col(k).norm();
      block.col(k) /= scale[k];
    }
    Eigen::FullPivLU<Matrix> decomposition;
    decomposition.setThreshold(1e-9);
    decomposition.compute(block);
    if (decomposition.dimensionOfKernel() == 0) continue;
    const Matrix kernel = scale.cwiseInverse().asDiagonal() * decomposition.kernel();
    for (index which = 0; which < kernel.cols(); ++which) {
      Eigen::VectorXd direction = kernel.col(which);
      index largest = 0;
      direction.cwiseAbs().maxCoeff(&largest);
      direction /= direction[largest];
      std::vector<index> places;
      std::vector<double> coefficients;
      for (index k = 0; k < direction.size(); ++k)
        if (std::abs(direction[k]) > 1e-6) {
          places.push_back(visible[static_cast<std::size_t>(k)]);
          coefficients.push_back(direction[k]);
        }
      add(std::move(places), std::move(coefficients));
    }
  }
  return result;
}

}  // namespace detail

/// The directions along which the loss is constant, block by block of the weights.
///
/// The loss must be a real-analytic function of the coordinates, as those of relational_model, plain_model and data_loss
/// are (of rescaled_loss, which isn't where its factor changes, detect takes the model below). If its derivative along v vanishes at a point drawn at
/// random it therefore vanishes everywhere, with probability one: derivatives are taken at more random points (of fixed
/// seeds) than a block has selections, and the null space of a block is that of its gradients there. A coordinate counts
/// as invisible if its derivatives are below 1e-12 of the largest. Directions that take part in several blocks aren't
/// looked for; tests show that there are none for recall on slots with two layers, with two heads or two classes of
/// tokens, and on a ring with one layer and with two.
///
/// What is found depends on the population: a query that opens its block has no predecessor, so that the last layer's
/// `L2[x,1]M` changes nothing; the shifts of a ring beyond the sequence change nothing, and the sum of all visible ones
/// is a constant in each row of the first layer's scores, which the softmax doesn't see.
template <double_precision_loss Model>
[[nodiscard]] std::vector<gauge_direction> find_gauge(const manifold::basis& basis, Model& model) {
  return detail::gauge_of(basis, detail::random_gradients(basis, model, basis.layout().selections() + 4));
}

/// The coordinates of the same loss that are simplest to read: invisible ones are set to zero, and along each dependent
/// direction v in turn c + t v is chosen whose sum of norms |c_i| ||S_i|| is least (so that at least one of its
/// coordinates vanishes), until nothing changes.
/// \param gauge        by find_gauge
/// \param norms        Frobenius norms ||S_i|| of the basis
/// \param coordinates  are changed
inline void fix_gauge(std::span<const gauge_direction> gauge, std::span<const double> norms,
                      std::span<double> coordinates) {
  const auto at = [](auto values, index place) -> auto& { return values[static_cast<std::size_t>(place)]; };
  for (const auto& direction : gauge)
    if (direction.invisible()) at(coordinates, direction.places.front()) = 0;
  struct corner {
    double at, slope;
  };
  std::vector<corner> corners;
  bool changed = true;
  for (int sweep = 0; changed && sweep < 100; ++sweep) {
    changed = false;
    for (const auto& direction : gauge) {
      if (direction.invisible()) continue;
      // sum_i w_i |c_i + t v_i| is convex and piecewise linear in t: its least value is at a weighted median of its
      // corners -c_i / v_i.
      corners.clear();
      double total = 0;
      for (std::size_t k = 0; k < direction.places.size(); ++k) {
        const double v = direction.coefficients[k], slope = at(norms, direction.places[k]) * std::abs(v);
        corners.push_back({-at(coordinates, direction.places[k]) / v, slope});
        total += slope;
      }
      std::ranges::sort(corners, {}, &corner::at);
      double below = 0;
      const auto median = std::ranges::find_if(corners, [&](const corner& which) {
        below += which.slope;
        return below >= total / 2;
      });
      const double shift = median->at;
      if (shift == 0) continue;
      const double rounding = 1e-10 * std::max(std::abs(corners.front().at), std::abs(corners.back().at));
      for (std::size_t k = 0; k < direction.places.size(); ++k) {
        double& c = at(coordinates, direction.places[k]);
        const double v = direction.coefficients[k];
        c = std::abs(-c / v - shift) <= rounding ? 0.0 : c + shift * v;
      }
      changed = true;
    }
  }
}

}  // namespace lindyn::circuit
