// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The noisy bowl of several runs, in memory that the host can't touch.

#include <cstddef>
#include <span>

#include <lindyn/core/views.hpp>
#include <lindyn/task/evaluation.hpp>

#include "hidden_memory.hpp"
#include "noisy_bowl.hpp"

namespace lindyn::testing {

/// noisy_bowl, of which one pass evaluates four runs. At `fault_step` one of its derivatives is `fault`.
struct batched_bowl : noisy_bowl<double> {
  struct workspace {
    hidden_memory where{4};
    hidden_memory& on() { return where; }
  };

  task::evaluation loss_and_gradient(index step, std::span<const double> weights, std::span<double> gradient,
                                     workspace&) const {
    const open_pages opened;
    noisy_bowl<double>::workspace none;
    const auto result = noisy_bowl<double>::loss_and_gradient(step, weights, gradient, none);
    if (step == fault_step) gradient[2] = fault;
    return result;
  }
  static void losses_and_gradients(std::span<batched_bowl> runs, std::span<const index> steps,
                                   std::span<const double> weights, std::span<double> gradients,
                                   std::span<task::evaluation> evaluations, workspace& memory, int) {
    const std::size_t size = weights.size() / runs.size();
    for (std::size_t run = 0; run < runs.size(); ++run)
      evaluations[run] = runs[run].loss_and_gradient(steps[run], weights.subspan(run * size, size),
                                                     gradients.subspan(run * size, size), memory);
  }

  index fault_step = -1;
  double fault = 0;
};

}  // namespace lindyn::testing
