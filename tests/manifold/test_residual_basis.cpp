// SPDX-License-Identifier: MIT
#include <lindyn/manifold/residual_basis.hpp>

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <lindyn/core/random.hpp>
#include <lindyn/symmetry/joint.hpp>

using namespace lindyn::manifold;
namespace model = lindyn::model;
namespace symmetry = lindyn::symmetry;

namespace {

const basis small(2, 1, symmetry::product(symmetry::full_symmetric(4), symmetry::slot_phase(2, 2)));

std::vector<double> normal(lindyn::index size) {
  lindyn::counter_generator generator(7);
  std::vector<double> result(static_cast<std::size_t>(size));
  for (double& entry : result) entry = lindyn::standard_normal(generator);
  return result;
}

}  // namespace

TEST_CASE("with separating maps the projection is that of the concatenated stream") {
  const residual_basis same(small, model::residual_stream(small.shape(), {.width = small.shape().width(2),
                                                                          .maps = model::output_maps::separating}));
  const auto concatenated = normal(small.parameters().size());
  std::vector<double> weights(static_cast<std::size_t>(same.stream().parameters().size()));
  same.stream().pull_back(concatenated, weights);
  const projection expected = small.project(concatenated), found = same.project(weights);
  for (std::size_t i = 0; i < expected.coordinates.size(); ++i)
    CHECK(found.coordinates[i] == doctest::Approx(expected.coordinates[i]).epsilon(1e-12));
  CHECK(found.off_manifold_norm() == doctest::Approx(expected.off_manifold_norm()).epsilon(1e-12));
  CHECK(found.norm() == doctest::Approx(expected.norm()).epsilon(1e-12));
}

TEST_CASE("embedded coordinates are found again, whatever the width that tells them apart") {
  const auto coordinates = normal(small.dimension());
  for (const lindyn::index width : {16, 40, 200}) {
    const residual_basis wide(small, model::residual_stream(small.shape(), {.width = width}));
    const projection found = wide.project(wide.embed(coordinates));
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      CHECK(found.coordinates[i] == doctest::Approx(coordinates[i]).epsilon(1e-9));
    CHECK(found.relative_residual() < 1e-10);
  }
}

TEST_CASE("where a narrow stream can't tell coordinates apart, those found give the weights all the same") {
  const auto coordinates = normal(small.dimension());
  const residual_basis narrow(small, model::residual_stream(small.shape(), {.width = 2}));
  const auto weights = narrow.embed(coordinates);
  REQUIRE(std::ssize(weights) < small.dimension());  // 2 x 2 entries of each attention weight, 4 x 2 of the readout
  const projection found = narrow.project(weights);
  CHECK(found.relative_residual() < 1e-12);
}

TEST_CASE("what is left is orthogonal to the images of all basis elements, and the nearest there is") {
  const residual_basis wide(small, model::residual_stream(small.shape(), {.width = 24}));
  const auto weights = normal(wide.stream().parameters().size());
  const projection found = wide.project(weights);
  std::vector<double> unit(found.coordinates.size());
  for (std::size_t place = 0; place < unit.size(); ++place) {
    unit.assign(unit.size(), 0);
    unit[place] = 1;
    const auto element = wide.embed(unit);
    double product = 0, norm = 0;
    for (std::size_t i = 0; i < element.size(); ++i) {
      product += element[i] * found.off_manifold[i];
      norm += element[i] * element[i];
    }
    CHECK(std::abs(product) < 1e-10 * std::sqrt(norm) * found.norm());
  }
  CHECK(found.relative_residual() > 0.5);
}

TEST_CASE("a stream of another network is refused") {
  const model::attention_shape other{.vocabulary = 5, .positions = 4, .layers = 2, .heads = 1};
  CHECK_THROWS_AS(residual_basis(small, model::residual_stream(other, {.width = 16})), lindyn::shape_error);
}
