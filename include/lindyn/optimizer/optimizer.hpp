// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an optimiser is, and what all of ours have in common.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise.hpp>
#include <lindyn/optimizer/memory.hpp>

namespace lindyn::optimizer {

/// Moves a flat buffer of numbers against a gradient, one step a call, and keeps what it remembers between steps. The
/// numbers may be the weights of a network or coordinates on a manifold.
///
/// `linear` says that a step is a linear function of the weights and of all gradients so far, with the same
/// coefficients for every entry. Such an optimiser stays in every linear subspace that holds the start and the
/// gradients; an elementwise one such as Adam doesn't.
template <class O, class Scalar>
concept optimizer = std::floating_point<Scalar> &&
    requires(O& rule, std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
  rule.step(weights, gradient, learning_rate);
  { O::linear } -> std::convertible_to<bool>;
};

/// The optimiser that options describe.
template <class Options, class Scalar>
using rule_of = typename Options::template rule<Scalar>;

/// Options from which an optimiser can be made once the number of weights is known: sgd_options, adam_options, ..
template <class Options, class Scalar>
concept optimizer_options = optimizer<rule_of<Options, Scalar>, Scalar> &&
    requires(index size, const Options& options) {
  rule_of<Options, Scalar>(size, options);
};

/// An optimiser whose training can be interrupted and resumed: what it remembers is open to whoever writes checkpoints,
/// and decay may differ from range to range of the buffer.
///
///     for (const auto& [name, values] : rule.state()) write("adam." + std::string(name), values);
///     rule.restore(arrays, steps);  // the next step is that of a rule which was never interrupted, bit for bit
template <class O, class Scalar>
concept resumable_optimizer = optimizer<O, Scalar> && std::equality_comparable<O> && std::copyable<O> &&
    requires(O& rule, const O& seen, std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate,
             std::span<const range_decay> ranges, std::span<const state_array<const Scalar>> arrays,
             std::int64_t steps) {
  rule.step(weights, gradient, learning_rate, ranges);
  rule.step(weights, gradient, learning_rate, ranges, one_thread{});
  { rule.state()[0] } -> std::convertible_to<state_array<Scalar>>;
  { seen.state()[0] } -> std::convertible_to<state_array<const Scalar>>;
  { seen.steps() } -> std::same_as<std::int64_t>;
  rule.restore(arrays, steps);
};

}  // namespace lindyn::optimizer
