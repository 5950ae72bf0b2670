// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/model/attention_only_plain.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/plain_model.hpp>

#include "../compare/confinement_laws.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name

TEST_CASE("with several orbits, too, loss and gradient are the plain full network's") {
  const auto law = population::law(two_classes{{.pairs = 2, .vocabulary = 8, .block = 2}},
                                   population::ring_positions({.pairs = 2, .vocabulary = 8, .block = 2}, 5));
  const auto sequences = all_sequences(law);
  for (const auto kind : {task::loss::cross_entropy, task::loss::squared_error})
    for (const int layers : {1, 2}) {
      CAPTURE(layers);
      const manifold::basis basis(layers, 1, law.structure());
      REQUIRE(basis.tokens().structure().orbit_count() == 2);
      const auto coordinates = normal_numbers(basis.dimension(), 8, 0.4);
      const model::attention_only_plain net(basis.shape());
      std::vector<double> full(static_cast<std::size_t>(basis.parameters().size())), expected(coordinates.size());
      const double expected_loss =
          net.loss_and_gradient(basis.embed(coordinates), sequences.view(), kind, std::span(full));
      basis.inner_products(full, expected);

      const reduced::plain_model plain(basis, sequences, kind);
      CHECK(plain.dimension() == basis.dimension());
      std::vector<double> gradient(coordinates.size(), 3);
      CHECK(plain.loss_and_gradient(coordinates, gradient) == doctest::Approx(expected_loss).epsilon(1e-12));
      CHECK(plain.loss(coordinates) == doctest::Approx(expected_loss).epsilon(1e-12));
      CHECK(relative_difference(gradient, expected) < 1e-10);
    }
}

TEST_CASE("the gradient is that of finite differences") {
  const auto structure = symmetry::product(symmetry::matching(6), symmetry::slot_phase(3, 2));
  const manifold::basis basis(3, 1, structure);
  const auto sequences = random_sequences(1, 10, 5, 6, 6);
  for (const auto kind : {task::loss::cross_entropy, task::loss::squared_error}) {
    const reduced::plain_model plain(basis, sequences, kind);
    const auto coordinates = normal_numbers(basis.dimension(), 3, 0.5);
    std::vector<double> gradient(coordinates.size()), differences;
    (void)plain.loss_and_gradient(coordinates, gradient);
    const double h = 1e-5;
    for (std::size_t place = 0; place < coordinates.size(); ++place) {
      auto above = coordinates, below = coordinates;
      above[place] += h;
      below[place] -= h;
      differences.push_back((plain.loss(above) - plain.loss(below)) / (2 * h));
    }
    CHECK(difference(gradient, differences) < 1e-8);  // h^2 + rounding / h, for a loss of about five
  }
}

TEST_CASE("sizes that don't fit are refused") {
  const manifold::basis basis(1, 1, symmetry::product(symmetry::full_symmetric(5), symmetry::cyclic(4)));
  const reduced::plain_model plain(basis, random_sequences(1, 3, 4, 5, 4));
  std::vector<double> right(static_cast<std::size_t>(basis.dimension())), wrong(3);
  CHECK_THROWS_AS((void)plain.loss(wrong), shape_error);
  CHECK_THROWS_AS((void)plain.loss_and_gradient(right, wrong), shape_error);
  CHECK_THROWS_AS(reduced::plain_model(basis, random_sequences(1, 30, 4, 6, 4)), argument_error);
  CHECK_THROWS_AS(reduced::plain_model(basis, random_sequences(1, 30, 4, 5, 5)), argument_error);
}

}  // namespace
