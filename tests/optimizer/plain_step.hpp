// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The step of every optimiser as its formula reads, entry by entry and in double: the oracle of the loops over memory.

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>

namespace lindyn::testing {

/// A weight and what is remembered of its gradients.
struct plain_entry {
  double weight = 0, first = 0, second = 0;
};

/// What step t, from 1, subtracts from an entry with that derivative.
inline double plain_step(const optimizer::sgd_options&, plain_entry&, double gradient, double rate, int) {
  return rate * gradient;
}
inline double plain_step(const optimizer::momentum_options& options, plain_entry& entry, double gradient, double rate,
                         int) {
  entry.first = options.momentum * entry.first + gradient;
  return rate * (options.nesterov ? gradient + options.momentum * entry.first : entry.first);
}
inline double plain_step(const optimizer::adam_options& options, plain_entry& entry, double gradient, double rate,
                         int t) {
  entry.first = options.beta1 * entry.first + (1 - options.beta1) * gradient;
  entry.second = options.beta2 * entry.second + (1 - options.beta2) * gradient * gradient;
  const double mean = entry.first / (1 - std::pow(options.beta1, t));
  const double square = entry.second / (1 - std::pow(options.beta2, t));
  return rate * mean / (std::sqrt(square) + options.epsilon);
}

/// Moves the entries within the ranges; the others stay.
template <class Options, class Scalar>
void plain_step(const Options& options, std::vector<plain_entry>& entries, const std::vector<Scalar>& gradient,
                double rate, int t, std::span<const optimizer::range_decay> ranges) {
  for (const auto& [begin, end, decay] : ranges)
    for (index i = begin; i < end; ++i) {
      plain_entry& entry = entries[static_cast<std::size_t>(i)];
      const double derivative = static_cast<double>(gradient[static_cast<std::size_t>(i)]);
      const double kept = decay.keep * entry.weight;
      entry.weight = kept - plain_step(options, entry, derivative + decay.coupled * entry.weight, rate, t);
    }
}

}  // namespace lindyn::testing
