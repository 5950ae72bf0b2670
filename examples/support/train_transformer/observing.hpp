// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The diagnostics that a run observes, as columns of a table.

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/observe/condensation.hpp>
#include <lindyn/observe/frequencies.hpp>
#include <lindyn/observe/margins.hpp>
#include <lindyn/observe/network_order.hpp>
#include <lindyn/observe/neuron_groups.hpp>
#include <lindyn/observe/norms.hpp>
#include <lindyn/observe/order_parameters.hpp>
#include <lindyn/observe/subspace_alignment.hpp>
#include <lindyn/task/sequence_set.hpp>

#include "settings.hpp"

namespace examples::train_transformer {

namespace observe = lindyn::observe;

/// What can be observed.
inline constexpr std::array diagnostics{"order", "condensation", "alignment", "norms", "margins", "frequencies"};

/// The diagnostics that --observe names, in the order above: the first looks at what the last evaluation left, before
/// others evaluate. Throws argument_error for one that there isn't, or that makes no sense of the task.
[[nodiscard]] inline std::vector<std::string> chosen_diagnostics(const settings& of) {
  const bool modular = of.task == "modular_arithmetic";
  std::vector<std::string> result;
  const std::string named = without_blanks(of.observe);
  if (named == "all") {
    result.assign(diagnostics.begin(), diagnostics.end());
    if (!modular) std::erase(result, "frequencies");
    return result;
  }
  for (std::size_t begin = 0, end = 0; !named.empty() && end != named.size(); begin = end + 1) {
    end = std::min(named.find(',', begin), named.size());
    result.push_back(named.substr(begin, end - begin));
    std::string known;
    for (const char* name : diagnostics) known += std::string(name) + ", ";
    lindyn::require(std::ranges::find(diagnostics, result.back()) != diagnostics.end(), "observe", result.back(),
                    known + "or all; several are separated by commas");
    lindyn::require(modular || result.back() != "frequencies", "observe", result.back(),
                    "left out: it has no effect but with --task modular_arithmetic");
  }
  std::ranges::sort(result, {}, [](const auto& name) { return std::ranges::find(diagnostics, name); });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Observes a network of weights that change. The columns say of what: `batch_`, the sequences of that step's batch;
/// `test_`, up to 256 sequences of a set, at equal distances in its order; others are of the weights alone.
template <class Net>
class observer {
public:
  using scalar = typename Net::scalar;

  /// \param net  and `set` outlive the observer
  observer(const Net& net, const lindyn::task::sequence_set& set, const settings& of)
      : net_(&net), set_(&set), diagnostics_(chosen_diagnostics(of)), modulus_(of.modulus) {
    const index count = std::min<index>(256, set.count());
    for (index i = 0; i < count; ++i) which_.push_back(static_cast<int>(i * set.count() / count));
    for (const auto& name : diagnostics_)
      for (const auto& [column, value] : values(name)) columns_.push_back(column);
  }

  /// The columns of a row.
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }

  /// The values, NaN where one doesn't exist.
  /// \param memory  of the training's last evaluation, at these weights
  [[nodiscard]] std::vector<double> operator()(std::span<const scalar> weights, typename Net::workspace& memory) {
    weights_ = weights;
    memory_ = &memory;
    std::vector<double> row;
    for (const auto& name : diagnostics_)
      for (const auto& [column, value] : values(name)) row.push_back(value);
    memory_ = nullptr;
    return row;
  }

private:
  using named_values = std::vector<std::pair<std::string, double>>;

  static double or_nan(const std::optional<double>& value) {
    return value.value_or(std::numeric_limits<double>::quiet_NaN());
  }

  /// Columns and values of a diagnostic; the columns alone as long as there are no weights.
  [[nodiscard]] named_values values(const std::string& name) {
    if (name == "order") return order();
    if (name == "condensation") return condensation();
    if (name == "alignment") return {{"ov_qk_alignment", memory_ ? alignment() : 0}};
    if (name == "norms") return norms();
    if (name == "margins") return margins();
    const auto& table = net_->parameters();
    return {{"frequency_share_of_5", memory_
                                         ? observe::frequencies_of_columns(table.view("tok_emb", weights_), modulus_)
                                               .concentration(std::min(5, modulus_ / 2))
                                         : 0}};
  }

  /// Of the training's own batch, whose attention its evaluation has left in memory.
  [[nodiscard]] named_values order() {
    const observe::order_parameters mean =
        memory_ ? observe::network_order_of(*net_, *memory_).mean : observe::order_parameters();
    named_values result;
    for (const auto& [name, value] : observe::named(mean))
      result.emplace_back("batch_" + std::string(name), or_nan(value));
    return result;
  }

  [[nodiscard]] named_values condensation() {
    const auto& table = net_->parameters();
    double values = 0, neurons = 0;
    if (memory_) {
      values = observe::mean_condensation(table, weights_);
      for (int layer = 0; layer < net_->shape().layers; ++layer) {
        const auto first = table.view("blocks." + std::to_string(layer) + ".mlp.fc1.weight", weights_);
        neurons += observe::group_neurons(first).condensed_share() / net_->shape().layers;
      }
    }
    return {{"condensation_values", values}, {"condensed_neurons", neurons}};
  }

  /// Of what heads write with what the next layer's read for their keys: the mean over all pairs of heads, of the two
  /// leading directions.
  [[nodiscard]] double alignment() {
    const auto& table = net_->parameters();
    const int heads = net_->shape().heads, layers = net_->shape().layers;
    const index dimension = std::min(2, net_->shape().width / heads);
    double sum = 0;
    int pairs = 0;
    for (int layer = 0; layer + 1 < layers; ++layer)
      for (int from = 0; from < heads; ++from)
        for (int to = 0; to < heads; ++to) {
          const auto found = observe::alignment(
              observe::output_value_circuit(table, weights_, {layer, from}, heads), observe::side::left,
              observe::query_key_circuit(table, weights_, {layer + 1, to}, heads), observe::side::right, dimension);
          if (found) sum += found->mean_square, ++pairs;
        }
    return pairs > 0 ? sum / pairs : std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] named_values norms() {
    named_values result;
    const auto modules = observe::modules(net_->parameters());
    if (memory_)
      for (const auto& group : observe::group_norms(net_->parameters(), weights_, modules))
        result.emplace_back("norm " + group.name, group.frobenius);
    else
      for (const auto& module : modules) result.emplace_back("norm " + module.name, 0);
    return result;
  }

  [[nodiscard]] named_values margins() {
    observe::margins all;
    if (memory_) {
      const auto logits = net_->logits(weights_, *set_, which_, *memory_);
      const auto outputs = static_cast<std::size_t>(net_->shape().outputs);
      std::size_t row = 0;
      for (const int sequence : which_)
        for (const int answer : set_->answers(sequence))
          if (answer != lindyn::task::no_answer) all.add(std::span(logits).subspan(outputs * row++, outputs), answer);
    }
    return {{"test_margin_min", memory_ ? all.min() : 0},
            {"test_margin_median", memory_ ? all.quantile(0.5) : 0},
            {"test_margin_mean", memory_ ? all.mean() : 0}};
  }

  const Net* net_;
  const lindyn::task::sequence_set* set_;
  std::vector<std::string> diagnostics_, columns_;
  int modulus_;
  std::vector<int> which_;
  std::span<const scalar> weights_;
  typename Net::workspace* memory_ = nullptr;
};

}  // namespace examples::train_transformer
