// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <lindyn/population/conditional_retrieval_tokens.hpp>

#include "../complaint.hpp"
#include "token_law_checks.hpp"

namespace {
using namespace lindyn::population;
using namespace lindyn::testing;

/// Whether the blocks are the complete table of `conditions` and keys, all tokens being distinct, and the answer is the
/// label of the query.
bool allowed(const std::vector<int>& tokens, int answer, int conditions) {
  std::map<std::pair<int, int>, int> label;
  std::set<int> rows, columns, labels, all;
  for (std::size_t place = 0; place + 2 < tokens.size(); place += 3) {
    label[{tokens[place], tokens[place + 1]}] = tokens[place + 2];
    rows.insert(tokens[place]);
    columns.insert(tokens[place + 1]);
    labels.insert(tokens[place + 2]);
  }
  all = rows;
  all.insert(columns.begin(), columns.end());
  all.insert(labels.begin(), labels.end());
  const auto query = label.find({tokens[tokens.size() - 2], tokens[tokens.size() - 1]});
  return rows.size() == static_cast<std::size_t>(conditions) && label.size() == tokens.size() / 3 &&
         rows.size() * columns.size() == label.size() && labels.size() == label.size() &&
         all.size() == rows.size() + columns.size() + labels.size() && query != label.end() && query->second == answer;
}

/// Orders of the m q pairs that differ by more than the names of conditions and keys: (m q)! / (m! q!).
double orders(int m, int q) { return arrangements(m * q, m * q) / arrangements(m, m) / arrangements(q, q); }

TEST_CASE("conditional retrieval draws every order of the complete table equally often, and nothing else") {
  for (const int conditions : {2, 3}) {
    CAPTURE(conditions);
    const block_list list{conditions, 2 * conditions + 1, 3};
    const conditional_retrieval_tokens law(list, conditions);
    check_uniform(law, orders(conditions, 1) * arrangements(list.vocabulary, list.vocabulary) * conditions,
                  [&](const std::vector<int>& tokens, int answer) { return allowed(tokens, answer, conditions); });
  }
}

TEST_CASE("with several keys, too, every order of the complete table has the same weight, and all are there") {
  struct sizes {
    int m, q;
  };
  for (const sizes& table : {sizes{2, 2}, sizes{2, 3}, sizes{3, 2}}) {
    const int m = table.m, q = table.q;
    CAPTURE(m);
    CAPTURE(q);
    const block_list list{m * q, m + q + m * q, 3};
    const auto found = enumerate_types(law(conditional_retrieval_tokens(list, m), one_place()));
    const double count = orders(m, q) * m * q;
    CHECK(static_cast<double>(found.types.size()) == count);
    CHECK(found.sequence_count == count * arrangements(list.vocabulary, list.vocabulary));
    CHECK(std::abs(found.types.total_weight() - 1) <= 1e-15);
    for (const auto& type : found.types) {
      CHECK(std::abs(type.weight * count - 1) <= 1e-14);
      CHECK(allowed({type.tokens.begin(), type.tokens.end()}, type.answer, m));
    }
  }
}

TEST_CASE("conditional retrieval by hand: condition and key both have to match") {
  const conditional_retrieval_tokens law({4, 10, 3}, 2);
  const double p = 1 / (orders(2, 2) * arrangements(10, 8) * 4);
  const auto of = [&](std::vector<int> query, int answer) {
    std::vector<int> tokens{6, 1, 4, 9, 1, 7, 9, 5, 0, 6, 5, 2};
    tokens.insert(tokens.end(), query.begin(), query.end());
    return token_probability(law, tokens, answer);
  };
  CHECK(of({9, 1}, 7) == doctest::Approx(p).epsilon(1e-14));
  CHECK(of({6, 5}, 2) == doctest::Approx(p).epsilon(1e-14));
  CHECK(of({9, 1}, 4) == 0);  // the key alone
  CHECK(of({9, 1}, 0) == 0);  // the condition alone
  CHECK(of({1, 9}, 7) == 0);
  CHECK(of({9, 3}, 7) == 0);
  // no complete table: a pair occurs twice
  CHECK(token_probability(law, {6, 1, 4, 6, 1, 7, 9, 5, 0, 6, 5, 2, 9, 5}, 0) == 0);
}

TEST_CASE("samples of conditional retrieval are as frequent as their probabilities say") {
  // With tokens in the order of their first occurrence: the 24 types.
  const block_list list{4, 8, 3};
  const law law(conditional_retrieval_tokens(list, 2), one_place());
  const auto key = [](const lindyn::task::sequence& sequence) {
    std::map<int, int> names;
    std::vector<int> result;
    for (const int token : sequence.tokens)
      result.push_back(names.try_emplace(token, static_cast<int>(names.size())).first->second);
    result.push_back(names.at(sequence.answer));
    return result;
  };
  std::map<std::vector<int>, int> counts;
  std::vector<int> first(8);  // how often each token comes first
  const int draws = 20'000;
  sampler sampler(law, 4);
  minibatch batch;
  sampler.draw(0, draws, batch);
  for (lindyn::index place = 0; place < draws; ++place) {
    ++counts[key(batch.view()[place])];
    ++first[static_cast<std::size_t>(batch.view()[place].tokens[0])];
  }
  const auto within = [&](int count, double p) {
    return std::abs(count - draws * p) < 5 * std::sqrt(draws * p * (1 - p));
  };
  CHECK(counts.size() == 24);
  for (const auto& [values, count] : counts) CHECK(within(count, 1.0 / 24));
  for (const int count : first) CHECK(within(count, 1.0 / 8));
}

TEST_CASE("a probability needs no enumeration of the table's orders") {
  const block_list list{24, 64, 3};
  const law law(conditional_retrieval_tokens(list, 4), ring_positions(list, 80));
  std::vector<int> tokens(static_cast<std::size_t>(list.length())), positions(tokens.size());
  sampler sampler(law, 3);
  const int answer = sampler.draw(0, tokens, positions);
  const double expected = 1 / orders(4, 6) / arrangements(64, 34) / 24 / 80;
  CHECK(probability(law, {tokens, positions, answer}) == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("tables that don't fit are refused") {
  const conditional_retrieval_tokens law({12, 20, 3}, 3);
  CHECK(law.conditions() == 3);
  CHECK(law.keys() == 4);
  CHECK(law.structure().orbital_count() == 1);
  CHECK(complaint([] {
          return conditional_retrieval_tokens({4, 16, 3}, 1);
        }) == "conditions = 1 is not allowed: it must be at least 2, as one tells nothing");
  CHECK(complaint([] {
          return conditional_retrieval_tokens({4, 16, 3}, 3);
        }) == "pairs = 4 is not allowed: it must be a multiple of conditions = 3, as every condition meets every key");
  CHECK(complaint([] {
          return conditional_retrieval_tokens({4, 7, 3}, 2);
        }) == "vocabulary = 7 is not allowed: it must be at least 8, for 8 distinct tokens");
  CHECK(complaint([] { return conditional_retrieval_tokens({4, 16, 2}, 2); }).starts_with("block = 2"));
  CHECK(complaint([] { return conditional_retrieval_tokens({0, 16, 3}, 2); }).starts_with("pairs = 0"));
  CHECK(complaint([] { return conditional_retrieval_tokens({4, 16, 3, 2}, 2); }).starts_with("burstiness = 2"));
}

TEST_CASE("the task of conditional retrieval has this law") {
  using three_conditions = lindyn::task::conditional_retrieval<3>;
  const recall_law<three_conditions> law{{.pairs = 6, .vocabulary = 11}};
  static_assert(data_law<decltype(law)>);
  CHECK(law.sizes().length == 20);
  CHECK(law.sizes().positions == 24);
  CHECK(law.tokens().keys() == 2);
  CHECK(complaint([] { return recall_law<three_conditions>{{.pairs = 4}}; }).starts_with("pairs = 4"));
}

}  // namespace
