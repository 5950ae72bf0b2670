// SPDX-License-Identifier: MIT
/// \file
/// Kind `attention_only`: logits, loss, gradients and attention of the full network on a batch, in double.

#include <span>
#include <string>
#include <vector>

#include <lindyn/model/attention_only.hpp>

#include "reference_check.hpp"

namespace {

using namespace lindyn;
using io::member;
using io::member_as;
using lindyn::index;  // there is a function of that name in <strings.h>
using reference_check::compared;

void check_attention_only(const io::json& file, reference_check::report& errors) {
  const auto& config = member(file, "config");
  const model::attention_only<> net({.vocabulary = member_as<int>(config, "vocab"),
                                     .positions = member_as<int>(config, "positions"),
                                     .layers = member_as<int>(config, "layers"),
                                     .heads = member_as<int>(config, "heads")});
  const auto& table = net.parameters();
  std::vector<double> weights;
  for (const parameter& which : table) {
    const auto entries = reference_check::numbers(member(file, "params"), which.name, {which.rows, which.columns});
    weights.insert(weights.end(), entries.begin(), entries.end());
  }

  const auto& inputs = member(file, "inputs");
  const index length = member_as<int>(config, "context");
  const auto count = static_cast<index>(io::array_from_json(member(inputs, "offsets"), "offsets").data.size());
  const auto tokens = reference_check::integers(inputs, "tokens", {count, length});
  const auto offsets = reference_check::integers(inputs, "offsets", {count});
  const auto targets = reference_check::integers(inputs, "targets", {count});
  std::vector<int> positions;
  for (const int offset : offsets)
    for (int place = 0; place < length; ++place) positions.push_back((offset + place) % net.shape().positions);
  const task::batch_view batch{{tokens.data(), count, length}, {positions.data(), count, length}, targets};

  std::vector<double> gradient(weights.size());
  const double loss = net.loss_and_gradient(weights, batch, task::loss::cross_entropy, gradient);

  for (const auto& [quantity, value] : member(file, "expected").items()) {
    if (quantity == "loss") {
      errors.add(quantity, {{quantity, {loss}, {member_as<double>(member(file, "expected"), quantity)}}});
    } else if (quantity == "logits") {
      errors.add(quantity,
                 {{quantity, net.logits(weights, batch),
                   reference_check::numbers(member(file, "expected"), quantity, {count, net.shape().vocabulary})}});
    } else if (quantity == "grads") {
      std::vector<compared> group;
      for (const parameter& which : table) {
        const auto ours = table.view(which, std::span<const double>(gradient));
        group.push_back({which.name,
                         {ours.begin(), ours.end()},
                         reference_check::numbers(value, which.name, {which.rows, which.columns})});
      }
      errors.add("gradients", group);
    } else if (quantity == "attention") {
      const auto ours = net.attention(weights, batch);
      require_extent("attention.size()", value.size(), ours.size());
      std::vector<compared> group;
      for (std::size_t layer = 0; layer < ours.size(); ++layer) {
        const std::string name = "layer " + std::to_string(layer + 1);
        const io::json named{{name, value[layer]}};
        group.push_back(
            {name, ours[layer], reference_check::numbers(named, name, {count, net.shape().heads, length, length})});
      }
      errors.add(quantity, group);
    } else {
      throw argument_error("expected", quantity, "loss, logits, grads or attention");
    }
  }
}

const reference_check::kind registered("attention_only", check_attention_only);

}  // namespace
