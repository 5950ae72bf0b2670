// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// SCAN, split by a primitive: commands in words, such as "jump twice and turn left", with the actions that they stand
/// for. Commands that combine `jump` with anything are held out.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::population {

/// The tokens of SCAN: what a network writes, the actions and the end, comes first; then what it only reads.
namespace scan_token {

/// \{
/// Actions.
inline constexpr int act_walk = 0, act_look = 1, act_run = 2, act_jump = 3, turn_left = 4, turn_right = 5;
/// \}
inline constexpr int end = 6;        ///< behind the last action
inline constexpr int separator = 7;  ///< between words and actions
/// \{
/// Words.
inline constexpr int walk = 8, look = 9, run = 10, jump = 11, turn = 12, left = 13, right = 14, opposite = 15,
                     around = 16, twice = 17, thrice = 18, conjunction = 19, after = 20;
/// \}

/// Of each token: its name.
inline constexpr std::array<std::string_view, 21> names{
    "I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT", "<end>", "<separator>", "walk", "look", "run",
    "jump",   "turn",   "left",  "right",  "opposite",    "around",       "twice", "thrice",      "and",  "after"};

/// Tokens as a text, with blanks between them.
[[nodiscard]] inline std::string text(std::span<const int> tokens) {
  std::string result;
  for (const int token : tokens) {
    require(token >= 0 && token < static_cast<int>(names.size()), "token", token, "in [0, 21)");
    if (!result.empty()) result += ' ';
    result += names[static_cast<std::size_t>(token)];
  }
  return result;
}

}  // namespace scan_token

/// A command and what it stands for, as tokens.
struct scan_command {
  std::vector<int> words;    ///< up to 9
  std::vector<int> actions;  ///< up to 48
};

namespace detail {

[[nodiscard]] inline std::vector<int> joined(const std::vector<int>& one, const std::vector<int>& other) {
  std::vector<int> result = one;
  result.insert(result.end(), other.begin(), other.end());
  return result;
}

[[nodiscard]] inline std::vector<int> repeated(const std::vector<int>& actions, int times) {
  std::vector<int> result;
  for (int time = 0; time < times; ++time) result.insert(result.end(), actions.begin(), actions.end());
  return result;
}

/// The 34 ways to do something once: V := P | P D | P opposite D | P around D, where P may also be `turn`, but not alone.
[[nodiscard]] inline std::vector<scan_command> scan_phrases() {
  using namespace scan_token;
  const std::vector<scan_command> primitives{
      {{walk}, {act_walk}}, {{look}, {act_look}}, {{run}, {act_run}}, {{jump}, {act_jump}}, {{turn}, {}}};
  std::vector<scan_command> result;
  for (const auto& [word, action] : primitives) {
    if (!action.empty()) result.push_back({word, action});
    for (const auto& [direction, turned] : {std::pair{left, turn_left}, std::pair{right, turn_right}}) {
      result.push_back({joined(word, {direction}), joined({turned}, action)});
      result.push_back({joined(word, {opposite, direction}), joined({turned, turned}, action)});
      result.push_back({joined(word, {around, direction}), repeated(joined({turned}, action), 4)});
    }
  }
  return result;
}

}  // namespace detail

/// All 20,910 commands of the grammar
///
///     C := S | S and S | S after S          "S1 after S2" is S2, then S1
///     S := V | V twice | V thrice           102 of them
///     V := P | P D | P opposite D | P around D | turn D | turn opposite D | turn around D          34 of them
///     P := walk | look | run | jump         D := left | right
///
/// where `opposite` turns twice before the action, and `around` turns and acts four times.
/// Source: Lake and Baroni, "Generalization without systematicity", ICML 2018 (arXiv 1711.00350), supplement.
[[nodiscard]] inline std::vector<scan_command> scan_commands() {
  using detail::joined;
  std::vector<scan_command> sentences;
  for (const auto& [words, actions] : detail::scan_phrases()) {
    sentences.push_back({words, actions});
    sentences.push_back({joined(words, {scan_token::twice}), detail::repeated(actions, 2)});
    sentences.push_back({joined(words, {scan_token::thrice}), detail::repeated(actions, 3)});
  }
  std::vector<scan_command> result = sentences;
  for (const auto& one : sentences)
    for (const auto& other : sentences) {
      result.push_back(
          {joined(joined(one.words, {scan_token::conjunction}), other.words), joined(one.actions, other.actions)});
      result.push_back(
          {joined(joined(one.words, {scan_token::after}), other.words), joined(other.actions, one.actions)});
    }
  return result;
}

/// Options of scan_add_jump. Source of the first: Lake and Baroni's files; the second is our choice.
struct scan_options {
  int copies_of_jump = 1467;  ///< how often the command `jump` stands in training: a tenth of it
  int most_outputs = 50;      ///< tokens that a network shall be able to write, the end among them: at least 49
};

/// SCAN's split `add_prim_jump`: in test the 7,706 commands that have `jump` beside other words; in training the 13,203
/// without it, and `jump` alone, 1,467 times: 14,670.
///
/// A sequence is words, separator, actions; the answers, from the separator on, are the actions and the end, and so is
/// what weighs in the loss: the output with its end, every token alike. V = 21 for tokens and for outputs alike, so that
/// what a network writes it can read. Sequences begin at place 0, and behind their last action come ends of which
/// nothing is asked. They have 10 + most_outputs - 1 places: words, separator, and all but the last of what may be written.
/// Source of the experiment: Ali, arXiv 2605.04396; how sequences are laid out is our choice.
/// Throws argument_error for less than one copy, more than 2^20, and for places that are too few, or more than 4,096.
[[nodiscard]] inline split_set scan_add_jump(const scan_options& options = {}) {
  constexpr int most_words = 9, most_actions = 48, vocabulary = static_cast<int>(scan_token::names.size());
  require(options.copies_of_jump >= 1 && options.copies_of_jump <= 1 << 20, "copies_of_jump", options.copies_of_jump,
          "in [1, 2^20]");
  require(options.most_outputs > most_actions && options.most_outputs <= 4096, "most_outputs", options.most_outputs,
          "in [49, 4096], as the longest command has 48 actions and an end");
  const task::sequence_sizes sizes{vocabulary, vocabulary, most_words + options.most_outputs};
  struct part {
    std::vector<int> tokens, answers;
  } training, test;
  const auto append = [&](const scan_command& command, part& to) {
    const auto before = to.tokens.size(), length = static_cast<std::size_t>(sizes.length);
    for (const auto* piece : {&command.words, &command.actions}) {
      to.tokens.insert(to.tokens.end(), piece->begin(), piece->end());
      if (piece == &command.words) to.tokens.push_back(scan_token::separator);
    }
    to.tokens.resize(before + length, scan_token::end);
    to.answers.resize(before + command.words.size(), task::no_answer);
    to.answers.insert(to.answers.end(), command.actions.begin(), command.actions.end());
    to.answers.push_back(scan_token::end);
    to.answers.resize(before + length, task::no_answer);
  };
  for (const scan_command& command : scan_commands()) {
    if (std::ranges::find(command.words, scan_token::jump) == command.words.end())
      append(command, training);
    else if (command.words.size() > 1)
      append(command, test);
    else
      for (int copy = 0; copy < options.copies_of_jump; ++copy) append(command, training);
  }
  return {task::sequence_set(sizes, std::move(training.tokens), std::move(training.answers)),
          task::sequence_set(sizes, std::move(test.tokens), std::move(test.answers))};
}

}  // namespace lindyn::population
