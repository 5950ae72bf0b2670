// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <lindyn/task/batch.hpp>

namespace {
using lindyn::task::batch_view;
using lindyn::task::require_valid;

/// Three sequences of two tokens, V = 4, P = 3.
struct three_sequences {
  std::vector<int> tokens{0, 1, 2, 3, 1, 0}, positions{0, 1, 1, 2, 2, 0}, answers{3, 0, 2};
  std::vector<double> weights{0.5, 0.25, 0.125};

  [[nodiscard]] batch_view view(bool weighted) const {
    batch_view batch{{tokens.data(), 3, 2}, {positions.data(), 3, 2}, answers};
    if (weighted) batch.weights = weights;
    return batch;
  }
};

/// The message of what `require_valid` throws for V = 4, P = 3; empty if nothing.
std::string complaint(const batch_view& batch) {
  try {
    require_valid(batch, 4, 3);
  } catch (const lindyn::argument_error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a batch is read sequence by sequence") {
  const three_sequences data;
  const batch_view batch = data.view(true);
  CHECK(batch.count() == 3);
  CHECK(batch.length() == 2);
  const auto second = batch[1];
  CHECK(std::vector(second.tokens.begin(), second.tokens.end()) == std::vector{2, 3});
  CHECK(std::vector(second.positions.begin(), second.positions.end()) == std::vector{1, 2});
  CHECK(second.answer == 0);
  CHECK(second.weight == 0.25);
}

TEST_CASE("without weights each sequence weighs one over their number") {
  const three_sequences data;
  for (int place = 0; place < 3; ++place) CHECK(data.view(false).weight(place) == 1.0 / 3);
}

TEST_CASE("a slice keeps the weights of the whole") {
  const three_sequences data;
  const batch_view part = data.view(true).slice(1, 3);
  CHECK(part.count() == 2);
  CHECK(part[0].tokens[0] == 2);
  CHECK(part[1].positions[0] == 2);
  CHECK(part[1].answer == 2);
  CHECK(part.weight(0) == 0.25);
  CHECK(part.weight(1) == 0.125);
}

TEST_CASE("batches that fit are accepted, and what doesn't fit is named with its value and its range") {
  const three_sequences data;
  CHECK(complaint(data.view(true)) == "");
  CHECK(complaint(data.view(false)) == "");

  three_sequences wrong = data;
  wrong.tokens[3] = 4;
  CHECK(complaint(wrong.view(true)) == "batch.tokens = 4 is not allowed: it must be in [0, 4)");
  wrong = data;
  wrong.positions[0] = -1;
  CHECK(complaint(wrong.view(true)) == "batch.positions = -1 is not allowed: it must be in [0, 3)");
  wrong = data;
  wrong.answers[2] = 9;
  CHECK(complaint(wrong.view(true)) == "batch.answers = 9 is not allowed: it must be in [0, 4)");
}

TEST_CASE("parts of a batch that don't fit each other are refused") {
  const three_sequences data;
  batch_view batch = data.view(true);
  batch.positions.rows = 2;
  CHECK_THROWS_AS(require_valid(batch, 4, 3), lindyn::shape_error);
  batch = data.view(true);
  batch.positions.columns = 1;
  CHECK_THROWS_AS(require_valid(batch, 4, 3), lindyn::shape_error);
  batch = data.view(true);
  batch.answers = batch.answers.first(2);
  CHECK_THROWS_AS(require_valid(batch, 4, 3), lindyn::shape_error);
  batch = data.view(true);
  batch.weights = batch.weights.first(1);
  CHECK_THROWS_AS(require_valid(batch, 4, 3), lindyn::shape_error);
  CHECK(complaint({}) == "batch.count() = 0 is not allowed: it must be at least 1");
}

}  // namespace
