// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/reduced/logit_loss.hpp>

#include "attention_checks.hpp"
#include "values.hpp"

namespace {
using namespace lindyn;
using namespace lindyn::testing;
using reduced::detail::logit_loss;

/// Four tokens with slots and seven others, in two classes; three queries.
reduced::relation_context two_classes() {
  reduced::relation_context context;
  context.slots = {0, 1, 1, 0};
  context.others = {5, 2};
  context.queries.emplace_back();
  context.queries.front().count = 3;
  context.queries.front().answer = {3, 0, 2};
  for (int lane = 0; lane < 3; ++lane) context.queries.front().weight[lane] = 0.2 + lane;
  return context;
}

/// Logits in the slots, then shifts.
double score(logit_loss& loss, const reduced::relation_context& context, const std::vector<lanes>& values) {
  const auto slots = static_cast<int>(context.slots.size());
  loss.clear(context);
  for (int slot = 0; slot < slots; ++slot) loss[slot] = values[static_cast<std::size_t>(slot)];
  for (std::size_t place = static_cast<std::size_t>(slots); place < values.size(); ++place)
    loss.shift(static_cast<int>(place) - slots) = values[place];
  return loss.score(context.queries.front());
}

/// The loss of all eleven logits of every query.
double directly(task::loss kind, const reduced::relation_context& context, const std::vector<lanes>& values) {
  const auto& queries = context.queries.front();
  const std::size_t slots = context.slots.size();
  double result = 0;
  for (int lane = 0; lane < queries.count; ++lane) {
    std::vector<double> logits;
    for (std::size_t slot = 0; slot < slots; ++slot)
      logits.push_back(values[slot][lane] + values[slots + static_cast<std::size_t>(context.slots[slot])][lane]);
    for (std::size_t which = 0; which < context.others.size(); ++which)
      for (int other = 0; other < context.others[which]; ++other) logits.push_back(values[slots + which][lane]);
    const double of_answer = logits[static_cast<std::size_t>(queries.answer[static_cast<std::size_t>(lane)])];
    double sum = 0;
    for (const double z : logits) sum += kind == task::loss::cross_entropy ? std::exp(z) : z * z / 2;
    const double loss = kind == task::loss::cross_entropy ? std::log(sum) - of_answer : sum + 0.5 - of_answer;
    result += queries.weight[lane] * loss;
  }
  return result;
}

TEST_CASE("the loss is that of all tokens' logits, and what is left behind its derivatives") {
  for (const auto kind : {task::loss::cross_entropy, task::loss::squared_error}) {
    const auto context = two_classes();
    const auto values = random_rows(1, 6);
    logit_loss loss(kind);
    const double value = score(loss, context, values);
    CHECK(loss.has_shifts());
    CHECK(value == doctest::Approx(directly(kind, context, values)).epsilon(1e-14));
    for (int place = 0; place < 6; ++place)
      for (int lane = 0; lane < lanes::count; ++lane) {
        const double h = 1e-5;
        auto above = values, below = values;
        above[static_cast<std::size_t>(place)][lane] += h;
        below[static_cast<std::size_t>(place)][lane] -= h;
        const double slope = (directly(kind, context, above) - directly(kind, context, below)) / (2 * h);
        const double derivative = place < 4 ? loss[place][lane] : loss.shift(place - 4)[lane];
        CHECK(std::abs(derivative - slope) < 1e-8);
      }
  }
}

TEST_CASE("with one class, cross-entropy doesn't look at the shift, and squared error does") {
  auto context = two_classes();
  context.slots = {0, 0, 0, 0};
  context.others = {7};
  auto values = random_rows(2, 5);
  logit_loss squares(task::loss::squared_error), entropy(task::loss::cross_entropy);
  CHECK(score(squares, context, values) ==
        doctest::Approx(directly(task::loss::squared_error, context, values)).epsilon(1e-14));
  CHECK(squares.has_shifts());
  values[4] = {};
  CHECK(score(entropy, context, values) ==
        doctest::Approx(directly(task::loss::cross_entropy, context, values)).epsilon(1e-14));
  CHECK_FALSE(entropy.has_shifts());
}

TEST_CASE("where every token has a slot, logits may all be as low as they like") {
  auto context = two_classes();
  context.others = {0, 0};
  auto values = random_rows(3, 6);
  logit_loss loss(task::loss::cross_entropy);
  const double value = score(loss, context, values);
  for (std::size_t slot = 0; slot < 4; ++slot) values[slot] += lanes::all(-5000);
  CHECK(score(loss, context, values) == doctest::Approx(value).epsilon(1e-10));  // of logits rounded to 1e-12
  for (int which = 0; which < 2; ++which) CHECK(std::isfinite(loss.shift(which).sum()));
}

}  // namespace
