// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The manifold in the weights of a network with an additive residual stream: approximate, with projection by least
/// squares.

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/residual_stream.hpp>

namespace lindyn::manifold {

/// The images T S T' of the basis elements S of the concatenated stream, T the stream's reader (see
/// model::residual_stream). In a stream wide enough they span a space of the same dimension, but aren't orthogonal
/// between copies unless the columns of T are orthonormal: the overlap K = T'T gives the Gram matrix
/// <T S_i T', T S_j T'> = <S_i, K S_j K>.
/// Gradients are not confined to this space; `project` measures by how much they leave it.
///
///     const manifold::residual_basis approximate(basis, model::residual_stream(basis.shape(), {.width = 256}));
///     const double share = approximate.project(gradient).relative_residual();
///
/// A narrow stream can give different coordinates the same weights; the Gram matrix is singular then. What counts is the
/// residual: coordinates that the stream can't tell apart are arbitrary, and may be large, as pivots that vanish but for
/// rounding are divided by.
///
/// \tparam Stream  model::residual_stream, or any other with its members
template <class Stream>
class residual_basis {
public:
  /// Throws shape_error unless basis and stream have the same tokens, positions, layers and heads.
  residual_basis(manifold::basis basis, Stream stream) : basis_(std::move(basis)), stream_(std::move(stream)) {
    const auto parameters = stream_.concatenated_parameters();
    require_extent("stream.concatenated_parameters().count()", parameters.count(), basis_.parameters().count());
    require_extent("stream.concatenated_parameters().size()", parameters.size(), basis_.parameters().size());
    fill_gram();
  }

  /// The basis of the concatenated stream.
  [[nodiscard]] const manifold::basis& basis() const noexcept { return basis_; }
  /// The additive stream.
  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// Number of coordinates.
  [[nodiscard]] index dimension() const noexcept { return basis_.dimension(); }

  /// The weights sum_i c_i T S_i T'. Throws shape_error for another number of coordinates.
  [[nodiscard]] std::vector<double> embed(std::span<const double> coordinates) const {
    std::vector<double> weights(static_cast<std::size_t>(stream_.parameters().size()));
    stream_.pull_back(basis_.embed(coordinates), weights);
    return weights;
  }

  /// The nearest weights (or gradient) of the form of `embed`: their coordinates (arbitrary ones, maybe large, where the
  /// stream can't tell them apart) and what is left of each weight. Throws shape_error for another number of weights;
  /// non_finite_error, naming the weight.
  [[nodiscard]] projection project(std::span<const double> weights) const {
    model::require_weights(stream_.parameters(), weights);
    std::vector<double> concatenated(static_cast<std::size_t>(basis_.parameters().size()));
    stream_.concatenate(weights, concatenated);
    Eigen::VectorXd products(dimension());
    basis_.inner_products(concatenated, std::span(products.data(), static_cast<std::size_t>(dimension())));
    const Eigen::VectorXd coordinates = gram_.solve(products);

    projection result{{coordinates.begin(), coordinates.end()}, {}, {}};
    result.off_manifold = embed(result.coordinates);
    std::ranges::transform(weights, result.off_manifold, result.off_manifold.begin(), std::minus{});
    detail::measure(stream_.parameters(), weights, result);
    return result;
  }

private:
  using matrix = Eigen::MatrixXd;

  void fill_gram() {
    const parameter_table& table = basis_.parameters();
    std::vector<matrix> overlaps;  // symmetric, so that it doesn't matter that tables are row-major
    for (index which = 0; which < table.count(); ++which) {
      const std::vector<double> overlap = stream_.overlap(which);
      const index width = table[which].columns;
      overlaps.push_back(Eigen::Map<const matrix>(overlap.data(), width, width));
    }
    matrix gram(dimension(), dimension());
    std::vector<double> unit(static_cast<std::size_t>(dimension())), element;
    for (index place = 0; place < dimension(); ++place) {
      unit[static_cast<std::size_t>(place)] = 1;
      element = basis_.embed(unit);
      unit[static_cast<std::size_t>(place)] = 0;
      for (index which = 0; which < table.count(); ++which) {
        const auto view = table.view(table[which], std::span(element));
        Eigen::Map<matrix> transposed(view.data, view.columns, view.rows);
        const matrix& overlap = overlaps[static_cast<std::size_t>(which)];
        matrix part = overlap * matrix(transposed);
        if (which + 1 < table.count()) part = matrix(part * overlap);
        transposed = part;
      }
      basis_.inner_products(element, std::span(gram.data() + place * dimension(), unit.size()));
    }
    gram_.compute(gram);
  }

  manifold::basis basis_;
  Stream stream_;
  Eigen::LDLT<matrix> gram_;  // singular in narrow streams: it then leaves out pivots that vanish exactly, no others
};

}  // namespace lindyn::manifold
