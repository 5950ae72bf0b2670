// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The competition without idealisation: the exact reduced model of each kind of query, in four coordinates.

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <lindyn/circuit/competition/competition_circuit.hpp>
#include <lindyn/circuit/competition/starvation.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/block_list.hpp>
#include <lindyn/population/enumeration.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/position_laws.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/population/token_laws.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/joint.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::circuit {

/// Where the partner of a varied query's item is.
enum class partner_place {
  absent,  ///< nowhere in the context
  planted  ///< in the context, as the label of another pair
};

/// Options of relational_competition.
struct relational_competition_options {
  int pairs = 4;                                  ///< N, blocks (item, label) before the query
  int vocabulary = 16;                            ///< V, tokens; even, at least 2 (N - b) + 4
  int burstiness = 1;                             ///< b, blocks that hold the queried pair
  query_mixture queries{};                        ///< f_r and f_v
  partner_place partner = partner_place::absent;  ///< of a varied query's item
  circuit::metric metric = {};                    ///< metric::unit() or metric::gram(V, P); delta is a token's
};

/// Throws argument_error for an invalid list of pairs, mixture or metric, an odd or too small vocabulary, or a partner
/// that is to be planted where there are no other pairs.
inline void require_valid(const relational_competition_options& options) {
  require(options.pairs >= 1 && options.pairs <= 4096, "pairs", options.pairs, "in [1, 4096]");
  require(options.burstiness >= 1 && options.burstiness <= options.pairs, "burstiness", options.burstiness,
          "in [1, pairs = " + std::to_string(options.pairs) + "]");
  const int others = options.pairs - options.burstiness, least = 2 * others + 4;
  require(options.vocabulary >= least && options.vocabulary <= 1'000'000 && options.vocabulary % 2 == 0, "vocabulary",
          options.vocabulary,
          "even, at least 2 x (pairs - burstiness) + 4 = " + std::to_string(least) + " and at most 1000000");
  require(options.partner == partner_place::absent || others > 0, "partner", "planted",
          "absent where no block holds another pair");
  require_valid(options.queries);
  require_valid(options.metric);
}

/// The exact reduced model of the competition where alpha (L1[x,x]M), beta (L2[x,1]I), gamma (out:2 I) and delta
/// (out:x C) alone aren't zero: associative recall as in population::recall_tokens, two layers of one head, position
/// law of slots, scored by cross-entropy over V tokens.
///
/// All tokens of a context are distinct but for the b copies of the queried pair. Its label is that of a query_mixture:
/// of items with a partner the partner, with probability 1 - f_v, else any of the others that isn't in the context
/// already. A rare query is one for whose item there is no partner, so that delta doesn't act. The partner of a varied
/// query's item isn't in the context, or stands there as the label of any of the other pairs, planted. Partners of other
/// tokens play no role at these coordinates. The loss is the mean of those of the three kinds, each that of a
/// reduced::relational_model on its relational types: N for b = 1, C(N, b) for more.
///
/// This is the law under which the starvation factors hold (see attention_starvation). population::recall_law with
/// stored_association and rare_tokens comes to the same factors as both classes of tokens grow: at finite sizes a varied
/// label of another pair may happen to be the partner there, and each class is centred for itself.
///
/// An object keeps its work space between calls: it must not be shared between threads.
class relational_competition {
public:
  /// Throws as require_valid, and too_many_error beyond 20,000 relational types.
  explicit relational_competition(const relational_competition_options& options)
      : relational_competition(options, base_law(options)) {}

  /// What it was made with.
  [[nodiscard]] const relational_competition_options& options() const noexcept { return options_; }
  /// The metric of its gradient flow.
  [[nodiscard]] const circuit::metric& metric() const noexcept { return options_.metric; }
  /// V.
  [[nodiscard]] int vocabulary() const noexcept { return options_.vocabulary; }
  /// Number of coordinates.
  [[nodiscard]] static constexpr index dimension() noexcept { return 4; }
  /// The manifold that the coordinates are part of.
  [[nodiscard]] const manifold::basis& basis() const noexcept { return basis_; }
  /// The places of alpha, beta, gamma and delta among the manifold's coordinates.
  [[nodiscard]] const std::array<index, 4>& places() const noexcept { return places_; }

  /// Loss and gradient at (alpha, beta, gamma, delta).
  /// Throws shape_error unless there are four, non_finite_error unless they are finite.
  [[nodiscard]] competition_values evaluate(std::span<const double> coordinates) {
    detail::require_four(coordinates);
    const query_mixture& queries = options_.queries;
    competition_values result;
    const auto add = [&](reduced::relational_model& model, double delta, double weight) {
      for (std::size_t i = 0; i < 4; ++i) on_manifold_[at(i)] = i < 3 ? coordinates[i] : delta;
      const double loss = model.loss_and_gradient(on_manifold_, gradient_);
      result.loss += weight * loss;
      for (std::size_t i = 0; i < 4; ++i) result.gradient[i] += weight * gradient_[at(i)];
      return loss;
    };
    result.losses.stored = add(stored_, coordinates[3], queries.stored());
    result.losses.varied = add(varied_, coordinates[3], queries.varied());
    const double delta_slope = result.gradient[3];
    result.losses.rare = add(rare_, 0, queries.rare);
    result.gradient[3] = delta_slope;
    return result;
  }

private:
  using law = population::law<population::recall_tokens, population::slot_positions>;

  [[nodiscard]] static law base_law(const relational_competition_options& options) {
    require_valid(options);
    const population::block_list list{options.pairs, options.vocabulary, 2, options.burstiness};
    return {population::recall_tokens(list), population::slot_positions(list)};
  }

  relational_competition(const relational_competition_options& options, const law& base)
      : options_(options),
        basis_(2, 1, symmetry::product(symmetry::matching(options.vocabulary), base.positions().structure())),
        types_(population::enumerate_types(base).types),
        rare_(basis_, labelled(other_label, partner_place::absent)),
        stored_(basis_, labelled(partner, partner_place::absent)),
        varied_(basis_, labelled(other_label, options.partner)) {
    const manifold::layout& layout = basis_.layout();
    constexpr int identity = 0, couples = 1, previous = 3;  // selections I, C, Ip, M
    places_ = {layout.block(1, 0, 0, 0) + previous, layout.block(2, 0, 0, 1) + identity, layout.readout(2) + identity,
               layout.readout(0) + couples};
    on_manifold_.resize(static_cast<std::size_t>(basis_.dimension()));
    gradient_.resize(on_manifold_.size());
  }

  static constexpr int item = 0, partner = symmetry::matching::partner(item), other_label = 2;

  /// The types with the queried item named 0 and its label as given; all other tokens are neither these nor 1, the
  /// partner, unless that is planted as the label of each other pair in turn.
  [[nodiscard]] population::sequence_table labelled(int label, partner_place where) const {
    population::sequence_table result(types_.length());
    for (const task::sequence& type : types_) {
      std::map<int, int> names{{type.tokens.back(), item}, {type.answer, label}};
      std::vector<int> tokens;
      for (const int token : type.tokens)
        tokens.push_back(names.try_emplace(token, static_cast<int>(names.size()) + 1).first->second);
      if (where == partner_place::absent) {
        result.append({tokens, type.positions, label, type.weight});
        continue;
      }
      const int others = options_.pairs - options_.burstiness;
      for (std::size_t place = 1; place < tokens.size(); place += 2) {
        if (tokens[place] == label) continue;
        std::vector<int> with_partner = tokens;
        with_partner[place] = partner;
        result.append({with_partner, type.positions, label, type.weight / others});
      }
    }
    return result;
  }

  [[nodiscard]] std::size_t at(std::size_t coordinate) const { return static_cast<std::size_t>(places_[coordinate]); }

  relational_competition_options options_;
  manifold::basis basis_;
  population::sequence_table types_;
  reduced::relational_model rare_, stored_, varied_;
  std::array<index, 4> places_{};
  std::vector<double> on_manifold_, gradient_;
};

}  // namespace lindyn::circuit
