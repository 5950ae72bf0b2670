// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <lindyn/circuit/detection/data_loss.hpp>
#include <lindyn/circuit/detection/detect.hpp>
#include <lindyn/circuit/detection/rescaled_loss.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/reduced/plain_model.hpp>

#include "planted_circuits.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using circuit::detect;
using lindyn::index;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("a planted induction head of two layers is returned exactly for 100 of 100 seeds") {
  CHECK(planted_circuit(four_pairs(), 2, induction_head_of(2, 1, 2)).found_of_100() == 100);
}

TEST_CASE("a planted association is returned exactly for 100 of 100 seeds") {
  const manifold::coordinate association{.layer = 3, .selection = 1};
  CHECK(planted_circuit(three_stored_pairs(), 2, {association}).found_of_100() == 100);
}

TEST_CASE("the report holds together") {
  planted_circuit planted(four_pairs(), 2, induction_head_of(2, 1, 2));
  const auto weights = planted.weights(4);
  const auto found = detect(planted.basis, weights, planted.model, {.budget = 0.1, .threads = 2});
  CHECK(found.layout == planted.basis.layout());

  // Losses are those of the model, and on the right sides of the budgets.
  CHECK(found.all.loss ==
        doctest::Approx(planted.model.loss(planted.basis.project(weights).coordinates)).epsilon(1e-12));
  CHECK(found.circuit.loss == planted.model.loss(found.pruned));
  CHECK(found.core.loss == planted.model.loss(found.core_coordinates));
  CHECK(found.none.loss == doctest::Approx(std::log(16)));
  CHECK(found.circuit.loss <= found.all.loss + 0.1);
  CHECK(found.core_budget == doctest::Approx((found.none.loss - found.all.loss) / 2));
  CHECK(found.core.loss <= found.all.loss + found.core_budget);

  // Three core units that belong together, and what this noise adds: layer 2 turns away from the query itself.
  REQUIRE(found.survivors.size() == 4);
  CHECK(found.survivors[0].sentence == "layer 1 attends to the previous token");
  CHECK(found.survivors[1].sentence == "the answer is what layer 2 copied");
  CHECK(found.survivors[2].sentence == "layer 2 matches the query's token with what layer 1 copied to the key");
  CHECK(found.survivors[3].sentence == "layer 2 avoids a match of the query's token with the key's token");
  for (std::size_t k = 0; k < 4; ++k) {
    const auto& unit = found.survivors[k];
    CHECK(unit.role == (k < 3 ? circuit::role::core : circuit::role::aiding));
    CHECK(unit.label == planted.basis.label(unit.place));
    CHECK(unit.strength == found.coordinates[static_cast<std::size_t>(unit.place)]);
    CHECK(unit.norm ==
          doctest::Approx(std::abs(unit.strength) * std::sqrt(unit.which.selection == 2 ? 11 : 15)).epsilon(0.05));
    // 1-minimal: none can be spared.
    CHECK(unit.loss_without > found.all.loss + 0.1);
    auto without = found.pruned;
    without[static_cast<std::size_t>(unit.place)] = 0;
    CHECK(unit.loss_without == planted.model.loss(without));
    std::vector<double> alone(without.size());
    alone[static_cast<std::size_t>(unit.place)] = unit.strength;
    CHECK(unit.loss_alone == planted.model.loss(alone));
    for (const auto& other : unit.substitutes) CHECK(other.loss <= found.all.loss + 0.1);
  }

  // Every direction is a survivor or removed, once.
  std::vector<index> places;
  for (const auto& unit : found.survivors) places.push_back(unit.place);
  for (const auto& unit : found.removed) places.push_back(unit.place);
  std::ranges::sort(places);
  REQUIRE(std::ssize(places) == planted.basis.dimension());
  for (index place = 0; place < std::ssize(places); ++place) CHECK(places[static_cast<std::size_t>(place)] == place);
  for (const auto& unit : found.removed) {
    auto with = found.pruned;
    with[static_cast<std::size_t>(unit.place)] = unit.strength;
    CHECK(unit.loss_with == planted.model.loss(with));
  }

  // Shares of the squared norm: the noise off the manifold is as large as the planted part.
  CHECK(found.energy_share == doctest::Approx(0.5).epsilon(0.05));
  CHECK(found.circuit_share < found.energy_share);
  CHECK(found.circuit_share > 0.4);
  const auto pruned = circuit::pruned_weights(planted.basis, found);
  double energy = 0, all = 0;
  for (const double weight : pruned) energy += weight * weight;
  for (const double weight : weights) all += weight * weight;
  CHECK(found.circuit_share == doctest::Approx(energy / all).epsilon(1e-12));
  REQUIRE(found.weights.size() == 3);
  for (const auto& weight : found.weights) {
    CHECK(weight.energy_share() > 0.0);
    CHECK(weight.energy_share() < 1.0);
  }

  // The path goes from everything to nothing.
  CHECK(found.path.front().loss == found.all.loss);
  CHECK(found.path.back().remaining == 0);
  CHECK(found.path.back().loss == doctest::Approx(found.none.loss));
}

TEST_CASE("the result doesn't depend on the number of threads") {
  const planted_circuit planted(four_pairs(), 2, induction_head_of(2, 1, 2));
  const auto weights = planted.weights(7);
  const auto one = detect(planted.basis, weights, planted.model, {.budget = 0.05});
  const auto three = detect(planted.basis, weights, planted.model, {.budget = 0.05, .threads = 3});
  REQUIRE(one.path.size() == three.path.size());
  for (std::size_t step = 0; step < one.path.size(); ++step) {
    CHECK(one.path[step].removed == three.path[step].removed);
    CHECK(one.path[step].loss == three.path[step].loss);
  }
  CHECK(one.pruned == three.pruned);
}

TEST_CASE("weights without a circuit have none") {
  const planted_circuit planted(four_pairs(), 2, {});
  const std::vector<double> zero(static_cast<std::size_t>(planted.basis.parameters().size()));
  const auto nothing = detect(planted.basis, zero, planted.model, {.budget = 0});
  CHECK(nothing.survivors.empty());
  CHECK(nothing.path.size() == 1);
  CHECK(nothing.energy_share == 1);
  CHECK(nothing.circuit_share == 0);
  CHECK(nothing.core_budget == 0);
  for (const auto& unit : nothing.removed) CHECK(unit.reason != circuit::removal::eliminated);

  auto random = zero;
  counter_generator generator(3);
  for (double& weight : random) weight = 0.3 * standard_normal(generator);
  const auto noise = detect(planted.basis, random, planted.model, {.budget = 0.05});
  CHECK(noise.survivors.empty());
  CHECK(noise.energy_share < 0.02);  // 19 of 5,712 dimensions
}

TEST_CASE("one direction alone is found, and named") {
  const planted_circuit planted(three_stored_pairs(), 2, {{.layer = 3, .selection = 1}});
  const auto found = detect(planted.basis, planted.basis.embed(planted.clean()), planted.model, {.budget = 0});
  REQUIRE(found.survivors.size() == 1);
  CHECK(found.survivors[0].sentence == "the answer is the partner of the last token");
  CHECK(found.survivors[0].strength == doctest::Approx(planted_strength).epsilon(1e-13));
  CHECK(found.survivors[0].loss_alone == doctest::Approx(found.circuit.loss).epsilon(1e-12));
  CHECK(found.energy_share == doctest::Approx(1).epsilon(1e-14));
  CHECK(found.circuit_share == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("budgets from nothing to infinity") {
  const planted_circuit planted(four_pairs(), 2, induction_head_of(2, 1, 2));
  const auto weights = planted.weights(1);
  const auto tight = detect(planted.basis, weights, planted.model, {.budget = 0});
  CHECK(tight.circuit.loss <= tight.all.loss);
  CHECK(tight.survivors.size() >= 3);
  for (const auto& unit : tight.survivors) CHECK(unit.loss_without > tight.all.loss);
  const auto loose = detect(planted.basis, weights, planted.model, {.budget = infinity});
  CHECK(loose.survivors.empty());
  CHECK(loose.core_budget == infinity);
  const auto both = detect(planted.basis, weights, planted.model, {.budget = 0.02, .core_budget = 0.5});
  CHECK(std::ranges::count(both.survivors, circuit::role::core, &circuit::surviving_direction::role) == 3);
  CHECK(both.survivors.size() > 3);
}

TEST_CASE("any loss on the manifold serves: the plain model, and a network on data") {
  const planted_circuit planted(four_pairs(), 2, induction_head_of(2, 1, 2));
  const auto types = population::enumerate_types(four_pairs()).types;
  const auto weights = planted.weights(2);
  const circuit::detection_options options{.budget = planted_budget};
  const auto exact = detect(planted.basis, weights, planted.model, options);
  CHECK(planted.is_found(detect(planted.basis, weights, reduced::plain_model(planted.basis, types), options)));

  const model::attention_only<layers<2>, heads<1>> net(planted.basis.shape());
  circuit::data_loss data(planted.basis, net, types.view());
  auto with_accuracy = options;
  with_accuracy.accuracy = [&](std::span<const double> point) { return data.accuracy(point); };
  const auto found = detect(planted.basis, weights, data, with_accuracy);
  CHECK(planted.is_found(found));
  CHECK(found.circuit.loss == doctest::Approx(exact.circuit.loss).epsilon(1e-12));
  CHECK(found.gauge.size() == exact.gauge.size());
  // The first place can only attend to itself: asked for the first item, layer 2 finds it there and answers with it.
  CHECK(*found.circuit.accuracy == doctest::Approx(0.75));
  CHECK(*found.none.accuracy == doctest::Approx(1.0 / 16));
  CHECK(*found.path.back().accuracy == doctest::Approx(1.0 / 16));
  CHECK(found.loss_weights.has_value());
  CHECK_FALSE(exact.loss_weights.has_value());
  CHECK(*found.loss_weights == net.loss(weights, types, task::loss::cross_entropy));

  // The pruned network is the circuit, in single precision too.
  const auto pruned = circuit::pruned_weights(planted.basis, found);
  CHECK(net.loss(pruned, types, task::loss::cross_entropy) == doctest::Approx(found.circuit.loss).epsilon(1e-12));
  const model::attention_only<layers<2>, heads<1>, float> single(planted.basis.shape());
  circuit::data_loss coarse(planted.basis, single, types.view());
  static_assert(!circuit::double_precision_loss<decltype(coarse)> && circuit::double_precision_loss<decltype(data)>);
  CHECK(coarse.loss(found.pruned) == doctest::Approx(found.circuit.loss).epsilon(1e-4));

  // With the off-manifold part kept, all directions together have the loss of the weights.
  const auto split = planted.basis.project(weights);
  const circuit::data_loss kept(planted.basis, net, types.view(), task::loss::cross_entropy, split.off_manifold);
  const auto on_top = detect(planted.basis, weights, kept, {.budget = planted_budget});
  CHECK(on_top.all.loss == doctest::Approx(*found.loss_weights).epsilon(1e-12));
  CHECK(on_top.none.loss == doctest::Approx(net.loss(split.off_manifold, types, task::loss::cross_entropy)));
  const auto with_rest = circuit::pruned_weights(planted.basis, on_top, split.off_manifold);
  CHECK(net.loss(with_rest, types, task::loss::cross_entropy) == doctest::Approx(on_top.circuit.loss).epsilon(1e-12));
  CHECK_THROWS_AS((void)circuit::pruned_weights(planted.basis, on_top, std::vector<double>(3)), shape_error);
}

TEST_CASE("a circuit too weak to be certain gets its strength back") {
  planted_circuit planted(four_pairs(), 2, induction_head_of(2, 1, 2));
  auto weak = planted.clean();
  for (double& c : weak) c *= 0.5;
  circuit::rescaled_loss rescaled(planted.model, {1, 2, 4});
  const double plain = planted.model.loss(weak);
  CHECK(rescaled.loss(weak) < plain);
  const double factor = rescaled.scale(weak);
  CHECK(factor > 1);
  auto strong = weak;
  for (double& c : strong) c *= factor;
  CHECK(rescaled.loss(weak) == planted.model.loss(strong));
  // The velocity is that of the loss it returns.
  std::vector<double> velocity(weak.size()), expected(weak.size());
  CHECK(rescaled.velocity(weak, velocity) == rescaled.loss(weak));
  (void)planted.model.velocity(strong, expected);
  for (std::size_t k = 0; k < weak.size(); ++k) CHECK(velocity[k] == factor * expected[k]);

  const auto found = detect(planted.basis, planted.basis.embed(weak), rescaled, {.budget = 0.1});
  CHECK(planted.is_found(found));
  CHECK(found.scale == factor);
  const auto pruned = circuit::pruned_weights(planted.basis, found);
  CHECK(planted.model.loss(planted.basis.project(pruned).coordinates) ==
        doctest::Approx(found.circuit.loss).epsilon(1e-12));
  // Shares are of the weights as they are.
  CHECK(found.circuit_share == doctest::Approx(1).epsilon(1e-12));
  // A list that ends earlier is at its end, and says so.
  CHECK(found.largest_scale == 4);
  CHECK(found.at_largest_scale() == (factor == 4));
  const auto bounded = detect(planted.basis, planted.basis.embed(weak),
                              circuit::rescaled_loss(planted.model, {1, 1.25}), {.budget = 0.1});
  CHECK(bounded.scale == 1.25);
  CHECK(bounded.at_largest_scale());
  CHECK_FALSE(detect(planted.basis, planted.basis.embed(weak), planted.model).at_largest_scale());
  CHECK(rescaled.loss(std::vector<double>(weak.size())) == doctest::Approx(std::log(16)));
  CHECK_THROWS_AS(circuit::rescaled_loss(planted.model, {}), argument_error);
  CHECK_THROWS_AS(circuit::rescaled_loss(planted.model, {1, 0}), argument_error);
  CHECK_THROWS_AS(circuit::rescaled_loss(planted.model, {std::nan("")}), argument_error);
}

TEST_CASE("arguments that don't fit are refused by name") {
  const planted_circuit planted(four_pairs(), 2, induction_head_of(2, 1, 2)), other(four_pairs(), 1, {});
  const auto weights = planted.weights(1);
  const auto refused = [&](const std::vector<double>& of, const circuit::detection_options& options) {
    try {
      (void)detect(planted.basis, of, planted.model, options);
    } catch (const argument_error& problem) {
      return problem.argument();
    }
    return std::string();
  };
  CHECK(refused(weights, {.budget = -0.1}) == "budget");
  CHECK(refused(weights, {.budget = std::nan("")}) == "budget");
  CHECK(refused(weights, {.budget = 0.5, .core_budget = 0.4}) == "core_budget");
  CHECK(refused(weights, {.core_budget = std::nan("")}) == "core_budget");
  CHECK(refused(weights, {.one_by_one = 0}) == "one_by_one");
  CHECK(refused(weights, {.threads = 0}) == "threads");
  CHECK_THROWS_AS((void)detect(planted.basis, std::vector<double>(7), planted.model), shape_error);
  CHECK_THROWS_AS((void)detect(planted.basis, weights, other.model), shape_error);
  auto broken = weights;
  broken[5] = std::nan("");
  CHECK_THROWS_AS((void)detect(planted.basis, broken, planted.model), non_finite_error);
  broken[5] = infinity;
  CHECK_THROWS_AS((void)detect(planted.basis, broken, planted.model), non_finite_error);
  auto split = planted.basis.project(weights);
  split.coordinates[3] = std::nan("");
  CHECK_THROWS_AS((void)detect(planted.basis, split, planted.model), non_finite_error);
  const model::attention_only<layers<1>, heads<1>> net(other.basis.shape());
  const auto types = population::enumerate_types(four_pairs()).types;
  CHECK_THROWS_AS(circuit::data_loss(planted.basis, net, types.view()), shape_error);
  CHECK_THROWS_AS(circuit::data_loss(other.basis, net, types.view(), task::loss::cross_entropy, {1, 2}), shape_error);
  CHECK_THROWS_AS(circuit::data_loss(other.basis, net, task::batch_view{}), argument_error);
}

}  // namespace
