// SPDX-License-Identifier: MIT
/// \file
/// Kind `optimizer_trajectory`: losses and final weights of some updates of the network in the file beside this one, by
/// every optimiser and decay mode that the file has, in double and in float.
///
/// The gradient of a key bias vanishes in exact arithmetic (it shifts all scores of a query alike) and is rounding noise
/// of 1e-17 to 1e-16 here. Adam divides it by itself plus the files' epsilon of 1e-8, and so moves the bias by some 1e-8 of
/// a full step in an arbitrary direction: key biases agree to 1e-10 with the files, everything else to 1e-15. They are
/// compared as a group of their own, at the same tolerance, so that they don't hide what happens to the rest. In float the
/// noise is above the epsilon, and their paths are arbitrary: they are left out. They don't change losses or anything else.

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/schedule/schedule.hpp>

#include "prenorm_file.hpp"
#include "reference_check.hpp"

namespace {

using namespace lindyn;
using io::member;
using io::member_as;
using lindyn::index;  // there is a function of that name in <strings.h>

/// The groups of a file: what it excludes doesn't decay.
std::vector<optimizer::parameter_group> groups_of(const io::json& expected, const parameter_table& table) {
  const auto excluded = member(expected, "excluded").get<std::vector<std::string>>();
  optimizer::parameter_group decayed{.name = "decayed"},
      rest{.name = "excluded", .base_decay = 0, .matrices = excluded};
  for (const parameter& which : table)
    if (std::ranges::find(excluded, which.name) == excluded.end()) decayed.matrices.push_back(which.name);
  return {decayed, rest};
}

/// A handful of updates adds up rounding errors of 6e-8 each, of which gradients have some: 6e-7 is the largest seen.
constexpr double float_tolerance = 2e-6;

/// Trains on the whole batch, and compares the loss before every update and behind the last, and the weights at the end.
template <class Scalar, class Rule>
void compare(const std::string& name, const io::json& expected, const io::json& model_file, const Rule& options,
             optimizer::decay_mode mode, double tolerance, reference_check::report& errors) {
  using network = model::prenorm_transformer<Scalar, backend::host>;
  const network net(reference_check::prenorm_shape(model_file));
  const parameter_table& table = net.parameters();
  const auto set = reference_check::prenorm_inputs(model_file);
  auto weights = reference_check::prenorm_weights<Scalar>(model_file, table);
  std::vector<int> all(static_cast<std::size_t>(set.count()));
  std::iota(all.begin(), all.end(), 0);

  const auto window = member(expected, "window").get<std::vector<double>>();
  require_extent("window.size()", window.size(), 2);
  const schedule::schedule lambda = schedule::window{window[0], window[1], member_as<double>(expected, "weight_decay")};
  const schedule::schedule rate = member_as<double>(expected, "lr");
  optimizer::grouped_decay decay(table, groups_of(expected, table));
  typename Rule::template rule<Scalar> rule(table.size(), options);

  typename network::workspace memory(backend::host(1));
  std::vector<Scalar> gradient(weights.size());
  std::vector<double> losses;
  const auto theirs = member(expected, "losses").get<std::vector<double>>();
  for (std::size_t t = 0; t < theirs.size(); ++t) {
    losses.push_back(
        net.loss_and_gradient(std::span<const Scalar>(weights), set, all, std::span(gradient), memory).loss);
    if (t + 1 == theirs.size()) break;
    const optimizer::weight_decay now{
        .rate = lambda.value(t), .mode = mode, .base_learning_rate = member_as<double>(expected, "lr")};
    rule.step(weights, gradient, rate.value(t), decay.at(now, rate.value(t), t));
  }

  errors.add(name + " losses", {{"losses", losses, theirs}}, tolerance);
  std::vector<reference_check::compared> others, key_biases;
  for (const parameter& which : table) {
    const auto ours = table.view(which, std::span<const Scalar>(weights));
    auto& group = which.name.ends_with("attn.k.bias") ? key_biases : others;
    group.push_back(
        {which.name,
         {ours.begin(), ours.end()},
         reference_check::numbers(member(expected, "final_params"), which.name, reference_check::extents_of(which))});
  }
  errors.add(name + " weights", others, tolerance);
  if constexpr (std::is_same_v<Scalar, double>) errors.add(name + " key biases", key_biases, tolerance);
}

void check_optimizer_trajectory(const io::json& file, const std::filesystem::path& folder,
                                reference_check::report& errors) {
  const auto model_file = io::read_json(folder / member_as<std::string>(file, "model"));
  for (const auto& item : member(file, "expected").items()) {
    const std::string& name = item.key();
    const auto& expected = item.value();
    const auto dot = name.find('.');
    const std::string rule = name.substr(0, dot);
    require(dot != std::string::npos && (rule == "adamw" || rule == "sgd"), "expected", name,
            "adamw or sgd, a dot, and a decay mode");
    const auto mode = parse<optimizer::decay_mode>(name.substr(dot + 1), "decay.mode");
    const auto compare_both = [&](const auto& options) {
      compare<double>(name, expected, model_file, options, mode, 1e-9, errors);
      compare<float>(name + " (float)", expected, model_file, options, mode, float_tolerance, errors);
    };
    if (rule == "adamw") {
      const auto betas = member(expected, "betas").get<std::vector<double>>();
      require_extent("betas.size()", betas.size(), 2);
      compare_both(
          optimizer::adam_options{.beta1 = betas[0], .beta2 = betas[1], .epsilon = member_as<double>(expected, "eps")});
    } else {
      compare_both(optimizer::momentum_options{.momentum = member_as<double>(expected, "momentum")});
    }
  }
}

const reference_check::kind registered("optimizer_trajectory", check_optimizer_trajectory);

}  // namespace
