// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <vector>

#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/manifold_loss.hpp>
#include <lindyn/reduced/plain_model.hpp>
#include <lindyn/reduced/relational_model.hpp>

namespace {
using lindyn::reduced::manifold_loss;

/// |c|^2 / 2.
struct bowl {
  [[nodiscard]] int dimension() const { return 2; }
  double velocity(std::span<const double> coordinates, std::span<double> velocity) const {
    for (std::size_t i = 0; i < 2; ++i) velocity[i] = -coordinates[i];
    return (coordinates[0] * coordinates[0] + coordinates[1] * coordinates[1]) / 2;
  }
};
struct without_velocity {
  [[nodiscard]] int dimension() const { return 2; }
};

static_assert(manifold_loss<lindyn::reduced::relational_model> && manifold_loss<lindyn::reduced::plain_model<>> &&
              manifold_loss<bowl> && !manifold_loss<without_velocity> && !manifold_loss<double>);

TEST_CASE("a loss of one's own goes down like the library's") {
  bowl loss;
  const std::vector<double> start{1, -2};
  const auto end = lindyn::reduced::descend(loss, start, {.steps = 10, .learning_rate = 0.1});
  CHECK(end[0] == doctest::Approx(std::pow(0.9, 10)).epsilon(1e-14));
  CHECK(end[1] == doctest::Approx(-2 * std::pow(0.9, 10)).epsilon(1e-14));
}

}  // namespace
