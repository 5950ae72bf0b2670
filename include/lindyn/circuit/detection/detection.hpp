// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What detection finds in a network's weights: the directions that survive, what each is worth, and how the others went.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/circuit/detection/elimination.hpp>
#include <lindyn/circuit/detection/gauge.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/manifold/layout.hpp>

namespace lindyn::circuit {

/// One direction of the manifold, with the strength it has in the weights.
struct direction {
  index place = 0;               ///< of its coordinate
  manifold::coordinate which{};  ///< layer, head, copies, selection
  std::string label;             ///< "L2[x,1]I"
  std::string sentence;          ///< "layer 2 matches the query's token with what layer 1 copied to the key"
  double strength = 0;           ///< the coordinate c; the sentence is that of its sign
  double norm = 0;               ///< |c| ||S||, Frobenius norm of its part of the weights
};

/// What a surviving direction is to the circuit.
enum class role {
  core,    ///< survives the loose budget too: without it the task collapses
  aiding,  ///< survives the tight budget, but not the loose one
};

/// Another direction of the same weight that can take a survivor's place.
struct substitute {
  index place = 0;    ///< of its coordinate
  std::string label;  ///< of it
  double loss = 0;    ///< of the circuit with the survivor's strength moved there, within the budget
};

/// A direction that belongs to the circuit.
struct surviving_direction : direction {
  circuit::role role = role::core;      ///< core or aiding
  double loss_without = 0;              ///< of the circuit without it
  double loss_alone = 0;                ///< with nothing but it
  std::vector<substitute> substitutes;  ///< directions of the same weight that do as well, best first
};

/// Why a direction isn't part of the circuit.
enum class removal {
  invisible,   ///< the loss doesn't depend on it, whatever the weights (see find_gauge)
  zero,        ///< its strength is zero, in the weights or by the choice of gauge
  eliminated,  ///< the circuit stays within the budget without it
};

/// A direction that isn't part of the circuit.
struct removed_direction : direction {
  removal reason = removal::eliminated;  ///< why
  index step = 0;                        ///< of the path, in which it was eliminated; 0 if there was nothing to do
  double loss_with = 0;                  ///< of the circuit with it alone put back
};

/// Loss, and accuracy if it was asked for, with some of the directions.
struct performance {
  double loss = 0;                      ///< of the model that detection was given
  std::optional<double> accuracy = {};  ///< by detection_options::accuracy
};

/// A circuit found in weights by `detect`.
struct detection {
  manifold::layout layout{1, 1, 1, 0};  ///< of the coordinates
  double budget = 0;                    ///< by which the circuit's loss may exceed that of all directions
  double core_budget = 0;               ///< the same of the core

  std::vector<surviving_direction> survivors;  ///< the circuit; the one that is missed most first
  std::vector<removed_direction> removed;      ///< all others, in the order of their removal
  std::vector<gauge_direction> gauge;          ///< directions that the loss doesn't see
  std::vector<elimination_step> path;          ///< the whole elimination, down to no direction

  performance all;      ///< with all directions, and nothing off the manifold unless the model adds it
  performance circuit;  ///< with the survivors
  performance core;     ///< with the survivors that are core
  performance none;     ///< with none
  std::optional<double> loss_weights = {};  ///< of the weights as they are, if the model knows it (data_loss does)

  double norm = 0;                                   ///< Frobenius norm of the weights
  double energy_share = 1;                           ///< share of their squared norm on the manifold
  double circuit_share = 0;                          ///< the same in the circuit, of the strengths before `scale`
  std::vector<manifold::weight_projection> weights;  ///< norm and off-manifold norm by weight

  std::vector<double> coordinates;           ///< of the projected weights, in the gauge that is simplest to read
  std::vector<double> pruned;                ///< of the circuit
  std::vector<double> core_coordinates;      ///< of the core
  double scale = 1;                          ///< by which the circuit's loss takes them: not 1 with rescaled_loss only
  double core_scale = 1;                     ///< the same of the core
  std::optional<double> largest_scale = {};  ///< that was tried, with rescaled_loss

  /// Whether the circuit's loss takes the largest factor that was tried: with larger ones the circuit may be another.
  [[nodiscard]] bool at_largest_scale() const noexcept { return largest_scale && scale == *largest_scale; }
};

/// The circuit as weights of a network, laid out by basis.parameters(): the surviving directions times `scale`, plus what
/// the model of the detection adds whatever is pruned.
/// \param rest  that of data_loss; empty: nothing
/// Throws shape_error for another number of weights in rest.
[[nodiscard]] inline std::vector<double> pruned_weights(const manifold::basis& basis, const detection& found,
                                                        std::span<const double> rest = {}) {
  if (!rest.empty()) require_extent("rest.size()", rest.size(), basis.parameters().size());
  std::vector<double> weights = basis.embed(found.pruned);
  for (double& weight : weights) weight *= found.scale;
  for (std::size_t k = 0; k < rest.size(); ++k) weights[k] += rest[k];
  return weights;
}

}  // namespace lindyn::circuit
