// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/backend/plain.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/placed_plan.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>
#include <lindyn/task/sequence_set.hpp>

#include "../backend/plain_runs.hpp"
#include "../difference.hpp"

using backend_test::plain_runs;
using lindyn::backend::index_table;
using lindyn::backend::plain;
using lindyn::backend::row_table;
using lindyn::model::evaluation_plan;
using lindyn::model::layer_rows;
using lindyn::model::no_savings;
using lindyn::model::placed_plan;
using lindyn::model::placed_rows;
using lindyn::model::prenorm_shape;
using lindyn::model::prenorm_transformer;
using lindyn::model::savings;
using lindyn::task::no_answer;
using lindyn::task::sequence_set;
using lindyn::testing::difference;

namespace {

constexpr int runs = 3, length = 3, vocabulary = 6, sequences = 8;

/// Sequences that share beginnings, asked at the last place or at chosen ones.
sequence_set random_set(bool last_place, std::uint64_t seed) {
  lindyn::counter_generator generator(seed);
  const auto draw = [&](int size) { return static_cast<int>(lindyn::uniform_index(generator, size)); };
  std::vector<int> tokens, answers;
  for (int sequence = 0; sequence < sequences; ++sequence)
    for (int place = 0; place < length; ++place) {
      tokens.push_back(draw(place == 0 ? 2 : 3) + place);
      const bool asked = last_place || place == sequence % length || draw(3) == 0;
      if (place + 1 == length || !last_place) answers.push_back(asked ? draw(4) : no_answer);
    }
  return {{vocabulary, 4, length}, tokens, answers};
}

/// Numbers of a batch's sequences, which repeat.
std::vector<int> batch(std::uint64_t seed, int size = 5) {
  lindyn::counter_generator generator(seed);
  std::vector<int> which;
  for (int i = 0; i < size; ++i) which.push_back(static_cast<int>(lindyn::uniform_index(generator, sequences)));
  return which;
}

/// What a backend reads, of one run.
std::vector<int> read(const plain_runs& on, const index_table& table, int run) {
  std::vector<int> numbers(static_cast<std::size_t>(table.size));
  on.to_host(table.data + run * table.run_stride, std::span(numbers));
  return numbers;
}

/// Whether the lists of a table of a run have, of each row, exactly those entries that name it and count, ascending.
bool lists_are_right(const plain_runs& on, const row_table& table, int run, auto counts) {
  const std::vector<int> rows = read(on, table.rows, run), first = read(on, table.first, run),
                         order = read(on, table.order, run);
  for (std::size_t row = 0; row + 1 < first.size(); ++row) {
    std::vector<int> expected;
    for (std::size_t entry = 0; entry < rows.size(); ++entry)
      if (rows[entry] == static_cast<int>(row) && counts(entry)) expected.push_back(static_cast<int>(entry));
    if (!std::equal(expected.begin(), expected.end(), order.begin() + first[row], order.begin() + first[row + 1]))
      return false;
  }
  return std::ranges::all_of(rows, [&](int row) { return row >= 0 && row + 1 < static_cast<int>(first.size()); });
}

/// Whether a table begins with these numbers, or with 0, 1, .. `count` - 1, and has them alone in its lists.
bool begins_with(const plain_runs& on, const row_table& table, int run, std::span<const int> numbers,
                 lindyn::index count) {
  const std::vector<int> rows = read(on, table.rows, run);
  for (std::size_t entry = 0; entry < static_cast<std::size_t>(count); ++entry)
    if (rows[entry] != (numbers.empty() ? static_cast<int>(entry) : numbers[entry])) return false;
  return lists_are_right(on, table, run, [&](std::size_t entry) { return static_cast<lindyn::index>(entry) < count; });
}

void check_layer(const plain_runs& on, const placed_rows& placed, int run, const layer_rows& rows) {
  CHECK(placed.inputs >= rows.inputs);
  CHECK(placed.outputs >= rows.outputs);
  const std::span<const int> source = rows.source;
  if (!placed.source.empty())
    CHECK(begins_with(on, placed.source, run, source, rows.outputs));
  else
    CHECK(source.empty());
  const std::vector<int> counts = read(on, placed.visible.counts, run), keys = read(on, placed.visible.keys, run);
  REQUIRE(static_cast<lindyn::index>(counts.size()) == placed.outputs);
  std::vector<int> visible(counts.size(), 1);
  for (const auto& segment : rows.visible.segments)
    std::fill(visible.begin() + segment.begin, visible.begin() + segment.end, segment.visible);
  CHECK(counts == visible);
  bool same = true;
  for (lindyn::index row = 0; row < placed.outputs; ++row)
    for (lindyn::index j = 0; j < visible[static_cast<std::size_t>(row)]; ++j)
      same &= keys[static_cast<std::size_t>(row * length + j)] ==
              (row < rows.outputs ? rows.visible.keys[row * length + j] : 0);
  CHECK(same);
  CHECK(lists_are_right(
      on, {placed.visible.keys, placed.visible.first, placed.visible.order}, run, [&](std::size_t entry) {
        const std::size_t row = entry / length;
        return static_cast<lindyn::index>(row) < rows.outputs && static_cast<int>(entry % length) < visible[row];
      }));
}

constexpr savings all_savings[] = {savings{}, no_savings, {.last_place = false}, {.shared_prefixes = false}};

}  // namespace

TEST_CASE(
    "what is placed are the plans' tables, filled up with rows that nothing depends on, and lists of who names a row") {
  plain_runs on(runs);
  for (const bool last_place : {true, false})
    for (const bool causal : {true, false})
      for (const int layers : {1, 2, 3})
        for (const savings& use : all_savings) {
          CAPTURE(last_place);
          CAPTURE(causal);
          CAPTURE(layers);
          placed_plan<plain_runs> placed;
          std::vector<std::vector<lindyn::index>> extents;
          for (const std::uint64_t step : {1, 2}) {
            std::vector<evaluation_plan> plans(runs);
            for (int run = 0; run < runs; ++run)
              plans[static_cast<std::size_t>(run)].build(random_set(last_place, 7), batch(10 * step + run), layers,
                                                         causal, use);
            placed.place(on, plans, vocabulary + 1, length + 2, static_cast<int>(step));
            extents.push_back({placed.leaves()});
            for (int layer = 0; layer < layers; ++layer) {
              extents.back().push_back(placed.rows(layer).inputs);
              extents.back().push_back(placed.rows(layer).outputs);
            }
            for (int run = 0; run < runs; ++run) {
              const evaluation_plan& plan = plans[static_cast<std::size_t>(run)];
              const auto inputs = static_cast<lindyn::index>(plan.tokens().size());
              CHECK(begins_with(on, placed.tokens(), run, plan.tokens(), inputs));
              CHECK(placed.tokens().first.size == vocabulary + 2);
              CHECK(begins_with(on, placed.places(), run, plan.places(), inputs));
              CHECK(begins_with(on, placed.leaf_rows(), run, plan.leaf_rows(), plan.leaves()));
              const std::vector<int> answers = read(on, placed.answers(), run), counts = read(on, placed.counts(), run);
              CHECK(std::ranges::equal(std::span(answers).first(plan.answers().size()), plan.answers()));
              CHECK(std::ranges::equal(std::span(counts).first(plan.counts().size()), plan.counts()));
              CHECK(std::ranges::count(counts, 0) == placed.leaves() - plan.leaves());
              for (int layer = 0; layer < layers; ++layer) check_layer(on, placed.rows(layer), run, plan.rows(layer));
              check_layer(on, placed.all_last_rows(), run, plan.all_last_rows());
            }
          }
          CHECK(extents[0] == extents[1]);
        }
}

TEST_CASE("each of several runs has the loss and the gradient that it has alone, of its own weights, set and batch") {
  for (const bool last_place : {true, false})
    for (const int layers : {1, 2})
      for (const bool causal : {true, false}) {
        CAPTURE(last_place);
        CAPTURE(layers);
        CAPTURE(causal);
        const prenorm_shape shape{.vocabulary = vocabulary,
                                  .outputs = 4,
                                  .context = length,
                                  .width = 6,
                                  .heads = 2,
                                  .layers = layers,
                                  .hidden = 5,
                                  .causal = causal};
        const prenorm_transformer<double, plain> alone(shape);
        const prenorm_transformer<double, plain_runs> together(shape);
        const auto total = static_cast<std::size_t>(alone.parameters().size());
        plain_runs on(runs);
        plain_runs::array<double> weights(runs * total), gradients(runs * total);
        std::vector<double> expected, found(runs * total);
        std::vector<lindyn::task::evaluation> scores, evaluations(runs);
        std::vector<sequence_set> sets;
        std::vector<std::vector<int>> batches;
        for (std::uint64_t run = 0; run < runs; ++run) {
          sets.push_back(random_set(last_place, run));
          batches.push_back(batch(20 + run));
        }
        std::vector<std::pair<const sequence_set*, std::span<const int>>> asked;
        for (std::size_t run = 0; run < runs; ++run) {
          asked.emplace_back(&sets[run], batches[run]);
          const auto own = lindyn::model::initial_weights<double>(shape, {.gamma = 1.2, .seed = 4 + run});
          on.from_host(std::span<const double>(own), weights.data() + run * total);
          prenorm_transformer<double, plain>::workspace memory;
          std::vector<double> gradient(total);
          scores.push_back(alone.loss_and_gradient(own, sets[run], batches[run], gradient, memory));
          expected.insert(expected.end(), gradient.begin(), gradient.end());
        }
        const auto run_size = static_cast<lindyn::index>(total);
        prenorm_transformer<double, plain_runs>::workspace memory(on);
        together.losses_and_gradients({weights.data(), run_size}, asked, {gradients.data(), run_size}, memory, 2,
                                      evaluations);
        on.to_host(gradients.data(), std::span(found));
        CHECK(difference(found, expected) <= 1e-14);
        for (std::size_t run = 0; run < runs; ++run) {
          CHECK(evaluations[run].loss == doctest::Approx(scores[run].loss).epsilon(1e-14));
          CHECK(evaluations[run].correct == scores[run].correct);
          CHECK(evaluations[run].total == scores[run].total);
        }
      }
}

TEST_CASE("a network whose weights the host can't read says all that it says on the host") {
  const prenorm_shape shape{
      .vocabulary = vocabulary, .outputs = 4, .context = length, .width = 6, .heads = 2, .layers = 2, .hidden = 5};
  const prenorm_transformer<double, plain> here(shape);
  const prenorm_transformer<double, plain_runs> there(shape);
  const sequence_set set = random_set(false, 3);
  const std::vector<int> which = batch(5);
  auto weights = lindyn::model::initial_weights<double>(shape, {.gamma = 1.2});
  plain_runs on;
  plain_runs::array<double> placed(weights.size()), gradient(weights.size());
  on.from_host(std::span<const double>(weights), placed.data());
  const std::span<const double> hidden(placed.data(), weights.size());
  prenorm_transformer<double, plain>::workspace memory;
  prenorm_transformer<double, plain_runs>::workspace hidden_memory;

  std::vector<int> expected_answers, answers;
  CHECK(there.answer(hidden, set, answers, hidden_memory, 3).loss ==
        doctest::Approx(here.answer(weights, set, expected_answers, memory, 3).loss).epsilon(1e-14));
  CHECK(answers == expected_answers);
  CHECK(difference(there.logits(hidden, set, which, hidden_memory), here.logits(weights, set, which, memory)) <= 1e-14);
  const auto expected = here.attention(weights, set, which, memory);
  const auto found = there.attention(hidden, set, which, hidden_memory);
  for (std::size_t layer = 0; layer < 2; ++layer) CHECK(difference(found[layer], expected[layer]) <= 1e-14);

  std::vector<double> own_gradient(weights.size());
  here.loss_and_gradient(weights, set, which, own_gradient, memory);
  there.loss_and_gradient(hidden, set, which, {gradient.data(), weights.size()}, hidden_memory);
  const auto listen = [](const auto& net, auto& of) {
    std::vector<double> heard;
    net.visit_attention(of, [&](const auto& row) {
      heard.push_back(row.count);
      heard.insert(heard.end(), row.weights, row.weights + row.visible);
    });
    return heard;
  };
  CHECK(difference(listen(there, hidden_memory), listen(here, memory)) <= 1e-14);
  CHECK(there.first_non_finite(hidden, {gradient.data(), weights.size()}, hidden_memory).empty());

  const lindyn::index bad = here.parameters().find("blocks.1.mlp.fc1.weight").offset + 2;
  weights[static_cast<std::size_t>(bad)] = std::numeric_limits<double>::infinity();
  on.from_host(std::span<const double>(weights), placed.data());
  CHECK_THROWS_WITH_AS(static_cast<void>(there.loss(hidden, set, which, hidden_memory)),
                       doctest::Contains("weights blocks.1.mlp.fc1.weight[2]"), lindyn::non_finite_error);

  prenorm_transformer<double, plain_runs>::workspace of_two(plain_runs(2));
  CHECK_THROWS_AS(static_cast<void>(there.loss(hidden, set, which, of_two)), lindyn::argument_error);
}
