// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/compare/along.hpp>
#include <lindyn/compare/confinement.hpp>
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/train/descent.hpp>

namespace {

using recall = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;
using net = lindyn::model::attention_only<lindyn::layers<2>, lindyn::heads<1>>;
using imir = lindyn::manifold::imir<recall, net, lindyn::positions::slots>;
static_assert(imir::dimension == 28);

TEST_CASE("from a task and a network to both dynamics side by side, in a few lines") {
  const lindyn::population::recall_law<recall> law({.pairs = 3, .vocabulary = 12, .within_class = 0.1});
  const auto certificate = lindyn::compare::confinement<imir>(law);  // throws when the law is not invariant
  const auto predicted = lindyn::reduced::flow<imir>(law, imir::origin(), {.until = 1e3});
  const auto trained = lindyn::train::run<net>(law, {.steps = 200, .learning_rate = 1, .batch = 64, .seed = 1});
  const auto sides = lindyn::compare::along<imir>(
      law, imir::origin(), {.training = {.steps = 250, .learning_rate = 1, .batch = 256}, .records = 10});

  CHECK(certificate.holds);
  CHECK(certificate.dimension == imir::dimension);
  CHECK(predicted.t == 1e3);
  CHECK(predicted.value < 2);
  CHECK(trained.losses.size() == 200);
  CHECK(trained.losses.back() < trained.losses.front());
  CHECK(sides.records.size() == 11);
  CHECK(sides.coordinate_error_flow_max < 0.2);
  CHECK(sides.off_manifold_max < 0.3);
}

TEST_CASE("the compile-time form trains the network of its type, float if that is") {
  using single = lindyn::model::attention_only<lindyn::layers<2>, lindyn::heads<1>, float>;
  using manifold = lindyn::manifold::imir<recall, single>;
  const lindyn::population::recall_law<recall> law({.pairs = 2, .vocabulary = 8, .within_class = 0.1});
  const auto sides = lindyn::compare::along<manifold>(
      law, manifold::origin(), {.training = {.steps = 20, .learning_rate = 0.5, .batch = 32}, .records = 2});
  CHECK(sides.records.back().step == 20);
  CHECK(sides.records.front().off_manifold == 0);
}

}  // namespace
