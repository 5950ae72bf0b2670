// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the parts of a pre-norm transformer lie in its flat buffers, by role rather than by name.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::model::detail {

/// A normalisation: offsets of its gain and its bias.
struct norm_part {
  index gain = 0, bias = 0;
};

/// A linear map: extents and offsets.
struct linear_part {
  index outputs = 0, inputs = 0, weight = 0;
  index bias = -1;  ///< -1 where there is none
};

struct block_parts {
  norm_part ln1, ln2;
  linear_part q, k, v, o, fc1, fc2;
};

/// The parts of a network whose parameters are those of `prenorm_parameters`.
struct prenorm_layout {
  index token_embedding = 0, place_embedding = 0;
  std::vector<block_parts> blocks;
  norm_part ln_f;
  linear_part head;
  std::vector<std::pair<index, index>> gaps;  ///< entries [first, second) belong to no parameter

  explicit prenorm_layout(const parameter_table& table, int layers) {
    const auto has = [&](const std::string& name) {
      return std::ranges::any_of(table, [&](const parameter& which) { return which.name == name; });
    };
    const auto norm = [&](const std::string& name) {
      return norm_part{table.find(name + ".weight").offset, table.find(name + ".bias").offset};
    };
    const auto linear = [&](const std::string& name, const std::string& weight) {
      const parameter& found = table.find(weight);
      return linear_part{.outputs = found.rows,
                         .inputs = found.columns,
                         .weight = found.offset,
                         .bias = has(name + ".bias") ? table.find(name + ".bias").offset : -1};
    };
    token_embedding = table.find("tok_emb").offset;
    place_embedding = table.find("pos_emb").offset;
    for (int layer = 0; layer < layers; ++layer) {
      const std::string name = "blocks." + std::to_string(layer) + ".";
      const auto map = [&](const char* part) { return linear(name + part, name + part + ".weight"); };
      blocks.push_back({.ln1 = norm(name + "ln1"),
                        .ln2 = norm(name + "ln2"),
                        .q = map("attn.q"),
                        .k = map("attn.k"),
                        .v = map("attn.v"),
                        .o = map("attn.o"),
                        .fc1 = map("mlp.fc1"),
                        .fc2 = map("mlp.fc2")});
    }
    ln_f = norm("ln_f");
    head = linear("head", has("head.weight") ? "head.weight" : "tok_emb");
    index end = 0;
    for (const parameter& which : table) {
      if (which.offset > end) gaps.emplace_back(end, which.offset);
      end = which.offset + which.size();
    }
    if (table.size() > end) gaps.emplace_back(end, table.size());
  }

  /// Whether the readout is the token embedding.
  [[nodiscard]] bool tied() const noexcept { return head.weight == token_embedding; }
};

}  // namespace lindyn::model::detail
