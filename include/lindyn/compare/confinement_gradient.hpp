// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The exact population gradient of the full network for the certificate.

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::compare::detail {

/// Says how to go on without enumeration.
[[nodiscard]] inline too_many_error too_many_sequences(const std::string& what, double count, double bound) {
  return {what, count, bound,
          "raise options.bound, take fewer pairs, tokens or positions, or use the methods symmetry and sample, whose "
          "cost doesn't grow with their number"};
}

/// The gradient of the population loss, summed over the whole law; returns the number of sequences visited.
/// Throws too_many_error when there are more than `bound`.
template <population::data_law Law, class Report>
double enumerated_gradient(const Law& law, const model::attention_only<>& net, std::span<const double> weights,
                           task::loss kind, double bound, int threads, std::span<double> gradient, Report&& report) {
  constexpr index portion = 4096;  // sequences held in memory at a time
  model::attention_only<>::workspace scratch(threads);
  std::vector<double> part(gradient.size());
  population::sequence_table table(law.sizes().length);
  std::ranges::fill(gradient, 0.0);
  double visited = 0;
  const auto add = [&] {
    if (table.size() == 0) return;
    net.loss_and_gradient(weights, table, kind, part, scratch);
    std::ranges::transform(part, gradient, gradient.begin(), std::plus{});
    table = population::sequence_table(law.sizes().length);
    report(visited);
  };
  population::enumerate(law, [&](const task::sequence& sequence) {
    if (++visited > bound) throw too_many_sequences("or more sequences", visited, bound);
    table.append(sequence);
    if (table.size() == portion) add();
  });
  add();
  return visited;
}

}  // namespace lindyn::compare::detail
