// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <vector>

#include <lindyn/reduced/class_sums.hpp>

#include "attention_checks.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using reduced::detail::row_block;

/// Eleven places of three classes, and two queries of the last two.
reduced::relation_context three_classes() {
  reduced::relation_context context;
  context.trunk = trunk;
  context.class_count = 3;
  context.classes = {0, 1, 0, 2, 2, 1, 0, 0, 1, 2, 0};
  auto& queries = context.queries.emplace_back();
  queries.count = 2;
  queries.classes.resize(3);
  queries.classes[1][0] = queries.classes[2][1] = 1;
  return context;
}

TEST_CASE("sums over the places of a class and their adjoint, for the trunk's rows and for queries") {
  const auto context = three_classes();
  for (const bool queries : {false, true}) {
    row_block block;
    block.columns = trunk;
    if (queries) block.queries = &context.queries.front();
    const auto x = random_rows(1, block.width()), of_classes = random_rows(2, 3);
    std::vector<lanes> sums(3, lanes::all(7)), y(x.size());
    gather(context, block, x.data(), sums.data());
    spread(context, block, of_classes.data(), y.data());
    CHECK(dot(sums, of_classes) == doctest::Approx(dot(x, y)).epsilon(1e-13));
    CHECK(sums[2][5] == doctest::Approx(x[3][5] + x[4][5] + x[9][5]).epsilon(1e-15));
    if (queries) CHECK(sums[2][1] == doctest::Approx(x[3][1] + x[4][1] + x[9][1] + x[trunk][1]).epsilon(1e-15));
  }
}

TEST_CASE("a row of the identity belongs to its own place's class") {
  const auto context = three_classes();
  std::vector<lanes> sums(3);
  row_block block;
  block.first = 8;
  block.columns = trunk;
  gather_identity(context, block, sums.data());
  for (int lane = 0; lane < lanes::count; ++lane)
    for (int which = 0; which < 3; ++which) {
      const bool own = lane < 3 && context.classes[static_cast<std::size_t>(8 + lane)] == which;
      CHECK(sums[static_cast<std::size_t>(which)][lane] == (own ? 1 : 0));
    }
  block.queries = &context.queries.front();
  gather_identity(context, block, sums.data());
  CHECK(sums[1][0] == 1);
  CHECK(sums[2][1] == 1);
  CHECK(dot(sums, sums) == 2);
}

}  // namespace
