// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/QR>

#include <lindyn/core/random.hpp>
#include <lindyn/manifold/basis.hpp>

namespace {
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using namespace lindyn::manifold;
using symmetry::permutation;
using symmetry::stream_structure;

/// One manifold for each kind of structure.
struct example {
  std::string name;
  int layers, heads;
  stream_structure structure;
};

stream_structure recall(int vocabulary, int slots, int block) {
  return symmetry::product(symmetry::full_symmetric(vocabulary), symmetry::slot_phase(slots, block));
}
stream_structure stored(int vocabulary, int slots, int block) {
  return symmetry::product(symmetry::matching(vocabulary), symmetry::slot_phase(slots, block));
}
/// Two couples of partners, three rare tokens without any: T = {I_c, C, I_r}.
stream_structure with_rare_tokens() {
  std::vector<symmetry::generator> generators;
  for (const permutation& p : {permutation{1, 0, 2, 3, 4, 5, 6}, permutation{2, 3, 0, 1, 4, 5, 6},
                               permutation{0, 1, 2, 3, 5, 4, 6}, permutation{0, 1, 2, 3, 5, 6, 4}})
    generators.push_back({p, symmetry::identity(4)});
  for (const permutation& p : symmetry::slot_phase(2, 2).generators()) generators.push_back({symmetry::identity(7), p});
  return symmetry::from_generators(7, 4, std::move(generators));
}
/// Three items with a partner each, moved together: T = {I_a, I_b, C, C'}.
stream_structure directed_matching() {
  return symmetry::product(symmetry::orbital_table(6, {{1, 0, 2, 4, 3, 5}, {1, 2, 0, 4, 5, 3}}),
                           symmetry::slot_phase(2, 2));
}

std::vector<example> examples() {
  return {{"T = {I}, k = 2", 2, 1, recall(3, 2, 2)},
          {"T = {I, C}, k = 2", 2, 1, stored(4, 2, 2)},
          {"three layers", 3, 1, stored(4, 2, 2)},
          {"k = 3", 2, 1, stored(4, 2, 3)},
          {"two heads", 2, 2, recall(4, 2, 2)},
          {"ring", 2, 1, symmetry::product(symmetry::matching(4), symmetry::cyclic(5))},
          {"rare tokens", 2, 1, with_rare_tokens()},
          {"directed matching", 1, 2, directed_matching()}};
}

std::vector<double> random_numbers(counter_generator& generator, index count) {
  std::vector<double> result(static_cast<std::size_t>(count));
  for (double& number : result) number = standard_normal(generator);
  return result;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double result = 0;
  for (std::size_t place = 0; place < a.size(); ++place) result += a[place] * b[place];
  return result;
}

/// The full weights of each basis element.
std::vector<std::vector<double>> elements(const basis& of) {
  std::vector<std::vector<double>> result;
  for (index place = 0; place < of.dimension(); ++place) {
    std::vector<double> unit(static_cast<std::size_t>(of.dimension()), 0.0);
    unit[static_cast<std::size_t>(place)] = 1;
    result.push_back(of.embed(unit));
  }
  return result;
}

index numerical_rank(const basis& of) {
  Eigen::MatrixXd columns(of.parameters().size(), of.dimension());
  index column = 0;
  for (const auto& element : elements(of))
    columns.col(column++) = Eigen::Map<const Eigen::VectorXd>(element.data(), columns.rows());
  return Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(columns).rank();
}

/// The number of weights that commute with the joint group and are orthogonal to what it leaves fixed, by the orbitals
/// of the group on all copies of the stream at once: nothing of manifold/ is used.
index commutant_dimension(int layers, int heads, const stream_structure& structure) {
  const int vocabulary = structure.tokens.size(), width = vocabulary + structure.positions.size();
  // Points: V rows of the readout, then the copies of the stream behind layer `layer`.
  const auto act = [&](int layer) {
    std::vector<permutation> result;
    for (const auto& [tokens, positions] : structure.generators) {
      permutation images = tokens;
      for (int copy = 0; copy < copies(layer, heads); ++copy) {
        for (const int image : tokens) images.push_back(vocabulary + copy * width + image);
        for (const int image : positions) images.push_back(vocabulary + copy * width + vocabulary + image);
      }
      result.push_back(std::move(images));
    }
    return symmetry::commutant(std::move(result), vocabulary + copies(layer, heads) * width);
  };
  const auto count = [&](const symmetry::orbital_table& points, bool readout) {
    std::vector<bool> is_readout(static_cast<std::size_t>(points.orbit_count()), false);
    for (int token = 0; token < vocabulary; ++token) is_readout[static_cast<std::size_t>(points.orbit(token))] = true;
    index result = 0;
    for (int s = 0; s < points.orbital_count(); ++s) {
      const auto [row, column] = points.block(s);
      result += is_readout[static_cast<std::size_t>(row)] == readout && !is_readout[static_cast<std::size_t>(column)];
    }
    return result;
  };
  index result = count(act(layers), true);
  for (int layer = 0; layer < layers; ++layer) result += heads * count(act(layer), false);
  return result;
}

TEST_CASE("the dimensions that the formula gives are the ranks of the basis, and those of the centred commutant") {
  const auto check = [](int layers, const stream_structure& structure, index expected) {
    const basis of(layers, 1, structure);
    CHECK(of.dimension() == expected);
    CHECK(numerical_rank(of) == expected);
    CHECK(commutant_dimension(layers, 1, structure) == expected);
  };
  check(2, recall(3, 2, 2), 19);
  check(2, recall(5, 3, 2), 19);
  check(2, stored(4, 2, 2), 28);
  check(3, stored(4, 2, 2), 100);
  check(2, stored(4, 2, 3), 33);
  check(2, with_rare_tokens(), 37);
  CHECK(basis(5, 1, stored(4, 2, 2)).dimension() == 1428);
}

TEST_CASE("whatever the heads, layers, blocks, rings and classes, the basis has full rank and nothing is missing") {
  for (const example& one : examples()) {
    CAPTURE(one.name);
    const basis of(one.layers, one.heads, one.structure);
    CHECK(numerical_rank(of) == of.dimension());
    CHECK(commutant_dimension(one.layers, one.heads, one.structure) == of.dimension());
  }
}

TEST_CASE("a coordinate stands in its block with rows for the query and columns for the key") {
  const basis of(2, 1, recall(5, 2, 3));
  const int v = 5, p = 6, d = v + p;
  std::vector<double> coordinates(static_cast<std::size_t>(of.dimension()), 0.0);
  const auto at = [&](const coordinate& which) -> double& {
    return coordinates[static_cast<std::size_t>(of.layout().place(which))];
  };
  at({.layer = 1, .selection = 2}) = 2;                                  // the previous place
  at({.layer = 2, .query_copy = 0, .key_copy = 1, .selection = 0}) = 3;  // the query's token, brought to the key
  at({.layer = 3, .key_copy = 2}) = 4;                                   // what layer 2 brings is the answer
  std::vector<double> weights = of.embed(coordinates);
  const auto view = [&](const char* name) { return of.parameters().view(name, std::span<double>(weights)); };
  const auto first = view("W_KQ.0.0"), second = view("W_KQ.1.0"), readout = view("W_out");
  double difference = 0;
  const auto compare = [&](double value, double expected) {
    difference = std::max(difference, std::abs(value - expected));
  };
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      const bool positions = i >= v && j >= v;
      const int query = i - v, key = j - v;
      const bool previous = positions && query / 3 == key / 3 && query % 3 == (key + 1) % 3;
      compare(first(i, j), positions ? 2 * ((previous ? 1.0 : 0.0) - 1.0 / p) : 0);
    }
  for (int i = 0; i < 2 * d; ++i)
    for (int j = 0; j < 2 * d; ++j) {
      const bool inside = i < v && j >= d && j < d + v;
      compare(second(i, j), inside ? 3 * ((i == j - d ? 1.0 : 0.0) - 1.0 / v) : 0);
    }
  for (int i = 0; i < v; ++i)
    for (int j = 0; j < 4 * d; ++j) {
      const bool inside = j >= 2 * d && j < 2 * d + v;
      compare(readout(i, j), inside ? 4 * ((i == j - 2 * d ? 1.0 : 0.0) - 1.0 / v) : 0);
    }
  CHECK(difference < 1e-15);
}

TEST_CASE("on a ring the d-th shift lets the query attend d places back") {
  const basis of(1, 1, symmetry::product(symmetry::full_symmetric(3), symmetry::cyclic(5)));
  std::vector<double> coordinates(static_cast<std::size_t>(of.dimension()), 0.0);
  coordinates[static_cast<std::size_t>(of.layout().place({.layer = 1, .selection = 1 + 2}))] = 1;
  std::vector<double> weights = of.embed(coordinates);
  const auto matrix = of.parameters().view("W_KQ.0.0", std::span<double>(weights));
  for (int query = 0; query < 5; ++query)
    for (int key = 0; key < 5; ++key)
      CHECK(std::abs(matrix(3 + query, 3 + key) - ((query - key + 5) % 5 == 2 ? 0.8 : -0.2)) < 1e-15);
}

TEST_CASE("the Gram matrix is that of the embedded elements, and solving undoes applying, in place too") {
  for (const example& one : examples()) {
    CAPTURE(one.name);
    const basis of(one.layers, one.heads, one.structure);
    const auto all = elements(of);
    std::vector<double> unit(all.size(), 0.0), image(all.size());
    double difference = 0, undone = 0;
    for (std::size_t j = 0; j < all.size(); ++j) {
      unit[j] = 1;
      of.apply_gram(unit, image);
      for (std::size_t i = 0; i < all.size(); ++i)
        difference = std::max(difference, std::abs(image[i] - product(all[i], all[j])));
      of.solve_gram(image, image);
      for (std::size_t i = 0; i < all.size(); ++i) undone = std::max(undone, std::abs(image[i] - unit[i]));
      unit[j] = 0;
    }
    CHECK(difference < 1e-13);
    CHECK(undone < 1e-14);
  }
}

TEST_CASE("embedding and products with the basis are adjoint") {
  counter_generator generator(1);
  for (const example& one : examples()) {
    CAPTURE(one.name);
    const basis of(one.layers, one.heads, one.structure);
    const std::vector<double> weights = random_numbers(generator, of.parameters().size());
    const std::vector<double> coordinates = random_numbers(generator, of.dimension());
    std::vector<double> products(coordinates.size());
    of.inner_products(weights, products);
    CHECK(std::abs(product(of.embed(coordinates), weights) - product(coordinates, products)) < 1e-11);
  }
}

TEST_CASE("coordinates survive embedding and projecting, with nothing left off the manifold") {
  counter_generator generator(2);
  for (const example& one : examples()) {
    CAPTURE(one.name);
    const basis of(one.layers, one.heads, one.structure);
    const std::vector<double> coordinates = random_numbers(generator, of.dimension());
    const projection found = of.project(of.embed(coordinates));
    double difference = 0;
    for (std::size_t place = 0; place < coordinates.size(); ++place)
      difference = std::max(difference, std::abs(found.coordinates[place] - coordinates[place]));
    CHECK(difference < 1e-13);
    CHECK(found.relative_residual() < 1e-15);
    CHECK(found.energy_share() == doctest::Approx(1).epsilon(1e-15));
    projection reused = of.project(random_numbers(generator, of.parameters().size()));  // holds other numbers before
    of.project(of.embed(coordinates), reused);
    CHECK(reused.coordinates == found.coordinates);
    CHECK(reused.off_manifold == found.off_manifold);
    CHECK(reused.weights.size() == found.weights.size());
    CHECK(reused.norm() == found.norm());
  }
}

TEST_CASE("what random weights have off the manifold is orthogonal to it, and the squares add up") {
  counter_generator generator(3);
  for (const example& one : examples()) {
    CAPTURE(one.name);
    const basis of(one.layers, one.heads, one.structure);
    const std::vector<double> weights = random_numbers(generator, of.parameters().size());
    const projection found = of.project(weights);
    const std::vector<double> on = of.embed(found.coordinates);
    std::vector<double> off = weights;
    for (std::size_t place = 0; place < off.size(); ++place) off[place] -= on[place];
    std::vector<double> products(found.coordinates.size());
    of.inner_products(off, products);
    CHECK(std::abs(*std::ranges::max_element(products, {}, [](double x) { return std::abs(x); })) < 1e-12);
    CHECK(found.norm() == doctest::Approx(std::sqrt(product(weights, weights))).epsilon(1e-14));
    for (std::size_t i = 0; i < off.size(); ++i) CHECK(std::abs(found.off_manifold[i] - off[i]) < 1e-14);
    CHECK(found.off_manifold_norm() == doctest::Approx(std::sqrt(product(off, off))).epsilon(1e-14));
    CHECK(found.energy_share() == doctest::Approx(product(on, on) / product(weights, weights)).epsilon(1e-12));
    CHECK(found.relative_residual() == doctest::Approx(found.off_manifold_norm() / found.norm()).epsilon(1e-14));
    CHECK(found.relative_residual() > 0.5);  // so few directions hold little of random weights

    // weight by weight, under the names of the table
    REQUIRE(static_cast<index>(found.weights.size()) == of.parameters().count());
    for (index which = 0; which < of.parameters().count(); ++which) {
      const parameter& table = of.parameters()[which];
      const auto square = [&](const std::vector<double>& values) {
        double result = 0;
        for (index place = table.offset; place < table.offset + table.size(); ++place)
          result += values[static_cast<std::size_t>(place)] * values[static_cast<std::size_t>(place)];
        return result;
      };
      const weight_projection& split = found.weights[static_cast<std::size_t>(which)];
      CHECK(split.name == table.name);
      CHECK(split.norm == doctest::Approx(std::sqrt(square(weights))).epsilon(1e-14));
      CHECK(split.off_manifold_norm == doctest::Approx(std::sqrt(square(off))).epsilon(1e-14));
    }
  }
}

TEST_CASE("embedded weights commute with every generator of the symmetry") {
  counter_generator generator(4);
  for (const example& one : examples()) {
    CAPTURE(one.name);
    const basis of(one.layers, one.heads, one.structure);
    std::vector<double> weights = of.embed(random_numbers(generator, of.dimension()));
    const int v = one.structure.tokens.size(), d = v + one.structure.positions.size();
    double difference = 0;
    for (const auto& [tokens, positions] : one.structure.generators) {
      const auto moved = [&, &tokens = tokens, &positions = positions](index point) {
        const auto inside = static_cast<std::size_t>(point % d);
        const int image = point % d < v ? tokens[inside] : v + positions[inside - static_cast<std::size_t>(v)];
        return point - point % d + image;
      };
      for (const parameter& which : of.parameters()) {
        const auto matrix = of.parameters().view(which, std::span<double>(weights));
        for (index i = 0; i < which.rows; ++i)
          for (index j = 0; j < which.columns; ++j)
            difference = std::max(difference, std::abs(matrix(moved(i), moved(j)) - matrix(i, j)));
      }
    }
    CHECK(difference < 1e-15);
  }
}

TEST_CASE("zero weights lie on the manifold") {
  const basis of(1, 1, recall(3, 2, 2));
  const projection found = of.project(std::vector<double>(static_cast<std::size_t>(of.parameters().size()), 0.0));
  CHECK(found.energy_share() == 1);
  CHECK(found.relative_residual() == 0);
  CHECK(found.norm() == 0);
}

TEST_CASE("chosen selections give a smaller manifold inside the whole one") {
  const stream_structure structure = stored(6, 3, 3);
  const basis whole(2, 1, structure);
  const basis part(2, 1, structure, {.tokens = {0}, .positions = {1, 2}});
  CHECK(part.dimension() == layout(2, 1, 1, 2).dimension());
  CHECK(numerical_rank(part) == part.dimension());
  CHECK(part.label(0) == "L1[x,x]I");
  CHECK(part.label(1) == "L1[x,x]M");
  CHECK(part.label(2) == "L1[x,x]M2");
  counter_generator generator(5);
  const std::vector<double> weights = part.embed(random_numbers(generator, part.dimension()));
  const projection found = whole.project(weights);
  CHECK(found.relative_residual() < 1e-15);
  CHECK(found.coordinates[1] == doctest::Approx(0).epsilon(1e-14));  // C takes no part
  CHECK(part.project(whole.embed(random_numbers(generator, whole.dimension()))).relative_residual() > 0.1);
}

TEST_CASE("without centring the basis is another one, with raw 0/1 matrices") {
  const basis raw(1, 1, recall(4, 2, 2), {.centring = centring::none});
  const basis centred(1, 1, recall(4, 2, 2));
  CHECK(raw.dimension() == centred.dimension());
  std::vector<double> unit(static_cast<std::size_t>(raw.dimension()), 0.0);
  unit[0] = 1;
  const std::vector<double> identity = raw.embed(unit);
  CHECK(product(identity, identity) == 4);
  CHECK(product(centred.embed(unit), centred.embed(unit)) == doctest::Approx(3).epsilon(1e-15));
  CHECK(centred.project(identity).relative_residual() == doctest::Approx(0.5).epsilon(1e-14));  // 1 / sqrt(V)
}

TEST_CASE("positions without symmetry leave a manifold of tokens alone") {
  const basis of(2, 1, symmetry::from_generators(4, 3, {{{1, 0, 2, 3}, {0, 1, 2}}, {{1, 2, 3, 0}, {0, 1, 2}}}));
  CHECK(of.layout().position_selections() == 0);
  CHECK(of.dimension() == 1 + 4 + 4);
  CHECK(numerical_rank(of) == of.dimension());
}

TEST_CASE("labels name the structure's own selections") {
  const basis of(2, 1, with_rare_tokens());
  CHECK(of.label(0) == "L1[x,x]I0");
  CHECK(of.shape().vocabulary == 7);
  CHECK(of.shape().positions == 4);
  CHECK(of.shape().layers == 2);
  CHECK(of.shape().heads == 1);
  const basis named(2, 1, stored(4, 2, 2));
  for (index place = 0; place < named.dimension(); ++place)
    CHECK(named.label(place) == std::string(label(named.layout(), named.layout().at(place)).view()));
}

TEST_CASE("a coordinate is found by its label") {
  const basis of(3, 2, stored(4, 3, 2));
  for (index place = 0; place < of.dimension(); ++place) CHECK(of.place_of(of.label(place)) == place);
  try {
    (void)of.place_of("L4a[x,x]I");
    FAIL("nothing was thrown");
  } catch (const argument_error& fault) {
    CHECK(fault.argument() == "label");
    CHECK(fault.value() == "L4a[x,x]I");
  }
}

TEST_CASE("weights that aren't finite are refused under their name") {
  const basis of(2, 1, recall(3, 2, 2));
  std::vector<double> weights(static_cast<std::size_t>(of.parameters().size()), 0.5);
  const parameter& second = of.parameters().find("W_KQ.1.0");
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    weights[static_cast<std::size_t>(second.offset + 17)] = wrong;
    std::string message;
    try {
      (void)of.project(weights);
    } catch (const non_finite_error& error) {
      message = error.what();
    }
    CHECK(message.starts_with("W_KQ.1.0[17] = "));
  }
  weights[static_cast<std::size_t>(second.offset + 17)] = 1e200;  // whose square isn't finite
  CHECK_THROWS_WITH_AS((void)of.project(weights), doctest::Contains("norm of W_KQ.1.0 = "), non_finite_error);
}

TEST_CASE("arrays of another size are refused") {
  const basis of(1, 1, recall(3, 2, 2));
  const auto size = static_cast<std::size_t>(of.parameters().size());
  const auto dimension = static_cast<std::size_t>(of.dimension());
  std::vector<double> weights(size), coordinates(dimension), long_weights(size + 1), few(dimension - 1);
  CHECK_THROWS_AS((void)of.project(long_weights), shape_error);
  CHECK_THROWS_AS(of.embed(few, weights), shape_error);
  CHECK_THROWS_AS(of.embed(coordinates, long_weights), shape_error);
  CHECK_THROWS_AS(of.inner_products(long_weights, coordinates), shape_error);
  CHECK_THROWS_AS(of.inner_products(weights, few), shape_error);
  CHECK_THROWS_AS(of.apply_gram(few, coordinates), shape_error);
  CHECK_THROWS_AS(of.solve_gram(coordinates, few), shape_error);
}

}  // namespace
