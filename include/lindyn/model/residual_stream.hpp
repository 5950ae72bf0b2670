// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Attention layers that add to one stream of fixed width, instead of appending to it.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_shape.hpp>

namespace lindyn::model {

/// The fixed orthogonal matrices O that carry what a head reads into the stream.
enum class output_maps {
  random,      ///< uniform (Haar) orthogonal matrices: copies of the input overlap by about 1 / sqrt(width)
  separating,  ///< permutations that keep all copies apart, in a stream as wide as that of attention_only
};

/// Options of residual_stream.
struct residual_options {
  index width = 256;                       ///< d, entries of the stream; `separating` needs that of attention_only
  output_maps maps = output_maps::random;  ///< how heads write
  std::uint64_t seed = 1;                  ///< of the embeddings and the maps
};

/// A transformer of attention layers alone on a stream of d entries, with fixed orthogonal output-value maps (IMIR,
/// section 2):
///
///     x_0 = E [token | position],   A_h = softmax over keys j <= i of x_i' W_KQ.l.h x_j,
///     x <- x + sum_h O_lh A_h x,    logits = W_out x_last
///
/// E is d x D with orthonormal columns (D = V + P; unit columns of random directions where d < D). Nothing but the
/// weights is learned.
///
/// Derived: attention mixes places and O mixes entries, so that they commute, and x = T_l X with the concatenated
/// stream X = [x | A_1 x | .. | A_H x] of attention_only and the *reader*
/// \f[ T_1 = E , \qquad T_{l+1} = [\, T_l \mid O_{l1} T_l \mid \cdots \mid O_{lH} T_l \,] . \f]
/// The network is therefore attention_only at the weights T_l' W T_l and W_out T_L+1, and its gradient is T_l G T_l'
/// (G T_L+1' of the readout) with that network's gradient G. If the columns of T are orthonormal both learn alike;
/// otherwise copies leak into each other, by about 1 / sqrt(d).
class residual_stream {
public:
  /// Throws argument_error for sizes below 1, a dynamic shape, or `separating` maps with another width than theirs.
  residual_stream(const attention_shape& shape, const residual_options& options)
      : shape_(shape), concatenated_(attention_parameters(shape)), width_(options.width) {
    require(width_ >= 1 && width_ <= 1 << 14, "width", width_, "in [1, 16384]");
    const index apart = shape.width(shape.layers);
    const bool separating = options.maps == output_maps::separating;
    if (separating) require(width_ == apart, "width", width_, std::to_string(apart) + ", to keep all copies apart");
    matrix before = separating ? matrix(matrix::Identity(width_, shape.input_width()))
                               : orthonormal(shape.input_width(), options.seed, 0);
    for (int layer = 0; layer <= shape.layers; ++layer) {
      readers_.push_back({before, before.transpose()});
      if (layer == shape.layers) break;
      matrix after(width_, before.cols() * (shape.heads + 1));
      after.leftCols(before.cols()) = before;
      for (int head = 0; head < shape.heads; ++head) {
        const index shift = (head + 1) * before.cols();
        auto copies = after.middleCols(shift, before.cols());
        if (separating)  // the next blocks of the stream, turned around its end
          for (index row = 0; row < width_; ++row) copies.row((row + shift) % width_) = before.row(row);
        else
          copies = matrix(
              orthonormal(width_, options.seed, static_cast<std::uint64_t>(1 + layer * shape.heads + head)) * before);
      }
      before = std::move(after);
    }
    for (const parameter& which : concatenated_)
      table_.append(which.name, which.rows == which.columns ? width_ : which.rows, width_);
  }

  /// Shape of the attention-only network that this one is at its `concatenated` weights.
  [[nodiscard]] const attention_shape& shape() const noexcept { return shape_; }
  /// d, entries of the stream.
  [[nodiscard]] index width() const noexcept { return width_; }
  /// W_KQ.l.h (d x d) and W_out (V x d).
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }
  /// The weights of the attention-only network.
  [[nodiscard]] const parameter_table& concatenated_parameters() const noexcept { return concatenated_; }

  /// T_l' W T_l and W_out T_L+1, laid out by concatenated_parameters(). Throws shape_error for other sizes.
  void concatenate(std::span<const double> weights, std::span<double> concatenated) const {
    for (index which = 0; which < table_.count(); ++which) {
      const reader& by = reader_of(which);
      matrix result = load(table_, which, weights);
      if (!is_readout(which)) result = matrix(result * by.columns);
      store(matrix(by.rows * result), concatenated_, which, concatenated);
    }
  }

  /// The adjoint of `concatenate`: T_l G T_l' and G T_L+1', which turns a gradient of the attention-only network into
  /// one of this network. Throws shape_error for other sizes.
  void pull_back(std::span<const double> concatenated, std::span<double> weights) const {
    for (index which = 0; which < table_.count(); ++which) {
      const reader& by = reader_of(which);
      matrix result = load(concatenated_, which, concatenated);
      if (!is_readout(which)) result = matrix(result * by.rows);
      store(matrix(by.columns * result), table_, which, weights);
    }
  }

  /// T_l' T_l of the reader of a weight, by its place in parameters(): how much the copies overlap.
  [[nodiscard]] std::vector<double> overlap(index which) const {
    const matrix product = reader_of(which).rows * reader_of(which).columns;
    return {product.data(), product.data() + product.size()};
  }

private:
  // Eigen's products of this one type are the only ones, and its decompositions are left alone, as each costs whoever
  // includes this header seconds of compile time.
  using matrix = Eigen::MatrixXd;

  /// T and T'.
  struct reader {
    matrix columns, rows;
  };

  /// The transpose of a matrix of the buffer, which is row-major.
  static matrix load(const parameter_table& table, index which, std::span<const double> buffer) {
    const auto found = table.view(table[which], buffer);
    return Eigen::Map<const matrix>(found.data, found.columns, found.rows);
  }
  static void store(const matrix& transposed, const parameter_table& table, index which, std::span<double> buffer) {
    const auto found = table.view(table[which], buffer);
    std::copy(transposed.data(), transposed.data() + transposed.size(), found.data);
  }
  [[nodiscard]] bool is_readout(index which) const noexcept { return which == table_.count() - 1; }
  [[nodiscard]] const reader& reader_of(index which) const noexcept {
    return readers_[static_cast<std::size_t>(which / shape_.heads)];
  }

  /// d x `columns` with orthonormal columns, uniformly distributed: a normal matrix is made orthonormal column by column
  /// (Gram and Schmidt, twice, which is enough for rounding), that is Q of its QR decomposition with a positive diagonal
  /// of R (Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54 (2007)).
  /// With more columns than rows each is a unit vector of random direction.
  [[nodiscard]] matrix orthonormal(index columns, std::uint64_t seed, std::uint64_t stream) const {
    counter_generator generator(seed, stream);
    matrix result(width_, columns);
    for (index column = 0; column < columns; ++column) {
      auto mine = result.col(column);
      for (double& entry : mine) entry = standard_normal(generator);
      for (int pass = 0; pass < 2; ++pass) {
        for (index other = 0; other < column && columns <= width_; ++other)
          mine -= result.col(other).dot(mine) * result.col(other);
        mine /= mine.norm();
      }
    }
    return result;
  }

  attention_shape shape_;
  parameter_table concatenated_, table_;
  index width_;
  std::vector<reader> readers_;  // T_1 .. T_L+1
};

}  // namespace lindyn::model
