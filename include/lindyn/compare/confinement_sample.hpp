// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How far the population gradient leaves the manifold, estimated without bias from gradients of independent batches.

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <lindyn/compare/confinement_leak.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/manifold/basis.hpp>

namespace lindyn::compare::detail {

/// Gradients g_b = g + noise of B independent batches with off-manifold parts r_b.
///
/// The noise leaves the manifold as batch^(-1/2) even where g doesn't, so that ||mean r_b||^2 is biased. The products
/// <r_a, r_b> of different batches aren't: their mean
/// \f[ U = \frac{\lVert \sum_b r_b \rVert^2 - \sum_b \lVert r_b \rVert^2}{B (B - 1)} \f]
/// estimates ||off-manifold part of g||^2, and may be negative. Its standard error is the jackknife's, over leaving out
/// one batch (Efron and Stein 1981: it is biased upwards if at all). The on-manifold part of g has few dimensions; the
/// norm of the batches' mean serves for it.
class batch_gradients {
public:
  batch_gradients(const manifold::basis& basis, int batches)
      : basis_(basis),
        rests_(basis.parameters().size(), batches),
        sum_(static_cast<std::size_t>(basis.parameters().size())) {
    require(batches >= 3, "batches", batches, "at least 3");
  }

  /// Takes the gradient of the next batch.
  void add(std::span<const double> gradient) {
    const std::vector<double> rest = basis_.project(gradient).off_manifold;
    rests_.col(count_++) = Eigen::Map<const Eigen::VectorXd>(rest.data(), rests_.rows()).cast<float>();
    std::ranges::transform(sum_, gradient, sum_.begin(), std::plus{});
  }

  /// The estimate for every weight, once all batches are in.
  /// \param deviations the leak is told from none where it exceeds so many standard errors
  [[nodiscard]] std::vector<weight_leak> leaks(double deviations) const {
    const manifold::projection mean = basis_.project(sum_);  // of the sum; its norms are divided by B below
    std::vector<double> norms;
    std::vector<estimate> estimates;
    for (index w = 0; w < basis_.parameters().count(); ++w) {
      const auto& [name, norm, off] = mean.weights[static_cast<std::size_t>(w)];
      const auto rest = rests_.middleRows(basis_.parameters()[w].offset, basis_.parameters()[w].size());
      estimates.push_back(squared_norm(rest));
      const double on = std::sqrt(std::max(0.0, norm * norm - off * off)) / batches();
      norms.push_back(std::hypot(on, std::sqrt(std::max(0.0, estimates.back().value))));
    }
    norms = reference_norms(std::move(norms));
    std::vector<weight_leak> result;
    for (std::size_t w = 0; w < norms.size(); ++w) {
      const auto& [value, error] = estimates[w];
      constexpr double rounding = 1e-6;  // of the off-manifold parts, which are kept as floats
      result.push_back({mean.weights[w].name, std::sqrt(std::max(0.0, value)) / norms[w], std::sqrt(error) / norms[w],
                        std::max(rounding, std::sqrt(deviations * error) / norms[w])});
    }
    return result;
  }

  /// The same estimate for the square of every entry, of which a part of a weight adds up some.
  [[nodiscard]] std::vector<double> squares() const {
    std::vector<double> result(sum_.size());
    for (index i = 0; i < rests_.rows(); ++i) {
      const auto entries = rests_.row(i).cast<double>();
      const double sum = entries.sum();
      result[static_cast<std::size_t>(i)] = (sum * sum - entries.squaredNorm()) / (batches() * (batches() - 1));
    }
    return result;
  }

private:
  struct estimate {
    double value, standard_error;
  };

  [[nodiscard]] double batches() const noexcept { return static_cast<double>(rests_.cols()); }

  /// U and its standard error: leaving batch b out of U takes away the products R_b = <r_b, sum r> - ||r_b||^2 twice.
  template <class Rests>
  [[nodiscard]] estimate squared_norm(const Rests& rests) const {
    const double b = batches();
    const Eigen::VectorXd sum = rests.template cast<double>().rowwise().sum();
    const Eigen::VectorXd products = (rests.template cast<double>().transpose() * sum) -
                                     rests.template cast<double>().colwise().squaredNorm().transpose();
    const Eigen::ArrayXd left_out = (products.sum() - 2 * products.array()) / ((b - 1) * (b - 2));
    const double variance = (b - 1) / b * (left_out - left_out.mean()).square().sum();
    return {products.sum() / (b * (b - 1)), std::sqrt(variance)};
  }

  const manifold::basis& basis_;
  Eigen::MatrixXf rests_;  // parameters x batches
  std::vector<double> sum_;
  index count_ = 0;
};

}  // namespace lindyn::compare::detail
