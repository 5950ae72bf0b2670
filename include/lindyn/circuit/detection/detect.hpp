// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Circuit detection: trained weights are projected on the manifold, and directions taken out until the loss would
/// exceed a budget.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/circuit/detection/detection.hpp>
#include <lindyn/circuit/detection/elimination.hpp>
#include <lindyn/circuit/detection/gauge.hpp>
#include <lindyn/circuit/detection/loss_concepts.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/reduced/manifold_loss.hpp>

namespace lindyn::circuit {

/// Options of `detect`. Budgets are in units of the loss (nats for cross-entropy).
struct detection_options {
  double budget = 0.05;  ///< tau: by how much the circuit's loss may exceed that of all directions
  std::optional<double> core_budget =
      {};  ///< the same of the core; by default half of what all directions gain over none
  std::function<double(std::span<const double>)> accuracy = {};  ///< of coordinates, recorded along the path
  index one_by_one = 64;                                         ///< see eliminate
  int threads = 1;               ///< each has a copy of the model; the result doesn't depend on it
  progress::callback tell = {};  ///< hears how many directions are gone
};

namespace detail {

/// The loss of any model of the manifold, without its gradient where the model can tell them apart.
template <reduced::manifold_loss Model>
class point_loss {
public:
  explicit point_loss(const Model& model) : model_(model) {}
  double operator()(std::span<const double> coordinates) { return loss_at(model_, coordinates, spare_); }

private:
  Model model_;
  std::vector<double> spare_;
};

/// Frobenius norms of the basis' elements.
[[nodiscard]] inline std::vector<double> element_norms(const manifold::basis& basis) {
  std::vector<double> result;
  const manifold::layout& of = basis.layout();
  for (index place = 0; place < of.dimension(); ++place) {
    const int selection = of.at(place).selection, position = selection - of.token_selections();
    const Eigen::MatrixXd& gram = position < 0 ? basis.tokens().gram() : basis.positions().gram();
    const int s = position < 0 ? selection : position;
    result.push_back(std::sqrt(gram(s, s)));
  }
  return result;
}

/// Builds the report: what `detect` knows of the problem, and the losses of points near the circuit.
template <class Loss>
class detection_report {
public:
  detection_report(const manifold::basis& basis, const Loss& loss, int threads)
      : basis_(basis), losses_(static_cast<std::size_t>(threads), loss), norms_(element_norms(basis)) {}

  [[nodiscard]] const std::vector<double>& norms() const noexcept { return norms_; }

  /// A direction with its strength in `found`.
  [[nodiscard]] direction describe(const detection& found, index place) const {
    const double strength = found.coordinates[static_cast<std::size_t>(place)];
    return {place,
            basis_.layout().at(place),
            basis_.label(place),
            basis_.describe(place, strength),
            strength,
            std::abs(strength) * norms_[static_cast<std::size_t>(place)]};
  }

  /// For each case the loss of `point` after change(point, case).
  template <class Change>
  [[nodiscard]] std::vector<double> losses(std::span<const double> point, index cases, const Change& change) {
    return losses_after(losses_, point, cases, change);
  }

  /// Fills in what each survivor is worth, and who could take its place.
  void survivors(detection& found, double limit) {
    auto& all = found.survivors;
    const auto at = [](auto& values, index place) -> auto& { return values[static_cast<std::size_t>(place)]; };
    const std::vector<double> without =
        losses(found.pruned, std::ssize(all), [&](auto& point, index which) { at(point, at(all, which).place) = 0; });
    const std::vector<double> nothing(found.pruned.size());
    const std::vector<double> alone = losses(nothing, std::ssize(all), [&](auto& point, index which) {
      at(point, at(all, which).place) = at(all, which).strength;
    });
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k].loss_without = without[k];
      all[k].loss_alone = alone[k];
    }
    for (auto& survivor : all) {
      std::vector<index> others;
      for (const auto& removed : found.removed)
        if (removed.reason != removal::invisible && removed.which.layer == survivor.which.layer &&
            removed.which.head == survivor.which.head)
          others.push_back(removed.place);
      const std::vector<double> moved = losses(found.pruned, std::ssize(others), [&](auto& point, index which) {
        at(point, survivor.place) = 0;
        at(point, at(others, which)) = survivor.strength;
      });
      for (std::size_t k = 0; k < others.size(); ++k)
        if (moved[k] <= limit) survivor.substitutes.push_back({others[k], basis_.label(others[k]), moved[k]});
      std::ranges::stable_sort(survivor.substitutes, {}, &substitute::loss);
    }
    std::ranges::stable_sort(all, std::greater{}, &surviving_direction::loss_without);
  }

  /// Fills in what each removed direction would be worth.
  void removed(detection& found) {
    auto& all = found.removed;
    const std::vector<double> with = losses(found.pruned, std::ssize(all), [&](auto& point, index which) {
      const direction& back = all[static_cast<std::size_t>(which)];
      point[static_cast<std::size_t>(back.place)] = back.strength;
    });
    for (std::size_t k = 0; k < all.size(); ++k) all[k].loss_with = with[k];
  }

private:
  const manifold::basis& basis_;
  std::vector<Loss> losses_;
  std::vector<double> norms_;
};

}  // namespace detail

/// Finds the circuit in weights that are projected already, on this basis or on a residual_basis over it.
///
/// With c the coordinates of the projection:
/// 1. Directions that the loss doesn't see are found (find_gauge), named in `gauge`, and c is put in the gauge that is
///    simplest to read (fix_gauge), which doesn't change the loss. Invisible directions and those of strength zero are
///    done with.
/// 2. The others are eliminated one after the other, the one that is missed least first, down to none (see eliminate for
///    the order, ties, and groups). Strengths aren't fitted anew; with rescaled_loss they have a common factor.
/// 3. The circuit is the smallest set of this path whose loss is at most loss(c) + budget: relative to the loss of all
///    directions, not of the weights, and not of the best set seen. No single direction more can be removed within the
///    budget. Its *core* is the smallest set of the path within loss(c) + core_budget, by default
///    (loss(none) - loss(c)) / 2, so that without any of it most of what was learnt is lost; the rest is *aiding*.
///    The core is part of the circuit, as the path only ever removes. `path` has every step, for other budgets.
/// 4. Reported are the losses of the circuit without each survivor, of each survivor alone, of the circuit with each
///    removed direction put back, and the directions of the same weight that do as well as a survivor.
///
/// The result is a function of the arguments alone, whatever the number of threads. If loss(none) is within the budget,
/// as for weights without a circuit, there are no survivors.
///
/// \param basis    the manifold
/// \param split    the projected weights
/// \param model    the exact relational loss (reduced::relational_model), that of a network on data (data_loss), or any
///                 other loss on the manifold in double precision, such as rescaled_loss, which finds smaller circuits
///                 in trained weights; what else of a model is made use of, loss_concepts.hpp says
/// \param options  budgets, accuracy, threads
/// Throws argument_error for a negative or NaN budget, or a core_budget below it; shape_error if projection or model are
/// of another manifold; non_finite_error if a coordinate, or the loss of all or of none, isn't finite.
template <double_precision_loss Model>
[[nodiscard]] detection detect(const manifold::basis& basis, const manifold::projection& split, const Model& model,
                               const detection_options& options = {}) {
  require(options.budget >= 0, "budget", options.budget, "not negative");
  if (options.core_budget)
    require(*options.core_budget >= options.budget, "core_budget", *options.core_budget, "at least the budget");
  require(options.threads >= 1, "threads", options.threads, "at least 1");
  require_extent("split.coordinates.size()", split.coordinates.size(), basis.dimension());
  require_finite("split.coordinates", split.coordinates);
  Model copy = model;
  require_extent("model.dimension()", copy.dimension(), basis.dimension());

  // One type for all models: what follows is compiled once. Copies of it copy the model.
  std::function<double(std::span<const double>)> loss = detail::point_loss<Model>(model);
  detail::detection_report report(basis, loss, options.threads);
  const std::span<const double> norms(report.norms());
  detection found;
  found.layout = basis.layout();
  found.budget = options.budget;
  found.norm = split.norm();
  found.energy_share = split.energy_share();
  found.weights = split.weights;
  found.coordinates = split.coordinates;
  if constexpr (factored_loss<Model>)
    found.gauge = find_gauge(basis, copy.model());  // it is that of the model's multiples too
  else
    found.gauge = find_gauge(basis, copy);
  fix_gauge(found.gauge, norms, found.coordinates);

  const auto perform = [&](std::span<const double> point) {
    performance result{loss(point), {}};
    if (options.accuracy) result.accuracy = options.accuracy(point);
    return result;
  };
  const auto require_loss = [](const char* what, double value) {
    if (!std::isfinite(value)) throw non_finite_error(what, lindyn::detail::to_text(value), "finite");
  };
  const auto size = static_cast<std::size_t>(basis.dimension());
  found.all = perform(found.coordinates);
  require_loss("the loss of all directions", found.all.loss);
  found.none = perform(std::vector<double>(size));
  require_loss("the loss of no direction", found.none.loss);
  found.core_budget = options.core_budget.value_or(std::max(options.budget, (found.none.loss - found.all.loss) / 2));
  const double limit = found.all.loss + options.budget, core_limit = found.all.loss + found.core_budget;

  std::vector<removal> reasons(size, removal::eliminated);
  std::vector<index> places;
  for (const auto& direction : found.gauge)
    if (direction.invisible()) reasons[static_cast<std::size_t>(direction.places.front())] = removal::invisible;
  for (index place = 0; place < basis.dimension(); ++place) {
    removal& reason = reasons[static_cast<std::size_t>(place)];
    if (reason == removal::eliminated && found.coordinates[static_cast<std::size_t>(place)] == 0)
      reason = removal::zero;
    if (reason == removal::eliminated)
      places.push_back(place);
    else
      found.removed.push_back({report.describe(found, place), reason, 0, 0});
  }
  found.path = eliminate(loss, found.coordinates, norms, places,
                         {.limits = {limit, core_limit},
                          .one_by_one = options.one_by_one,
                          .threads = options.threads,
                          .accuracy = options.accuracy,
                          .tell = options.tell});

  const index end = smallest_within(found.path, limit), core_end = smallest_within(found.path, core_limit);
  found.pruned.assign(size, 0.0);
  found.core_coordinates.assign(size, 0.0);
  for (index step = 1; step < std::ssize(found.path); ++step)
    for (const index place : found.path[static_cast<std::size_t>(step)].removed) {
      const auto where = static_cast<std::size_t>(place);
      if (step <= end) {
        found.removed.push_back({report.describe(found, place), removal::eliminated, step, 0});
        continue;
      }
      found.pruned[where] = found.coordinates[where];
      if (step > core_end) found.core_coordinates[where] = found.coordinates[where];
      found.survivors.push_back({report.describe(found, place), step > core_end ? role::core : role::aiding, 0, 0, {}});
    }
  if constexpr (factored_loss<Model>) {
    found.largest_scale = copy.largest_scale();
    found.scale = copy.scale(found.pruned);
    found.core_scale = copy.scale(found.core_coordinates);
  }
  found.circuit = perform(found.pruned);
  found.core = perform(found.core_coordinates);
  std::vector<double> products(size);
  basis.apply_gram(found.pruned, products);
  double energy = 0;
  for (std::size_t place = 0; place < size; ++place) energy += found.pruned[place] * products[place];
  found.circuit_share = found.norm > 0 ? energy / (found.norm * found.norm) : 0;
  report.survivors(found, limit);
  report.removed(found);
  return found;
}

/// Finds the circuit in weights of the basis' network: any flat buffer laid out by basis.parameters(). They are
/// projected, and the above does the rest.
///
///     const auto found = circuit::detect(basis, weights, reduced::relational_model(basis, types), {.budget = 0.05});
///     for (const auto& unit : found.survivors) std::printf("%6.2f  %s\n", unit.strength, unit.sentence.c_str());
///
/// Throws shape_error for another number of weights, non_finite_error, naming the weight, and what the above throws.
template <double_precision_loss Model>
[[nodiscard]] detection detect(const manifold::basis& basis, std::span<const double> weights, const Model& model,
                               const detection_options& options = {}) {
  detection found = detect(basis, basis.project(weights), model, options);
  if constexpr (full_weights_loss<Model>) {
    Model copy = model;
    found.loss_weights = copy.weights_loss(weights);
  }
  return found;
}

}  // namespace lindyn::circuit
