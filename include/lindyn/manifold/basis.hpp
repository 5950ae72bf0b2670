// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The basis of the invariant manifold in the space of full weights: embedding, Gram metric, projection.

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/manifold/labels.hpp>
#include <lindyn/manifold/layout.hpp>
#include <lindyn/manifold/selection.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/symmetry/joint.hpp>

namespace lindyn::manifold {

/// One weight's distance from the manifold.
struct weight_projection {
  std::string name;              ///< as in the parameter table
  double norm = 0;               ///< Frobenius norm of the weight
  double off_manifold_norm = 0;  ///< Frobenius norm of what the manifold doesn't contain

  /// Share of the squared norm that lies on the manifold, in [0, 1]; 1 for a zero weight.
  [[nodiscard]] double energy_share() const {
    const double ratio = norm > 0 ? off_manifold_norm / norm : 0;
    return 1 - ratio * ratio;
  }
};

/// Any weights, split into their orthogonal projection on the manifold and the rest.
struct projection {
  std::vector<double> coordinates;         ///< of the projection
  std::vector<double> off_manifold;        ///< the rest, laid out as the weights
  std::vector<weight_projection> weights;  ///< by weight

  /// Frobenius norm of the off-manifold part of all weights.
  [[nodiscard]] double off_manifold_norm() const { return total(&weight_projection::off_manifold_norm); }
  /// Frobenius norm of all weights.
  [[nodiscard]] double norm() const { return total(&weight_projection::norm); }
  /// Share of the squared norm that lies on the manifold, in [0, 1]; 1 for zero weights.
  [[nodiscard]] double energy_share() const {
    const double ratio = relative_residual();
    return 1 - ratio * ratio;
  }
  /// ||off-manifold part|| / ||weights||; 0 for zero weights.
  [[nodiscard]] double relative_residual() const {
    const double all = norm();
    return all > 0 ? off_manifold_norm() / all : 0;
  }

private:
  [[nodiscard]] double total(double weight_projection::*member) const {
    double sum = 0;
    for (const auto& weight : weights) sum += weight.*member * (weight.*member);
    return std::sqrt(sum);
  }
};

namespace detail {

/// From the weights and what is off the manifold of them, fills in the norms of each weight of the table. Throws
/// non_finite_error, naming the weight, if the squares of its norm are beyond double precision.
inline void measure(const parameter_table& parameters, std::span<const double> weights, projection& split) {
  split.weights.clear();
  for (const parameter& which : parameters) {
    const auto norm = [&](const double* values) {
      return Eigen::Map<const Eigen::VectorXd>(values + which.offset, which.size()).norm();
    };
    split.weights.push_back({which.name, norm(weights.data()), norm(split.off_manifold.data())});
    if (!(split.weights.back().norm <= 1e150))
      throw non_finite_error("norm of " + which.name, lindyn::detail::to_text(split.weights.back().norm),
                             "at most 1e150, as it is squared");
  }
}

}  // namespace detail

/// The manifold of an attention-only network under a symmetry of its tokens and positions, at run-time sizes.
///
/// Weight W of layer l, head h has the block (a, b) of D x D entries (D = V + P) for query copy a and key copy b; on
/// the manifold
/// \f[
///   W_{lh} = \sum_{a,b} e_a e_b^\top \otimes
///            \begin{pmatrix} \sum_{S \in T} c_{lhabS}\, S & 0 \\ 0 & \sum_{S \in P} c_{lhabS}\, S \end{pmatrix} ,
/// \f]
/// with S the centred orbital matrices: the token selections T in the block's token part, the position selections P in
/// its position part. A readout block is V x D with the token part alone.
class basis {
public:
  /// \param structure  symmetry of the tokens and positions
  /// \param options    selections and centring; by default all of them, centred
  basis(int layers, int heads, symmetry::stream_structure structure, const selection_options& options = {})
      : structure_(std::move(structure)),
        tokens_(structure_.tokens, options.tokens, options.centring),
        positions_(structure_.positions, options.positions, options.centring),
        layout_(layers, heads, tokens_.count(), positions_.count()),
        parameters_(
            model::attention_parameters({structure_.tokens.size(), structure_.positions.size(), layers, heads})) {}

  /// Which coordinate stands where.
  [[nodiscard]] const manifold::layout& layout() const noexcept { return layout_; }
  /// Number of coordinates.
  [[nodiscard]] index dimension() const noexcept { return layout_.dimension(); }
  /// The symmetry of tokens and positions.
  [[nodiscard]] const symmetry::stream_structure& structure() const noexcept { return structure_; }
  /// The token selections T.
  [[nodiscard]] const selection_set& tokens() const noexcept { return tokens_; }
  /// The position selections P.
  [[nodiscard]] const selection_set& positions() const noexcept { return positions_; }
  /// The full weights: W_KQ.l.h and W_out.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return parameters_; }
  /// The network's shape.
  [[nodiscard]] model::attention_shape shape() const noexcept {
    return {structure_.tokens.size(), structure_.positions.size(), layout_.layers(), layout_.heads()};
  }

  /// Name of a selection of an attention weight's block, "I" or "M"; those of tokens come first. Throws argument_error
  /// outside [0, layout().selections()).
  [[nodiscard]] std::string selection_name(int selection) const {
    require(selection >= 0 && selection < layout_.selections(), "selection", selection,
            "in [0, " + std::to_string(layout_.selections()) + ")");
    const int position = selection - tokens_.count();
    return position < 0 ? tokens_.name(selection) : positions_.name(position);
  }
  /// Short name of a coordinate, "L2[x,1]I". Throws argument_error outside [0, dimension()).
  [[nodiscard]] std::string label(index place) const {
    const coordinate which = at(place);
    return std::string(manifold::label(layout_, which, selection_name(which.selection)).view());
  }
  /// The place of the coordinate of that label. Throws argument_error if there is none.
  [[nodiscard]] index place_of(std::string_view name) const {
    for (index place = 0; place < dimension(); ++place)
      if (label(place) == name) return place;
    throw argument_error("label", std::string(name), "that of a coordinate, such as " + label(0));
  }
  /// What a coordinate does, in a sentence (see manifold::describe); with a strength below zero, the reverse. Throws
  /// argument_error outside [0, dimension()).
  [[nodiscard]] std::string describe(index place, double strength = 1) const {
    const coordinate which = at(place);
    std::vector<std::string> names;
    for (int s = 0; s < layout_.selections(); ++s) names.push_back(selection_name(s));
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::span all(views);
    const auto tokens = static_cast<std::size_t>(tokens_.count());
    return manifold::describe(layout_, which, all.first(tokens), all.subspan(tokens), strength);
  }

  /// out = G in, with the Gram matrix \f$G_{ij} = \langle S_i, S_j \rangle\f$ of the basis (block diagonal; dimension()
  /// entries each; may be the same array).
  void apply_gram(std::span<const double> in, std::span<double> out) const { transform(in, out, false); }
  /// out = G^-1 in. Gradient flow of the weights with unit metric moves the coordinates by
  /// \f$\dot c = -G^{-1}\, \partial L / \partial c\f$.
  void solve_gram(std::span<const double> in, std::span<double> out) const { transform(in, out, true); }

  /// The full weights with these coordinates. Throws shape_error for another number of either.
  void embed(std::span<const double> coordinates, std::span<double> weights) const {
    require_extent("coordinates.size()", coordinates.size(), dimension());
    require_extent("weights.size()", weights.size(), parameters_.size());
    std::ranges::fill(weights, 0.0);
    add(coordinates, weights);
  }
  /// The same, returned.
  [[nodiscard]] std::vector<double> embed(std::span<const double> coordinates) const {
    std::vector<double> weights(static_cast<std::size_t>(parameters_.size()));
    embed(coordinates, weights);
    return weights;
  }

  /// Frobenius products of the weights (or a gradient) with every basis element: dL/dc of a gradient dL/dW.
  /// Throws shape_error for another number of weights or products.
  void inner_products(std::span<const double> weights, std::span<double> products) const {
    require_extent("weights.size()", weights.size(), parameters_.size());
    require_extent("products.size()", products.size(), dimension());
    for_each_part(weights, [&](const selection_set& selections, matrix_view<const double> matrix, index row,
                               index column, index place) {
      selections.inner_products(matrix, row, column, products.subspan(static_cast<std::size_t>(place)));
    });
  }

  /// The orthogonal projection of any weights or gradient: coordinates G^-1 <S, W>, and what is left of each weight.
  /// Throws shape_error for another number of weights; non_finite_error, naming the weight, if one isn't finite or its
  /// norm is above 1e150.
  [[nodiscard]] projection project(std::span<const double> weights) const {
    projection result;
    project(weights, result);
    return result;
  }
  /// The same into a result that keeps its memory from one projection to the next; `weights` lie outside of it.
  void project(std::span<const double> weights, projection& result) const {
    model::require_weights(parameters_, weights);
    result.coordinates.resize(static_cast<std::size_t>(dimension()));
    inner_products(weights, result.coordinates);
    solve_gram(result.coordinates, result.coordinates);
    // What is left is computed itself, as ||W||^2 - c'Gc would lose half of the digits.
    std::vector<double> negative(result.coordinates.size());
    std::ranges::transform(result.coordinates, negative.begin(), std::negate{});
    result.off_manifold.assign(weights.begin(), weights.end());
    add(negative, result.off_manifold);
    detail::measure(parameters_, weights, result);
  }

private:
  /// The coordinate at a place, which is checked.
  [[nodiscard]] coordinate at(index place) const {
    require(place >= 0 && place < dimension(), "place", place, "in [0, " + std::to_string(dimension()) + ")");
    return layout_.at(place);
  }

  /// weights += the full weights with these coordinates.
  void add(std::span<const double> coordinates, std::span<double> weights) const {
    for_each_part(weights, [&](const selection_set& selections, matrix_view<double> matrix, index row, index column,
                               index place) {
      selections.add(coordinates.subspan(static_cast<std::size_t>(place)), matrix, row, column);
    });
  }

  /// Calls `work(selections, matrix, row, column, place)` for the token and the position part of every block: the
  /// part begins at (row, column) of the weight `matrix`, its coordinates at `place`.
  template <class T, class Work>
  void for_each_part(std::span<T> weights, Work&& work) const {
    const index vocabulary = tokens_.size(), width = vocabulary + positions_.size();
    index which = 0;
    for (int layer = 1; layer <= layout_.layers(); ++layer)
      for (int head = 0; head < layout_.heads(); ++head) {
        const matrix_view<T> matrix = parameters_.view(parameters_[which++], weights);
        for (int query = 0; query < layout_.copies(layer); ++query)
          for (int key = 0; key < layout_.copies(layer); ++key) {
            const index row = query * width, column = key * width, place = layout_.block(layer, head, query, key);
            work(tokens_, matrix, row, column, place);
            work(positions_, matrix, row + vocabulary, column + vocabulary, place + tokens_.count());
          }
      }
    const matrix_view<T> matrix = parameters_.view(parameters_[which], weights);
    for (int copy = 0; copy < layout_.copies(layout_.layers() + 1); ++copy)
      work(tokens_, matrix, index{0}, copy * width, layout_.readout(copy));
  }

  void transform(std::span<const double> in, std::span<double> out, bool inverse) const {
    require_extent("in.size()", in.size(), dimension());
    require_extent("out.size()", out.size(), dimension());
    const index attention = layout_.layer_begin(layout_.layers() + 1);
    for (index place = 0; place < dimension();) {
      place += tokens_.transform(in.data() + place, out.data() + place, inverse);
      if (place < attention) place += positions_.transform(in.data() + place, out.data() + place, inverse);
    }
  }

  symmetry::stream_structure structure_;
  selection_set tokens_, positions_;
  manifold::layout layout_;
  parameter_table parameters_;
};

}  // namespace lindyn::manifold
