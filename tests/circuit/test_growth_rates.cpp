// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/differentiation/finite_difference.hpp>

#include <lindyn/circuit/race/growth_rates.hpp>

#include "race_setting.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name

/// d/dt of how far the weights have moved towards a pair's circuit, from the velocity and the full weights' directions.
double rate(reduced::relational_model& model, const circuit::head_pair& pair, const std::vector<double>& point) {
  std::vector<double> velocity(point.size()), direction(point.size());
  (void)model.velocity(point, velocity);
  for (const index at : circuit::core_places(model.basis().layout(), pair)) direction[static_cast<std::size_t>(at)] = 1;
  const auto towards = model.basis().embed(direction), moving = model.basis().embed(velocity);
  double along = 0, length = 0;
  for (std::size_t i = 0; i < towards.size(); ++i) {
    along += towards[i] * moving[i];
    length += towards[i] * towards[i];
  }
  return along / std::sqrt(length);
}

TEST_CASE("growth rates and their derivatives: those of the full weights' velocity, coordinate by coordinate") {
  auto model = race_model();
  for (const double size : {0.3, 1.5}) {
    const auto point = normal_numbers(race_manifold::dimension, 4, size);
    const circuit::growth_rates growth = circuit::growth_rates_at(model, point);
    CHECK(growth.derivatives().rows == 6);
    CHECK(growth.derivatives().columns == race_manifold::dimension);
    const double scale = largest(growth.derivative);
    double error = 0;
    for (std::size_t pair = 0; pair < 6; ++pair) {
      CHECK(growth.rate[pair] == doctest::Approx(rate(model, growth.pairs[pair], point)).epsilon(1e-11));
      for (index at = static_cast<index>(pair); at < race_manifold::dimension; at += 17) {
        const auto along = [&](double value) {
          auto moved = point;
          moved[static_cast<std::size_t>(at)] = value;
          return rate(model, growth.pairs[pair], moved);
        };
        const double expected = boost::math::differentiation::finite_difference_derivative<decltype(along), double, 6>(
            along, point[static_cast<std::size_t>(at)]);
        error = std::max(error, std::abs(growth.derivatives()(static_cast<index>(pair), at) - expected));
      }
    }
    MESSAGE("largest difference " << error << " of derivatives up to " << scale << ", estimated " << growth.error);
    CHECK(error < 1e-8 * scale);
    CHECK(growth.error < 1e-8 * scale);
    CHECK(growth.error > 0);
  }
}

TEST_CASE("two circuits act on each other alike") {
  auto model = race_model();
  const circuit::growth_rates growth = circuit::growth_rates_at(model, race_start(7));
  bool excites = false, suppresses = false;
  for (index p = 0; p < 6; ++p)
    for (index other = 0; other < p; ++other) {
      const double there = growth.interactions()(p, other), back = growth.interactions()(other, p);
      CHECK(std::abs(there - back) < 1e-9 * largest(growth.interaction));
      excites = excites || there > 0;
      suppresses = suppresses || there < 0;
    }
  CHECK(excites);
  CHECK(suppresses);
}

TEST_CASE("an amplitude is the length of weights that are the circuit's alone, and grows at its rate") {
  auto model = race_model();
  std::vector<double> point(static_cast<std::size_t>(race_manifold::dimension));
  for (const index at : circuit::core_places(race_manifold::layout, {{1}, {3}}))
    point[static_cast<std::size_t>(at)] = 0.7;
  const circuit::growth_rates before = circuit::growth_rates_at(model, point);
  double length = 0;
  for (const double weight : model.basis().embed(point)) length += weight * weight;
  CHECK(before.amplitude[1] == doctest::Approx(std::sqrt(length)).epsilon(1e-13));
  CHECK(before.rate[1] > 0);
  std::vector<double> velocity(point.size());
  (void)model.velocity(point, velocity);
  const double step = 1e-3;
  for (std::size_t i = 0; i < point.size(); ++i) point[i] += step * velocity[i];
  const circuit::growth_rates after = circuit::growth_rates_at(model, point);
  for (std::size_t pair = 0; pair < 6; ++pair)
    CHECK((after.amplitude[pair] - before.amplitude[pair]) / step == doctest::Approx(before.rate[pair]).epsilon(1e-9));

  CHECK_THROWS_AS((void)circuit::growth_rates_at(model, point, {}, 0), argument_error);
  CHECK_THROWS_AS((void)circuit::growth_rates_at(model, std::span(point).first(2)), shape_error);
}

}  // namespace
