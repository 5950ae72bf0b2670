// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What stands for a token or a position in the stream: unit vectors, or centred ones.

#include <algorithm>
#include <span>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/symmetry/joint.hpp>

namespace lindyn::model {

/// What stands for a token or a position in the stream.
enum class embedding {
  /// Unit vectors, as attention_only has them. The gradient stays on the manifold for cross-entropy, and one orbit each
  /// of tokens and positions: then a constant on an orbit shifts all scores, or all logits, alike.
  one_hot,
  /// Unit vectors minus their mean over each orbit; at a point of the manifold the network computes the same from
  /// these. They are needed by squared error (centred logits sum to zero, the targets to one, and the difference moves
  /// the readout along the mean embedding) and by several orbits (whose constants say to which a token belongs).
  centred,
};

/// Makes a network with one-hot embeddings compute what it would with centred ones. With C the map that centres the
/// stream, the latter's loss is \f$L(C W C,\, W_\mathrm{out} C)\f$, whose derivatives are \f$C L' C\f$ and
/// \f$L' C\f$: centre the weights once, and every gradient.
class centred_stream {
public:
  /// \param structure  symmetry of the tokens and positions, which says what their orbits are
  explicit centred_stream(const symmetry::stream_structure& structure) {
    const auto& [tokens, positions, generators] = structure;
    for (int token = 0; token < tokens.size(); ++token) orbit_.push_back(tokens.orbit(token));
    for (int position = 0; position < positions.size(); ++position)
      orbit_.push_back(tokens.orbit_count() + positions.orbit(position));
    size_.resize(static_cast<std::size_t>(tokens.orbit_count() + positions.orbit_count()));
    for (const int orbit : orbit_) ++size_[static_cast<std::size_t>(orbit)];
    mean_.resize(size_.size());
  }

  /// Takes from weights, or a gradient, laid out by `table`, the means over each orbit along every side that reads the
  /// stream: both sides of the square weights, the columns of the readout.
  template <class Scalar>
  void operator()(const parameter_table& table, std::span<Scalar> values) {
    for (const parameter& which : table) {
      const auto matrix = table.view(which, values);
      centre(matrix.data, matrix.rows, matrix.columns, matrix.columns, 1);
      if (matrix.rows == matrix.columns) centre(matrix.data, matrix.columns, matrix.rows, 1, matrix.columns);
    }
  }

private:
  /// Centres `lines` lines, `line` entries apart, of `length` entries that are `step` apart.
  template <class Scalar>
  void centre(Scalar* data, index lines, index length, index line, index step) {
    const auto width = static_cast<index>(orbit_.size());
    for (index i = 0; i < lines; ++i)
      for (index begin = 0; begin < length; begin += width) {
        Scalar* const first = data + i * line + begin * step;
        std::ranges::fill(mean_, 0.0);
        for (index j = 0; j < width; ++j) mean_[orbit(j)] += static_cast<double>(first[j * step]) / size_[orbit(j)];
        for (index j = 0; j < width; ++j) first[j * step] -= static_cast<Scalar>(mean_[orbit(j)]);
      }
  }
  [[nodiscard]] std::size_t orbit(index place) const noexcept {
    return static_cast<std::size_t>(orbit_[static_cast<std::size_t>(place)]);
  }

  std::vector<int> orbit_;           // of every entry of the input stream
  std::vector<double> size_, mean_;  // of every orbit
};

}  // namespace lindyn::model
