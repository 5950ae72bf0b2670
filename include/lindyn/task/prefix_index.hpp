// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Equal beginnings of sequences. Under a causal mask everything that a network computes at a place is a function of the
/// tokens up to there, so that sequences can share it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <lindyn/core/views.hpp>

namespace lindyn::task {

/// The distinct beginnings ("prefixes") of sequences: a forest whose nodes are numbered by place, so that a prefix comes
/// behind its own beginnings.
struct prefix_index {
  std::vector<int> node;    ///< count x length: number of the prefix that ends at that place of that sequence
  std::vector<int> parent;  ///< of each prefix: the one without its last token; -1 for prefixes of one token
  std::vector<int> token;   ///< of each prefix: its last token
  std::vector<int> place;   ///< of each prefix: the place of its last token, from 0

  /// Number of distinct prefixes.
  [[nodiscard]] index count() const noexcept { return static_cast<index>(parent.size()); }
};

/// The prefixes of the rows of `tokens`, which are numbers from 0.
[[nodiscard]] inline prefix_index index_prefixes(const matrix_view<const int>& tokens) {
  prefix_index result;
  result.node.resize(static_cast<std::size_t>(tokens.size()));
  const auto node = [&](index sequence, index place) -> int& {
    return result.node[static_cast<std::size_t>(sequence * tokens.columns + place)];
  };
  // A prefix is its parent and its last token, of which the latter decides among siblings.
  const auto key = [&](index sequence, index place) {
    const std::int64_t parent = place == 0 ? -1 : node(sequence, place - 1);
    return (parent << 32) + tokens(sequence, place);
  };
  std::vector<std::int64_t> keys(static_cast<std::size_t>(tokens.rows));
  for (index place = 0; place < tokens.columns; ++place) {
    for (index sequence = 0; sequence < tokens.rows; ++sequence)
      keys[static_cast<std::size_t>(sequence)] = key(sequence, place);
    std::ranges::sort(keys);
    const auto end = std::unique(keys.begin(), keys.end());
    const auto first = static_cast<int>(result.count());
    for (auto known = keys.begin(); known != end; ++known) {
      result.parent.push_back(static_cast<int>(*known >> 32));
      result.token.push_back(static_cast<int>(*known & 0xFFFFFFFF));
      result.place.push_back(static_cast<int>(place));
    }
    for (index sequence = 0; sequence < tokens.rows; ++sequence)
      node(sequence, place) =
          first + static_cast<int>(std::lower_bound(keys.begin(), end, key(sequence, place)) - keys.begin());
  }
  return result;
}

}  // namespace lindyn::task
