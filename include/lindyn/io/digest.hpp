// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Digests of data: short texts by which equal data are known again.

#include <cstdint>
#include <string>

namespace lindyn::io {

/// FNV-1a of 64 bits (Fowler, Noll, Vo 1991): tells data apart that differ by accident.
class digest {
public:
  /// Of nothing yet.
  digest() = default;
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

}  // namespace lindyn::io
