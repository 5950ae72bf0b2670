// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Eight rows of the relational model and the memory that they need between the forward and the backward pass.

#include <vector>

#include <lindyn/manifold/layout.hpp>
#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>

namespace lindyn::reduced::detail {

/// Eight places of the trunk, or up to eight queries, with what the forward pass leaves for the backward pass.
struct row_block {
  int first = 0;                         ///< first trunk row; unused for queries
  int columns = 0;                       ///< trunk columns that any of its rows sees
  const query_block* queries = nullptr;  ///< null for trunk rows; queries have a further column, their own, at T
  std::vector<lanes> values, gradients;  ///< arrays of block_memory

  /// Number of columns, the queries' own one included.
  [[nodiscard]] int width() const noexcept { return columns + (queries != nullptr ? 1 : 0); }
};

/// Which copy a copy is a copy of, and through which layer and head: P^c = P^parent A, A being that of the lowest layer
/// that copied.
struct copy_link {
  int parent = 0, layer = 0, head = 0;
};

/// Where a block's arrays lie, each one lanes a column: the copies X_c (those of a single layer are rows of its A), the
/// A of the last layer, then Z_b and fold(Z_b) of every layer and head, then M_r of every selection.
class block_memory {
public:
  /// \param columns  of the longest row
  block_memory(const manifold::layout& layout, int columns)
      : layout_(layout), columns_(columns), copies_(layout.copies(layout.layers())) {
    for (int c = 0; c < copies_; ++c) {
      copy_link link{c, 0, 0};
      for (int layer = 1; layer < layout.layers(); ++layer) {
        const int digit = c / layout.copies(layer) % (layout.heads() + 1);
        if (digit == 0) continue;
        link = {c - digit * layout.copies(layer), layer, digit - 1};
        break;
      }
      links_.push_back(link);
    }
  }

  /// Copies that the last layer reads.
  [[nodiscard]] int copies() const noexcept { return copies_; }
  [[nodiscard]] const copy_link& link(int copy) const noexcept { return links_[at(copy)]; }
  [[nodiscard]] std::size_t size() const noexcept {
    return at(readout_place(layout_.token_selections(), 0) * columns_);
  }
  /// Entries of all the copies' arrays, which come first.
  [[nodiscard]] std::size_t size_of_copies() const noexcept { return at(index{copies_} * columns_); }

  [[nodiscard]] lanes* copy(std::vector<lanes>& memory, int copy) const noexcept { return array(memory, copy); }
  [[nodiscard]] lanes* attention(std::vector<lanes>& memory, int layer, int head) const noexcept {
    return array(memory, layer == layout_.layers() ? copies_ + head : (head + 1) * layout_.copies(layer));
  }
  [[nodiscard]] lanes* score(std::vector<lanes>& memory, int layer, int head, int copy) const noexcept {
    return array(memory, score_place(layer) + 2 * (head * layout_.copies(layer) + copy));
  }
  [[nodiscard]] lanes* folded_score(std::vector<lanes>& memory, int layer, int head, int copy) const noexcept {
    return score(memory, layer, head, copy) + columns_;
  }
  [[nodiscard]] lanes* readout(std::vector<lanes>& memory, int selection, int rest) const noexcept {
    return array(memory, readout_place(selection, rest));
  }

private:
  [[nodiscard]] lanes* array(std::vector<lanes>& memory, index number) const noexcept {
    return memory.data() + number * columns_;
  }
  [[nodiscard]] index score_place(int layer) const noexcept {
    index result = copies_ + layout_.heads();
    for (int before = 2; before < layer; ++before) result += 2 * layout_.heads() * layout_.copies(before);
    return result;
  }
  [[nodiscard]] index readout_place(int selection, int rest) const noexcept {
    return score_place(layout_.layers() + 1) + index{selection} * copies_ + rest;
  }

  manifold::layout layout_;
  int columns_, copies_;
  std::vector<copy_link> links_;
};

}  // namespace lindyn::reduced::detail
