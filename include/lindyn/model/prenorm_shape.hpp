// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sizes, options and parameters of a pre-norm transformer.

#include <string>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>

namespace lindyn::model {

/// Sizes and options of a pre-norm transformer.
struct prenorm_shape {
  int vocabulary = 0;  ///< V_in, tokens that it reads
  int outputs = 0;     ///< V_out, answers that it chooses from
  int context = 0;     ///< n, places; sequences may be shorter
  int width = 0;       ///< d, of the residual stream
  int heads = 0;       ///< H in every layer; they divide the width
  int layers = 0;      ///< L
  int hidden = 0;      ///< d_ff, units of every multilayer perceptron

  backend::activation activation = backend::activation::gelu;  ///< of those units
  bool causal = true;                                          ///< places see those up to themselves; otherwise all
  bool biases = true;      ///< the linear maps have biases (normalisation always has gain and bias)
  bool key_bias = true;    ///< with `biases`, the keys have one too: it cancels in the softmax, so that its gradient is
                           ///< rounding alone, which Adam enlarges to full steps
  bool tied_head = false;  ///< the token embedding is the readout too

  /// Whether everything agrees.
  friend constexpr bool operator==(const prenorm_shape&, const prenorm_shape&) noexcept = default;
};

/// Number of parameters: entries of all weights, biases, gains and embeddings. A tied embedding counts once.
[[nodiscard]] constexpr index parameter_count(const prenorm_shape& shape) noexcept {
  const index width = shape.width, hidden = shape.hidden, outputs = shape.outputs;
  const index norm = 2 * width;
  const index weights = 4 * width * width + 2 * width * hidden;
  const index biases = shape.biases ? (shape.key_bias ? 5 : 4) * width + hidden : 0;
  const index head = (shape.tied_head ? 0 : outputs * width) + (shape.biases ? outputs : 0);
  return (shape.vocabulary + shape.context) * width + shape.layers * (2 * norm + weights + biases) + norm + head;
}

/// Throws argument_error, naming the member, unless the shape is one of a network that can be built and addressed.
inline void require_valid(const prenorm_shape& shape) {
  constexpr int most = 1 << 24;
  const auto in_range = [](const char* argument, int size) {
    require(size >= 1 && size <= most, argument, size, "at least 1, and at most 2^24");
  };
  in_range("shape.vocabulary", shape.vocabulary);
  in_range("shape.outputs", shape.outputs);
  in_range("shape.context", shape.context);
  in_range("shape.width", shape.width);
  in_range("shape.heads", shape.heads);
  require(shape.layers >= 1 && shape.layers <= 4096, "shape.layers", shape.layers, "in [1, 4096]");
  in_range("shape.hidden", shape.hidden);
  require(shape.width % shape.heads == 0, "shape.width", shape.width,
          "divisible by shape.heads = " + std::to_string(shape.heads));
  require(shape.activation == backend::activation::gelu || shape.activation == backend::activation::relu,
          "shape.activation", static_cast<int>(shape.activation), "gelu or relu");
  require(!shape.tied_head || shape.vocabulary == shape.outputs, "shape.outputs", shape.outputs,
          "shape.vocabulary = " + std::to_string(shape.vocabulary) + ", as the head is tied to the embedding");
  const double entries = 1.0 * shape.width *
                         (1.0 * shape.vocabulary + shape.context + shape.outputs +
                          shape.layers * (4.0 * shape.width + 2.0 * shape.hidden + 9.0));
  require(entries <= 0x1p40, "shape", entries, "small enough for at most 2^40 parameters");
}

/// The parameters in their order: weights are (outputs x inputs), each begins at a multiple of 16 entries.
///
/// | name | extents |
/// |---|---|
/// | `tok_emb`, `pos_emb` | V_in x d, n x d |
/// | `blocks.l.ln1.weight`, `blocks.l.ln1.bias` | d; l from 0 |
/// | `blocks.l.attn.q.weight`, `.bias`; the same for `k`, `v`, `o` | d x d, d |
/// | `blocks.l.ln2.weight`, `blocks.l.ln2.bias` | d |
/// | `blocks.l.mlp.fc1.weight`, `.bias`; `blocks.l.mlp.fc2.weight`, `.bias` | d_ff x d, d_ff; d x d_ff, d |
/// | `ln_f.weight`, `ln_f.bias` | d |
/// | `head.weight`, `head.bias` | V_out x d, V_out |
[[nodiscard]] inline parameter_table prenorm_parameters(const prenorm_shape& shape) {
  require_valid(shape);
  parameter_table table(16);
  const auto norm = [&](const std::string& name) {
    table.append_vector(name + ".weight", shape.width);
    table.append_vector(name + ".bias", shape.width);
  };
  const auto linear = [&](const std::string& name, int outputs, int inputs, bool bias) {
    table.append(name + ".weight", outputs, inputs);
    if (bias) table.append_vector(name + ".bias", outputs);
  };
  table.append("tok_emb", shape.vocabulary, shape.width);
  table.append("pos_emb", shape.context, shape.width);
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::string block = "blocks." + std::to_string(layer);
    norm(block + ".ln1");
    linear(block + ".attn.q", shape.width, shape.width, shape.biases);
    linear(block + ".attn.k", shape.width, shape.width, shape.biases && shape.key_bias);
    linear(block + ".attn.v", shape.width, shape.width, shape.biases);
    linear(block + ".attn.o", shape.width, shape.width, shape.biases);
    norm(block + ".ln2");
    linear(block + ".mlp.fc1", shape.hidden, shape.width, shape.biases);
    linear(block + ".mlp.fc2", shape.width, shape.hidden, shape.biases);
  }
  norm("ln_f");
  if (!shape.tied_head) table.append("head.weight", shape.outputs, shape.width);
  if (shape.biases) table.append_vector("head.bias", shape.outputs);
  return table;
}

/// Sizes of a network that are given at run time.
struct run_time_sizes {};

/// Sizes of a network as part of its type, so that shapes which make no sense don't compile, the number of parameters is
/// known at compile time, and no other shape is taken. The evaluation reads its sizes at run time all the same: time goes
/// to kernels of whole matrices, whose inner loops have the extents of registers, whatever the network's sizes are.
template <prenorm_shape Shape>
struct fixed_sizes {
  static_assert(Shape.vocabulary >= 1 && Shape.outputs >= 1 && Shape.context >= 1 && Shape.width >= 1 &&
                    Shape.heads >= 1 && Shape.layers >= 1 && Shape.hidden >= 1,
                "lindyn: fixed_sizes needs all seven sizes of the shape, each at least 1.");
  static_assert(Shape.width % (Shape.heads < 1 ? 1 : Shape.heads) == 0,
                "lindyn: the heads of a transformer must divide its width.");
  static_assert(!Shape.tied_head || Shape.vocabulary == Shape.outputs,
                "lindyn: a tied head needs as many outputs as tokens.");
  static constexpr prenorm_shape shape = Shape;                       ///< all sizes and options
  static constexpr index parameters = model::parameter_count(Shape);  ///< number of parameters
};

}  // namespace lindyn::model
