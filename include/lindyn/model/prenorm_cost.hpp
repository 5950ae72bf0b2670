// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an evaluation costs at least: the additions and multiplications of its products.

#include <lindyn/core/views.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/prenorm_shape.hpp>

namespace lindyn::model {

/// Floating-point operations of all matrix products of a plan's forward pass, each multiplication and each addition one
/// of them. The backward pass has twice as many, as each product has two derivatives.
[[nodiscard]] inline double forward_operations(const prenorm_shape& shape, const evaluation_plan& plan) {
  const double width = shape.width;
  double products = static_cast<double>(plan.leaves()) * width * shape.outputs;
  for (int number = 0; number < plan.layers(); ++number) {
    const layer_rows rows = plan.rows(number);
    const auto inputs = static_cast<double>(rows.inputs), outputs = static_cast<double>(rows.outputs);
    const double queries = rows.gathers_queries() ? outputs : inputs;
    double pairs = 0;
    for (const backend::row_segment& segment : rows.visible.segments)
      pairs += static_cast<double>(segment.end - segment.begin) * segment.visible;
    products +=
        (queries + 2 * inputs + outputs) * width * width + 2 * outputs * width * shape.hidden + 2 * pairs * width;
  }
  return 2 * products;
}

/// Those of the forward and the backward pass: what `loss_and_gradient` has to do.
[[nodiscard]] inline double step_operations(const prenorm_shape& shape, const evaluation_plan& plan) {
  return 3 * forward_operations(shape, plan);
}

}  // namespace lindyn::model
