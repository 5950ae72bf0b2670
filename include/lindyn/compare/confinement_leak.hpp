// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How far a gradient leaves the manifold, weight by weight, and in which block it does so most.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <locale>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/labels.hpp>

namespace lindyn::compare {

/// How far the gradient of one weight leaves the manifold.
struct weight_leak {
  std::string weight;         ///< as in the parameter table
  double residual = 0;        ///< ||off-manifold part|| / ||gradient||
  double standard_error = 0;  ///< the leak that one standard error of the sampled residual^2 stands for; 0 if exact
  double bound = 0;           ///< what the residual must not exceed
  /// Whether the residual is within the bound.
  [[nodiscard]] bool holds() const noexcept { return residual <= bound; }
};

namespace detail {

/// A number in a sentence.
[[nodiscard]] inline std::string brief(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(3);
  text << value;
  return text.str();
}

/// The sum of the entries that belong to one weight.
[[nodiscard]] inline double sum_of(const parameter& which, std::span<const double> entries) {
  double sum = 0;
  for (const double entry :
       entries.subspan(static_cast<std::size_t>(which.offset), static_cast<std::size_t>(which.size())))
    sum += entry;
  return sum;
}

/// What the norm of a weight's gradient is divided by: its norm, or a millionth of the largest norm where it is less
/// than that, since rounding alone decides the direction of a gradient that vanishes.
[[nodiscard]] inline std::vector<double> reference_norms(std::vector<double> norms) {
  const double least = std::max(1e-6 * std::ranges::max(norms), std::numeric_limits<double>::min());
  for (double& norm : norms) norm = std::max(norm, least);
  return norms;
}

/// Names the part of a weight that holds the largest sum of `squares` (entries laid out as the weights): the block of
/// copies, and in it the rows and columns of tokens or positions: "W_KQ.1.0, query copy x, key copy 1: token x token
/// part", "W_out, copy 21: answer x position part".
[[nodiscard]] inline std::string largest_part(const manifold::basis& basis, const parameter& which,
                                              std::span<const double> squares) {
  const auto& layout = basis.layout();
  const index vocabulary = basis.tokens().size(), width = vocabulary + basis.positions().size();
  const auto matrix = basis.parameters().view(which, squares);
  const bool readout = matrix.rows == vocabulary;
  const index row_parts = readout ? 1 : 2 * (matrix.rows / width), column_parts = 2 * (matrix.columns / width);
  const auto part_of = [&](index place) { return 2 * (place / width) + (place % width >= vocabulary ? 1 : 0); };

  std::vector<double> sums(static_cast<std::size_t>(row_parts * column_parts));
  for (index row = 0; row < matrix.rows; ++row)
    for (index column = 0; column < matrix.columns; ++column)
      sums[static_cast<std::size_t>((readout ? 0 : part_of(row)) * column_parts + part_of(column))] +=
          matrix(row, column);

  const index largest = std::ranges::max_element(sums) - sums.begin();
  const index row = largest / column_parts, column = largest % column_parts;
  const auto copy = [&](index part) {
    manifold::label_text name;
    manifold::detail::append_copy(name, layout, static_cast<int>(part / 2));
    return std::string(name.view());
  };
  const auto kind = [](index part) { return part % 2 == 0 ? "token" : "position"; };
  if (readout) return which.name + ", copy " + copy(column) + ": answer x " + kind(column) + " part";
  return which.name + ", query copy " + copy(row) + ", key copy " + copy(column) + ": " + kind(row) + " x " +
         kind(column) + " part";
}

}  // namespace detail
}  // namespace lindyn::compare
