// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an attention pass keeps of a group of sequences, one in each lane, from its forward to its backward pass.

#include <lindyn/core/sizes.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/lanes.hpp>

namespace lindyn::model::detail::inline LINDYN_VECTORS {

/// The relations F_cd of a head, one for each pair of stream copies: `count` x `count` blocks of `size` entries.
template <class Scalar>
struct relation_grid {
  lane_entry<Scalar>* first;
  index count;
  index size;

  [[nodiscard]] lane_entry<Scalar>* operator()(index c, index d) const noexcept {
    return first + (c * count + d) * size;
  }
};

/// A view of one group's memory, `size()` entries: for the layers in which every place asks, the patterns, their
/// derivatives and (behind the first) the folded relations of all heads; for the last layer, whose last place alone
/// asks, a row of n entries for each stream copy of the path and of every head's keys and readout.
template <class Scalar>
struct group_state {
  using entry = lane_entry<Scalar>;

  entry* data;
  index length;  ///< n, the places of a sequence
  int heads;     ///< H in every layer
  int layers;    ///< layers in which every place asks

  /// Entries of an n x n matrix.
  [[nodiscard]] index square() const noexcept { return length * length; }
  /// (H+1)^level, the distance of the copies that a head of layer `level` (from 0) connects.
  [[nodiscard]] index reach(int level) const noexcept { return lindyn::copies(level, heads); }
  /// Stream copies behind all full layers.
  [[nodiscard]] index copies() const noexcept { return reach(layers); }
  [[nodiscard]] index size() const noexcept { return path_offset() + (1 + 2 * heads) * copies() * length; }

  /// n x n, row-major; above the diagonal only what lies in a tile of lanes.hpp is ever written, and is zero.
  [[nodiscard]] entry* pattern(int layer, int head) const noexcept { return data + (layer * heads + head) * square(); }
  [[nodiscard]] entry* d_pattern(int layer, int head) const noexcept { return pattern(layers + layer, head); }
  /// For layers from 1; the first one's scores are a single relation, which its pattern replaces.
  [[nodiscard]] relation_grid<Scalar> relations(int layer, int head) const noexcept {
    const index count = reach(layer);
    return {data + relation_offset(layer) + head * count * count * square(), count, square()};
  }
  /// copies() rows of n entries: the query's path through the full layers.
  [[nodiscard]] entry* path() const noexcept { return data + path_offset(); }
  [[nodiscard]] entry* key(int head) const noexcept { return path() + (1 + head) * copies() * length; }
  [[nodiscard]] entry* readout(int head) const noexcept { return key(heads + head); }

private:
  [[nodiscard]] index relation_offset(int layer) const noexcept {
    index offset = 2 * index{layers} * heads * square();
    for (int lower = 1; lower < layer; ++lower) offset += heads * reach(lower) * reach(lower) * square();
    return offset;
  }
  [[nodiscard]] index path_offset() const noexcept { return relation_offset(layers); }
};

}  // namespace lindyn::model::detail::inline LINDYN_VECTORS
