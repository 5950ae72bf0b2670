// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whom a network believes where context and weights disagree: the probe that decides between in-context and in-weights
/// learning, alike for coordinates on the manifold and for any full network.

#include <cmath>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/population/type_sample.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/structure.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::circuit {

namespace detail {

/// The answer that the weights store: the partner of the last token, which has one, and isn't what the context says.
[[nodiscard]] inline int stored_answer(const symmetry::structure& tokens, const task::sequence& conflict) {
  const int query = conflict.tokens.back(), stored = symmetry::matching::partner(query);
  const int relation = stored < tokens.size() ? tokens.orbital(stored, query) : -1;
  require(relation >= 0 && tokens.name(relation) == "C", "conflicts' query", query, "a token with a partner");
  require(stored != conflict.answer, "conflicts' answer", stored, "another token than the query's partner");
  return stored;
}

}  // namespace detail

/// Context against weights, on the manifold: with conflicts, sequences whose query x is matched with C(x) while the
/// context says y, another token,
/// \f[ D = \langle z_y - z_{C(x)} \rangle \f]
/// in nats, z being the logits. Where D > 0 the answer is given by the context, where D < 0 by the weights: the odds of
/// one to the other are e^D in the geometric mean. It is the classical probe of in-context against in-weights learning.
/// Rare queries say nothing here, as no weight answers them, nor do those where both answers agree.
///
/// As the normalisation of the logits cancels, D is the cross-entropy of the stored answers less that of the shown ones.
/// An object keeps its work space between calls: it must not be shared between threads.
class conflict_preference {
public:
  /// \param basis      the manifold, of a law with stored_association (couples (2i, 2i + 1))
  /// \param conflicts  sequences, or relational types, in which they disagree, with weights that sum to 1; those of
  ///                   population::recall_law with within_class = 1 and rare = 0 are
  /// Throws argument_error if there are none, their weights sum to anything else, or one is no conflict: its query has no
  /// partner, or the partner is its answer.
  conflict_preference(const manifold::basis& basis, const population::sequence_table& conflicts)
      : shown_(basis, conflicts), stored_(basis, stored(basis, conflicts)) {}

  /// D at these coordinates (dimension of the manifold).
  [[nodiscard]] double operator()(std::span<const double> coordinates) {
    return stored_.loss(coordinates) - shown_.loss(coordinates);
  }

private:
  [[nodiscard]] static population::sequence_table stored(const manifold::basis& basis,
                                                         const population::sequence_table& conflicts) {
    const double total = conflicts.total_weight();
    require(std::abs(total - 1) < 1e-9, "sum of the conflicts' weights", total, "1");
    population::sequence_table result(conflicts.length());
    for (task::sequence conflict : conflicts) {
      conflict.answer = detail::stored_answer(basis.structure().tokens, conflict);
      result.append(conflict);
    }
    return result;
  }

  reduced::relational_model shown_, stored_;
};

/// The same D of a full network, with its standard error over the conflicts, of which there are at least two.
/// \param basis      says which tokens have partners; that of the law
/// \param net        model::attention_only
/// \param weights    laid out by net.parameters()
/// \param conflicts  drawn from a law, so that all weigh the same
/// Throws argument_error if their weights differ or one is no conflict, and as net.logits.
template <class Net>
[[nodiscard]] population::estimate full_conflict_preference(const manifold::basis& basis, const Net& net,
                                                            std::span<const typename Net::scalar> weights,
                                                            const task::batch_view& conflicts) {
  require(conflicts.count() >= 2, "conflicts.count()", conflicts.count(), "at least 2, so that there is an error");
  for (const double weight : conflicts.weights)
    require(weight == conflicts.weights[0], "conflicts.weights", weight, "the same for all of them");
  const auto logits = net.logits(weights, conflicts);
  const matrix_view<const typename Net::scalar> z{logits.data(), conflicts.count(), net.shape().vocabulary};
  const auto count = static_cast<double>(conflicts.count());
  population::estimate result;
  double squares = 0;  // of the distances to the mean (Welford)
  for (index place = 0; place < conflicts.count(); ++place) {
    const task::sequence conflict = conflicts[place];
    const double difference = static_cast<double>(z(place, conflict.answer)) -
                              z(place, detail::stored_answer(basis.structure().tokens, conflict));
    const double from_mean = difference - result.mean;
    result.mean += from_mean / static_cast<double>(place + 1);
    squares += from_mean * (difference - result.mean);
  }
  result.standard_error = std::sqrt(squares / (count - 1) / count);
  return result;
}

}  // namespace lindyn::circuit
