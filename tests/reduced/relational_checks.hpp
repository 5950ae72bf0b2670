// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The relational model beside the plain one, and beside the full network.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/plain_model.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "values.hpp"

namespace lindyn::testing {

constexpr task::loss both_losses[] = {task::loss::cross_entropy, task::loss::squared_error};

/// Loss and gradient of the relational model are those of the plain one.
template <class Sequences>
void check_against_plain(const manifold::basis& basis, const Sequences& sequences,
                         const std::vector<double>& coordinates, task::loss kind, double tolerance = 1e-13) {
  reduced::relational_model model(basis, sequences, kind);
  const reduced::plain_model plain(basis, sequences, kind);
  std::vector<double> gradient(coordinates.size(), 7), expected(coordinates.size());
  const double value = model.loss_and_gradient(coordinates, gradient);
  const double expected_value = plain.loss_and_gradient(coordinates, expected);
  CHECK(std::abs(value - expected_value) <= tolerance * std::abs(expected_value));
  CHECK(relative_difference(gradient, expected) <= tolerance);
  // The loss alone takes the same way: the same bits.
  CHECK(model.loss(coordinates) == value);
}

template <class Law>
void check_law(const Law& law, int layers, int heads) {
  CAPTURE(layers);
  CAPTURE(heads);
  const manifold::basis basis(layers, heads, law.structure());
  const auto coordinates = normal_numbers(basis.dimension(), 1, 0.5);
  for (const task::loss kind : both_losses)
    check_against_plain(basis, population::enumerate_types(law).types, coordinates, kind);
}

/// Sequences of the law, its types and the full network agree in loss and gradient.
template <class Law>
void check_against_network(const Law& law, int layers, int heads, task::loss kind) {
  CAPTURE(layers);
  CAPTURE(heads);
  const manifold::basis basis(layers, heads, law.structure());
  const auto coordinates = normal_numbers(basis.dimension(), 8, 0.4);
  const auto sequences = all_sequences(law);
  const model::attention_only<> net(basis.shape());
  std::vector<double> full(static_cast<std::size_t>(basis.parameters().size())), expected(coordinates.size());
  const double expected_loss = net.loss_and_gradient(basis.embed(coordinates), sequences, kind, full);
  basis.inner_products(full, expected);

  reduced::relational_model model(basis, population::enumerate_types(law).types, kind);
  std::vector<double> gradient(coordinates.size());
  const double value = model.loss_and_gradient(coordinates, gradient);
  CHECK(std::abs(value - expected_loss) <= 1e-12 * expected_loss);
  CHECK(relative_difference(gradient, expected) <= 1e-10);

  std::vector<double> velocity(coordinates.size());
  CHECK(model.velocity(coordinates, velocity) == value);
  for (double& entry : velocity) entry = -entry;
  CHECK(relative_difference(velocity, basis.project(full).coordinates) <= 1e-10);

  reduced::relational_model merged(basis, sequences, kind);
  CHECK(merged.plan().types() == model.plan().types());
  CHECK(merged.plan().contexts.size() == model.plan().contexts.size());
  CHECK(std::abs(merged.loss(coordinates) - value) <= 1e-12 * value);
}

}  // namespace lindyn::testing
