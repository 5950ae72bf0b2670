// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include <lindyn/task/associative_recall.hpp>

namespace {
using namespace lindyn;
using namespace lindyn::task;

static_assert(block_list_task<associative_recall<block<2>>>);
static_assert(block_list_task<associative_recall<block<3>, directed_association, rare_tokens>>);
static_assert(!block_list_task<int>);
static_assert(!block_list_task<block<2>>);

/// The names of a task's selections, in one line.
template <class... Features>
std::string names() {
  std::string result;
  for (const auto name : associative_recall<block<2>, Features...>::token_selections) result.append(name).append(" ");
  return result;
}

TEST_CASE("a task is known at compile time by its block and its features") {
  using recall = associative_recall<block<2>>;
  static_assert(recall::block == 2 && !recall::stored && !recall::directed && !recall::rare);
  using stored = associative_recall<block<3>, stored_association>;
  static_assert(stored::block == 3 && stored::stored && !stored::directed && !stored::rare);
  using directed = associative_recall<block<2>, rare_tokens, directed_association>;
  static_assert(!directed::stored && directed::directed && directed::rare);
  CHECK(std::is_same_v<ngram<4>, associative_recall<block<4>>>);
}

TEST_CASE("features name the selections of tokens, in any order of the features") {
  CHECK(names<>() == "I ");
  CHECK(names<stored_association>() == "I C ");
  CHECK(names<directed_association>() == "Ia Ib C C' ");
  CHECK(names<rare_tokens>() == "Ic Ir ");
  CHECK(names<stored_association, rare_tokens>() == "Ic C Ir ");
  CHECK(names<rare_tokens, stored_association>() == "Ic C Ir ");
  CHECK(names<rare_tokens, directed_association>() == "Ia Ib C C' I ");
}

}  // namespace
