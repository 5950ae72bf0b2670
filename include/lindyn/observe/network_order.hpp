// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Order parameters of a network's attention: of a batch in training, or of any sequences.

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/observe/head_statistics.hpp>
#include <lindyn/observe/order_parameters.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::observe {

/// Order parameters of all layers of a network.
struct network_order {
  std::vector<order_parameters> layers;  ///< of each layer
  order_parameters mean;                 ///< their means
};

/// Those of statistics, one a layer. Throws as order_parameters_of and mean_over_layers do.
[[nodiscard]] inline network_order network_order_of(std::span<const head_statistics> layers) {
  network_order result;
  for (const head_statistics& layer : layers) result.layers.push_back(order_parameters_of(layer));
  result.mean = mean_over_layers(result.layers);
  return result;
}

/// Those of dense attention, one array of (sequences, heads, n, n) a layer, as the networks' `attention` returns it.
/// Throws as head_statistics::add, too.
template <std::ranges::forward_range Layers>
requires std::ranges::contiguous_range<const std::ranges::range_value_t<Layers>>
[[nodiscard]] network_order network_order_of(const Layers& attention, const attention_layout& layout) {
  std::vector<head_statistics> layers;
  for (const auto& layer : attention) layers.emplace_back(layout.heads).add(std::span(layer), layout);
  return network_order_of(layers);
}

/// Those of the batch of a network's last `loss_and_gradient`, from the attention that it has left in `memory`: what an
/// observer of a training asks for. It costs about as much as two logarithms for each distinct attention weight.
///
///     trainer.run(15'000, memory, train::every(10, [&](const auto& here) {
///       const auto order = observe::network_order_of(net, memory);
///       print(here.step, order.mean.all_rows.sigma_h);
///     }));
///
/// \param net     model::prenorm_transformer
/// \param memory  of that evaluation
/// Throws argument_error if the memory's last evaluation was another one.
template <class Net>
[[nodiscard]] network_order network_order_of(const Net& net, typename Net::workspace& memory) {
  std::vector<head_statistics> layers(static_cast<std::size_t>(net.shape().layers), head_statistics(net.shape().heads));
  net.visit_attention(memory, [&](const auto& row) { layers[static_cast<std::size_t>(row.layer)].add(row); });
  return network_order_of(layers);
}

/// Those of all sequences of a set, in blocks, which bound the memory.
/// \param net      model::prenorm_transformer
/// \param weights  laid out by net.parameters()
/// \param set      the sequences, at least one
/// \param memory   of evaluations
/// \param block    sequences that are evaluated at a time, at least 1
/// Throws as the network does.
template <class Net>
[[nodiscard]] network_order network_order_of(const Net& net, std::span<const typename Net::scalar> weights,
                                             const task::sequence_set& set, typename Net::workspace& memory,
                                             index block = 1024) {
  require(block >= 1, "block", block, "at least 1");
  require(set.count() >= 1, "set.count()", set.count(), "at least 1");
  std::vector<head_statistics> layers(static_cast<std::size_t>(net.shape().layers), head_statistics(net.shape().heads));
  std::vector<int> which(static_cast<std::size_t>(std::min(block, set.count())));
  for (index begin = 0; begin < set.count(); begin += block) {
    which.resize(static_cast<std::size_t>(std::min(block, set.count() - begin)));
    std::iota(which.begin(), which.end(), static_cast<int>(begin));
    net.visit_attention(weights, set, which, memory,
                        [&](const auto& row) { layers[static_cast<std::size_t>(row.layer)].add(row); });
  }
  return network_order_of(layers);
}

/// An order parameter with its name in tables: "s_bar", "sigma_H_all", ..
using named_order_parameter = std::pair<std::string_view, std::optional<double>>;

/// All of them.
[[nodiscard]] inline std::array<named_order_parameter, 8> named(const order_parameters& of) {
  return {{{"s_bar", of.s_bar},
           {"spectral_gap", of.spectral_gap},
           {"pr_norm_across_heads", of.pr_norm_across_heads},
           {"pr_norm_own_mean", of.pr_norm_own_mean},
           {"entropy_mean_all", of.all_rows.mean},
           {"sigma_H_all", of.all_rows.sigma_h},
           {"entropy_mean_last", of.last_row.mean},
           {"sigma_H_last", of.last_row.sigma_h}}};
}

}  // namespace lindyn::observe
