// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The coordinates of the invariant manifold and where each lies: one constexpr function of plain numbers.

#include <lindyn/core/errors.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::manifold {

/// One coordinate: the coefficient of a selection S in one block of one weight.
///
/// The stream behind layer l holds (H + 1)^l copies of the input, one for each way of being passed on or copied by a
/// head in every layer. Copy c has the base-(H + 1) digits d_l .. d_1: d_i = 0, layer i passed it on; d_i = h, head h
/// of layer i copied it. In an attention weight S stands in the block (query_copy, key_copy), in the readout in
/// key_copy.
struct coordinate {
  int layer = 1;       ///< 1 .. L; L + 1 is the readout
  int head = 0;        ///< 0 .. H - 1; 0 in the readout
  int query_copy = 0;  ///< 0 .. (H + 1)^(layer - 1) - 1; 0 in the readout
  int key_copy = 0;    ///< likewise; 0 .. (H + 1)^L - 1 in the readout
  int selection = 0;   ///< token selections first, then position selections; the readout has token selections only

  /// Whether both are the same coordinate.
  friend constexpr bool operator==(const coordinate&, const coordinate&) noexcept = default;
};

/// Numbers the coordinates: layer by layer, head by head, query copy, key copy, selection; the readout last.
/// \f[ \dim S = \sum_{l=1}^{L} H (H+1)^{2(l-1)} \left( |T| + |P| \right) + |T|\, (H+1)^L \f]
/// (IMIR, section 4).
class layout {
public:
  /// Throws argument_error for fewer than one layer, head or token selection, or a negative number of others.
  constexpr layout(int layers, int heads, int token_selections, int position_selections)
      : layers_(layers), heads_(heads), tokens_(token_selections), positions_(position_selections) {
    require_constexpr(layers >= 1 && layers <= 12, "layers", layers, "in [1, 12]");
    require_constexpr(heads >= 1 && heads <= 64, "heads", heads, "in [1, 64]");
    double behind = 1;  // copies behind the last layer; a double, as they may exceed every integer
    for (int layer = 0; layer < layers; ++layer) behind *= heads + 1;
    require_constexpr(behind <= 0x1p24, "layers", layers, "so few that (heads + 1)^layers is at most 2^24");
    require_constexpr(token_selections >= 1, "token_selections", token_selections, "at least 1");
    require_constexpr(position_selections >= 0, "position_selections", position_selections, "not negative");
  }

  /// L.
  [[nodiscard]] constexpr int layers() const noexcept { return layers_; }
  /// H.
  [[nodiscard]] constexpr int heads() const noexcept { return heads_; }
  /// |T|.
  [[nodiscard]] constexpr int token_selections() const noexcept { return tokens_; }
  /// |P|.
  [[nodiscard]] constexpr int position_selections() const noexcept { return positions_; }
  /// Selections of an attention weight's block, |T| + |P|.
  [[nodiscard]] constexpr int selections() const noexcept { return tokens_ + positions_; }
  /// Copies of the input that `layer` (1 .. L; L + 1 for the readout) reads.
  [[nodiscard]] constexpr int copies(int layer) const noexcept { return lindyn::copies(layer - 1, heads_); }

  /// Number of coordinates of all attention weights of the layers before `layer`.
  [[nodiscard]] constexpr index layer_begin(int layer) const noexcept {
    index result = 0;
    for (int before = 1; before < layer; ++before)
      result += static_cast<index>(heads_) * copies(before) * copies(before) * selections();
    return result;
  }
  /// Place of the first coordinate of an attention block; its |T| + |P| coordinates follow each other.
  [[nodiscard]] constexpr index block(int layer, int head, int query_copy, int key_copy) const noexcept {
    const index number = copies(layer);
    return layer_begin(layer) + ((head * number + query_copy) * number + key_copy) * selections();
  }
  /// Place of the first coordinate of a readout block; its |T| coordinates follow each other.
  [[nodiscard]] constexpr index readout(int copy) const noexcept {
    return layer_begin(layers_ + 1) + static_cast<index>(copy) * tokens_;
  }
  /// Number of coordinates, dim S.
  [[nodiscard]] constexpr index dimension() const noexcept { return readout(copies(layers_ + 1)); }

  /// Place of a coordinate.
  [[nodiscard]] constexpr index place(const coordinate& which) const noexcept {
    return (which.layer > layers_ ? readout(which.key_copy)
                                  : block(which.layer, which.head, which.query_copy, which.key_copy)) +
           which.selection;
  }
  /// The coordinate at a place in [0, dimension()).
  [[nodiscard]] constexpr coordinate at(index place) const noexcept {
    int layer = 1;
    while (layer <= layers_ && place >= layer_begin(layer + 1)) ++layer;
    index rest = place - layer_begin(layer);
    if (layer > layers_) return {layer, 0, 0, static_cast<int>(rest / tokens_), static_cast<int>(rest % tokens_)};
    coordinate result{.layer = layer, .selection = static_cast<int>(rest % selections())};
    rest /= selections();
    const int number = copies(layer);
    result.key_copy = static_cast<int>(rest % number);
    rest /= number;
    result.query_copy = static_cast<int>(rest % number);
    result.head = static_cast<int>(rest / number);
    return result;
  }

  /// Whether all four numbers agree.
  friend constexpr bool operator==(const layout&, const layout&) noexcept = default;

private:
  static constexpr void require_constexpr(bool holds, const char* argument, int value, const char* allowed) {
    if (!holds) require(false, argument, value, allowed);
  }

  int layers_, heads_, tokens_, positions_;
};

}  // namespace lindyn::manifold
