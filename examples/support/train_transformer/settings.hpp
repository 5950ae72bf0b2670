// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Everything that decides a run of train_transformer: one list of names, which the command line, configuration files and
/// summaries share.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/json.hpp>

namespace examples::train_transformer {

using lindyn::index;
namespace io = lindyn::io;

/// The configuration, with the values of the preset `windows`.
struct settings {
  std::string preset = "windows";

  std::string task = "anchor_composition";
  int keys = 16, anchors = 8, training_pairs = 45;
  std::uint64_t task_seed = 1;
  std::string operation = "add";
  int modulus = 97;
  double share = 0.5;
  bool swap_safe = false;
  int per_pair = 2000, test_per_pair = 1000;
  int most_outputs = 50;
  std::uint64_t split_seed = 1;

  int layers = 2, heads = 2, width = 64, hidden = 256;
  std::string activation = "gelu";
  bool causal = true, biases = true, key_bias = true, tied_head = false;
  std::string initialisation = "scaled";
  double gamma = 0.8, embedding_scale = 0.1;
  std::uint64_t seed = 1;

  std::string optimizer = "adam";
  double momentum = 0.9, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;
  double lr = 0.003;
  std::string lr_schedule = "1", decay = "window(5000, 10000, 0.004)", decay_mode = "coupled_l2",
              groups = "all_but_embeddings";
  double clip = 0;

  index batch = 128;
  std::string sampling = "with_replacement";
  std::uint64_t batch_seed = 1;
  index steps = 15'000, epochs = 0;
  std::string precision = "float";
  int threads = 1;

  index evaluate_every = 100;
  std::string evaluate = "both";
  double reached = 0.99;
  bool stop = false;
  std::string observe;
  index observe_every = 0;
  index checkpoint_every = 0;

  std::string out = "out/train_transformer";
  bool force = false;
};

/// Names that a text may have; any if there are none.
using choices = std::vector<std::string>;

/// Calls visit(name, member, description, choices) for each setting, with the name that its option has behind --.
template <class Visit>
void for_each_setting(Visit&& visit) {
  using s = settings;
  visit("preset", &s::preset,
        "the published experiments, whose values hold where nothing else is said; of windows, the decay is that under "
        "which the published figures appear; of anchor_shift and scan, what isn't published is as in windows",
        choices{"windows", "regimes", "anchor_shift", "scan"});

  visit("task", &s::task, "what is learnt",
        choices{"anchor_composition", "modular_arithmetic", "anchor_shift", "scan"});
  visit("keys", &s::keys, "anchor_composition: K, keys", choices{});
  visit("anchors", &s::anchors, "anchor_composition: M, anchors", choices{});
  visit("training-pairs", &s::training_pairs, "anchor_composition: pairs of anchors in training, of M^2", choices{});
  visit("task-seed", &s::task_seed, "anchor_composition: of the anchors' permutations", choices{});
  visit("operation", &s::operation, "modular_arithmetic: what is computed",
        choices{"add", "subtract", "multiply", "divide"});
  visit("modulus", &s::modulus, "modular_arithmetic: p", choices{});
  visit("share", &s::share, "modular_arithmetic: share of the pairs that is in training", choices{});
  visit("swap-safe", &s::swap_safe, "modular_arithmetic: (a, b) and (b, a) stay on one side of the split", choices{});
  visit("per-pair", &s::per_pair, "anchor_shift: sequences in training of each pair of anchors but the unseen one",
        choices{});
  visit("test-per-pair", &s::test_per_pair, "anchor_shift: sequences in test of each pair of anchors", choices{});
  visit("most-outputs", &s::most_outputs, "scan: tokens that are decoded at most, the end among them", choices{});
  visit("split-seed", &s::split_seed,
        "of the split into training and test; anchor_shift: of all that is drawn; scan: has no effect", choices{});

  visit("layers", &s::layers, "L, layers", choices{});
  visit("heads", &s::heads, "H, heads of every layer, which divide the width", choices{});
  visit("width", &s::width, "d, of the residual stream", choices{});
  visit("hidden", &s::hidden, "width of the perceptrons", choices{});
  visit("activation", &s::activation, "of the perceptrons", choices{"gelu", "relu"});
  visit("causal", &s::causal, "places see themselves and those before alone", choices{});
  visit("biases", &s::biases, "linear maps have biases", choices{});
  visit("key-bias", &s::key_bias, "with biases, the keys have one too, which cancels", choices{});
  visit("tied-head", &s::tied_head, "the head is the embedding of tokens (not for modular_arithmetic)", choices{});
  visit("initialisation", &s::initialisation,
        "deviation of weights: gamma / sqrt(d_in), d_in^-gamma, or 0.02 as in GPT-2",
        choices{"scaled", "exponent", "gpt2"});
  visit("gamma", &s::gamma, "of the initialisations scaled and exponent", choices{});
  visit("embedding-scale", &s::embedding_scale, "deviation of both embeddings at the start", choices{});
  visit("seed", &s::seed, "of the weights at the start", choices{});

  visit("optimizer", &s::optimizer, "adam with a decoupled decay is AdamW",
        choices{"sgd", "momentum", "nesterov", "adam"});
  visit("momentum", &s::momentum, "of momentum and nesterov", choices{});
  visit("beta1", &s::beta1, "of adam", choices{});
  visit("beta2", &s::beta2, "of adam", choices{});
  visit("epsilon", &s::epsilon, "of adam", choices{});
  visit("lr", &s::lr, "base of the learning rate", choices{});
  visit("lr-schedule", &s::lr_schedule, "what multiplies it: a number, or as warmup(100) * cosine(0, 20000, 1, 0.01)",
        choices{});
  visit("decay", &s::decay, "lambda, of what decays: a number, or a schedule as window(5000, 10000, 0.004), half-open",
        choices{});
  visit("decay-mode", &s::decay_mode, "what lambda means", choices{"lr_scaled", "absolute", "ratio", "coupled_l2"});
  visit("groups", &s::groups, "what decays", choices{"all_but_embeddings", "matrices_only", "everything"});
  visit("clip", &s::clip, "largest norm of a gradient; 0: none", choices{});

  visit("batch", &s::batch, "sequences a step", choices{});
  visit("sampling", &s::sampling, "how batches are drawn", choices{"with_replacement", "epochs", "whole"});
  visit("batch-seed", &s::batch_seed, "of the batches", choices{});
  visit("steps", &s::steps, "steps of training; 0: by --epochs", choices{});
  visit("epochs", &s::epochs, "passes through the training data; 0: by --steps", choices{});
  visit("precision", &s::precision, "of weights and steps; losses are summed in double", choices{"float", "double"});
  visit("threads", &s::threads, "results don't depend on it", choices{});

  visit("evaluate-every", &s::evaluate_every, "steps between evaluations; 0: one an epoch", choices{});
  visit("evaluate", &s::evaluate, "which data", choices{"both", "test"});
  visit("reached", &s::reached, "test accuracy from which on the task counts as reached; scan: share of exact matches",
        choices{});
  visit("stop", &s::stop, "end at the first evaluation that reaches it", choices{});
  visit(
      "observe", &s::observe,
      "diagnostics, separated by commas, or all: order (s_bar, sigma_H, participation ratios; of the step's batch, of "
      "scan with the places behind the ends), "
      "margins (of up to 256 test sequences), condensation, alignment, norms (of weights), frequencies (of the "
      "embedding, modular_arithmetic)",
      choices{});
  visit("observe-every", &s::observe_every, "steps between observations; 0: as evaluations", choices{});
  visit("checkpoint-every", &s::checkpoint_every,
        "steps between checkpoints; 0: one a minute. There is always one of the start, of the end, and on Ctrl-C",
        choices{});

  visit("out", &s::out, "folder of the results", choices{});
  visit("force", &s::force, "write into the folder even if it isn't empty; earlier results there are removed",
        choices{});
}

/// The values of the preset `regimes`.
[[nodiscard]] inline settings regimes_preset() {
  settings result;
  result.preset = "regimes";
  result.task = "modular_arithmetic";
  result.layers = 4;
  result.heads = 8;
  result.width = 128;
  result.hidden = 512;
  result.gamma = 0.577;  // as wide as PyTorch's uniform distribution
  result.embedding_scale = 1;
  result.lr = 0.001;
  result.decay = "1";
  result.decay_mode = "lr_scaled";
  result.groups = "everything";
  result.batch = 512;
  result.sampling = "epochs";
  result.steps = 0;
  result.epochs = 400;
  result.evaluate_every = 0;
  return result;
}

/// The values of the preset `scan`. Published are 2 layers of width 32, the rate, gamma, 12,000 steps, and three decays:
/// this one, which begins with the second quarter, the same in the first quarter alone, and 0.005 always.
[[nodiscard]] inline settings scan_preset() {
  settings result;
  result.preset = result.task = "scan";
  result.width = 32;
  result.hidden = 128;
  result.lr = 1e-4;
  result.decay = "window(3000, 9000, 0.01)";
  result.steps = 12'000;
  result.evaluate_every = 500;
  return result;
}

/// The values of the preset `anchor_shift`: the network and training of `windows`.
[[nodiscard]] inline settings anchor_shift_preset() {
  settings result;
  result.preset = result.task = "anchor_shift";
  result.evaluate_every = 500;
  return result;
}

/// The values of a preset. Throws argument_error for a name that isn't one.
[[nodiscard]] inline settings preset(const std::string& name) {
  if (name == "windows") return {};
  if (name == "regimes") return regimes_preset();
  if (name == "scan") return scan_preset();
  lindyn::require(name == "anchor_shift", "preset", name, "windows, regimes, anchor_shift or scan");
  return anchor_shift_preset();
}

/// The name of a setting in JSON, where - and _ are alike: as in all summaries, with _.
[[nodiscard]] inline std::string member_name(std::string option) {
  std::ranges::replace(option, '-', '_');
  return option;
}

/// A list without the blanks that may stand behind its commas.
[[nodiscard]] inline std::string without_blanks(std::string list) {
  std::erase(list, ' ');
  return list;
}

/// All settings as a JSON object, which assign() takes back.
[[nodiscard]] inline io::json to_json(const settings& of) {
  io::json result = io::json::object();
  for_each_setting(
      [&](const char* name, auto member, const char*, const choices&) { result[member_name(name)] = of.*member; });
  return result;
}

/// Sets what a JSON object says, a member for each setting that is to have another value.
/// \throws lindyn::argument_error for members that are no settings, given twice, or of another type, naming them
inline void assign(const io::json& configuration, settings& to) {
  lindyn::require(configuration.is_object(), "the configuration", configuration.type_name(), "a JSON object");
  lindyn::require(!configuration.contains("configuration"), "the configuration", "a summary",
                  "the configuration.json beside it");
  std::map<std::string, std::string> unknown;  // as settings are named, as the file does
  for (const auto& [name, value] : configuration.items())
    if (!unknown.emplace(member_name(name), name).second)
      lindyn::require(false, name, value.dump(), "given once: - and _ are alike");
  std::string names;
  for_each_setting([&](const char* option, auto member, const char*, const choices& allowed) {
    names += std::string(names.empty() ? "" : ", ") + option;
    const auto given = unknown.find(member_name(option));
    if (given == unknown.end()) return;
    using type = std::remove_cvref_t<decltype(to.*member)>;
    const io::json& value = configuration.at(given->second);
    if constexpr (std::is_same_v<type, std::string>) {  // a schedule may be a number
      to.*member = value.is_number() ? value.dump() : io::member_as<std::string>(configuration, given->second);
      if (!allowed.empty() && std::ranges::find(allowed, to.*member) == allowed.end()) {
        std::string one_of;
        for (const auto& each : allowed) one_of += (one_of.empty() ? "" : ", ") + each;
        lindyn::require(false, given->second, to.*member, "one of " + one_of);
      }
    } else {
      to.*member = io::member_as<type>(configuration, given->second);
    }
    unknown.erase(given);
  });
  if (!unknown.empty()) {
    const std::string& name = unknown.begin()->second;
    lindyn::require(false, name, configuration.at(name).dump(), "one of the settings, which are " + names);
  }
}

}  // namespace examples::train_transformer
