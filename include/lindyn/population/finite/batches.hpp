// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which sequences of a finite set a step of training sees.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::population {

/// How the batches of a finite set are drawn.
enum class sampling {
  with_replacement,  ///< every member uniform over the set, independently
  epochs,            ///< a fresh permutation of the set every epoch, cut into batches of which the last may be short
  whole,             ///< the whole set at every step, in its order
};

/// The name of a way of drawing.
[[nodiscard]] constexpr std::string_view name(sampling draw) noexcept {
  switch (draw) {
    case sampling::with_replacement:
      return "with_replacement";
    case sampling::epochs:
      return "epochs";
    case sampling::whole:
      return "whole";
  }
  return {};
}

/// Batches of a finite set.
struct batches {
  index size = 128;                            ///< sequences a step, at least 1; unused where the set is taken whole
  std::uint64_t seed = 1;                      ///< of everything that is drawn
  sampling draw = sampling::with_replacement;  ///< how

  /// Whether both draw the same.
  friend constexpr bool operator==(const batches&, const batches&) noexcept = default;
};

/// Draws batches of a set of `count` sequences. The batch of a step is a function of (seed, step) alone, in whatever
/// order steps are asked for: with replacement, step s draws from stream s of the seed; epoch e is the permutation that
/// stream e draws. Allocates nothing after it was made.
///
///     population::batch_sampler draw(data.training.count(), {.size = 512, .draw = population::sampling::epochs});
///     for (index step = 0; step < steps; ++step)
///       network.loss_and_gradient(weights, data.training, draw(step), gradient, memory);
class batch_sampler {
public:
  /// \param count    sequences of the set, at least 1
  /// \param options  see batches
  /// Throws argument_error for an empty set, for batches without members, and for what is no way of drawing.
  batch_sampler(index count, const batches& options) : count_(count), options_(options) {
    require(count >= 1 && count <= std::numeric_limits<int>::max(), "count", count, "in [1, 2^31)");
    require(options.size >= 1 && options.size <= std::numeric_limits<int>::max(), "size", options.size, "in [1, 2^31)");
    require_enumerator("draw", options.draw);
    const bool drawn = options.draw == sampling::with_replacement;
    members_.resize(static_cast<std::size_t>(drawn ? options.size : count));
    std::iota(members_.begin(), members_.end(), 0);
  }

  /// Sequences of the set.
  [[nodiscard]] index count() const noexcept { return count_; }
  /// What is drawn.
  [[nodiscard]] const batches& options() const noexcept { return options_; }
  /// Steps that see the whole set once (with replacement: as many members as it has sequences).
  [[nodiscard]] index steps_per_epoch() const noexcept {
    return options_.draw == sampling::whole ? 1 : (count_ + options_.size - 1) / options_.size;
  }

  /// Numbers of the sequences of a step's batch, which live until the next call. Throws argument_error if step < 0.
  [[nodiscard]] std::span<const int> operator()(index step) {
    require(step >= 0, "step", step, "at least 0");
    switch (options_.draw) {
      case sampling::with_replacement: {
        counter_generator generator(options_.seed, static_cast<std::uint64_t>(step));
        for (int& member : members_) member = static_cast<int>(uniform_index(generator, count_));
        return members_;
      }
      case sampling::epochs: {
        permute(step / steps_per_epoch());
        const index first = step % steps_per_epoch() * options_.size;
        return std::span<const int>(members_).subspan(
            static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(options_.size, count_ - first)));
      }
      case sampling::whole:
        break;
    }
    return members_;
  }

private:
  /// Makes the members the permutation of that epoch, unless they are already.
  void permute(index epoch) {
    if (epoch == epoch_) return;
    std::iota(members_.begin(), members_.end(), 0);
    counter_generator generator(options_.seed, static_cast<std::uint64_t>(epoch));
    shuffle(generator, members_);
    epoch_ = epoch;
  }

  index count_;
  batches options_;
  std::vector<int> members_;  // with replacement: the batch; else the set in this epoch's order
  index epoch_ = -1;
};

}  // namespace lindyn::population
