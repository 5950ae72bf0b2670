// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A dense layer, by the kernels of the file that includes this.

#include <cmath>
#include <cstddef>
#include <typeinfo>
#include <vector>

#include <lindyn/backend/host.hpp>

/// A matrix without gaps.
struct numbers {
  lindyn::index rows, columns;
  std::vector<float> entries = std::vector<float>(static_cast<std::size_t>(rows * columns));

  /// Fills it with numbers of all sizes.
  [[nodiscard]] numbers filled(double phase) && {
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = static_cast<float>(std::sin(static_cast<double>(i) + phase));
    return *this;
  }
  [[nodiscard]] lindyn::backend::strided_matrix<const float> input() const {
    return {entries.data(), rows, columns, columns};
  }
  [[nodiscard]] lindyn::backend::strided_matrix<float> output() { return {entries.data(), rows, columns, columns}; }
};

/// The product x w' by the kernels of another file, and the type that they belong to.
numbers wide_product(const numbers& x, const numbers& w);
const std::type_info& wide_host();

/// The same by those of this one.
static numbers product(const numbers& x, const numbers& w) {
  lindyn::backend::host on;
  numbers y{x.rows, w.rows};
  on.linear<float>(x.input(), w.input(), nullptr, y.output(), lindyn::backend::update::assign);
  return y;
}
