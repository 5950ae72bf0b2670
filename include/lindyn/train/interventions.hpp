// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is done to a training from outside, between two steps.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/number.hpp>

namespace lindyn::train {

/// Something that is done to a training between two steps, before observers are told of that state.
/// \tparam Trainer  train::trainer
template <class Trainer>
struct intervention {
  index step = 0;                     ///< number of steps made before it
  std::string name;                   ///< what is done: two of one name at one step are taken for the same
  std::function<void(Trainer&)> act;  ///< does it, and tells the trainer where it has changed the weights
};

/// The optimiser forgets its moments, and counts its steps anew.
/// \param step  number of steps made before
template <class Trainer>
[[nodiscard]] intervention<Trainer> forget_moments(index step) {
  return {step, "forget_moments", [](Trainer& training) {
            const auto& rule = training.rule();
            training.replace_rule(std::remove_cvref_t<decltype(rule)>(training.parameters().size(), rule.options()));
          }};
}

/// Some weights are multiplied by a factor; the optimiser remembers what it did.
/// \param step      number of steps made before
/// \param matrices  names of the parameters
/// \param factor    not negative
/// Throws argument_error for the factor; the intervention does, for a name that the network doesn't have.
template <class Trainer>
[[nodiscard]] intervention<Trainer> scale_weights(index step, std::vector<std::string> matrices, double factor) {
  require(factor >= 0 && factor <= 1e6, "factor", factor, "not negative, and at most 1e6");
  std::string name = "scale_weights by " + io::number_text(factor) + ":";
  for (const std::string& matrix : matrices) name += " " + matrix;
  return {step, std::move(name), [matrices = std::move(matrices), factor](Trainer& training) {
            using scalar = typename Trainer::scalar;
            std::vector<scalar> weights(training.weights().begin(), training.weights().end());
            for (const std::string& matrix : matrices)
              for (scalar& weight : training.parameters().view(matrix, weights))
                weight = static_cast<scalar>(factor * static_cast<double>(weight));
            training.restart(training.steps(), weights, training.rule(), training.observed());
          }};
}

}  // namespace lindyn::train
