// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The loops of all optimisers: one pass over memory, in chunks that may go to several threads.

#include <algorithm>
#include <span>
#include <string>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>

namespace lindyn::optimizer {

/// Does the work of lindyn::worker_pool on the caller's thread.
struct one_thread {
  /// Calls work(chunk, begin, end, 0) for the chunks of [0, count) in turn.
  template <class Work>
  void chunks(index count, index size, Work&& work) const {
    for (index chunk = 0; chunk * size < count; ++chunk)
      work(chunk, chunk * size, std::min(count, (chunk + 1) * size), 0);
  }
};

namespace detail {

/// Entries of a chunk of a step: some hundred KiB of all arrays together, and some microseconds of work.
inline constexpr index chunk_entries = index(1) << 14;

/// Throws argument_error unless the ranges follow one another within the buffer and their factors make sense.
inline void require_ranges(index size, std::span<const range_decay> ranges) {
  index behind = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& [begin, end, factors] = ranges[i];
    const auto check = [i](bool holds, const char* member, auto value, const char* allowed) {
      if (!holds) require(false, "ranges[" + std::to_string(i) + "]." + member, value, allowed);
    };
    check(begin >= behind, "begin", begin, "at least the end of the range before");
    check(end >= begin && end <= size, "end", end, "at least begin, and at most the number of weights");
    check(factors.keep >= 0 && factors.keep <= 1, "factors.keep", factors.keep, "in [0, 1]");
    check(factors.coupled >= 0 && factors.coupled <= largest_rate, "factors.coupled", factors.coupled,
          "not negative, and at most 1e6");
    behind = end;
  }
}

/// Calls kernel(begin, end, factors) for all parts of ranges that lie within a chunk. Chunks don't depend on the number
/// of threads, so that compiled loops split into vectors and remainders at the same entries whatever it is.
template <class Workers, class Kernel>
void for_each_part(index size, std::span<const range_decay> ranges, Workers&& workers, const Kernel& kernel) {
  workers.chunks(size, chunk_entries, [&](index, index begin, index end, int) {
    auto range = std::ranges::upper_bound(ranges, begin, {}, &range_decay::end);
    for (; range != ranges.end() && range->begin < end; ++range)
      kernel(std::max(begin, range->begin), std::min(end, range->end), range->factors);
  });
}

/// w <- keep w - step(i, gradient + coupled w) for the entries i in [begin, end). Each case is a loop of its own, so that
/// no decay means no operation.
template <class Scalar, class Step>
void subtract_steps(const decay_factors& decay, Scalar* __restrict weights, const Scalar* __restrict gradient,
                    index begin, index end, const Step& step) {
  const auto keep = static_cast<Scalar>(decay.keep), coupled = static_cast<Scalar>(decay.coupled);
  if (decay.coupled != 0)
    for (index i = begin; i < end; ++i) weights[i] = keep * weights[i] - step(i, gradient[i] + coupled * weights[i]);
  else if (decay.keep != 1)
    for (index i = begin; i < end; ++i) weights[i] = keep * weights[i] - step(i, gradient[i]);
  else
    for (index i = begin; i < end; ++i) weights[i] -= step(i, gradient[i]);
}

}  // namespace detail

}  // namespace lindyn::optimizer
