// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The discrete map on the manifold: what gradient descent of the full weights does to the coordinates; and any other
/// optimiser on the coordinates.

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/reduced/manifold_loss.hpp>

namespace lindyn::reduced {

/// Told the state before each step, and the one behind the last; `coordinates` live until the call returns.
using descent_observer = std::function<void(index step, double loss, std::span<const double> coordinates)>;

/// Options of `descend`.
struct descent_options {
  index steps = 1000;          ///< how often the map is applied
  double learning_rate = 0.1;  ///< of every step
};

/// Moves the coordinates by an optimiser whose gradient is \f$G^{-1}\, \partial L / \partial c\f$, and returns the last
/// ones.
///
/// That is the gradient of the full weights in coordinates (derived: dL/dW lies on the manifold, <S, dL/dW> = dL/dc,
/// and coordinates are G^-1 <S, .>). With the population gradient a linear optimiser, gradient descent or momentum with
/// any decay, therefore does to the full weights exactly what it does to the coordinates. Adam doesn't: on the weights
/// it normalises each entry by itself, and on the coordinates each selection's common coefficient. The latter never
/// leaves the manifold, and is the optimiser of another, smaller problem.
///
/// \param model    the loss on the manifold
/// \param start    coordinates at the start
/// \param options  steps and learning rate
/// \param observe  told the state before each step and behind the last; may be empty
/// \param rule     the optimiser, of as many entries as the model has coordinates; handed over again, it goes on
/// Throws argument_error for bad options, non_finite_error (naming the step) when the iteration diverges.
template <manifold_loss Model, optimizer::optimizer<double> Optimizer>
std::vector<double> descend(Model& model, std::span<const double> start, const descent_options& options,
                            const descent_observer& observe, Optimizer& rule) {
  require(options.steps >= 0, "steps", options.steps, "not negative");
  require(options.learning_rate > 0 && options.learning_rate <= optimizer::largest_rate, "learning_rate",
          options.learning_rate, "positive, and at most 1e6");
  require_extent("start.size()", start.size(), model.dimension());
  require_finite("start", start);
  std::vector<double> coordinates(start.begin(), start.end()), gradient(coordinates.size());
  for (index step = 0; step <= options.steps; ++step) {
    const double loss = model.velocity(coordinates, gradient);
    if (!std::isfinite(loss))
      throw non_finite_error("loss at step " + std::to_string(step), lindyn::detail::to_text(loss),
                             "finite; take a smaller learning_rate");
    if (observe) observe(step, loss, coordinates);
    if (step == options.steps) break;
    std::ranges::transform(gradient, gradient.begin(), std::negate{});
    rule.step(coordinates, gradient, options.learning_rate);
  }
  return coordinates;
}

/// Iterates \f$c \leftarrow c - \eta\, G^{-1}\, \partial L / \partial c\f$ with learning rate \f$\eta\f$, and returns
/// the last c: the discrete map, which gradient descent of the full weights is exactly, W <- W - learning_rate dL/dW,
/// with the population gradient. Throws as above.
template <manifold_loss Model>
std::vector<double> descend(Model& model, std::span<const double> start, const descent_options& options,
                            const descent_observer& observe = {}) {
  optimizer::sgd<double> rule(model.dimension());
  return descend(model, start, options, observe, rule);
}

}  // namespace lindyn::reduced
