// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/prenorm/numbering.hpp>
#include <lindyn/model/prenorm_cost.hpp>

using lindyn::argument_error;
using lindyn::model::evaluation_plan;
using lindyn::model::layer_rows;
using lindyn::model::no_savings;
using lindyn::model::savings;
using lindyn::task::no_answer;
using lindyn::task::sequence_set;

namespace {

std::vector<int> list(std::span<const int> values) { return {values.begin(), values.end()}; }

/// The visible keys of every output row.
std::vector<std::vector<int>> keys_of(const layer_rows& rows) {
  std::vector<std::vector<int>> keys;
  for (const auto& segment : rows.visible.segments)
    for (auto row = segment.begin; row < segment.end; ++row) {
      const int* const seen = rows.visible.keys.data + row * rows.visible.context;
      keys.emplace_back(seen, seen + segment.visible);
    }
  return keys;
}

/// Sequences 0 1 2 -> 3, 0 1 3 -> 2, 4 1 2 -> 3, and the first again.
const sequence_set some({5, 5, 3}, {0, 1, 2, 0, 1, 3, 4, 1, 2, 0, 1, 2}, {3, 2, 3, 3});
const std::vector<int> all_of_them{0, 1, 2, 3};

}  // namespace

TEST_CASE("without savings a plan's rows are the places of the batch, ordered by place") {
  evaluation_plan plan;
  plan.build(some, std::vector<int>{2, 0}, 2, true, no_savings);
  for (const int layer : {0, 1}) {
    const layer_rows rows = plan.rows(layer);
    CHECK(rows.inputs == 6);
    CHECK(rows.outputs == 6);
    CHECK(rows.source.empty());
    CHECK(keys_of(rows) == std::vector<std::vector<int>>{{0}, {1}, {0, 2}, {1, 3}, {0, 2, 4}, {1, 3, 5}});
    CHECK(rows.visible.segments.size() == 3);
  }
  CHECK(list(plan.tokens()) == std::vector<int>{4, 0, 1, 1, 2, 2});
  CHECK(list(plan.places()) == std::vector<int>{0, 0, 1, 1, 2, 2});
  CHECK(list(plan.leaf_rows()) == std::vector<int>{4, 5});
  CHECK(list(plan.answers()) == std::vector<int>{3, 3});
  CHECK(list(plan.counts()) == std::vector<int>{1, 1});

  plan.build(some, std::vector<int>{2, 0}, 2, false, no_savings);
  CHECK(keys_of(plan.rows(0)) ==
        std::vector<std::vector<int>>{{0, 2, 4}, {1, 3, 5}, {0, 2, 4}, {1, 3, 5}, {0, 2, 4}, {1, 3, 5}});
  CHECK(plan.rows(0).visible.segments.size() == 1);
}

TEST_CASE("the last layer computes only what is asked, the first one each token at a place once, prefixes are shared") {
  evaluation_plan plan;
  plan.build(some, all_of_them, 3, true, {});
  // Rows are the prefixes 0, 4, 01, 41, 012, 013, 412, inputs 0, 4 at place 0, 1 at place 1, 2 and 3 at place 2.
  CHECK(list(plan.tokens()) == std::vector<int>{0, 4, 1, 2, 3});
  CHECK(list(plan.places()) == std::vector<int>{0, 0, 1, 2, 2});
  const layer_rows first = plan.rows(0), middle = plan.rows(1), last = plan.rows(2);
  CHECK(first.inputs == 5);
  CHECK(first.outputs == 7);
  CHECK(!first.gathers_queries());
  CHECK(list(first.source) == std::vector<int>{0, 1, 2, 2, 3, 4, 3});
  CHECK(keys_of(first) == std::vector<std::vector<int>>{{0}, {1}, {0, 2}, {1, 2}, {0, 2, 3}, {0, 2, 4}, {1, 2, 3}});
  CHECK(middle.inputs == 7);
  CHECK(middle.outputs == 7);
  CHECK(middle.source.empty());
  CHECK(keys_of(middle) == std::vector<std::vector<int>>{{0}, {1}, {0, 2}, {1, 3}, {0, 2, 4}, {0, 2, 5}, {1, 3, 6}});
  CHECK(last.outputs == 3);
  CHECK(last.gathers_queries());
  CHECK(list(last.source) == std::vector<int>{4, 5, 6});
  CHECK(keys_of(last) == std::vector<std::vector<int>>{{0, 2, 4}, {0, 2, 5}, {1, 3, 6}});
  CHECK(plan.leaf_rows().empty());
  CHECK(list(plan.answers()) == std::vector<int>{3, 2, 3});
  CHECK(list(plan.counts()) == std::vector<int>{2, 1, 1});
  CHECK(list(plan.leaf_of_asked()) == std::vector<int>{0, 1, 2, 0});
  CHECK(plan.row(3, 1) == 2);

  plan.build(some, all_of_them, 1, true, {});  // one layer is the first and the last
  CHECK(list(plan.rows(0).source) == std::vector<int>{3, 4, 3});
  CHECK(keys_of(plan.rows(0)) == std::vector<std::vector<int>>{{0, 2, 3}, {0, 2, 4}, {1, 2, 3}});

  plan.build(some, all_of_them, 2, false, {});  // without a mask equal sequences are shared, and nothing else
  CHECK(plan.rows(1).inputs == 9);
  CHECK(list(plan.counts()) == std::vector<int>{2, 1, 1});
  CHECK(list(plan.rows(1).source) == std::vector<int>{6, 7, 8});
}

TEST_CASE("a row that is asked different things has a leaf for each of them, and answers may stand at any place") {
  const sequence_set asked({3, 4, 2}, {0, 1, 0, 1, 0, 1, 2, 2}, {no_answer, 3, 1, 2, 1, 3, 0, no_answer});
  evaluation_plan plan;
  plan.build(asked, all_of_them, 2, true, {});
  // Prefixes 0, 2 at place 0: asked 1 (twice) and 0; 01 at place 1: asked 3 (twice) and 2; 22 isn't asked.
  CHECK(list(plan.answers()) == std::vector<int>{1, 0, 3, 2});
  CHECK(list(plan.counts()) == std::vector<int>{2, 1, 2, 1});
  CHECK(list(plan.rows(1).source) == std::vector<int>{0, 1, 2, 2});
  CHECK(keys_of(plan.rows(1)) == std::vector<std::vector<int>>{{0}, {1}, {0, 2}, {0, 2}});

  // Where every place is asked, the last layer has nothing to leave out.
  const sequence_set everywhere({3, 4, 2}, {0, 1, 2, 2}, {1, 2, 3, 0});
  plan.build(everywhere, std::vector<int>{0, 1}, 2, true, {});
  CHECK(plan.rows(1).source.empty());
  CHECK(plan.leaf_rows().empty());
}

TEST_CASE("under a causal mask no layer has places behind the last one that is asked of a sequence") {
  // 0 1 2 asked at place 1, 0 1 3 at place 0, 4 1 2 at 0 and 1: what is left are the prefixes 0, 4, 01, 41.
  const sequence_set early({5, 5, 3}, {0, 1, 2, 0, 1, 3, 4, 1, 2},
                           {no_answer, 3, no_answer, 2, no_answer, no_answer, 1, 4, no_answer});
  evaluation_plan plan;
  const std::vector<int> which{0, 1, 2};
  plan.build(early, which, 3, true, {});
  CHECK(plan.leaves_out_places());
  CHECK(list(plan.tokens()) == std::vector<int>{0, 4, 1});
  CHECK(keys_of(plan.rows(1)) == std::vector<std::vector<int>>{{0}, {1}, {0, 2}, {1, 3}});
  CHECK(plan.row(1, 1) == -1);
  CHECK(plan.row(2, 2) == -1);
  std::vector<int> counts;
  plan.count_rows(counts);
  CHECK(counts == std::vector<int>{2, 1, 1, 1});
  CHECK(plan.rows(2).outputs == 4);  // place 0 of the second and third sequence, place 1 of the first and third
  CHECK(list(plan.answers()) == std::vector<int>{2, 1, 3, 4});
  CHECK(plan.most_extents(1).inputs == 4);  // prefixes of up to two tokens

  plan.build(early, std::vector<int>{1}, 3, true, {.shared_prefixes = false});
  CHECK(plan.rows(0).inputs == 1);
  for (const bool causal : {true, false}) {
    plan.build(early, which, 3, causal,
               {.last_place = !causal, .distinct_first_layer = false, .shared_prefixes = false});
    CHECK(!plan.leaves_out_places());
    CHECK(plan.rows(0).inputs == 9);
  }

  // 64 sequences of 40 places, with answers up to the tenth.
  std::vector<int> tokens(64 * 40), answers(64 * 40, no_answer);
  lindyn::counter_generator generator(2);
  for (int& token : tokens) token = static_cast<int>(lindyn::uniform_index(generator, 16));
  for (std::size_t i = 0; i < 64; ++i) answers[40 * i + 9] = 0;
  plan.build({{16, 2, 40}, tokens, answers}, std::vector<int>{0, 1, 2, 3}, 2, true, {.shared_prefixes = false});
  CHECK(plan.rows(1).inputs == 40);
  CHECK(plan.rows(1).outputs == 4);
  CHECK(plan.most_rows() == 40);
}

TEST_CASE("random plans give each place of each sequence the tokens that it sees, and stay within what they announce") {
  lindyn::counter_generator generator(3);
  const auto draw = [&](int count) { return static_cast<int>(lindyn::uniform_index(generator, count)); };
  const int length = 4, count = 30;
  std::vector<int> tokens, answers;
  for (int sequence = 0; sequence < count; ++sequence)
    for (int place = 0; place < length; ++place) {
      tokens.push_back(draw(2 + place % 2));
      answers.push_back(place == 2 || draw(3) == 0 ? draw(2) : no_answer);
    }
  const sequence_set set({3, 2, length}, tokens, answers);
  evaluation_plan plan;
  for (int choice = 0; choice < 16; ++choice) {
    const savings use{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
    const bool causal = choice < 8;
    std::vector<int> which;
    for (int i = 0; i < 20; ++i) which.push_back(draw(count));
    const int layers = 1 + draw(3);
    plan.build(set, which, layers, causal, use);
    // Tokens that each row sees in each layer, from the first one upwards: they must be those of the sequence.
    std::vector<std::vector<int>> seen;
    for (const int token : plan.tokens()) seen.push_back({token});
    for (int layer = 0; layer < layers; ++layer) {
      const layer_rows rows = plan.rows(layer);
      const auto extents = plan.extents(layer), most = plan.most_extents(layer);
      CHECK(rows.inputs == static_cast<lindyn::index>(seen.size()));
      CHECK(extents.inputs <= most.inputs);
      CHECK(extents.queries <= most.queries);
      CHECK(extents.gathered <= most.gathered);
      CHECK(extents.outputs <= most.outputs);
      std::vector<std::vector<int>> next;
      for (const auto& keys : keys_of(rows)) {
        std::vector<int> all;
        for (const int key : keys) all.push_back(seen[static_cast<std::size_t>(key)].back());
        // The last of what is seen stands for the row's own token, which is the source's.
        const std::size_t row = next.size();
        const int own =
            seen[static_cast<std::size_t>(rows.source.empty() ? static_cast<int>(row) : rows.source[row])].back();
        all.push_back(own);
        next.push_back(all);
      }
      CHECK(static_cast<lindyn::index>(next.size()) == rows.outputs);
      seen = next;
    }
    CHECK(plan.leaves() <= plan.most_leaves());
    std::size_t asked = 0;
    for (int place = 0; place < length; ++place)
      for (const int sequence : which) {
        const int answer = set.answer(sequence, place);
        if (answer == no_answer) continue;
        const auto leaf = static_cast<std::size_t>(plan.leaf_of_asked()[asked++]);
        CHECK(plan.answers()[leaf] == answer);
        const std::size_t row = plan.leaf_rows().empty() ? leaf : static_cast<std::size_t>(plan.leaf_rows()[leaf]);
        std::vector<int> expected =
            list(set.tokens(sequence).first(static_cast<std::size_t>(causal ? place + 1 : length)));
        expected.push_back(set.tokens(sequence)[static_cast<std::size_t>(place)]);
        CHECK(seen[row] == expected);
      }
    CHECK(asked == plan.leaf_of_asked().size());
  }
}

TEST_CASE("a plan refuses batches without sequences, with more places than numbers, and sequences that aren't there") {
  evaluation_plan plan;
  CHECK_THROWS_AS(plan.build(some, {}, 2, true, {}), argument_error);
  CHECK_THROWS_WITH_AS(plan.build(some, std::vector<int>{0, 4}, 2, true, {}),
                       "which = 4 is not allowed: it must be in [0, 4), the number of a sequence", argument_error);
  CHECK_THROWS_AS(plan.build(some, std::vector<int>{-1}, 2, true, {}), argument_error);
  const sequence_set wide({1, 1, 1 << 16}, std::vector<int>(1 << 16), {0});
  CHECK_THROWS_WITH_AS(plan.build(wide, std::vector<int>(1 << 15), 2, true, {}),
                       "which.size() = 32768 is not allowed: it must be at most 32767: rows are numbered by int",
                       argument_error);
}

TEST_CASE(
    "operations of a step are those of its products: without savings 6 a weight and row, and 12 a pair and column") {
  const lindyn::model::prenorm_shape shape{
      .vocabulary = 5, .outputs = 5, .context = 3, .width = 8, .heads = 2, .layers = 2, .hidden = 12};
  evaluation_plan plan;
  plan.build(some, all_of_them, 2, true, no_savings);
  const double rows = 12, weights = 4 * 8 * 8 + 2 * 8 * 12, pairs = 4 * (1 + 2 + 3);
  CHECK(lindyn::model::step_operations(shape, plan) == 6 * (2 * rows * weights + 4 * 8 * 5) + 12 * 2 * pairs * 8);
  plan.build(some, all_of_them, 2, true, {});
  // 5 inputs, 7 rows, 3 leaves; 7 prefixes see 1, 1, 2, 2, 3, 3, 3 keys.
  const double first = 3 * 5 * 64 + 7 * 64 + 7 * 192 + 2 * 15 * 8, last = 2 * 7 * 64 + 2 * 3 * 64 + 3 * 192 + 2 * 9 * 8;
  CHECK(lindyn::model::step_operations(shape, plan) == 6 * (first + last + 3 * 8 * 5));
}

TEST_CASE("numbers are given in the order of keys, and forgotten all at once") {
  lindyn::model::detail::numbering number;
  for (int round = 0; round < 3; ++round) {
    number.forget(5 + round);
    CHECK(number(4, 0) == 0);
    CHECK(number(1, 1) == 1);
    CHECK(number(4, 2) == 0);
    CHECK(number(round == 2 ? 6 : 0, 2) == 2);
  }
}
