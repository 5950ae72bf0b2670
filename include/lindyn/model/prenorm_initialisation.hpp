// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Initial weights of a pre-norm transformer, by name.

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/prenorm_shape.hpp>

namespace lindyn::model {

/// How wide the normal distribution of the weights of linear maps is, whose number of inputs is d_in.
enum class initialisation_rule {
  scaled,    ///< N(0, gamma^2 / d_in): a small gamma is a small start (Ali, arXiv 2605.04396)
  exponent,  ///< standard deviation d_in^-gamma: a large gamma is a small start (arXiv 2405.05409, 2501.08537)
  gpt2,      ///< N(0, .02^2), over sqrt(2 L) for `attn.o` and `mlp.fc2`, which add to the stream; gamma isn't used
};

/// The rule's name.
[[nodiscard]] constexpr std::string_view name(initialisation_rule rule) noexcept {
  switch (rule) {
    case initialisation_rule::scaled:
      return "scaled";
    case initialisation_rule::exponent:
      return "exponent";
    case initialisation_rule::gpt2:
      return "gpt2";
  }
  return {};
}

/// Options of initial_weights. As the windows experiment: {.gamma = g, .embedding_scale = g / 8}.
struct initialisation {
  initialisation_rule rule = initialisation_rule::scaled;  ///< of all linear maps, the readout's too
  double gamma = 1;                                        ///< what the rule makes of it; not negative
  double embedding_scale = 0.02;  ///< standard deviation of both embeddings; a tied readout is the embedding
  std::uint64_t seed = 0;         ///< of the streams from weight_stream on
};

/// Weights draw from the streams of their seed that count from here, one a matrix; batches count from 0, splits from the
/// last down: equal seeds do no harm.
inline constexpr std::uint64_t weight_stream = std::uint64_t{1} << 63;

/// Throws argument_error, naming the member, for options that make no sense.
inline void require_valid(const initialisation& options) {
  require_enumerator("initialisation.rule", options.rule);
  require(options.gamma >= 0 && options.gamma <= 1e6, "initialisation.gamma", options.gamma, "in [0, 10^6]");
  require(options.embedding_scale >= 0 && options.embedding_scale <= 1e6, "initialisation.embedding_scale",
          options.embedding_scale, "in [0, 10^6]");
}

/// Weights to start from, laid out by prenorm_parameters(shape): biases are 0, gains 1. Every weight is a function of
/// the seed, its tensor and its place therein alone, whether there are biases or not; float is double, rounded.
template <class Scalar>
[[nodiscard]] std::vector<Scalar> initial_weights(const prenorm_shape& shape, const initialisation& options) {
  require_valid(options);
  const parameter_table table = prenorm_parameters(shape);
  std::vector<Scalar> result(static_cast<std::size_t>(table.size()));
  const auto deviation = [&](const parameter& which) {
    const std::string_view full = which.name;
    if (full.ends_with("_emb")) return options.embedding_scale;
    const auto inputs = static_cast<double>(which.columns);
    switch (options.rule) {
      case initialisation_rule::scaled:
        return options.gamma / std::sqrt(inputs);
      case initialisation_rule::exponent:
        return std::pow(inputs, -options.gamma);
      case initialisation_rule::gpt2:
        break;
    }
    const bool adds = full.ends_with("attn.o.weight") || full.ends_with("mlp.fc2.weight");
    return adds ? 0.02 / std::sqrt(2.0 * shape.layers) : 0.02;
  };
  std::uint64_t stream = weight_stream;
  for (const parameter& which : table) {
    const auto values = table.view(which, std::span<Scalar>(result));
    if (which.vector) {
      const bool gain = which.name.ends_with(".weight");
      for (Scalar& value : values) value = gain ? Scalar(1) : Scalar(0);
      continue;
    }
    counter_generator generator(options.seed, stream++);
    const double scale = deviation(which);
    for (Scalar& value : values) value = static_cast<Scalar>(scale * standard_normal(generator));
  }
  return result;
}

}  // namespace lindyn::model
