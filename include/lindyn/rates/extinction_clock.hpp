// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How fast L2 through Adam extinguishes weights, below which size they don't come back, and what noise keeps of them.

#include <cmath>

#include <lindyn/core/errors.hpp>

namespace lindyn::rates {

/// Weights under Adam with `coupled_l2`, whose gradient is mostly noise. Adam divides lambda w by the gradient's root mean
/// square s, as long as lambda w is small beside it: dw/dt = -learning_rate lambda w / s per update. In a product of
/// factors that shrink alike, s is that of the other factors and shrinks as well, s = s_0 (w / w_0)^q with q their number:
/// then w reaches 0 after a finite time, in place of the 1 / (learning_rate lambda) updates that `lr_scaled` takes to the
/// e-th part. Derived for this library. All members throw argument_error, naming it, for a number that isn't finite, and
/// unless the others are positive and other_factors isn't negative.
struct coupled_noise {
  double learning_rate = 3e-3;  ///< eta
  double lambda = 4e-3;         ///< of coupled_l2
  double gradient_rms = 1e-3;   ///< s_0 = sqrt(v), at the size w_0
  double other_factors = 1;     ///< q, 1 for the two matrices of a perceptron

  /// s_0 / (eta lambda), updates: the unit of the clock.
  [[nodiscard]] double unit() const {
    require_positive("learning_rate", learning_rate);
    require_positive("lambda", lambda);
    require_positive("gradient_rms", gradient_rms);
    require_not_negative("other_factors", other_factors);
    return gradient_rms / (learning_rate * lambda);
  }
  /// Updates from w_0 down to kept w_0: unit (1 - kept^q) / q, and unit ln(1 / kept) for q = 0.
  /// \param kept  throws argument_error unless it is in [0, 1], and positive for q = 0
  [[nodiscard]] double updates_to(double kept) const {
    require(kept >= 0 && kept <= 1 && (kept > 0 || other_factors > 0), "kept", kept,
            "in [0, 1], and positive without other factors");
    return unit() * (other_factors > 0 ? (1 - std::pow(kept, other_factors)) / other_factors : -std::log(kept));
  }
  /// Share of w_0 that is left after so many updates.
  /// \param updates  throws argument_error if negative
  [[nodiscard]] double kept_after(double updates) const {
    require(updates >= 0, "updates", updates, "not negative");
    const double passed = updates / unit();
    if (other_factors > 0) return std::pow(std::fmax(0.0, 1 - other_factors * passed), 1 / other_factors);
    return std::exp(-passed);
  }
};

/// Size of weights that noise alone holds against decay under Adam: d(w^2)/dt = learning_rate^2 - 2 shrinkage w^2 per
/// update. Momentum makes a step smaller, sqrt((1 - beta1) / (1 + beta1)) of the learning rate in root mean square, but
/// consecutive steps alike, so that over many they spread weights by learning_rate^2 an update, as steps of the learning
/// rate without a direction would. Derived for this library. Throws argument_error unless both are positive and finite.
/// \param learning_rate  eta
/// \param shrinkage      share that decay takes per update: lambda (`absolute`), learning_rate lambda (`lr_scaled`)
[[nodiscard]] inline double noise_floor(double learning_rate, double shrinkage) {
  require_positive("learning_rate", learning_rate);
  require_positive("shrinkage", shrinkage);
  return learning_rate / std::sqrt(2 * shrinkage);
}

/// The same under `coupled_l2`, in a product of two factors of one size: the shrinkage is learning_rate lambda / s, and
/// s = gradient_per_weight w. The floor is learning_rate gradient_per_weight / (2 lambda): it falls with the gradient,
/// where decoupled decay's doesn't. Throws argument_error unless all are positive and finite.
[[nodiscard]] inline double coupled_noise_floor(double learning_rate, double lambda, double gradient_per_weight) {
  require_positive("learning_rate", learning_rate);
  require_positive("lambda", lambda);
  require_positive("gradient_per_weight", gradient_per_weight);
  return learning_rate * gradient_per_weight / (2 * lambda);
}

/// Size below which L2 in the gradient wins: of a product of p equal factors x the gradient is pull x^(p-1), which exceeds
/// lambda x iff x^(p-2) > lambda / pull. Any preconditioner leaves that as it is, Adam's too.
/// \param degree  p, above 2: throws argument_error otherwise. At p = 2 no size decides, but whether pull > lambda
/// \param lambda  of the decay in the gradient
/// \param pull    of the loss, positive
[[nodiscard]] inline double survival_size(double degree, double lambda, double pull) {
  require(degree > 2 && std::isfinite(degree), "degree", degree, "above 2, and finite");
  require_not_negative("lambda", lambda);
  require_positive("pull", pull);
  return std::pow(lambda / pull, 1 / (degree - 2));
}

}  // namespace lindyn::rates
