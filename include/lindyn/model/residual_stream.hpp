// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Attention layers that add to one stream of fixed width, instead of appending to it.

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <Eigen/Core>
#include <Eigen/QR>

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
    readers_.push_back(separating ? matrix::Identity(width_, shape.input_width())
                                  : orthonormal(shape.input_width(), options.seed, 0));
    for (int layer = 0; layer < shape.layers; ++layer) {
      const matrix before = readers_.back();
      matrix& after = readers_.emplace_back(width_, before.cols() * (shape.heads + 1));
      after.leftCols(before.cols()) = before;
      for (int head = 0; head < shape.heads; ++head) {
        const auto stream = static_cast<std::uint64_t>(1 + layer * shape.heads + head);
        auto copies = after.middleCols((head + 1) * before.cols(), before.cols());
        if (separating) {  // the next blocks of the stream, turned around its end
          for (index row = 0; row < width_; ++row)
            copies.row((row + (head + 1) * before.cols()) % width_) = before.row(row);
        } else {
          copies = orthonormal(width_, options.seed, stream) * before;
        }
      }
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
      const auto from = view(table_, which, weights);
      auto to = view(concatenated_, which, concatenated);
      const matrix& reader = reader_of(which);
      if (is_readout(which))
        to.noalias() = from * reader;
      else
        to.noalias() = reader.transpose() * (from * reader);
    }
  }

  /// The adjoint of `concatenate`: T_l G T_l' and G T_L+1', which turns a gradient of the attention-only network into
  /// one of this network. Throws shape_error for other sizes.
  void pull_back(std::span<const double> concatenated, std::span<double> weights) const {
    for (index which = 0; which < table_.count(); ++which) {
      const auto from = view(concatenated_, which, concatenated);
      auto to = view(table_, which, weights);
      const matrix& reader = reader_of(which);
      if (is_readout(which))
        to.noalias() = from * reader.transpose();
      else
        to.noalias() = (reader * from) * reader.transpose();
    }
  }

  /// T_l' T_l of the weights' own reader, in the order of parameters(): how much the copies overlap.
  [[nodiscard]] std::vector<double> overlap(index which) const {
    const matrix& reader = reader_of(which);
    const matrix product = reader.transpose() * reader;
    return {product.data(), product.data() + product.size()};
  }

private:
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  template <class T>
  using mapped = Eigen::Map<std::conditional_t<std::is_const_v<T>, const matrix, matrix>>;

  template <class T>
  static mapped<T> view(const parameter_table& table, index which, std::span<T> buffer) {
    const auto found = table.view(table[which], buffer);
    return {found.data, found.rows, found.columns};
  }
  [[nodiscard]] bool is_readout(index which) const noexcept { return which == table_.count() - 1; }
  [[nodiscard]] const matrix& reader_of(index which) const noexcept {
    return readers_[static_cast<std::size_t>(which / shape_.heads)];
  }

  /// d x `columns` with orthonormal columns, uniformly distributed: Q of a normal matrix's QR decomposition, with the
  /// signs of R's diagonal (Mezzadri, "How to generate random matrices from the classical compact groups", Notices of
  /// the AMS 54 (2007)). With more columns than rows each is a unit vector of random direction.
  [[nodiscard]] matrix orthonormal(index columns, std::uint64_t seed, std::uint64_t stream) const {
    counter_generator generator(seed, stream);
    matrix normal(width_, columns);
    for (double& entry : normal.reshaped()) entry = standard_normal(generator);
    if (columns > width_) return normal.colwise().normalized();
    const Eigen::HouseholderQR<matrix> decomposition(normal);
    matrix result = decomposition.householderQ() * matrix::Identity(width_, columns);
    for (index column = 0; column < columns; ++column)
      if (decomposition.matrixQR()(column, column) < 0) result.col(column) *= -1;
    return result;
  }

  attention_shape shape_;
  parameter_table concatenated_, table_;
  index width_;
  std::vector<matrix> readers_;  // T_1 .. T_L+1
};

}  // namespace lindyn::model
