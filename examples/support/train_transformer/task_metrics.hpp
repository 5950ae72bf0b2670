// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is evaluated of tasks that loss and accuracy don't say all about: whole outputs of SCAN, and what the unseen pair
/// of anchor shift is answered.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <lindyn/io/csv.hpp>
#include <lindyn/model/exact_match.hpp>
#include <lindyn/model/greedy_decoding.hpp>

#include "data.hpp"
#include "settings.hpp"

namespace examples::train_transformer {

/// Columns of metrics.csv that a task has beside those of all tasks: shares of sequences.
[[nodiscard]] inline std::vector<std::string> task_columns(const settings& of) {
  if (of.task == "scan") return {"training_exact_match", "test_exact_match"};
  if (of.task == "anchor_shift") return {"seen_accuracy", "test_inferential", "test_symmetric", "test_other"};
  return {};
}

/// The column that says whether a task counts as reached.
[[nodiscard]] inline const char* decisive_column(const settings& of) {
  return of.task == "scan" ? "test_exact_match" : "test_accuracy";
}

/// An evaluation of one part of the data, and what belongs to it of the task's own columns.
struct part_metrics {
  task::evaluation places;
  std::vector<double> own;
};

/// Evaluates training or test data.
/// \param of, data  the settings, and what they make
/// \param set       a part of the data
template <class Net>
[[nodiscard]] part_metrics evaluate_part(const settings& of, const task_data& data, const task::sequence_set& set,
                                         const Net& net, std::span<const typename Net::scalar> weights,
                                         typename Net::workspace& memory) {
  constexpr lindyn::index block = 512;
  if (of.task == "scan") {
    const auto found = model::evaluate_sequences(net, weights, set, memory, block);
    return {found.places, {found.exact_match()}};
  }
  if (of.task != "anchor_shift" || &set == &data.training) return {net.loss(weights, set, memory, block), {}};
  std::vector<int> answers;
  const auto places = net.answer(weights, set, answers, memory, block);
  const auto scores = population::score_anchor_shift(make_shifts(of), set, answers);
  const double seen = net.loss(weights, data.seen.value(), memory, block).accuracy();
  return {places, {seen, scores.inferential, scores.symmetric, scores.other}};
}

/// The commands of a set of SCAN with what a network writes behind them, token by token: decoded.csv.
/// \return the share that is as expected
template <class Net>
[[nodiscard]] double write_decoded(const std::filesystem::path& path, const settings& of, const task::sequence_set& set,
                                   const Net& net, std::span<const typename Net::scalar> weights,
                                   typename Net::workspace& memory) {
  namespace token = population::scan_token;
  std::vector<std::vector<int>> prompts;
  for (lindyn::index sequence = 0; sequence < set.count(); ++sequence) {
    const auto tokens = set.tokens(sequence);
    prompts.emplace_back(tokens.begin(), std::ranges::find(tokens, token::separator) + 1);
  }
  const auto written =
      model::decode_greedily(net, weights, prompts, {.end = token::end, .most = of.most_outputs}, memory);
  lindyn::io::csv_writer csv(path, {"command", "expected", "decoded"});
  lindyn::index matched = 0;
  for (lindyn::index sequence = 0; sequence < set.count(); ++sequence) {
    const auto i = static_cast<std::size_t>(sequence);
    std::vector<int> expected(set.answers(sequence).begin(), set.answers(sequence).end());
    std::erase(expected, task::no_answer);
    matched += written[i] == expected ? 1 : 0;
    prompts[i].pop_back();
    csv.row(token::text(prompts[i]), token::text(expected), token::text(written[i]));
  }
  csv.commit();
  return static_cast<double>(matched) / static_cast<double>(set.count());
}

}  // namespace examples::train_transformer
