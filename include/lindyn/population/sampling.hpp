// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Minibatches of a data law, drawn sequence by sequence from a stream that a seed and a number determine.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/population/process.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::population {

/// Owns sequences of equal weight, for a step of training. Keeps its memory from one draw to the next.
class minibatch {
public:
  /// Number of sequences.
  [[nodiscard]] index count() const noexcept { return static_cast<index>(answers_.size()); }
  /// The sequences, which live until the next draw.
  [[nodiscard]] task::batch_view view() const noexcept {
    return {{tokens_.data(), count(), length_}, {positions_.data(), count(), length_}, answers_};
  }
  /// The same, where a batch is asked for.
  operator task::batch_view() const noexcept { return view(); }

  /// Makes room for `count` sequences of `length` tokens, whose content is left open.
  void resize(index count, index length) {
    require(count >= 0, "count", count, "at least 0");
    require(length >= 1, "length", length, "at least 1");
    length_ = length;
    answers_.resize(static_cast<std::size_t>(count));
    tokens_.resize(static_cast<std::size_t>(count * length));
    positions_.resize(tokens_.size());
  }
  /// \{
  /// The places of one sequence, to be written.
  [[nodiscard]] std::span<int> tokens(index place) noexcept { return row(tokens_, place); }
  [[nodiscard]] std::span<int> positions(index place) noexcept { return row(positions_, place); }
  [[nodiscard]] int& answer(index place) noexcept { return answers_[static_cast<std::size_t>(place)]; }
  /// \}

private:
  [[nodiscard]] std::span<int> row(std::vector<int>& table, index place) noexcept {
    return std::span(table).subspan(static_cast<std::size_t>(place * length_), static_cast<std::size_t>(length_));
  }

  index length_ = 1;
  std::vector<int> tokens_, positions_, answers_;
};

/// Draws from a law. Sequence `number` of a seed is a function of the two alone: it doesn't depend on what was drawn
/// before, on the size of a batch, or on the number of threads (each of which needs a sampler of its own).
///
///     population::sampler sampler(law, seed);
///     population::minibatch batch;
///     for (index step = 0; step < steps; ++step) {
///       sampler.draw(step * 512, 512, batch);
///       loss = network.loss_and_gradient(weights, batch, task::loss::cross_entropy, gradient);
///     }
template <process Law>
class sampler {
public:
  /// Draws from `law` the sequences of `seed`.
  sampler(Law law, std::uint64_t seed) : law_(std::move(law)), seed_(seed), choose_(law_.sizes()) {}

  /// What is drawn from.
  [[nodiscard]] const Law& law() const noexcept { return law_; }
  /// The seed.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

  /// Writes the sequence of this number, and returns its answer.
  /// \param number            from 0; argument_error if negative
  /// \param tokens,positions  sizes().length entries each; shape_error otherwise
  int draw(index number, std::span<int> tokens, std::span<int> positions) {
    const process_sizes sizes = law_.sizes();
    require(number >= 0, "number", number, "at least 0");
    require_extent("tokens.size()", tokens.size(), sizes.length);
    require_extent("positions.size()", positions.size(), sizes.length);
    return draw_valid(number, tokens, positions);
  }

  /// Fills a batch with the sequences first .. first + count - 1. Allocates only if the batch never was so large.
  /// Throws argument_error if first < 0 or count < 1.
  void draw(index first, index count, minibatch& batch) {
    require(first >= 0, "first", first, "at least 0");
    require(count >= 1, "count", count, "at least 1");
    batch.resize(count, law_.sizes().length);
    for (index place = 0; place < count; ++place)
      batch.answer(place) = draw_valid(first + place, batch.tokens(place), batch.positions(place));
  }

private:
  int draw_valid(index number, std::span<int> tokens, std::span<int> positions) {
    choose_.use(counter_generator(seed_, static_cast<std::uint64_t>(number)));
    return law_(choose_, tokens, positions);
  }

  Law law_;
  std::uint64_t seed_;
  random_choices choose_;
};

}  // namespace lindyn::population
