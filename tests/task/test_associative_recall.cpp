// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <type_traits>

#include <lindyn/task/associative_recall.hpp>

namespace {
using lindyn::block;
using lindyn::stored_association;
using namespace lindyn::task;

TEST_CASE("a task is known at compile time by its block and its features") {
  using recall = associative_recall<block<2>>;
  static_assert(block_list_task<recall>);
  static_assert(recall::block == 2 && !recall::association);
  using stored = associative_recall<block<3>, stored_association>;
  static_assert(block_list_task<stored>);
  static_assert(stored::block == 3 && stored::association);
  static_assert(!block_list_task<int>);
  CHECK(std::is_same_v<ngram<4>, associative_recall<block<4>>>);
}

}  // namespace
