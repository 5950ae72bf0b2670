// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gradient flow on the manifold, by Boost.Odeint.

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <lindyn/core/progress.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/manifold_loss.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace lindyn::reduced {

/// Options of `flow`. Time is that of gradient flow of the full weights with unit metric: t = steps x learning rate.
struct flow_options {
  double until = 1000;                      ///< end of the flow; infinity is allowed with stop_at_loss
  std::optional<double> stop_at_loss = {};  ///< stop at the first time at which the loss is this low
  double tolerance = 1e-6;                  ///< absolute and relative error of a step
  std::vector<double> times = {};           ///< ascending times at which the coordinates are wanted
  std::int64_t max_steps = 1'000'000;       ///< accepted and rejected ones together
  progress::callback tell = {};             ///< hears of the time reached, if `until` is finite
};

/// \f$\dot c = -G^{-1}\, \partial L / \partial c\f$ from `start`, with G the Gram matrix of the basis. The result's
/// `value` is the loss at its end, `samples` are the coordinates at `times`; status `event` says that the loss met
/// stop_at_loss, at time t. An event costs no evaluations but the few that locate it: the loss is a by-product of the
/// gradient. Throws argument_error for bad options, solver_error when the flow can't go on.
template <manifold_loss Model>
[[nodiscard]] integrate::flow_result flow(Model& model, std::span<const double> start, const flow_options& options) {
  require_extent("start.size()", start.size(), model.dimension());
  const auto velocity = [&](const integrate::state& c, integrate::state& dcdt, double) {
    return model.velocity(c, dcdt);
  };
  progress tell(options.tell);
  std::function<void(const integrate::flow_point&)> observer;
  if (options.tell && std::isfinite(options.until))
    observer = [&](const integrate::flow_point& point) { tell("reduced flow", point.t, options.until); };
  return integrate::flow(velocity, {start.begin(), start.end()}, 0.0, options.until,
                         {.tolerance = options.tolerance,
                          .max_steps = options.max_steps,
                          .stop_at = options.stop_at_loss,
                          .sample_times = options.times,
                          .observer = observer});
}

/// The same for a compile-time manifold and a law with few relational types:
/// `reduced::flow<imir>(law, start, {.until = 1e4})`.
template <class Imir, class Law>
[[nodiscard]] integrate::flow_result flow(const Law& law, const typename Imir::coordinates& start,
                                          const flow_options& options) {
  relational_model model(Imir::basis(law), population::enumerate_types(law).types);
  return flow(model, start, options);
}

}  // namespace lindyn::reduced
