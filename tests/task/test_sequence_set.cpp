// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace {
using lindyn::task::index_prefixes;
using lindyn::task::no_answer;
using lindyn::task::sequence_set;

/// The message of what making the set throws; empty if it throws nothing.
std::string complaint(const lindyn::task::sequence_sizes& sizes, const std::vector<int>& tokens,
                      const std::vector<int>& answers) {
  try {
    const sequence_set set(sizes, tokens, answers);
  } catch (const lindyn::argument_error& error) {
    return error.what();
  }
  return "";
}

template <class Range>
std::vector<int> copy(const Range& range) {
  return {range.begin(), range.end()};
}

TEST_CASE("one answer a sequence is asked for at the last place") {
  const sequence_set set({4, 3, 2}, {0, 1, 2, 3, 0, 3}, {2, 0, 1});
  CHECK(set.sizes() == lindyn::task::sequence_sizes{4, 3, 2});
  CHECK(set.count() == 3);
  CHECK(set.last_place_only());
  CHECK(copy(set.tokens(1)) == std::vector{2, 3});
  CHECK(copy(set.answers(1)) == std::vector{no_answer, 0});
  CHECK(set.answer(2, 1) == 1);
  CHECK(set.answer(2, 0) == no_answer);
}

TEST_CASE("answers may be asked for at any places") {
  const sequence_set set({4, 3, 2}, {0, 1, 2, 3}, {2, no_answer, 0, 1});
  CHECK_FALSE(set.last_place_only());
  CHECK(set.answer(0, 0) == 2);
  CHECK(set.answer(0, 1) == no_answer);
  CHECK(copy(set.answers(1)) == std::vector{0, 1});
  CHECK(sequence_set({4, 3, 2}, {0, 1, 2, 3}, {no_answer, 0, no_answer, 1}).last_place_only());
}

TEST_CASE("sequences of one token have one place, and there may be no sequences") {
  const sequence_set single({2, 2, 1}, {1, 0}, {0, 1});
  CHECK(single.last_place_only());
  CHECK(single.answer(0, 0) == 0);
  const sequence_set none({2, 2, 3}, {}, {});
  CHECK(none.count() == 0);
  CHECK(none.prefixes().count() == 0);
}

TEST_CASE("what doesn't fit a set is named with its value and its range") {
  CHECK(complaint({0, 3, 2}, {}, {}) == "vocabulary = 0 is not allowed: it must be at least 1");
  CHECK(complaint({4, 0, 2}, {}, {}) == "outputs = 0 is not allowed: it must be at least 1");
  CHECK(complaint({4, 3, 0}, {}, {}) == "length = 0 is not allowed: it must be at least 1");
  CHECK(complaint({4, 3, 2}, {0, 1, 2}, {0}) == "tokens.size() = 3 is not allowed: it must be 2");
  CHECK(complaint({4, 3, 2}, {0, 1, 2, 3}, {0, 1, 2}) == "answers.size() = 3 is not allowed: it must be 4");
  CHECK(complaint({4, 3, 2}, {0, 4}, {0}) == "tokens = 4 is not allowed: it must be in [0, 4)");
  CHECK(complaint({4, 3, 2}, {0, -1}, {0}) == "tokens = -1 is not allowed: it must be in [0, 4)");
  CHECK(complaint({4, 3, 2}, {0, 1}, {3}) == "answers = 3 is not allowed: it must be in [0, 3), or no_answer (-1)");
  CHECK(complaint({4, 3, 2}, {0, 1}, {-2}).starts_with("answers = -2"));
  CHECK(complaint({4, 3, 2}, {0, 1, 2, 3}, {0, no_answer}) ==
        "answers of sequence 1 = -1 is not allowed: it must be asked for at some place");
}

TEST_CASE("the prefixes of a set that is small enough to see through") {
  const sequence_set set({9, 1, 3}, {5, 2, 1, /**/ 5, 2, 3, /**/ 4, 2, 1, /**/ 5, 2, 1}, {0, 0, 0, 0});
  const auto& prefixes = set.prefixes();
  CHECK(prefixes.count() == 7);  // 4, 5; 4 2, 5 2; 4 2 1, 5 2 1, 5 2 3
  CHECK(prefixes.token == std::vector{4, 5, 2, 2, 1, 1, 3});
  CHECK(prefixes.place == std::vector{0, 0, 1, 1, 2, 2, 2});
  CHECK(prefixes.parent == std::vector{-1, -1, 0, 1, 2, 3, 3});
  CHECK(prefixes.node == std::vector{1, 3, 5, 1, 3, 6, 0, 2, 4, 1, 3, 5});
}

TEST_CASE("two places share a prefix exactly if their sequences begin alike") {
  lindyn::counter_generator generator(1);
  const int length = 5, count = 60;
  std::vector<int> tokens;
  for (int place = 0; place < count * length; ++place)
    tokens.push_back(static_cast<int>(lindyn::uniform_index(generator, 3)));
  const auto prefixes = index_prefixes({tokens.data(), count, length});
  std::map<std::vector<int>, int> nodes;
  bool consistent = true, chained = true;
  for (int sequence = 0; sequence < count; ++sequence)
    for (int place = 0; place < length; ++place) {
      const auto first = tokens.begin() + sequence * length;
      const auto at = static_cast<std::size_t>(sequence * length + place);
      const int node = prefixes.node[at];
      const auto number = static_cast<std::size_t>(node);
      const auto known = nodes.emplace(std::vector<int>(first, first + place + 1), node);
      consistent = consistent && known.first->second == node;
      chained = chained && prefixes.token[number] == tokens[at] && prefixes.place[number] == place &&
                prefixes.parent[number] == (place == 0 ? -1 : prefixes.node[at - 1]) && prefixes.parent[number] < node;
    }
  CHECK(consistent);
  CHECK(chained);
  CHECK(static_cast<lindyn::index>(nodes.size()) == prefixes.count());
}

}  // namespace
