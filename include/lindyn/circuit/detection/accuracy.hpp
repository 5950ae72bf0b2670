// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How often a network's answer is right.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <lindyn/core/views.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::circuit {

/// Share of the weighted sequences whose answer has the largest logit. Where k logits share the largest value, but for
/// 1e-9 of it or of 1, an answer among them counts 1 / k: what guessing between them would give.
/// \param network  model::attention_only, or any network with its members
/// \param weights  laid out by network.parameters()
template <class Network>
[[nodiscard]] double accuracy(const Network& network, std::span<const typename Network::scalar> weights,
                              const task::batch_view& batch) {
  const auto logits = network.logits(weights, batch);
  const auto vocabulary = static_cast<std::size_t>(network.shape().vocabulary);
  double right = 0, total = 0;
  for (index place = 0; place < batch.count(); ++place) {
    const auto row = std::span(logits).subspan(static_cast<std::size_t>(place) * vocabulary, vocabulary);
    const double largest = std::ranges::max(row);
    const double least = largest - 1e-9 * std::max(1.0, std::abs(largest));
    const auto tied = std::ranges::count_if(row, [&](double logit) { return logit >= least; });
    total += batch.weight(place);
    if (row[static_cast<std::size_t>(batch.answers[static_cast<std::size_t>(place)])] >= least)
      right += batch.weight(place) / static_cast<double>(tied);
  }
  return right / total;
}

}  // namespace lindyn::circuit
