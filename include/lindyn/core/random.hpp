// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Counter-based random numbers: the n-th number of a stream is a pure function of (seed, stream, n), so that results
/// depend neither on the number of threads nor on the standard library. Boost 1.74 and C++20 offer no such engine.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include <lindyn/core/errors.hpp>

namespace lindyn {

/// One application of Philox4x32-10: encrypts a 128-bit counter under a 64-bit key.
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.2.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                                std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// A stream of random numbers: generator `stream` of the family `seed`. Models std::uniform_random_bit_generator.
/// Two generators that differ in seed or stream are independent; copying one copies its place in the stream.
class counter_generator {
public:
  /// \{
  /// As std::uniform_random_bit_generator requires: all values of 64 bits.
  using result_type = std::uint64_t;
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
  /// \}

  /// The generator at the beginning of its stream.
  constexpr explicit counter_generator(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : seed_(seed), stream_(stream) {}

  /// The next 64 bits of the stream.
  constexpr result_type operator()() noexcept {
    if (half_ == 0) {
      const auto words = philox4x32({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
                                     static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                                    {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
      ++block_;
      buffer_ = {words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32};
    }
    const result_type result = buffer_[half_];
    half_ ^= 1u;
    return result;
  }

  /// Whether both are the same generator at the same place.
  friend constexpr bool operator==(const counter_generator&, const counter_generator&) noexcept = default;

private:
  std::uint64_t seed_, stream_, block_ = 0;
  std::array<std::uint64_t, 2> buffer_{};
  std::uint32_t half_ = 0;
};

/// A uniform number in [0, 1) with 53 random bits.
[[nodiscard]] constexpr double uniform_real(counter_generator& generator) noexcept {
  return static_cast<double>(generator() >> 11) * 0x1p-53;
}

/// A uniform integer in [0, count), without bias.
/// Source: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019). Throws if count < 1.
[[nodiscard]] inline std::int64_t uniform_index(counter_generator& generator, std::int64_t count) {
  if (count < 1) throw argument_error("count", std::to_string(count), "at least 1");
  const auto bound = static_cast<std::uint64_t>(count);
  __extension__ using wide = unsigned __int128;
  wide product = static_cast<wide>(generator()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<wide>(generator()) * bound;
  }
  return static_cast<std::int64_t>(product >> 64);
}

/// A standard normal number (Box and Muller 1958; one of the pair is dropped, so that every call costs two draws).
[[nodiscard]] inline double standard_normal(counter_generator& generator) {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform_real(generator)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform_real(generator));
}

/// Fills `chosen` with distinct integers of [0, count), every ordered choice equally likely.
/// \param pool scratch of `count` entries whose content is kept a permutation of 0 .. count-1 between calls
///             (partial Fisher-Yates: any permutation is as good a start as the identity).
template <class Pool, class Chosen>
void draw_distinct(counter_generator& generator, Pool& pool, Chosen&& chosen) {
  const auto count = static_cast<std::int64_t>(pool.size());
  std::int64_t place = 0;
  for (auto& element : chosen) {
    const auto other = place + uniform_index(generator, count - place);
    std::swap(pool[static_cast<std::size_t>(place)], pool[static_cast<std::size_t>(other)]);
    element = pool[static_cast<std::size_t>(place++)];
  }
}

/// Permutes the entries, every order equally likely (Fisher-Yates).
template <class Entries>
void shuffle(counter_generator& generator, Entries& entries) {
  draw_distinct(generator, entries, entries);  // each entry is final before the next is drawn
}

}  // namespace lindyn
