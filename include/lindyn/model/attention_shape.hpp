// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sizes and parameters of an attention-only network, and what every evaluation of one requires of its arguments.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::model {

/// Sizes of an attention-only network.
struct attention_shape {
  int vocabulary = 0;    ///< V, tokens
  int positions = 0;     ///< P, places a token can stand at
  int layers = dynamic;  ///< L; `dynamic` leaves it to the network's type
  int heads = dynamic;   ///< H in every layer; likewise

  /// D = V + P, the width of the input stream.
  [[nodiscard]] constexpr index input_width() const noexcept { return index{vocabulary} + positions; }
  /// D (H+1)^layer, the width of the stream that enters layer `layer` (from 0); that of the readout for `layer` = L.
  [[nodiscard]] constexpr index width(int layer) const noexcept { return input_width() * copies(layer, heads); }

  /// Whether all sizes agree.
  friend constexpr bool operator==(const attention_shape&, const attention_shape&) noexcept = default;
};

/// Throws argument_error unless all sizes are at least 1 and the weights can be counted and addressed.
inline void require_valid(const attention_shape& shape) {
  require(shape.vocabulary >= 1, "shape.vocabulary", shape.vocabulary, "at least 1");
  require(shape.positions >= 1, "shape.positions", shape.positions, "at least 1");
  require(shape.layers >= 1, "shape.layers", shape.layers, "at least 1");
  require(shape.heads >= 1, "shape.heads", shape.heads, "at least 1");
  const double width = (double{1} * shape.vocabulary + shape.positions) * std::pow(shape.heads + 1.0, shape.layers);
  require(width <= 0x1p24, "shape", width, "small enough for a stream of at most 2^24 entries behind the last layer");
}

/// The matrices of an attention-only network in their order: for every layer l and head h, both from 0, `W_KQ.l.h`
/// (rows query, columns key; D (H+1)^l square), then `W_out` (V x D (H+1)^L).
[[nodiscard]] inline parameter_table attention_parameters(const attention_shape& shape) {
  require_valid(shape);
  parameter_table table;
  for (int layer = 0; layer < shape.layers; ++layer)
    for (int head = 0; head < shape.heads; ++head)
      table.append("W_KQ." + std::to_string(layer) + "." + std::to_string(head), shape.width(layer),
                   shape.width(layer));
  table.append("W_out", shape.vocabulary, shape.width(shape.layers));
  return table;
}

/// The shape with sizes left `dynamic` taken from the type's. Throws if a size given twice differs, or is invalid.
template <class Layers, class Heads>
[[nodiscard]] attention_shape resolve(attention_shape shape) {
  const auto settle = [](std::string_view argument, int& size, int fixed) {
    if (fixed == dynamic) return;
    if (size == dynamic) size = fixed;
    require(size == fixed, argument, size, std::to_string(fixed) + ", as in the network's type");
  };
  settle("shape.layers", shape.layers, Layers::value);
  settle("shape.heads", shape.heads, Heads::value);
  require_valid(shape);
  return shape;
}

namespace detail {

/// Whether x is neither NaN nor infinite for all entries. A sum of zeros vectorises where a test of each doesn't.
template <class Scalar>
[[nodiscard]] bool all_finite(std::span<const Scalar> values) {
  constexpr std::size_t strands = 32;
  Scalar zeros[strands] = {};
  std::size_t place = 0;
  for (; place + strands <= values.size(); place += strands)
    for (std::size_t strand = 0; strand < strands; ++strand) zeros[strand] += Scalar(0) * values[place + strand];
  for (; place < values.size(); ++place) zeros[0] += Scalar(0) * values[place];
  return std::ranges::all_of(zeros, [](Scalar zero) { return zero == Scalar(0); });
}

/// Whether all entries lie in [0, size).
[[nodiscard]] inline bool all_below(std::span<const int> values, int size) {
  bool outside = false;
  for (const int value : values) outside |= static_cast<unsigned>(value) >= static_cast<unsigned>(size);
  return !outside;
}

}  // namespace detail

/// Throws unless the weights fit the table and are finite: shape_error, or non_finite_error with the parameter's name.
template <class Scalar>
void require_weights(const parameter_table& table, std::span<const Scalar> weights) {
  require_extent("weights.size()", weights.size(), table.size());
  if (detail::all_finite(weights)) return;
  for (const auto& which : table) require_finite(which.name, table.view(which, weights));
}

/// Throws unless the batch fits the shape: task::require_valid, which is called only where a quick look finds fault.
inline void require_batch(const attention_shape& shape, const task::batch_view& batch) {
  const auto all = [](const matrix_view<const int>& view) {
    return std::span<const int>(view.data, static_cast<std::size_t>(view.size()));
  };
  const bool fits =
      batch.count() >= 1 && batch.length() >= 1 && batch.positions.rows == batch.tokens.rows &&
      batch.positions.columns == batch.tokens.columns && static_cast<index>(batch.answers.size()) == batch.count() &&
      (batch.weights.empty() || static_cast<index>(batch.weights.size()) == batch.count()) &&
      detail::all_below(all(batch.tokens), shape.vocabulary) &&
      detail::all_below(all(batch.positions), shape.positions) && detail::all_below(batch.answers, shape.vocabulary);
  if (!fits) task::require_valid(batch, shape.vocabulary, shape.positions);
  if (!detail::all_finite(batch.weights)) require_finite("batch.weights", batch.weights);
}

/// Returns a finite loss as it is; throws non_finite_error for one that overflowed.
[[nodiscard]] inline double finite_loss(double loss) {
  if (!std::isfinite(loss))
    throw non_finite_error("loss", lindyn::detail::to_text(loss), "finite; the weights are too large");
  return loss;
}

}  // namespace lindyn::model
