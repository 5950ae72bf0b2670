// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <lindyn/model/attention_shape.hpp>

using lindyn::model::attention_parameters;
using lindyn::model::attention_shape;

TEST_CASE("the table lists W_KQ.l.h by layer and head, then W_out") {
  const auto table = attention_parameters({.vocabulary = 4, .positions = 3, .layers = 2, .heads = 2});
  std::vector<std::string> names;
  for (const auto& parameter : table) names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"W_KQ.0.0", "W_KQ.0.1", "W_KQ.1.0", "W_KQ.1.1", "W_out"});
  CHECK(table.find("W_KQ.0.1").rows == 7);
  CHECK(table.find("W_KQ.1.0").columns == 21);
  CHECK(table.find("W_out").rows == 4);
  CHECK(table.find("W_out").columns == 63);
}

TEST_CASE("every layer multiplies the stream's width by heads + 1") {
  const attention_shape shape{.vocabulary = 5, .positions = 3, .layers = 3, .heads = 2};
  CHECK(shape.input_width() == 8);
  CHECK(shape.width(0) == 8);
  CHECK(shape.width(2) == 72);
  CHECK(shape.width(3) == 216);
}

TEST_CASE("a size that is missing, below one or too large is refused by name") {
  using lindyn::argument_error;
  const auto build = [](const attention_shape& shape) { return attention_parameters(shape).size(); };
  CHECK_THROWS_WITH_AS(build({.vocabulary = 0, .positions = 3, .layers = 1, .heads = 1}),
                       "shape.vocabulary = 0 is not allowed: it must be at least 1", argument_error);
  CHECK_THROWS_WITH_AS(build({.vocabulary = 4, .positions = -2, .layers = 1, .heads = 1}),
                       doctest::Contains("shape.positions"), argument_error);
  CHECK_THROWS_WITH_AS(build({.vocabulary = 4, .positions = 3, .heads = 1}), doctest::Contains("shape.layers"),
                       argument_error);
  CHECK_THROWS_WITH_AS(build({.vocabulary = 4, .positions = 3, .layers = 1}), doctest::Contains("shape.heads"),
                       argument_error);
  CHECK_THROWS_WITH_AS(build({.vocabulary = 4, .positions = 3, .layers = 40, .heads = 1}), doctest::Contains("2^24"),
                       argument_error);
}

TEST_CASE("a finite loss passes, an overflowed one is refused") {
  CHECK(lindyn::model::finite_loss(2.5) == 2.5);
  const auto check = [](double loss) { return lindyn::model::finite_loss(loss); };
  CHECK_THROWS_AS(check(std::numeric_limits<double>::infinity()), lindyn::non_finite_error);
  CHECK_THROWS_AS(check(std::numeric_limits<double>::quiet_NaN()), lindyn::non_finite_error);
}

TEST_CASE("weights that aren't finite are found wherever they are") {
  const auto table = attention_parameters({.vocabulary = 4, .positions = 3, .layers = 1, .heads = 1});
  for (lindyn::index place = 0; place < table.size(); ++place) {
    std::vector<float> weights(static_cast<std::size_t>(table.size()), 1e30f);
    lindyn::model::require_weights(table, std::span<const float>(weights));
    weights[static_cast<std::size_t>(place)] = -std::numeric_limits<float>::infinity();
    CHECK_THROWS_AS(lindyn::model::require_weights(table, std::span<const float>(weights)), lindyn::non_finite_error);
  }
}
