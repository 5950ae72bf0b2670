// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The data, the network, its start and how it is trained, as the settings describe them.

#include <optional>
#include <utility>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_shape.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/finite/anchor_shift.hpp>
#include <lindyn/population/finite/batches.hpp>
#include <lindyn/population/finite/modular_arithmetic.hpp>
#include <lindyn/population/finite/scan.hpp>
#include <lindyn/schedule/text.hpp>
#include <lindyn/train/trainer_options.hpp>

#include "../chosen_rule.hpp"
#include "settings.hpp"

namespace examples::train_transformer {

namespace backend = lindyn::backend;
namespace model = lindyn::model;
namespace optimizer = lindyn::optimizer;
namespace population = lindyn::population;
namespace schedule = lindyn::schedule;
namespace task = lindyn::task;
namespace train = lindyn::train;

/// Training and test data, and what else is evaluated.
struct task_data : population::split_set {
  std::optional<task::sequence_set> seen;  ///< of anchor_shift: the pairs of training at other places; test: the unseen
};

/// The options of anchor_shift.
[[nodiscard]] inline population::anchor_shift_options make_shifts(const settings& of) {
  population::anchor_shift_options result;
  result.per_pair = of.per_pair;
  result.test_per_pair = of.test_per_pair;
  result.seed = of.split_seed;
  return result;
}

/// The data. Throws argument_error for settings that make none.
[[nodiscard]] inline task_data make_data(const settings& of) {
  if (of.task == "anchor_composition")
    return {population::anchor_composition({of.keys, of.anchors, of.training_pairs, of.task_seed, of.split_seed}), {}};
  if (of.task == "scan") return {population::scan_add_jump({.most_outputs = of.most_outputs}), {}};
  if (of.task == "anchor_shift") {
    auto parts = population::anchor_shift(make_shifts(of));
    return {{std::move(parts.training), std::move(parts.unseen)}, std::move(parts.seen)};
  }
  const auto chosen = lindyn::parse<population::modular_operation>(of.operation, "operation");
  const auto split = of.swap_safe ? population::pair_split::swap_safe : population::pair_split::plain;
  return {
      population::modular_arithmetic(
          {.operation = chosen, .modulus = of.modulus, .share = of.share, .split = split, .split_seed = of.split_seed}),
      {}};
}

/// The network for such data. Throws argument_error for settings that make none.
[[nodiscard]] inline model::prenorm_shape make_shape(const settings& of, const task::sequence_sizes& sizes) {
  lindyn::require(!of.tied_head || sizes.vocabulary == sizes.outputs, "tied-head", true,
                  "left out with --task " + of.task + ", whose answers aren't the tokens");
  lindyn::require(of.causal || of.task != "scan", "causal", false, "true with --task scan, where tokens are answers");
  const model::prenorm_shape result{.vocabulary = sizes.vocabulary,
                                    .outputs = sizes.outputs,
                                    .context = sizes.length,
                                    .width = of.width,
                                    .heads = of.heads,
                                    .layers = of.layers,
                                    .hidden = of.hidden,
                                    .activation = lindyn::parse<backend::activation>(of.activation, "activation"),
                                    .causal = of.causal,
                                    .biases = of.biases,
                                    .key_bias = of.key_bias,
                                    .tied_head = of.tied_head};
  model::require_valid(result);
  return result;
}

/// Its weights at the start.
[[nodiscard]] inline model::initialisation make_start(const settings& of) {
  return {lindyn::parse<model::initialisation_rule>(of.initialisation, "initialisation"), of.gamma, of.embedding_scale,
          of.seed};
}

/// How batches are drawn.
[[nodiscard]] inline population::batches make_batches(const settings& of) {
  lindyn::require(of.batch >= 1 && of.batch <= 1 << 24, "batch", of.batch, "at least 1, and at most 2^24");
  return {of.batch, of.batch_seed, lindyn::parse<population::sampling>(of.sampling, "sampling")};
}

/// The optimiser of a training.
[[nodiscard]] inline examples::rule_options make_rule(const settings& of) {
  if (of.optimizer == "sgd") return optimizer::sgd_options{};
  if (of.optimizer == "adam")
    return optimizer::adam_options{.beta1 = of.beta1, .beta2 = of.beta2, .epsilon = of.epsilon};
  return optimizer::momentum_options{.momentum = of.momentum, .nesterov = of.optimizer == "nesterov"};
}

/// Rate, decay and clipping of a training. Throws argument_error for settings that make none.
[[nodiscard]] inline train::trainer_options make_training(const settings& of, const lindyn::parameter_table& table) {
  return {.learning_rate = of.lr,
          .learning_rate_schedule = schedule::parse(of.lr_schedule, "lr-schedule"),
          .decay_schedule = schedule::parse(of.decay, "decay"),
          .decay_mode = lindyn::parse<optimizer::decay_mode>(of.decay_mode, "decay-mode"),
          .groups = optimizer::groups(lindyn::parse<optimizer::group_preset>(of.groups, "groups"), table),
          .clip_norm = of.clip};
}

}  // namespace examples::train_transformer
