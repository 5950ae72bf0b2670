// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a training depends on, as named texts: recorded by checkpoints and compared when they are resumed.

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/io/number.hpp>

namespace lindyn::train {

/// Names and texts, in order. Names are unique.
using settings = std::vector<std::pair<std::string, std::string>>;

namespace detail {

/// Appends a setting; numbers have as many digits as bring them back.
template <class Value>
void append(settings& to, std::string name, const Value& value) {
  if constexpr (std::integral<Value> || std::floating_point<Value>)
    to.emplace_back(std::move(name), io::number_text(value));
  else
    to.emplace_back(std::move(name), std::string(value));
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo 1991): tells data apart that differ by accident.
class digest {
public:
  /// Takes in the bytes of a value.
  template <class Range>
  digest& operator()(const Range& bytes) noexcept {
    for (const auto byte : bytes) {
      state_ ^= static_cast<unsigned char>(byte);
      state_ *= 0x100000001b3;
    }
    return *this;
  }
  /// Takes in integers, by their 4 lower bytes.
  template <class Range>
  digest& integers(const Range& values) noexcept {
    for (const auto value : values)
      for (int shift = 0; shift < 32; shift += 8) {
        state_ ^= (static_cast<std::uint64_t>(value) >> shift) & 0xff;
        state_ *= 0x100000001b3;
      }
    return *this;
  }
  /// In 16 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::string result(16, '0');
    for (int place = 0; place < 16; ++place)
      result[static_cast<std::size_t>(place)] = "0123456789abcdef"[(state_ >> (60 - 4 * place)) & 15];
    return result;
  }

private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace detail

}  // namespace lindyn::train
