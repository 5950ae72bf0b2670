// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which tensor is the first that isn't finite.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::model {

/// "weights blocks.0.attn.q.weight[17]": the first entry of a buffer that is NaN or infinite, the buffer being called
/// `what`; empty if all of the table's entries are finite.
/// Throws shape_error for a buffer of another size than the table's.
template <class Scalar>
[[nodiscard]] std::string first_non_finite(const parameter_table& table, std::string_view what,
                                           std::span<const Scalar> buffer) {
  for (const parameter& which : table) {
    const auto values = table.view(which, buffer);
    const auto found =
        std::find_if_not(values.begin(), values.end(), [](Scalar value) { return std::isfinite(value); });
    if (found != values.end())
      return std::string(what) + " " + which.name + "[" + std::to_string(found - values.begin()) + "]";
  }
  return {};
}

namespace detail {

template <class Scalar>
[[nodiscard]] bool all_finite(const backend::strided_matrix<Scalar>& matrix) {
  for (index row = 0; row < matrix.rows; ++row)
    if (!std::all_of(matrix.row(row), matrix.row(row) + matrix.columns,
                     [](Scalar value) { return std::isfinite(value); }))
      return false;
  return true;
}

}  // namespace detail

}  // namespace lindyn::model
