// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Random rows for a trunk's attention, and what holds for it in any layer.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <lindyn/reduced/lanes.hpp>

#include "values.hpp"

namespace lindyn::testing {

using reduced::lanes;

/// Places of the trunk.
constexpr int trunk = 11;

inline std::vector<lanes> random_rows(std::uint64_t seed, int count) {
  const auto numbers = normal_numbers(index{count} * lanes::count, seed, 1);
  std::vector<lanes> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i)
    for (int lane = 0; lane < lanes::count; ++lane)
      result[i][lane] = numbers[i * lanes::count + static_cast<std::size_t>(lane)];
  return result;
}

inline double dot(const std::vector<lanes>& a, const std::vector<lanes>& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result += (a[i] * b[i]).sum();
  return result;
}

/// Row i, column j of an attention matrix, by pushing the rows of the identity.
template <class Attention>
std::vector<std::vector<double>> dense(const Attention& attention) {
  std::vector<std::vector<double>> result(trunk, std::vector<double>(trunk));
  for (std::size_t i = 0; i < trunk; ++i) {
    std::vector<lanes> unit(trunk), row(trunk);
    unit[i] = lanes::all(1);
    attention.push(unit.data(), row.data(), trunk);
    for (std::size_t j = 0; j < trunk; ++j) result[i][j] = row[j][0];
  }
  return result;
}

/// Push and fold are adjoint, on any number of columns.
template <class Attention>
void check_adjoint(const Attention& attention) {
  for (const int columns : {1, 4, 7, 8, trunk}) {
    const auto x = random_rows(1, columns), y = random_rows(2, columns);
    auto pushed = x, folded = y;
    attention.push(x.data(), pushed.data(), columns);
    attention.fold(y.data(), folded.data(), columns);
    CHECK(dot(pushed, y) == doctest::Approx(dot(x, folded)).epsilon(1e-12));
  }
}

}  // namespace lindyn::testing
