// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Steps of optimisers on the device, for the formulas of sgd, momentum and adam. In the unit of the kernels.

#include <lindyn/backend/device/launch.hpp>
#include <lindyn/backend/thrust_device.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/formulas.hpp>
#include <lindyn/optimizer/placed_step.hpp>

namespace lindyn::optimizer {

template <class Formula, class Scalar>
void move_entries(backend::thrust_device& on, const placed_step<Formula, Scalar>& step, index size) {
  backend::detail::for_each_entry(on.state(), on.runs(), size, step);
}

/// \cond  instantiations, which need no page
template void move_entries(backend::thrust_device&, const placed_step<sgd_formula<float>, float>&, index);
template void move_entries(backend::thrust_device&, const placed_step<sgd_formula<double>, double>&, index);
template void move_entries(backend::thrust_device&, const placed_step<heavy_ball_formula<float>, float>&, index);
template void move_entries(backend::thrust_device&, const placed_step<heavy_ball_formula<double>, double>&, index);
template void move_entries(backend::thrust_device&, const placed_step<nesterov_formula<float>, float>&, index);
template void move_entries(backend::thrust_device&, const placed_step<nesterov_formula<double>, double>&, index);
template void move_entries(backend::thrust_device&, const placed_step<adam_formula<float>, float>&, index);
template void move_entries(backend::thrust_device&, const placed_step<adam_formula<double>, double>&, index);
/// \endcond

}  // namespace lindyn::optimizer
