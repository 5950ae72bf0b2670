// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A finite set of sequences of one length with what is asked at their places: training or test data.

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/task/prefix_index.hpp>

namespace lindyn::task {

/// Stands where nothing is asked.
inline constexpr int no_answer = -1;

/// Extents of a sequence_set.
struct sequence_sizes {
  int vocabulary = 0;  ///< V_in: tokens of the sequences are in [0, V_in)
  int outputs = 0;     ///< V_out: answers are in [0, V_out)
  int length = 0;      ///< n, tokens of a sequence

  /// Whether all extents agree.
  friend constexpr bool operator==(const sequence_sizes&, const sequence_sizes&) = default;
};

/// Sequences of tokens, each with answers at its last place or at places that are chosen one by one.
class sequence_set {
public:
  /// \param sizes    all at least 1
  /// \param tokens   count x length, row-major
  /// \param answers  count: at the last place; or count x length, `no_answer` where nothing is asked
  /// Throws argument_error for tokens and answers outside their ranges, for sequences of which nothing is asked and for
  /// 2^31 tokens or more, shape_error for vectors that don't fit each other. There may be no sequences.
  sequence_set(const sequence_sizes& sizes, std::vector<int> tokens, std::vector<int> answers)
      : sizes_(sizes), tokens_(std::move(tokens)), answers_(std::move(answers)) {
    require(sizes.vocabulary >= 1, "vocabulary", sizes.vocabulary, "at least 1");
    require(sizes.outputs >= 1, "outputs", sizes.outputs, "at least 1");
    require(sizes.length >= 1, "length", sizes.length, "at least 1");
    const index count = static_cast<index>(tokens_.size()) / sizes.length;
    require_extent("tokens.size()", tokens_.size(), count * sizes.length);
    require(tokens_.size() <= std::numeric_limits<int>::max(), "tokens.size()", tokens_.size(),
            "less than 2^31: prefixes are numbered by int");
    if (static_cast<index>(answers_.size()) == count) {
      std::vector<int> at_places(tokens_.size(), no_answer);
      for (index sequence = 0; sequence < count; ++sequence)
        at_places[static_cast<std::size_t>((sequence + 1) * sizes.length - 1)] =
            answers_[static_cast<std::size_t>(sequence)];
      answers_ = std::move(at_places);
    }
    require_extent("answers.size()", answers_.size(), tokens_.size());
    for (const int token : tokens_)
      if (token < 0 || token >= sizes.vocabulary)
        require(false, "tokens", token, "in [0, " + std::to_string(sizes.vocabulary) + ")");
    for (const int answer : answers_)
      if (answer != no_answer && (answer < 0 || answer >= sizes.outputs))
        require(false, "answers", answer, "in [0, " + std::to_string(sizes.outputs) + "), or no_answer (-1)");
    for (index sequence = 0; sequence < count; ++sequence) {
      bool asked = false;
      for (int place = 0; place < sizes.length; ++place)
        if (answer(sequence, place) != no_answer) {
          asked = true;
          last_asked_ = std::max(last_asked_, place);
          if (place + 1 < sizes.length) last_place_only_ = false;
        }
      require(asked, "answers of sequence " + std::to_string(sequence), no_answer, "asked for at some place");
    }
    prefixes_ = index_prefixes({tokens_.data(), count, sizes.length});
  }

  /// V_in, V_out and n.
  [[nodiscard]] const sequence_sizes& sizes() const noexcept { return sizes_; }
  /// Number of sequences.
  [[nodiscard]] index count() const noexcept { return static_cast<index>(tokens_.size()) / sizes_.length; }
  /// Whether nothing is asked before the last place.
  [[nodiscard]] bool last_place_only() const noexcept { return last_place_only_; }
  /// The last place where something is asked of any sequence; -1 if there are none.
  [[nodiscard]] int last_asked() const noexcept { return last_asked_; }
  /// The n tokens of a sequence, whose number isn't checked.
  [[nodiscard]] std::span<const int> tokens(index sequence) const noexcept { return row(tokens_, sequence); }
  /// The n answers of a sequence, `no_answer` where nothing is asked.
  [[nodiscard]] std::span<const int> answers(index sequence) const noexcept { return row(answers_, sequence); }
  /// What is asked at a place of a sequence, or `no_answer`.
  [[nodiscard]] int answer(index sequence, int place) const noexcept {
    return answers(sequence)[static_cast<std::size_t>(place)];
  }
  /// The distinct beginnings of the sequences.
  [[nodiscard]] const prefix_index& prefixes() const noexcept { return prefixes_; }

private:
  [[nodiscard]] std::span<const int> row(const std::vector<int>& all, index sequence) const noexcept {
    const auto length = static_cast<std::size_t>(sizes_.length);
    return std::span(all).subspan(static_cast<std::size_t>(sequence) * length, length);
  }

  sequence_sizes sizes_;
  std::vector<int> tokens_, answers_;
  bool last_place_only_ = true;
  int last_asked_ = -1;
  prefix_index prefixes_;
};

}  // namespace lindyn::task
