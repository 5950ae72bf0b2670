// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The exact gradient flow of linearised attention, and its masses along it.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/integrate/flow.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_masses.hpp>
#include <lindyn/rates/decay_course.hpp>

namespace lindyn::compare {

/// Masses at one time of a flow, or of a training, where t = learning rate x updates.
struct mass_record {
  double t = 0;                          ///< the time
  double loss = 0;                       ///< there
  model::linearised_masses masses = {};  ///< there
};

/// Options of linearised_flow.
struct linearised_flow_options {
  double until = 1;                ///< end of the flow, from 0
  rates::decay_course decay = {};  ///< lambda(t), of all weights alike
  double tolerance = 1e-8;         ///< relative error of a step
  /// Absolute error of a step. A window of decay can make weights smaller by e^-20, and they grow again from what is left.
  double absolute_tolerance = 1e-15;
  std::int64_t max_steps = 1'000'000;  ///< accepted and rejected ones together
};

/// What linearised_flow tells.
struct linearised_flow_result {
  std::vector<mass_record> records;  ///< the start, and the end of each step
  std::vector<double> weights;       ///< at the end
  std::int64_t evaluations = 0;      ///< of the gradient
};

/// The gradient flow w' = -dL/dw - lambda(t) w of all weights, which is what gradient descent with decay at a small learning
/// rate does. Steps end at the edges of the decay.
/// \param weights  at t = 0
/// Throws as integrate::flow does.
template <class Backend>
[[nodiscard]] linearised_flow_result linearised_flow(const model::linearised_attention<double, Backend>& net,
                                                     std::vector<double> weights,
                                                     const linearised_flow_options& options) {
  require_extent("weights.size()", weights.size(), net.parameters().size());
  model::linearised_workspace<double, Backend> memory;
  const auto velocity = [&](const integrate::state& x, integrate::state& dxdt, double t) {
    const double loss = net.loss_and_gradient(x, dxdt, memory), lambda = options.decay(t);
    for (std::size_t i = 0; i < x.size(); ++i) dxdt[i] = -dxdt[i] - lambda * x[i];
    return loss;
  };
  linearised_flow_result result;
  integrate::flow_result flow =
      integrate::flow(velocity, std::move(weights), 0.0, options.until,
                      {.tolerance = options.tolerance,
                       .absolute_tolerance = options.absolute_tolerance,
                       .max_steps = options.max_steps,
                       .discontinuities = options.decay.edges(),
                       .observer = [&](const integrate::flow_point& here) {
                         result.records.push_back({here.t, here.value, model::masses(net, here.state, memory)});
                       }});
  result.weights = std::move(flow.state);
  result.evaluations = flow.evaluations;
  return result;
}

}  // namespace lindyn::compare
