// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The discrete map on the manifold: what gradient descent of the full weights does to the coordinates.

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/reduced/manifold_loss.hpp>

namespace lindyn::reduced {

/// Told the state before each step, and the one behind the last; `coordinates` live until the call returns.
using descent_observer = std::function<void(index step, double loss, std::span<const double> coordinates)>;

/// Options of `descend`.
struct descent_options {
  index steps = 1000;          ///< how often the map is applied
  double learning_rate = 0.1;  ///< of every step
};

/// Iterates \f$c \leftarrow c - \eta\, G^{-1}\, \partial L / \partial c\f$ with learning rate \f$\eta\f$, and returns
/// the last c.
///
/// Gradient descent of the full weights, W <- W - learning_rate dL/dW, with the population gradient is this map
/// exactly: dL/dW lies on the manifold and has the coordinates G^-1 dL/dc there (derived: <S, dL/dW> = dL/dc, and
/// coordinates are G^-1 <S, .>). Throws argument_error for bad options, non_finite_error (naming the step) when the
/// iteration diverges.
template <manifold_loss Model>
std::vector<double> descend(Model& model, std::span<const double> start, const descent_options& options,
                            const descent_observer& observe = {}) {
  require(options.steps >= 0, "steps", options.steps, "not negative");
  require(options.learning_rate > 0 && options.learning_rate <= 1e300, "learning_rate", options.learning_rate,
          "positive, and at most 1e300");
  require_extent("start.size()", start.size(), model.dimension());
  require_finite("start", start);
  std::vector<double> coordinates(start.begin(), start.end()), velocity(coordinates.size());
  for (index step = 0; step <= options.steps; ++step) {
    const double loss = model.velocity(coordinates, velocity);
    if (!std::isfinite(loss))
      throw non_finite_error("loss at step " + std::to_string(step), lindyn::detail::to_text(loss),
                             "finite; take a smaller learning_rate");
    if (observe) observe(step, loss, coordinates);
    if (step == options.steps) break;
    for (std::size_t i = 0; i < coordinates.size(); ++i) coordinates[i] += options.learning_rate * velocity[i];
  }
  return coordinates;
}

}  // namespace lindyn::reduced
