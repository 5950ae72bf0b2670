// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An objective for tests that takes no time: half the squared distance from targets that each step draws anew.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::testing {

/// Two matrices and a vector, with gaps between them.
inline parameter_table bowl_table() {
  parameter_table table(8);
  table.append("embedding", 3, 5);
  table.append("weight", 2, 5);
  table.append_vector("bias", 3);
  return table;
}

/// 1/2 |w - y|^2 with y normal, a function of (seed, step).
template <class Scalar>
struct noisy_bowl {
  using scalar = Scalar;
  struct workspace {};

  [[nodiscard]] const parameter_table& parameters() const noexcept { return table; }
  task::evaluation loss_and_gradient(index step, std::span<const Scalar> weights, std::span<Scalar> gradient,
                                     workspace&) const {
    counter_generator generator(seed, static_cast<std::uint64_t>(step));
    double loss = 0;
    for (const parameter& which : table)
      for (index place = which.offset; place < which.offset + which.size(); ++place) {
        const auto at = static_cast<std::size_t>(place);
        const double slope = height * (static_cast<double>(weights[at]) - standard_normal(generator));
        gradient[at] = static_cast<Scalar>(slope);
        loss += slope * slope / height / 2;
      }
    return {.loss = loss, .correct = step, .total = 100};
  }
  void describe(train::settings& to) const { train::detail::append(to, "seed", seed); }

  parameter_table table = bowl_table();
  std::uint64_t seed = 1;
  double height = 1;  ///< multiplies loss and gradient
};

/// Weights to start from, zero in the gaps.
template <class Scalar>
std::vector<Scalar> bowl_start() {
  const parameter_table table = bowl_table();
  std::vector<Scalar> weights(static_cast<std::size_t>(table.size()));
  for (const parameter& which : table)
    for (Scalar& weight : table.view(which, std::span(weights)))
      weight = static_cast<Scalar>(std::sin(static_cast<double>(&weight - weights.data() + 1)));
  return weights;
}

}  // namespace lindyn::testing
