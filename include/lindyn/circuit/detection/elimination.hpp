// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Backward elimination: directions are taken out of a point of the manifold, the least missed first.
///
/// Source: IMIR, section 6 (projection on the manifold, then backward elimination to a loss budget); order, groups and
/// ties are ours.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::circuit {

/// One step of an elimination.
struct elimination_step {
  std::vector<index> removed;  ///< places of the coordinates taken out in this step, in the order of their rank
  index remaining = 0;         ///< directions that are left
  double loss = 0;             ///< with these
  std::optional<double> accuracy = {};  ///< with these, if it was asked for
};

/// Options of `eliminate`.
struct elimination_options {
  std::vector<double> limits = {};  ///< losses that are to be crossed by the removal of single directions
  index one_by_one = 64;            ///< so many directions or fewer are removed one by one, more in groups of an eighth
  int threads = 1;                  ///< that rank the removals; each has a copy of the loss
  std::function<double(std::span<const double>)> accuracy = {};  ///< of coordinates, recorded after each step
  progress::callback tell = {};                                  ///< hears how many directions are gone
};

namespace detail {

/// Losses that aren't finite are the worst.
[[nodiscard]] inline double ranked(double loss) {
  return std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
}

/// For each case the loss of `point` after change(point, case), on as many threads as there are copies of the loss.
template <class Loss, class Change>
[[nodiscard]] std::vector<double> losses_after(std::vector<Loss>& losses, std::span<const double> point, index cases,
                                               const Change& change) {
  std::vector<double> result(static_cast<std::size_t>(cases));
  parallel_chunks(cases, 1, static_cast<int>(losses.size()), [&](index which, index, index, int worker) {
    std::vector<double> changed(point.begin(), point.end());
    change(changed, which);
    result[static_cast<std::size_t>(which)] = losses[static_cast<std::size_t>(worker)](changed);
  });
  return result;
}

/// The places in the order in which they are to be removed: by the loss without them. Losses are compared in units of
/// 1e-12 (of 1, or of the least if that is larger), counted from the least and rounded, so that rounding errors seldom
/// decide. Among equal ones those go first that cross fewer limits, then the weaker ones, then those of higher places.
/// \param without  losses, finite or infinite
[[nodiscard]] inline std::vector<index> rank_removals(std::span<const index> places, std::span<const double> without,
                                                      std::span<const double> norms, std::span<const double> limits) {
  struct candidate {
    double loss;
    index crossed;
    double norm;
    index place;
  };
  std::vector<candidate> candidates;
  const double least = std::ranges::min(without);
  const double unit = 1e-12 * std::max(1.0, std::abs(least));
  for (std::size_t k = 0; k < places.size(); ++k)
    candidates.push_back({without[k] == least ? 0.0 : std::nearbyint((without[k] - least) / unit),
                          std::ranges::count_if(limits, [&](double limit) { return without[k] > limit; }),
                          norms[static_cast<std::size_t>(places[k])], places[k]});
  std::ranges::sort(candidates, [](const candidate& a, const candidate& b) {
    if (a.loss != b.loss) return a.loss < b.loss;
    if (a.crossed != b.crossed) return a.crossed < b.crossed;
    return a.norm != b.norm ? a.norm < b.norm : a.place > b.place;
  });
  std::vector<index> result;
  for (const candidate& which : candidates) result.push_back(which.place);
  return result;
}

}  // namespace detail

/// Takes the directions at `places` out of `coordinates` (which are set to zero there) until none is left, and returns
/// all steps; the first is the state before anything is removed.
///
/// Each step ranks all directions that are left by the exact loss without each of them, and removes the one whose
/// removal leaves the least loss. While more than `one_by_one` are left it removes the first eighth of the ranking at
/// once, halved until the loss of the whole group, also exact, uses up no more than a tenth of what is left to the
/// nearest limit above the present loss. Thus a limit is crossed only by the removal of a single direction, the best one,
/// and only if none can be removed without crossing it: from the smallest set of the path with a loss within a limit no
/// single direction more can be removed within that limit (it is 1-minimal; a smaller set of other directions may exist).
///
/// Losses that are the same in units of 1e-12 (of 1, or of the least if that is larger), counted from the least, rank
/// by the limits that they cross, the fewest first, then by the direction's norm, the weaker first, then by place, the
/// last first. A loss that isn't finite counts as infinite, the worst. The result doesn't depend on the number of threads.
///
/// \param loss         callable double(std::span<const double> coordinates), copied once a thread
/// \param coordinates  where to begin
/// \param norms        of each direction's part of the weights, as many as coordinates
/// \param places       the directions that may be removed; all others keep their coordinate
/// \param options      limits, groups, threads
/// Cost: about 8 n evaluations of the loss for n directions beyond `one_by_one`, and one_by_one^2 / 2 for the rest.
/// Throws argument_error for bad options or places, shape_error for another number of norms.
template <class Loss>
[[nodiscard]] std::vector<elimination_step> eliminate(Loss loss, std::span<const double> coordinates,
                                                      std::span<const double> norms, std::span<const index> places,
                                                      const elimination_options& options = {}) {
  require(options.one_by_one >= 1, "one_by_one", options.one_by_one, "at least 1");
  require(options.threads >= 1, "threads", options.threads, "at least 1");
  require_extent("norms.size()", norms.size(), coordinates.size());
  for (const index place : places)
    require(place >= 0 && place < std::ssize(coordinates), "places", place, "the place of a coordinate");
  for (const double limit : options.limits) require(!std::isnan(limit), "limits", limit, "a number");

  std::vector<Loss> losses(static_cast<std::size_t>(options.threads), loss);
  std::vector<double> now(coordinates.begin(), coordinates.end()), trial;
  std::vector<index> left(places.begin(), places.end());
  std::vector<elimination_step> path;
  progress tell(options.tell);
  const auto record = [&](std::vector<index> removed, double value) {
    path.push_back({std::move(removed), std::ssize(left), value, {}});
    if (options.accuracy) path.back().accuracy = options.accuracy(now);
    tell("elimination", static_cast<double>(places.size() - left.size()), static_cast<double>(places.size()));
  };
  record({}, detail::ranked(losses.front()(now)));

  while (!left.empty()) {
    const double before = path.back().loss;
    std::vector<double> without = detail::losses_after(losses, now, std::ssize(left), [&](auto& point, index which) {
      point[static_cast<std::size_t>(left[static_cast<std::size_t>(which)])] = 0;
    });
    std::ranges::transform(without, without.begin(), detail::ranked);
    std::vector<index> order = detail::rank_removals(left, without, norms, options.limits);
    double next = without[static_cast<std::size_t>(std::ranges::find(left, order.front()) - left.begin())];

    double limit = std::numeric_limits<double>::infinity();
    for (const double candidate : options.limits)
      if (candidate >= before) limit = std::min(limit, candidate);
    const double allowed = std::isinf(limit) ? limit : before + (limit - before) / 10;
    std::size_t group = std::ssize(left) > options.one_by_one ? (left.size() + 7) / 8 : 1;
    for (; group > 1; group /= 2) {
      trial = now;
      for (std::size_t k = 0; k < group; ++k) trial[static_cast<std::size_t>(order[k])] = 0;
      const double value = detail::ranked(losses.front()(trial));
      if (value > allowed) continue;
      next = value;
      break;
    }
    order.resize(group);
    for (const index place : order) {
      now[static_cast<std::size_t>(place)] = 0;
      std::erase(left, place);
    }
    record(std::move(order), next);
  }
  return path;
}

/// The step of the path behind which the fewest directions are left with a loss of at most `limit`: the last such one.
/// (Losses needn't rise from step to step; the path may leave the limit and come back.) Throws argument_error if no
/// step is within the limit.
[[nodiscard]] inline index smallest_within(std::span<const elimination_step> path, double limit) {
  for (index step = std::ssize(path) - 1; step >= 0; --step)
    if (path[static_cast<std::size_t>(step)].loss <= limit) return step;
  throw argument_error("limit", lindyn::detail::to_text(limit), "the loss of a step of the path, or more");
}

}  // namespace lindyn::circuit
