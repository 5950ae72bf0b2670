// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Files of the kind `prenorm_transformer`: their network, its weights and its inputs.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/model/prenorm_shape.hpp>
#include <lindyn/task/sequence_set.hpp>

#include "reference_check.hpp"

namespace reference_check {

/// The shape in the file's `config`.
[[nodiscard]] inline lindyn::model::prenorm_shape prenorm_shape(const lindyn::io::json& file) {
  using lindyn::io::member_as;
  const auto& config = lindyn::io::member(file, "config");
  const auto activation = member_as<std::string>(config, "activation");
  lindyn::require(activation == "gelu" || activation == "relu", "config.activation", activation, "gelu or relu");
  return {.vocabulary = member_as<int>(config, "vocab_in"),
          .outputs = member_as<int>(config, "vocab_out"),
          .context = member_as<int>(config, "context"),
          .width = member_as<int>(config, "d_model"),
          .heads = member_as<int>(config, "heads"),
          .layers = member_as<int>(config, "layers"),
          .hidden = member_as<int>(config, "d_ff"),
          .activation = activation == "gelu" ? lindyn::backend::activation::gelu : lindyn::backend::activation::relu,
          .causal = member_as<bool>(config, "causal")};
}

/// The extents of a parameter in files.
[[nodiscard]] inline std::vector<lindyn::index> extents_of(const lindyn::parameter& which) {
  return which.vector ? std::vector{which.columns} : std::vector{which.rows, which.columns};
}

/// The weights in the file's `params`, laid out by the table.
template <class Scalar>
[[nodiscard]] std::vector<Scalar> prenorm_weights(const lindyn::io::json& file, const lindyn::parameter_table& table) {
  std::vector<Scalar> weights(static_cast<std::size_t>(table.size()));
  for (const lindyn::parameter& which : table)
    std::ranges::transform(numbers(lindyn::io::member(file, "params"), which.name, extents_of(which)),
                           weights.begin() + which.offset, [](double value) { return static_cast<Scalar>(value); });
  return weights;
}

/// The sequences and answers in the file's `inputs`.
[[nodiscard]] inline lindyn::task::sequence_set prenorm_inputs(const lindyn::io::json& file) {
  const auto shape = prenorm_shape(file);
  const auto& inputs = lindyn::io::member(file, "inputs");
  const auto targets = lindyn::io::array_from_json(lindyn::io::member(inputs, "targets"), "targets").data;
  const auto count = static_cast<lindyn::index>(targets.size());
  return {{shape.vocabulary, shape.outputs, shape.context},
          integers(inputs, "tokens", {count, shape.context}),
          integers(inputs, "targets", {count})};
}

}  // namespace reference_check
