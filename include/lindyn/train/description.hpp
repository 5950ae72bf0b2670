// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Our networks and optimisers as settings. One of your own is described by an overload of `describe` that is found by
/// the type of its shape, or options.

#include <lindyn/backend/backend.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/model/prenorm_shape.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/train/settings.hpp>

namespace lindyn::train {

namespace detail {

/// The decay of an optimiser's own.
inline void describe(settings& to, const optimizer::weight_decay& decay) {
  append(to, "optimizer.decay.rate", decay.rate);
  append(to, "optimizer.decay.mode", name(decay.mode));
  append(to, "optimizer.decay.base_learning_rate", decay.base_learning_rate);
}
/// \{
/// An optimiser by its options.
inline void describe(settings& to, const optimizer::sgd_options& options) {
  append(to, "optimizer", "sgd");
  describe(to, options.decay);
}
inline void describe(settings& to, const optimizer::momentum_options& options) {
  append(to, "optimizer", options.nesterov ? "nesterov" : "momentum");
  append(to, "optimizer.momentum", options.momentum);
  describe(to, options.decay);
}
inline void describe(settings& to, const optimizer::adam_options& options) {
  append(to, "optimizer", "adam");
  append(to, "optimizer.beta1", options.beta1);
  append(to, "optimizer.beta2", options.beta2);
  append(to, "optimizer.epsilon", options.epsilon);
  describe(to, options.decay);
}
/// \}

/// \{
/// A network by its shape.
inline void describe(settings& to, const model::attention_shape& shape) {
  append(to, "shape.vocabulary", shape.vocabulary);
  append(to, "shape.positions", shape.positions);
  append(to, "shape.layers", shape.layers);
  append(to, "shape.heads", shape.heads);
}
inline void describe(settings& to, const model::prenorm_shape& shape) {
  append(to, "shape.vocabulary", shape.vocabulary);
  append(to, "shape.outputs", shape.outputs);
  append(to, "shape.context", shape.context);
  append(to, "shape.width", shape.width);
  append(to, "shape.heads", shape.heads);
  append(to, "shape.layers", shape.layers);
  append(to, "shape.hidden", shape.hidden);
  append(to, "shape.activation", name(shape.activation));
  append(to, "shape.causal", shape.causal ? "true" : "false");
  append(to, "shape.biases", shape.biases ? "true" : "false");
  append(to, "shape.key_bias", shape.key_bias ? "true" : "false");
  append(to, "shape.tied_head", shape.tied_head ? "true" : "false");
}
/// \}

/// What has a shape or options of which there is a description; nothing else.
template <class Which>
void describe_if_known(settings& to, const Which& which) {
  if constexpr (requires { describe(to, which); }) describe(to, which);
}

}  // namespace detail

}  // namespace lindyn::train
