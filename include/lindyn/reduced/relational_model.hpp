// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Loss and gradient on the manifold, at a cost that depends on neither the vocabulary nor the width of the stream.
///
/// On the manifold the scores of a sequence of n places are the n x n matrix
/// \f[ \sum_{a,b,S} \theta_{abS}\; P^a R^S (P^b)^\top \f]
/// with \f$R^S\f$ the relations between the sequence's own places and \f$P^a\f$ the product of attention matrices along
/// path a (IMIR, section 4; in this form derived: insert \f$W = \sum \theta_{abS}\, e_a e_b^\top \otimes S\f$ and
/// \f$x = [P^a x_0]_a\f$ into \f$x_i^\top W x_j\f$). Centring takes a constant from each block of \f$R^S\f$ that lies
/// between two classes of places (the orbits of the group, see detail::point_classes). Path products are
/// row-stochastic, so that with one class it shifts a row of scores, or all logits, by a constant: 0/1 relations serve,
/// and only the squared error sees the shift. With several classes it is a term of low rank in the scores, made of sums
/// over classes, and a shift of the logits of each class of tokens. Two primitives, adjoint to each other, do
/// everything: push \f$X \to X A\f$ and fold \f$X \to X A^\top\f$.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/reduced/compile_relations.hpp>
#include <lindyn/reduced/relational_pass.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced {

/// The population loss as a function of the manifold's coordinates, with its gradient and the velocity of gradient
/// flow. An object keeps its work space between calls: it is cheap to call again, and must not be shared between
/// threads.
class relational_model {
public:
  /// \param basis      the manifold
  /// \param sequences  the population: relational types with their weights, or all sequences
  /// \param loss       cross-entropy or squared error
  template <population::weighted_sequences Sequences>
  relational_model(const manifold::basis& basis, Sequences&& sequences, task::loss loss = task::loss::cross_entropy)
      : relational_model(basis, compile_relations(basis, std::forward<Sequences>(sequences)), loss) {}

  /// The same for a population that is compiled already, for this basis.
  relational_model(const manifold::basis& basis, relation_plan plan, task::loss loss = task::loss::cross_entropy)
      : basis_(basis), plan_(std::move(plan)), work_(basis.layout(), plan_, loss) {
    require(!plan_.contexts.empty(), "sequences", "an empty population", "at least one sequence of positive weight");
  }

  /// Number of coordinates.
  [[nodiscard]] index dimension() const noexcept { return basis_.dimension(); }
  /// The manifold.
  [[nodiscard]] const manifold::basis& basis() const noexcept { return basis_; }
  /// The population.
  [[nodiscard]] const relation_plan& plan() const noexcept { return plan_; }

  /// The loss at these coordinates (dimension() entries). A loss that isn't finite is returned as it is.
  double loss(std::span<const double> coordinates) {
    require_extent("coordinates.size()", coordinates.size(), dimension());
    double total = 0;
    for (const auto& context : plan_.contexts) total += work_.loss(context, coordinates);
    return total;
  }

  /// The loss, and dL/dc in `gradient` (dimension() entries, assigned).
  double loss_and_gradient(std::span<const double> coordinates, std::span<double> gradient) {
    require_extent("coordinates.size()", coordinates.size(), dimension());
    require_extent("gradient.size()", gradient.size(), dimension());
    std::ranges::fill(gradient, 0.0);
    double total = 0;
    for (const auto& context : plan_.contexts) total += work_.loss_and_gradient(context, coordinates, gradient);
    return total;
  }

  /// The loss, and dc/dt = -G^-1 dL/dc in `velocity`: gradient flow of the full weights with unit metric.
  double velocity(std::span<const double> coordinates, std::span<double> velocity) {
    const double value = loss_and_gradient(coordinates, velocity);
    basis_.solve_gram(velocity, velocity);
    for (double& entry : velocity) entry = -entry;
    return value;
  }

  /// The loss of every context (trunk), divided by its weight, in the order of plan().contexts.
  [[nodiscard]] std::vector<double> context_losses(std::span<const double> coordinates) {
    require_extent("coordinates.size()", coordinates.size(), dimension());
    std::vector<double> result;
    for (const auto& context : plan_.contexts) {
      double weight = 0;
      for (const auto& block : context.queries) weight += block.weight.sum();
      result.push_back(work_.loss(context, coordinates) / weight);
    }
    return result;
  }

private:
  manifold::basis basis_;
  relation_plan plan_;
  detail::relational_pass work_;
};

}  // namespace lindyn::reduced
