// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/reduced/compile_relations.hpp>
#include <lindyn/reduced/relational_pass.hpp>

#include "attention_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using lindyn::index;  // POSIX has a function of this name
using reduced::detail::relational_pass;

/// Trunks of several lengths, in several classes of places, each with one query.
const manifold::basis& basis() {
  static const manifold::basis result(
      3, 1,
      symmetry::product(symmetry::direct_sum({{symmetry::matching(4), "c"}, {symmetry::full_symmetric(4), "r"}}),
                        symmetry::slot_phase(6, 2)));
  return result;
}
std::vector<population::sequence_table> populations() {
  std::vector<population::sequence_table> result;
  for (const int length : {12, 1, 5, 9}) result.push_back(random_sequences(3, 1, length, 8, 12));
  return result;
}
reduced::relation_plan plan_of(const std::vector<population::sequence_table>& sequences) {
  reduced::detail::plan_builder builder(basis());
  for (const auto& table : sequences) builder.add(table[0]);
  return std::move(builder).finish();
}

TEST_CASE("the gradient is that of finite differences, trunk by trunk, and added to what is there") {
  const auto plan = plan_of(populations());
  REQUIRE(plan.contexts.size() == 4);
  const auto coordinates = normal_numbers(basis().dimension(), 4, 0.5);
  for (const auto loss : {task::loss::cross_entropy, task::loss::squared_error}) {
    relational_pass pass(basis().layout(), plan, loss);
    for (const auto& context : plan.contexts) {
      std::vector<double> gradient(coordinates.size(), 1.0), differences;
      CHECK(pass.loss_and_gradient(context, coordinates, gradient) == pass.loss(context, coordinates));
      const double h = 1e-5;
      for (std::size_t place = 0; place < coordinates.size(); ++place) {
        auto above = coordinates, below = coordinates;
        above[place] += h;
        below[place] -= h;
        differences.push_back(1 + (pass.loss(context, above) - pass.loss(context, below)) / (2 * h));
      }
      CHECK(difference(gradient, differences) < 1e-8);  // h^2 + rounding / h
    }
  }
}

TEST_CASE("nothing of one trunk is left for the next: the same bits in any order") {
  const auto plan = plan_of(populations());
  const auto coordinates = normal_numbers(basis().dimension(), 4, 0.5),
             other = normal_numbers(basis().dimension(), 5, 2);
  relational_pass used(basis().layout(), plan, task::loss::squared_error);
  std::vector<double> waste(coordinates.size());
  for (const auto& context : plan.contexts) {
    relational_pass fresh(basis().layout(), plan, task::loss::squared_error);
    for (const auto& before : plan.contexts) {
      used.loss_and_gradient(before, other, waste);
      std::vector<double> gradient(coordinates.size()), expected(coordinates.size());
      CHECK(used.loss_and_gradient(context, coordinates, gradient) ==
            fresh.loss_and_gradient(context, coordinates, expected));
      CHECK(gradient == expected);
    }
  }
}

TEST_CASE("attention with the queries' own column is pushed and folded as one operator") {
  const auto plan = plan_of(populations());
  const auto& context = plan.contexts.front();
  reduced::detail::attention_operators attention(basis().layout(), plan.longest_trunk + 1);
  attention.prepare(context);
  attention.first().front().assign(normal_numbers(static_cast<index>(plan.kinds.size()), 6, 1));
  reduced::detail::row_block block;
  block.columns = trunk;
  block.queries = &context.queries.front();
  block.values = random_rows(1, static_cast<int>(attention.memory().size()));
  block.gradients.resize(block.values.size());
  const auto x = random_rows(2, trunk + 1), y = random_rows(3, trunk + 1);
  auto pushed = x, folded = y;
  attention.push(block, 1, 0, x.data(), pushed.data());
  attention.fold(block, 1, 0, y.data(), folded.data());
  CHECK(dot(pushed, y) == doctest::Approx(dot(x, folded)).epsilon(1e-12));

  // <push(x), y> is linear in the queries' own row of A, and its derivative by that is accumulated.
  attention.accumulate(block, 1, 0, x.data(), y.data(), folded.data());
  lanes* own = attention.memory().attention(block.values, 1, 0);
  const lanes* derivative = attention.memory().attention(block.gradients, 1, 0);
  for (int j = 0; j <= trunk; ++j) {
    own[j][1] += 1;
    auto moved = x;
    attention.push(block, 1, 0, x.data(), moved.data());
    CHECK(derivative[j][1] == doctest::Approx(dot(moved, y) - dot(pushed, y)).epsilon(1e-10));
    own[j][1] -= 1;
  }
}

}  // namespace
