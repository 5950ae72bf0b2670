// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A loss that doesn't hold a circuit's lost strength against it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/circuit/detection/loss_concepts.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/reduced/manifold_loss.hpp>

namespace lindyn::circuit {

/// The least loss of the coordinates times a common factor, one of a few given ones. A reduced::manifold_loss.
///
/// Trained weights spread what a circuit does over many parallel directions: each direction taken out makes attention
/// and answers less certain, and with cross-entropy the loss rises long before an answer becomes wrong. What matters is
/// mostly the overall strength, which this loss lets the circuit have back. Of five-layer networks trained on two-hop
/// recall of four pairs elimination within 0.05 nats leaves 67 to 93 directions by the plain loss, 6 to 12 by this one
/// (five networks; see examples/RESULTS.md).
/// (Our definition; IMIR doesn't say how strengths are treated when units are taken out.)
///
/// The factor of a point is `scale(coordinates)`; `detect` stores those of the circuit and of its core.
///
/// What elimination finds depends on where the list of factors ends. It must end somewhere: a circuit that answers every
/// sequence right has its least loss at an infinite factor, by which even the weakest directions would do. So the factor
/// of a good circuit is most often the largest of the list (it was for each of the networks above), and a longer list
/// may give another circuit. `detection::at_largest_scale` says so.
template <reduced::manifold_loss Model>
class rescaled_loss {
public:
  /// \param model    whose loss it is
  /// \param factors  tried in this order, the first of the least loss counts; without 1 among them the loss of all
  ///                 directions may not be that of the weights
  /// Throws argument_error unless there is a factor, and all are positive and finite.
  explicit rescaled_loss(Model model, std::vector<double> factors = {1, 1.5, 2.25, 3.375, 5.0625})
      : model_(std::move(model)), factors_(std::move(factors)) {
    require(!factors_.empty(), "factors", "an empty list", "at least one factor");
    for (const double factor : factors_)
      require(factor > 0 && factor <= 1e300, "factors", factor, "positive, and at most 1e300");
  }

  /// Number of coordinates.
  [[nodiscard]] index dimension() { return model_.dimension(); }
  /// The least loss of all factors.
  double loss(std::span<const double> coordinates) { return best(coordinates).loss; }
  /// The factor that gives it.
  [[nodiscard]] double scale(std::span<const double> coordinates) { return best(coordinates).factor; }
  /// The largest factor.
  [[nodiscard]] double largest_scale() const { return std::ranges::max(factors_); }
  /// The model whose loss it is.
  [[nodiscard]] Model& model() noexcept { return model_; }
  /// The loss, and dc/dt of the gradient flow of the model at the factor that gives it, by the coordinates.
  double velocity(std::span<const double> coordinates, std::span<double> velocity) {
    const double factor = scale(coordinates);
    stretch(coordinates, factor);
    const double value = model_.velocity(scaled_, velocity);
    for (double& entry : velocity) entry *= factor;
    return value;
  }

private:
  struct outcome {
    double loss, factor;
  };

  void stretch(std::span<const double> coordinates, double factor) {
    scaled_.resize(coordinates.size());
    std::ranges::transform(coordinates, scaled_.begin(), [factor](double c) { return factor * c; });
  }

  [[nodiscard]] outcome best(std::span<const double> coordinates) {
    outcome result{std::numeric_limits<double>::quiet_NaN(), factors_.front()};
    for (const double factor : factors_) {
      stretch(coordinates, factor);
      const double value = detail::loss_at(model_, scaled_, spare_);
      if (value < result.loss || std::isnan(result.loss)) result = {value, factor};
    }
    return result;
  }

  Model model_;
  std::vector<double> factors_, scaled_, spare_;
};

}  // namespace lindyn::circuit
