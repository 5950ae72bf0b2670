// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include <lindyn/population/sequence_table.hpp>

namespace {
using lindyn::population::sequence_table;
using lindyn::population::weighted_sequences;
using lindyn::task::sequence;

/// A user's own element: three characters are two tokens and an answer, at positions 0 and 1.
struct example {
  std::vector<int> tokens, positions{0, 1};
  int answer = 0;
  operator sequence() const { return {tokens, positions, answer}; }
};

std::istream& operator>>(std::istream& in, example& to) {
  int first = 0, second = 0;
  in >> first >> second >> to.answer;
  to.tokens = {first, second};
  return in;
}

/// A range that can be read only once: begin() reads, as that of a stream does.
struct read_once {
  std::istream& in;
  [[nodiscard]] auto begin() const { return std::istream_iterator<example>(in); }
  [[nodiscard]] auto end() const { return std::istream_iterator<example>(); }
};

TEST_CASE("populations are ranges of whatever converts to a sequence") {
  static_assert(weighted_sequences<std::vector<example>>);
  static_assert(weighted_sequences<std::vector<sequence>>);
  static_assert(weighted_sequences<sequence_table>);
  static_assert(weighted_sequences<read_once>);
  static_assert(!weighted_sequences<std::vector<int>>);
  const std::vector<example> examples{{.tokens = {1, 2}, .answer = 3}, {.tokens = {4, 5}, .answer = 6}};
  const auto table = sequence_table::from(examples);
  REQUIRE(table.size() == 2);
  CHECK(table.length() == 2);
  CHECK(table[1].tokens[0] == 4);
  CHECK(table[1].positions[1] == 1);
  CHECK(table[1].answer == 6);
  CHECK(table[1].weight == 1);
}

TEST_CASE("ranges that can be read only once lose nothing") {
  std::istringstream text("0 1 2  3 4 5  6 7 8");
  const auto table = sequence_table::from(read_once{text});
  REQUIRE(table.size() == 3);
  for (int place = 0; place < 3; ++place) {
    CHECK(table[place].tokens[0] == 3 * place);
    CHECK(table[place].answer == 3 * place + 2);
  }
}

TEST_CASE("a table is a range of its sequences, and a batch") {
  sequence_table table(2);
  const std::vector<int> tokens{7, 8}, positions{1, 0};
  table.append({tokens, positions, 5, 0.25});
  table.append({positions, tokens, 6, 0.75});
  double total = 0;
  std::vector<int> answers;
  for (const sequence& one : table) {
    total += one.weight;
    answers.push_back(one.answer);
  }
  CHECK(total == 1);
  CHECK(answers == std::vector{5, 6});
  const lindyn::task::batch_view batch = table;
  CHECK(batch.count() == 2);
  CHECK(batch.tokens(1, 0) == 1);
  CHECK(batch.positions(1, 1) == 8);
  CHECK(batch.weight(1) == 0.75);
  const auto copy = sequence_table::from(table);
  CHECK(copy.size() == 2);
  CHECK(copy[1].tokens[0] == 1);
}

TEST_CASE("the total weight doesn't lose what is small") {
  sequence_table table(1);
  const std::vector<int> zero{0};
  table.append({zero, zero, 0, 1.0});
  for (int place = 0; place < 1000; ++place) table.append({zero, zero, 0, 1e-17});
  CHECK(table.total_weight() == 1.0 + 1e-14);
}

TEST_CASE("tables refuse sequences of another length, and weights that are no weights") {
  CHECK_THROWS_AS(sequence_table(0), lindyn::argument_error);
  sequence_table table(2);
  const std::vector<int> one{0}, two{0, 1};
  CHECK_THROWS_AS(table.append({one, two, 0}), lindyn::shape_error);
  CHECK_THROWS_AS(table.append({two, one, 0}), lindyn::shape_error);
  for (const double weight : {-0.1, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(table.append({two, two, 0, weight}), lindyn::argument_error);
  CHECK(table.size() == 0);
  CHECK_THROWS_AS((void)sequence_table::from(std::vector<example>{}), lindyn::argument_error);
  const std::vector<example> uneven{{.tokens = {1, 2}}, {.tokens = {1, 2, 3}, .positions = {0, 1, 2}}};
  CHECK_THROWS_AS((void)sequence_table::from(uneven), lindyn::shape_error);
}

}  // namespace
