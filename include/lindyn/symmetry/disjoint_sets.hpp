// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Disjoint sets of 0 .. n-1 under union, with the sets numbered by their smallest element.

#include <numeric>
#include <utility>
#include <vector>

namespace lindyn::symmetry {

/// Union-find whose root is the smallest element of a set. 4 bytes an element and no further scratch, since the
/// orbitals of 8192 points need 2^26 elements.
/// Source: Tarjan, van Leeuwen, "Worst-case analysis of set union algorithms", J. ACM 31 (1984): linking by index with
/// path halving, O(log n) amortised.
class disjoint_sets {
public:
  /// Each of 0 .. elements-1 is a set of its own.
  explicit disjoint_sets(std::size_t elements) : parent_(elements) { std::iota(parent_.begin(), parent_.end(), 0); }

  /// Joins the sets of a and b.
  void unite(int a, int b) noexcept {
    a = root(a);
    b = root(b);
    if (a < b) std::swap(a, b);
    parent_[static_cast<std::size_t>(a)] = b;
  }

  /// For every element the number of its set; sets are numbered in the order of their smallest elements.
  [[nodiscard]] std::vector<int> labels() && {
    int sets = 0;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const auto above = static_cast<std::size_t>(parent_[i]);
      parent_[i] = above == i ? sets++ : parent_[above];  // above < i, so it holds its label already
    }
    return std::move(parent_);
  }

private:
  [[nodiscard]] int root(int element) noexcept {
    auto e = static_cast<std::size_t>(element);
    while (parent_[e] != static_cast<int>(e)) {
      parent_[e] = parent_[static_cast<std::size_t>(parent_[e])];
      e = static_cast<std::size_t>(parent_[e]);
    }
    return static_cast<int>(e);
  }

  std::vector<int> parent_;
};

}  // namespace lindyn::symmetry
